"""The `gymnasium` simulator: any registered environment, on Gymnasium's own vector API."""
