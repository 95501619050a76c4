"""The tasks: the paper's seven, two of ours, and user-defined ones."""
