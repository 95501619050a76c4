"""Clusters of machines: the connection to Ray, and the cores that a job claims on a node."""
