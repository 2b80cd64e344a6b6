"""The command line as a user meets it: what `safear ...` prints, on which stream, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import pytest

from safear.cli.main import main

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "safear")


@dataclass(frozen=True)
class Answer:
    """How a call of the program ended."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """What is said to a mistake: on the error stream, with nothing printed."""
        assert (self.code, self.out) == (2, "")
        return self.err

    @property
    def json(self) -> dict[str, Any]:
        """All of the standard output as one JSON object, without NaN and Infinity."""
        record = json.loads(self.out, parse_constant=_refuse_constant)
        assert isinstance(record, dict)
        return record


class Safear(Protocol):
    """Calls `safear` with arguments."""

    def __call__(self, *arguments: object) -> Answer: ...


def _refuse_constant(name: str) -> NoReturn:
    pytest.fail(f"{name} is not JSON")


@pytest.fixture
def safear(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Safear:
    """Call `main()` in this process, in an empty directory. An exception that gets out of it fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["safear", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        code = ended.value.code or 0
        assert isinstance(code, int), f"sys.exit({code!r})"
        return Answer(code, printed.out, printed.err)

    return call


@pytest.fixture
def safear_process(tmp_path: Path) -> Safear:
    """Call the installed program in a process of its own. Slower; for what happens outside of `main()`."""

    def call(*arguments: object) -> Answer:
        command = [SCRIPT, *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    return call
