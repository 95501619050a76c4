"""Variation operators: they turn an archive into offspring."""
