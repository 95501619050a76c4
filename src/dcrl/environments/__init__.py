"""The tasks as Gymnasium environments."""
