"""Which parameters of the commands name files to read, which files to write, and which no files."""

from __future__ import annotations

import click

from doors import INPUTS, NEW_FILE
from safear.cli.main import MODULES, cli

FOLDERS = {"out", "output"}  # for results
WORDS = {
    *("agree", "change", "contact", "dated", "favourable", "fixed", "forbid", "greedy", "groups", "host", "keep"),
    *("language", "name", "names", "now", "objective", "objectives", "outcomes", "plan", "reference", "scheduler"),
    *("settings", "target", "title", "trust"),
}


def test_every_parameter_is_known_to_name_a_file_or_not() -> None:
    """A new one that names a file to read must not be forgotten."""
    found = {
        item.name
        for name in MODULES
        for item in (cli.get_command(click.Context(cli), name) or cli).params
        if item.type is not NEW_FILE and isinstance(item.type, click.Path | click.types.StringParamType)
    }
    assert found == INPUTS | FOLDERS | WORDS
