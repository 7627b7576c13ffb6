"""Episodes: validated once, at the edge, and what their steps are called."""
