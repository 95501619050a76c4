"""The user's own Python code, named as `file.py:object` or `module:object`: found, trusted and imported."""
