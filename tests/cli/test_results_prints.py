"""What goes to standard output: results, and nothing of what a model prints, by whatever way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.calls import write

QUIET = """
    def decide(frame):
        return frame["savings"] == "rich"
    """
LOUD = """
    import atexit, ctypes, logging, os, subprocess, sys

    print("imported")
    atexit.register(print, "left")
    logging.basicConfig(stream=sys.stdout)

    def decide(frame):
        print("asked")
        sys.__stdout__.write("by its other name\\n")
        os.write(1, b"by its number\\n")
        if sys.platform != "win32":
            ctypes.CDLL(None).printf(b"by C, which keeps it for later\\n")
        subprocess.run([sys.executable, "-c", "print('by a process')"], check=True)
        logging.getLogger("mine").error("by a log")
        return frame["savings"] == "rich"
    """
CLOSING = """
    import os, sys

    def decide(frame):
        if not sys.stdout.closed:
            sys.stdout.close()
        return frame["savings"] == "rich"
    """


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "safear", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False)


@pytest.mark.parametrize("command", [["recommend", "loan", "--json"], ["check", "loan"]], ids=" ".join)
def test_nothing_that_a_model_prints_is_among_the_results(command: list[str], tmp_path: Path) -> None:
    found = []
    for text in (QUIET, LOUD, CLOSING):
        write(tmp_path, "mine.py", text)
        found.append(run(tmp_path, *command, "--classifier", "mine.py:decide"))
    quiet, loud, closing = found
    assert quiet.stdout
    assert [(one.returncode, one.stdout) for one in (loud, closing)] == [(quiet.returncode, quiet.stdout)] * 2
    for told in ("imported", "asked", "other name", "number", "for later", "by a process", "by a log", "left"):
        assert told in loud.stderr or (told == "for later" and sys.platform == "win32")
    assert "Traceback" not in loud.stderr + closing.stderr


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """Nothing is said of it, though the model prints."""
    write(tmp_path, "mine.py", QUIET)
    command = f"{sys.executable} -m safear recommend loan --classifier mine.py:decide --json | true"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=300, check=False)  # a pipe
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system does not name its streams")
def test_a_file_that_is_standard_output_goes_there(tmp_path: Path) -> None:
    """However standard output is kept from what a model prints."""
    write(tmp_path, "mine.py", LOUD)
    command = ["recommend", "loan", "--classifier", "mine.py:decide"]
    assert run(tmp_path, *command, "-o", "out.json").returncode == 0
    found = run(tmp_path, *command, "-o", "/dev/stdout")
    assert found.returncode == 0
    assert (tmp_path / "out.json").read_text(encoding="utf-8") in found.stdout
    assert '"safear"' not in found.stderr
