"""Variation operators: named values that turn an archive into offspring."""
