"""Pictures and films of what a repertoire's policies do."""
