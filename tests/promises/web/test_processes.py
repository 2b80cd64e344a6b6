"""Several workers: what happens if one of them cannot be replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = """
import os, sys, time
from pathlib import Path
from safear.errors import InputError
from safear.web import processes

processes.AGAIN_SECONDS = 0.5

def work(folder, *, ready):
    if not Path(folder, "allowed").exists():
        raise InputError.at((), "the file is gone")
    Path(folder, f"{os.getpid()}.pid").touch()
    ready()
    while True:
        time.sleep(1)

if __name__ == "__main__":
    processes.Workforce(2, work, sys.argv[1]).run(ready=lambda: print("ready", flush=True))
"""


def test_others_go_on_while_a_worker_cannot_be_replaced(tmp_path: Path) -> None:
    """It is tried again, and told without where in the program it happened."""
    script, allowed = tmp_path / "script.py", tmp_path / "allowed"
    script.write_text(SCRIPT)
    allowed.touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            allowed.unlink()
            first = find_workers(tmp_path)
            os.kill(min(first), signal.SIGKILL)
            assert process.stderr is not None
            told = [process.stderr.readline() for _ in range(4)]  # it could not start twice
            assert process.poll() is None
            os.kill(max(first), 0)
            allowed.touch()
            deadline = time.monotonic() + 60
            while not find_workers(tmp_path) - first:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
        finally:
            process.terminate()
            try:
                _, rest = process.communicate(timeout=30)
            finally:
                process.kill()
    assert told[0] == "a worker ended with code -9; another one is started\n"
    assert told[1:3] == [
        "the file is gone\n",
        "a worker could not start; the others go on, and it is tried again every 0.5 s\n",
    ]
    assert "Traceback" not in "".join(told) + rest
    assert process.returncode == -signal.SIGTERM


def find_workers(folder: Path) -> set[int]:
    return {int(path.stem) for path in folder.glob("*.pid")}
