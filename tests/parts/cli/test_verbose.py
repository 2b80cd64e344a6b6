"""The option `--verbose` of a command: the log is shown while it runs, and what is said of memory not too often."""

from __future__ import annotations

import logging

import click
import pytest
from click.testing import CliRunner

from doors import verbose_option

logger = logging.getLogger("safear")


@click.command()
@click.option("--fail", is_flag=True)
@verbose_option
def command(fail: bool) -> None:
    """Say a few things."""
    logger.info("begun")
    logger.debug("not this")
    for need in (100, 150, 199, 200, 50, 399, 401, 10):
        logger.info("something: %d", need, extra={"need": need})
    logger.info("ended")
    if fail:
        raise click.ClickException("no")


@pytest.mark.parametrize("fail", [[], ["--fail"]])
def test_the_log_is_shown_until_the_command_ends(fail: list[str]) -> None:
    before = (logger.level, list(logger.handlers))
    found = CliRunner().invoke(command, ["--verbose", *fail])
    assert found.stdout == ""
    lines = found.stderr.splitlines()
    # Of what is said of memory, only what is twice as much as was said before.
    assert lines[:5] == ["begun", "something: 100", "something: 200", "something: 401", "ended"]
    assert lines[5:] == (["Error: no"] if fail else [])
    assert (logger.level, list(logger.handlers)) == before


def test_each_command_begins_anew() -> None:
    for _ in range(2):
        assert "something: 100" in CliRunner().invoke(command, ["--verbose"]).stderr.splitlines()


def test_nothing_is_shown_unless_asked_for() -> None:
    found = CliRunner().invoke(command, [])
    assert (found.stdout, found.stderr, found.exit_code) == ("", "", 0)
    assert "--verbose" in CliRunner().invoke(command, ["--help"]).stdout
