"""``python -m markovize`` is the command line."""

from markovize.cli import main

if __name__ == "__main__":
    main()
