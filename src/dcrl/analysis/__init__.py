"""Looking at runs: figures, and later statistics."""
