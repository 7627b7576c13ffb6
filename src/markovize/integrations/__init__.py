"""Bridges to other libraries, each with an extra of its own; importing this package loads none of them.

- :mod:`~markovize.integrations.sb3`: Stable-Baselines3 (``markovize[sb3]``)
- :mod:`~markovize.io.episodes.minari`: data sets of Minari (``markovize[data]``)
- :mod:`~markovize.integrations.notebook`: progress in the output of a notebook's cell (no extra)
- :mod:`~markovize.integrations.tensorboard`: scalars of our own agents (``markovize[sb3]``)
"""
