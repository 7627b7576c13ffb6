"""Reward machines: what they are, how they are replayed, described and compared."""
