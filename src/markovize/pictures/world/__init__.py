"""Worlds drawn: as text for a terminal, as pixels for a screen."""
