"""Machines in files, one module a format."""
