"""Training on disk: configuration, run directory, lock, checkpoints, metrics, logs."""
