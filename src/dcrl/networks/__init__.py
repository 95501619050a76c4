"""Policies and the networks that learn: shapes, NumPy and JAX."""
