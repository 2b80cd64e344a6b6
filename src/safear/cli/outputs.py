"""What a command writes is none of the files that it reads, and nothing is written twice."""

from __future__ import annotations

import os
from contextlib import suppress
from glob import glob, has_magic
from itertools import combinations
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
    """Refuse an output that would replace an input, or another output, of the same command."""
    from safear.cli.options import NEW_FILE

    wanted = [(item, context.params.get(item.name or "")) for item in context.command.params if item.type is NEW_FILE]
    outputs = [(item, path) for item, path in wanted if path is not None]
    for (one, path), (other, another) in combinations(outputs, 2):
        if os.path.realpath(path) == os.path.realpath(another) and (path.is_file() or not path.exists()):
            cause = f"{one.opts[-1]} and {other.opts[-1]} would both write this file"
            raise InputError.at(Place(file=str(another)), cause, "name another file for one of them", code="same_file")
    for output, path in outputs:
        if not path.is_file():  # nothing is there yet, or it is a terminal, which is read as well
            continue
        is_left_out = output.name == "skip_bad"  # of what a pattern finds, by whoever reads it
        for item in context.command.params:
            if item.name in INPUTS and _is_read(path, context.params.get(item.name), literally=is_left_out):
                read_as = item.make_metavar(context) if isinstance(item, click.Argument) else item.opts[-1]
                cause = f"{output.opts[-1]} would replace this file, which is read as {read_as}"
                raise InputError.at(Place(file=str(path)), cause, "name another file for the result", code="same_file")


def _is_read(output: Path, given: object, *, literally: bool) -> bool:
    """Whether a file is one of those that are named: one or several, FILE.py:NAME and FILE.parquet:ROW, a folder.

    Or one that a pattern finds, as `find_tables` does, unless names are meant literally.
    """
    for name in given if isinstance(given, tuple) else (given,):
        if not isinstance(name, str | Path):
            continue
        text = str(name)
        if any(_is_same(output, one) or _is_same(output.parent, one) for one in (text, text.rpartition(":")[0])):
            return True
        found = glob(text, recursive=True) if has_magic(text) and not literally else ()  # noqa: PTH207  # may be absolute
        if any(_is_same(output, one) for one in found):
            return True
    return False


def _is_same(path: Path, name: str) -> bool:
    with suppress(OSError, ValueError):  # it is no file
        return os.path.samefile(path, name)  # noqa: PTH121
    return False
