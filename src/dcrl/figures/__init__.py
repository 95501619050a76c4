"""Pictures of archives and of a run's metrics."""
