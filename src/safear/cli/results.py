"""Results go to standard output, and nothing else does, however much a model prints.

Everything that the command line prints goes through here or through `make_console`, so that no name, label or cell
reaches the terminal as anything but text.
"""

from __future__ import annotations

import io
import os
import select
import sys
from contextlib import redirect_stdout, suppress
from typing import TextIO

import click

from safear.errors import visible
from safear.files import keep_descriptor

SPACES = "\n\t"  # what a terminal may obey of a text
KEPT = "safear.results"  # what the context calls the stream that was standard output
_program: list[TextIO | None] = []  # of the program `safear`: where results go, once prints are diverted


def own_streams() -> None:
    """Say that this process is the program `safear`, which may do with its streams as it likes until it ends.

    Those that were closed before it began (`2>&-`) take what is printed, and show it nobody. Their numbers are taken as
    well, by what cannot be written to: the next file that is opened would have one, and what is printed in it.
    """
    _program[:] = [None]
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:  # the error stream's
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # until it ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def divert_prints() -> None:
    """From now on, send to standard error whatever is printed, except for results.

    A model is asked in many places and by several threads, so that this is done once, before it is loaded. In the
    program it is for good, and below Python: compiled code writes to the same stream by its number, and may keep its
    words until the process ends. Whoever calls a command from Python gets back their own standard output.
    """
    context = click.get_current_context()
    if KEPT in context.meta:
        return
    context.meta[KEPT] = sys.stdout
    if _program and (kept := _program[0] or _divert_number(sys.stdout)) is not None:
        context.meta[KEPT] = _program[0] = kept
    else:
        context.with_resource(redirect_stdout(sys.stderr))


def _divert_number(stream: TextIO) -> TextIO | None:
    """A stream that goes where this one went, which now goes to standard error; None if it is no stream of a file."""
    try:
        errors = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # there is no error stream; this may well take its number
        errors = os.open(os.devnull, os.O_WRONLY)
    try:
        number = stream.fileno()
        stream.flush()
        kept = os.dup(number)
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        return None
    os.dup2(errors, number)
    if isinstance(stream, io.TextIOWrapper):  # so that a line comes where it belongs among those of the error stream
        with suppress(OSError, ValueError):
            stream.reconfigure(line_buffering=True)
    found = os.fdopen(kept, "w", encoding=stream.encoding, errors=stream.errors)
    keep_descriptor(number, found)  # /dev/stdout is where results go
    return found


def hand_over() -> None:
    """Write out what is still to be printed; where that fails, nothing more: Python would complain of it at its end."""
    for stream in filter(None, (sys.stdout, sys.stderr, *_program)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_watched() -> bool:
    """Whether the error stream is a terminal, where somebody may be looking."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def is_unread() -> bool:
    """Whether whoever read what is printed has stopped doing so (`| head`)."""
    if sys.platform == "win32":  # cannot say
        return True
    waiting = select.poll()
    for stream in filter(None, (sys.stdout, sys.stderr, *_program)):
        with suppress(OSError, ValueError):
            waiting.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in waiting.poll(0))


def results() -> TextIO:
    """Where results go: to standard output as it was when the command began."""
    kept: TextIO | None = click.get_current_context().meta.get(KEPT)
    return kept or sys.stdout


def print_result(text: str) -> None:
    """Print a line, or several, of the result. What a terminal would obey is written out, in JSON as JSON does it."""
    click.echo(visible(text, keep=SPACES), file=results())


def print_note(text: str) -> None:
    """Print what is no result on the error stream."""
    click.echo(visible(text, keep=SPACES), err=True)
