"""Episodes in files, one module a format."""
