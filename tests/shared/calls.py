"""What tests of several commands ask for."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from promises.cli.conftest import Safear
from safear.cli.main import cli

CONTEXT = click.Context(cli)
COMMANDS = {name: cli.get_command(CONTEXT, name) for name in cli.list_commands(CONTEXT)}


def options_of(command: str) -> list[list[str]]:
    """The forms of each option of a command; what switches something off is an option of its own."""
    found = COMMANDS[command]
    assert found is not None
    forms = [(item.opts, item.secondary_opts) for item in found.params if isinstance(item, click.Option)]
    return [each for pair in forms for each in pair if each]


def commands_with(option: str) -> set[str]:
    return {command for command in COMMANDS if any(option in forms for forms in options_of(command))}


def run(safear: Safear, *call: object) -> str:
    """What a command prints that has nothing else to say."""
    answer = safear(*call)
    assert (answer.code, answer.err) == (0, "")
    return answer.out


def plans(safear: Safear, *arguments: object) -> list[dict[str, Any]]:
    answer = safear("recommend", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    found: list[dict[str, Any]] = answer.json["plans"]
    return found


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return name
