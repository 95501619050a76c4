"""Policies as files for use without this package: ONNX graphs or NumPy arrays, with a contract."""
