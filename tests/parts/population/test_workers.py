"""Workers one by one: how they are dismissed, and how they end if nobody tells them anything."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from doors import workers
from promises.population.test_workers import PATIENCE, started  # noqa: F401  # a fixture


def test_nobody_waits_for_a_process_that_does_not_listen(
    tmp_path: Path,
    started: list[Any],  # noqa: F811  # the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its job is larger than what a pipe holds, so that it is still being sent when the process is dismissed."""
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    deaf.chmod(0o755)
    monkeypatch.setattr(workers, "get_executable", lambda: str(deaf))
    monkeypatch.setattr(workers, "STOP_SECONDS", 0.01)

    class Interrupted(SimpleQueue[Any]):
        def get(self, *_: Any) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(workers, "SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(workers.Crew(bytes(2**20), 2).solve(iter([])))
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


@pytest.mark.parametrize("sent", [b"", pickle.dumps(["/nowhere"])[:-3]])
def test_whoever_starts_a_worker_may_be_killed_at_once(sent: bytes) -> None:
    """It has not been told yet where anything is, and ends without a word."""
    command = [sys.executable, "-P", "-c", workers.BEGIN]
    done = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
