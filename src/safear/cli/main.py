"""`safear`: the group of commands, and how errors leave the program.

Commands import the library when they run, so that `--help` and completion answer at once.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import click

from safear import __version__
from safear.cli.outputs import require_apart
from safear.cli.results import SPACES, hand_over, is_unread, own_streams, print_note
from safear.cli.stopping import stop, was_stopped, watching
from safear.cli.verbose import guard_warnings
from safear.errors import InputError, Place, SafearError, cut_middle, mistake, visible
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
COMPILED = {"numpy", "safear", "shared", "yaml"}  # of these all commands load compiled code; `shared` is Cython's
LIBRARIES = tuple(EXTENSION_SUFFIXES)  # how the names of files with compiled code end
UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}  # what the system says of a stream
OPTION = re.compile(r" \((--[\w-]+)\)")  # that a remedy names
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class _Context(click.Context):
    """Looks at all that was given before a command begins, and has errors advise no option that it does not have."""

    def invoke(self, *arguments: Any, **options: Any) -> Any:
        from safear.files.current_folder import stay_here

        require_apart(self)
        try:
            with stay_here():
                return super().invoke(*arguments, **options)
        except InputError as error:
            error.mistakes = [replace(item, remedy=self._suit(item.remedy)) for item in error.mistakes]
            raise

    def _suit(self, remedy: str | None) -> str | None:
        """A remedy for all commands, such as `rule out actions (--forbid)`, as one for this command."""
        known = {name for item in self.command.params for name in item.opts}
        return remedy and OPTION.sub(lambda found: found[0] if found[1] in known else "", remedy)


class _Commands(click.Group):
    """Loads a command when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click has it
        return list(MODULES)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _closed_pipes(), _short_refusals():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipes(), _short_refusals():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                stop()
            except click.ClickException:
                raise
            except Exception:
                if was_stopped():  # while it asked something, or a library worked that made an error of it
                    stop()
                raise

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as click has it
        if cmd_name not in MODULES:
            return None
        found: click.Command = getattr(import_module(f"safear.cli.{MODULES[cmd_name]}"), cmd_name)
        found.context_settings = {**CONTEXT, **found.context_settings}  # Click keeps how a command first took help
        found.context_class = _Context
        return found


@contextmanager
def _short_refusals() -> Iterator[None]:
    """What click refuses, it repeats: that may hold anything, and be of any length."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # the help itself
        raise
    except click.ClickException as error:
        error.message = visible(cut_middle(error.message), keep=SPACES)  # type: ignore[misc]  # it is only shown
        raise


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
    atexit.register(_end_quickly)
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


def _end_quickly() -> None:
    """Let Python end without a search for garbage, which takes a fifth of the time of `recommend`.

    Not where compiled code of others is loaded: DuckDB complains about whatever is left.
    """
    files = ((name.partition(".")[0], getattr(module, "__file__", None)) for name, module in sys.modules.items())
    compiled = {name for name, file in files if file is not None and file.endswith(LIBRARIES)}
    if compiled - sys.stdlib_module_names <= COMPILED:
        gc.freeze()


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
            print_note(str(mistake(Place(file=str(where)), explain(error), code="unreadable")))
        sys.exit(2)


if __name__ == "__main__":
    main()
