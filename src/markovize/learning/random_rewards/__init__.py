"""Machines for rewards that are random by nature: found by likelihood, believed only where a test is significant."""
