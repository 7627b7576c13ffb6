"""Agents that act: tabular ones, which learn the machine on the way, and deep ones."""
