"""Speed, against the machine's own limits."""
