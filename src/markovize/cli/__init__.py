"""The command line: ``markovize COMMAND``. :mod:`~markovize.cli.app` has the commands."""

from markovize.cli.app import main

__all__ = ["main"]
