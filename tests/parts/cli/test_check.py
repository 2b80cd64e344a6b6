"""How `safear check` reads the people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from doors import counts
from promises.cli.test_check import write_credit

if TYPE_CHECKING:
    from promises.cli.conftest import Safear


def test_files_of_people_are_read_once(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    real = counts.examine

    def examine(*args: Any, **options: Any) -> Any:
        read.append(args)
        return real(*args, **options)

    monkeypatch.setattr(counts, "examine", examine)
    assert safear("check", *write_credit(tmp_path)).code == 0
    assert len(read) == 1
