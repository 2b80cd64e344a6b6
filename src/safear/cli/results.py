"""Results go to standard output, and nothing else does, however much a model prints."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TextIO

import click

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
    """Print a line, or several, of the result."""
    click.echo(text, file=results())
