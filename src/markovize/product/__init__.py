"""The product S×U, on which rewards are Markov: its tables, values and picture."""
