"""What does a reward depend on? An audit of an environment, or of episodes, with two trajectories that prove it."""
