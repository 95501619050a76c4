"""Re-evaluation of policies: reproducibility, and its cost."""
