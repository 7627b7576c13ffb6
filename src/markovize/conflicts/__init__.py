"""Conflicts: is the reward Markov, and if not, which steps show it?"""
