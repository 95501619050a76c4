"""Policies evaluated again: reproducibility, and what it costs."""
