"""Results go to standard output, and nothing else does, however much a model prints.

Everything that the command line prints goes through here or through `make_console`, so that no name, label or cell
reaches the terminal as anything but text.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TextIO

import click

from safear.errors import visible

SPACES = "\n\t"  # what a terminal may obey of a text
KEPT = "safear.results"  # what the context calls the stream that was standard output


def divert_prints() -> None:
    """Until the command ends, send to standard error whatever is printed, except for results.

    A model is asked in many places and by several threads, so that this is done once, before it is loaded.
    """
    context = click.get_current_context()
    if KEPT not in context.meta:
        context.meta[KEPT] = sys.stdout
        context.with_resource(redirect_stdout(sys.stderr))


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
