"""``python -m markovize`` is the command line."""

from markovize.cli.app import main

if __name__ == "__main__":
    main()
