"""The installed command `dcrl`, one module a verb."""
