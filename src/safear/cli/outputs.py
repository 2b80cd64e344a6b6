"""What a command writes is none of the files that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path

import click

from safear.errors import InputError, Place

INPUTS = {  # what commands call the parameters that name files to read
    "classifiers",
    "log",
    "people",
    "people_file",
    "people_files",
    "person",
    "plan_file",
    "plans",
    "problem",
    "problem_file",
    "table_file",
    "terms",
}


def require_apart(context: click.Context) -> None:
    """Refuse an output that would replace an input of the same command."""
    from safear.cli.options import NEW_FILE

    outputs = [item for item in context.command.params if item.type is NEW_FILE]
    for output in outputs:
        path = context.params.get(output.name or "")
        if path is None or not path.is_file():  # nothing is there yet, or it is a terminal, which is read as well
            continue
        for item in context.command.params:
            if item.name in INPUTS and any(_is_same(path, name) for name in _names(context.params.get(item.name))):
                read_as = item.make_metavar(context) if isinstance(item, click.Argument) else item.opts[-1]
                cause = f"{output.opts[-1]} would replace this file, which is read as {read_as}"
                raise InputError.at(Place(file=str(path)), cause, "name another file for the result", code="same_file")


def _names(given: object) -> Iterator[str]:
    """The files that are named: one or several, FILE.py:NAME and FILE.parquet:ROW, or a glob of them."""
    for name in given if isinstance(given, tuple) else (given,):
        if isinstance(name, str | Path):
            text = str(name)
            yield from (text, text.rpartition(":")[0])
            yield from glob(text) if has_magic(text) else ()  # noqa: PTH207  # may be absolute


def _is_same(output: Path, name: str) -> bool:
    """Whether a name is that of the output, or of the folder that has it."""
    with suppress(OSError, ValueError):  # it is no file
        return os.path.samefile(output, name) or os.path.samefile(output.parent, name)  # noqa: PTH121
    return False
