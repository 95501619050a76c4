"""Algorithms: short compositions of operators and learners."""
