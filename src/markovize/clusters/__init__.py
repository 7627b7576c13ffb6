"""Other machines that share the work."""
