"""The command line: ``markovize check | audit | learn | verify | replay | draw | convert | run | reproduce``.

Exit codes: 0 done (``learn``: optimal), 1 the answer is no, 2 bad usage or input, 3 stopped by a limit, 130
interrupted. Errors are one line on stderr.
"""

from __future__ import annotations

import atexit
import gc
import io
import sys
from typing import Annotated, Any

import typer

from markovize.cli import audit, check, convert, draw, learn, replay, reproduce, run, verify
from markovize.cli.all_option import CommandWithAll
from markovize.cli.exits import BAD, DONE, INTERRUPTED, fail

app = typer.Typer(
    name="markovize",
    help="When a reward depends on history: find out, and learn the smallest reward machine that explains it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

# typer brings its own copy of click or uses the installed one, as its version has it; this is the right one
_UsageError: Any = typer.BadParameter.__mro__[1]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from markovize import __version__

        typer.echo(f"markovize {__version__}")
        raise typer.Exit


app.command(epilog=f"Example: {check.EXAMPLE}")(check.check)
app.command(epilog=f"Example: {audit.EXAMPLE}")(audit.audit)
app.command(epilog=f"Example: {learn.EXAMPLE}\n\nExample: {learn.EXAMPLE_OF_ALL}", cls=CommandWithAll)(learn.learn)
app.command(epilog=f"Example: {verify.EXAMPLE}")(verify.verify)
app.command(epilog=f"Example: {replay.EXAMPLE}")(replay.replay)
app.command(epilog=f"Example: {draw.EXAMPLE}")(draw.draw)
app.command(help=convert.HELP, epilog=f"Example: {convert.EXAMPLE}")(convert.convert)
app.command(epilog=f"Example: {run.EXAMPLE}", cls=CommandWithAll)(run.run)
app.command(epilog=f"Example: {reproduce.EXAMPLE}")(reproduce.reproduce)


def main() -> None:
    """Runs the command line; every foreseen failure becomes one line on stderr and an exit code."""
    from markovize.errors import MarkovizeError

    # at the end of the process no garbage is looked for in all that was ever loaded: that took 0.3 s of every command
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # arrows and odd labels must not fail where text is not UTF-8
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(prog_name="markovize", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted", INTERRUPTED)
    except _UsageError as error:
        message = error.format_message().replace("Value error, ", "")  # pydantic's words, not ours
        if not message:  # no arguments at all: the help was shown
            sys.exit(BAD)
        command = error.ctx.command_path if error.ctx is not None else "markovize"
        fail(f"{message} (try: {command} --help)", BAD)
    except (MarkovizeError, OSError) as error:
        fail(str(error), BAD)
    except MemoryError:
        fail("not enough memory", BAD)
    if code == INTERRUPTED:
        fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else DONE)
