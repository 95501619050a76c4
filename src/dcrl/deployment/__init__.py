"""Policies as files that need nothing of this package to run: ONNX graphs and NumPy arrays, with a contract."""
