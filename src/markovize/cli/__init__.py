"""The command line: ``markovize COMMAND``. :mod:`~markovize.cli.app` has the commands."""

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line. Ctrl-C while it is still being loaded ends it as Ctrl-C ends a command."""
    try:
        from markovize.cli.app import main as run
    except KeyboardInterrupt:
        print("markovize: interrupted", file=sys.stderr)
        sys.exit(130)
    run()
