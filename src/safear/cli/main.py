"""`safear`: the group of commands, and how errors leave the program.

Commands import the library when they run, so that `--help` and completion answer at once.
"""

from __future__ import annotations

import errno
import gc
import io
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from safear import __version__
from safear.cli.results import SPACES, hand_over, is_unread, own_streams, print_note
from safear.cli.stopping import stop, was_stopped, watching
from safear.cli.verbose import guard_warnings
from safear.errors import InputError, SafearError, cut_middle, visible
from safear.files import explain

MODULES = {  # each command by the module that has it, in the order of --help
    "demo": "examples",
    "init": "init",
    "check": "check",
    "fit": "fit",
    "recommend": "recommend",
    "walk": "walk",
    "resume": "resume",
    "durability": "durability",
    "sensitivity": "sensitivity",
    "plot": "plot",
    "serve": "serve",
    "compare": "compare",
    "audit": "audit",
    "batch": "batch",
    "reproduce": "reproduce",
    "examples": "examples",
    "schema": "examples",
    "completion": "examples",
}
PATIENT = 200_000  # new objects before Python looks for garbage: while modules are loaded, there is none
UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}  # what the system says of a stream
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class _Commands(click.Group):
    """Loads a command when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click has it
        return list(MODULES)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _closed_pipes():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipes():
            try:
                return super().invoke(ctx)
            except click.ClickException as error:  # it repeats what was given, which may hold anything
                error.message = visible(cut_middle(error.message), keep=SPACES)  # type: ignore[misc]  # it is only shown
                raise
            except KeyboardInterrupt:
                stop()
            except Exception:
                if was_stopped():  # while it asked something, or a library worked that made an error of it
                    stop()
                raise

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as click has it
        if cmd_name not in MODULES:
            return None
        found: click.Command = getattr(import_module(f"safear.cli.{MODULES[cmd_name]}"), cmd_name)
        found.context_settings = {**CONTEXT, **found.context_settings}  # Click keeps how a command first took help
        return found


@contextmanager
def _closed_pipes() -> Iterator[None]:
    """Whoever reads what is printed (`| head`) may stop when they have seen enough: that is no mistake, and no news."""
    try:
        yield
    except BrokenPipeError as error:
        if not is_unread():  # a pipe to another process
            raise SafearError("a process that this one needs has ended") from error
        sys.exit(0)
    except InputError as error:  # an output that is such a pipe; not a model whose own pipe is broken
        if isinstance(error.__cause__, BrokenPipeError) and error.mistakes[0].code == "unwritable":
            sys.exit(0)
        raise


@click.group(
    cls=_Commands,
    context_settings=CONTEXT,
    epilog="""\b
Example:
  safear demo
  safear recommend loan --objective mean --objective mean-std:0.5
  safear walk loan --plan safest --outcome fails
  safear check my-problem.yaml

Exit codes:  0 fine;  2 a mistake in the input;  3 no plan reaches a goal""",
)
@click.version_option(__version__, message="safear %(version)s")
def cli() -> None:
    """Plans for people whom a model rejected, with the risk in plain sight."""


def main() -> None:
    """Run the command line. A user's mistake is printed without a traceback."""
    gc.set_threshold(PATIENT, *gc.get_threshold()[1:])
    guard_warnings()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    own_streams()
    try:
        try:
            with watching():
                _run()
        finally:
            hand_over()
    except KeyboardInterrupt:  # when all was done, and signals were no longer watched
        sys.exit(128 + signal.SIGINT)


def _run() -> None:
    try:
        cli(standalone_mode=True)
    except SafearError as error:
        with suppress(BrokenPipeError):
            print_note(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        where = error.filename or ("cannot be written" if error.errno in UNWRITTEN else "the system refuses")
        with suppress(BrokenPipeError):
            print_note(f"{where}: {explain(error)}")
        sys.exit(2)


if __name__ == "__main__":
    main()
