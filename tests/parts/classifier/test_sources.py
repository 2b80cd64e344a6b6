"""Which form a source has."""

from __future__ import annotations

from pathlib import Path

import pytest

from doors import KNOWN
from small_sources import refusal


@pytest.mark.parametrize("source", ["model", "decisions.xlsx", "lending.py", ""])
def test_forms_that_are_not_known(source: str) -> None:
    assert refusal(source).endswith(f"this is not a form of classifier that we know\n    {KNOWN}")


@pytest.mark.parametrize("source", ["model.skops", "decisions.csv", "lending.py:decide"])
def test_a_file_that_is_not_there(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = source.partition(":")[0]
    assert refusal(source) == f"{file}: no such file"
    Path(file).mkdir()
    assert refusal(source).startswith(f"{file}: ")


@pytest.mark.parametrize("source", ["ftp://host/model", "ftp://host/model.skops", "file:///model.txt", "abfs://a/b:c"])
def test_addresses_that_are_not_taken(source: str) -> None:
    assert refusal(source) == (
        f"{source}: of addresses, only http://... and https://... are taken\n    download it and name the file"
    )
