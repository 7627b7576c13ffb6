"""Learning: from episodes to the smallest machine, with what proves it."""
