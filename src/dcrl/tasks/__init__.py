"""The tasks: the paper's seven, two of ours, and anyone's own."""
