"""Single modules of the commands."""

from __future__ import annotations

import json
import logging
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import safear as sa
from doors import (
    INPUTS,
    NEW_FILE,
    SensitivityRecord,
    bind,
    find_source,
    fingerprint,
    listen,
    serve,
    stopping,
    verbose_option,
    work,
)
from promises.cli.conftest import Safear
from promises.cli.test_sensitivity import CALL, expected
from promises.web.conftest import CREDIT
from safear.cli.main import MODULES, cli

# --------------------------------- What `safear serve` compares before its workers start, and the port that they share


def options_of(*arguments: str) -> dict[str, Any]:
    """What the command is given, as a part of the whole program: Click keeps how help is asked for."""
    return serve.make_context("serve", list(arguments), parent=click.Context(cli, **cli.context_settings)).params


def test_workers_that_would_serve_something_else_do_not_start(tmp_path: Path) -> None:
    """Two workers that contradict each other are worse than one."""
    problem = tmp_path / "credit.json"
    problem.write_text(json.dumps(CREDIT))
    options = options_of(str(problem))
    named = options.pop("problem_file")
    mark = fingerprint(find_source(named, options))
    assert fingerprint(find_source(named, options)) == mark
    problem.write_text(json.dumps(CREDIT | {"horizon": 3}))
    with pytest.raises(sa.InputError, match="has changed since the server was started"):
        work(named, options, mark, ready=lambda: None)


def test_the_fingerprint_of_models(tmp_path: Path) -> None:
    """Another model, in a file or a folder, is another fingerprint, also where the same bytes are elsewhere."""
    source = find_source("loan", options_of("loan"))

    def mark(*given: str) -> str:
        return fingerprint(replace(source, given=given))

    model, folder = tmp_path / "m.py", tmp_path / "model"
    model.write_text("def f(frame): ...")
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a").write_text("12")
    (folder / "data" / "b").write_text("3")
    given = (f"{model}:f", str(folder))
    before = mark(*given)
    (folder / "data" / "__pycache__").mkdir()
    (folder / "data" / "__pycache__" / "a.pyc").touch()  # which comes by itself
    assert mark(*given) == before != mark(f"{model}:g", str(folder))
    (folder / "data" / "a").write_text("1")
    (folder / "data" / "b").write_text("23")
    moved = mark(*given)
    model.write_text("def f(frame): return None")
    assert len({before, moved, mark(*given)}) == 3


@pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="needed for several workers")
def test_a_port_that_another_server_shares_with_its_workers_is_taken() -> None:
    """Otherwise visitors would come to the one or the other."""
    with bind("127.0.0.1", 0, shared=True) as other:
        other.listen()
        port = other.getsockname()[1]
        options = options_of("loan", "--port", str(port), "--workers", "2")
        with pytest.raises(sa.InputError, match=f"cannot listen on 127.0.0.1, port {port}"):
            listen(options)
    with listen(options):  # which shares it with its own
        bind("127.0.0.1", port, shared=True).close()


# ----------------------- Which parameters of the commands name files to read, which files to write, and which no files


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


# ---------------------------------------------------------------- The JSON of `safear sensitivity` is the whole record


def test_the_json_is_the_record(safear: Safear) -> None:
    assert safear(*CALL, "--json").json == json.loads(SensitivityRecord.of(expected()).model_dump_json())


# ----------------------------------------------------- How a program that is stopped ends, where nothing can be raised


def test_a_stop_where_nothing_can_be_raised_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """As in what is called when something else goes; what is no stop is told as ever."""

    class Going:
        def __init__(self, error: BaseException) -> None:
            self.error = error

        def __del__(self) -> None:
            raise self.error

    told: list[type[BaseException] | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))
        with stopping.watching():
            Going(stopping.Stopped())
            Going(ValueError())
        Going(KeyError())
    assert (told, capfd.readouterr().err) == ([ValueError, KeyError], "")


# ------- The option `--verbose` of a command: the log is shown while it runs, and what is said of memory not too often


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
