"""What `safear serve` compares before its workers start, and the port that they share."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

import safear as sa
from doors import bind, find_source, fingerprint, listen, serve, work
from promises.web.conftest import CREDIT
from safear.cli.main import cli


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
