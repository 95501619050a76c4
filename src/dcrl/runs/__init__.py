"""Runs on disk: configuration, directory, repertoire files."""
