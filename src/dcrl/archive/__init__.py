"""The archive: a tessellated descriptor space and the best policy found in each cell."""
