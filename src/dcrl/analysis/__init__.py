"""Looking at runs: figures, statistics, reproducibility, reports."""
