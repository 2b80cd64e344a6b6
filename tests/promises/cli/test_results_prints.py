"""What goes to standard output: results, and nothing of what a model prints, by whatever way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from calls import write
from promises.cli.conftest import Safear

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


COMMANDS = pytest.mark.parametrize("command", [["recommend", "loan", "--json"], ["check", "loan"]], ids=" ".join)


def run_loudly(folder: Path, safear: Safear, model: str, command: list[str]) -> str:
    """Assert that the results are those of a quiet model; what is on the error stream."""
    arguments = [*command, "--classifier", "mine.py:decide"]
    write(folder, "mine.py", QUIET)
    quiet = safear(*arguments)
    assert quiet.out
    write(folder, "mine.py", model)
    found = run(folder, *arguments)
    assert (found.returncode, found.stdout) == (quiet.code, quiet.out)
    assert "Traceback" not in found.stderr
    return found.stderr


@COMMANDS
def test_nothing_that_a_model_prints_is_among_the_results(command: list[str], safear: Safear, tmp_path: Path) -> None:
    heard = run_loudly(tmp_path, safear, LOUD, command)
    for text in ("imported", "asked", "other name", "number", "for later", "by a process", "by a log", "left"):
        assert text in heard or (text == "for later" and sys.platform == "win32")


@COMMANDS
def test_a_model_that_closes_standard_output(command: list[str], safear: Safear, tmp_path: Path) -> None:
    run_loudly(tmp_path, safear, CLOSING, command)


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """Nothing is said of it, though the model prints."""
    write(tmp_path, "mine.py", QUIET)
    command = f"{sys.executable} -m safear recommend loan --classifier mine.py:decide --json | true"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=300, check=False)  # a pipe
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system does not name its streams")
def test_a_file_that_is_standard_output_goes_there(safear: Safear, tmp_path: Path) -> None:
    """However standard output is kept from what a model prints."""
    command = ["recommend", "loan", "--classifier", "mine.py:decide"]
    write(tmp_path, "mine.py", QUIET)
    assert safear(*command, "-o", "out.json").code == 0
    write(tmp_path, "mine.py", LOUD)
    found = run(tmp_path, *command, "-o", "/dev/stdout")
    assert found.returncode == 0
    assert (tmp_path / "out.json").read_text(encoding="utf-8") in found.stdout
    assert '"safear"' not in found.stderr


WARNING_MODEL = """
import warnings

def decide(frame):
    warnings.warn("\\x1b[31mred\\x1b[0m\\nnext", stacklevel=1)
    return [False] * len(frame)
"""


def test_what_a_model_warns_of_is_no_order_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(WARNING_MODEL, encoding="utf-8")
    command = [sys.executable, "-W", "always", "-m", "safear", "recommend", "loan", "--classifier", "model.py:decide"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert "UserWarning: \\u001b[31mred\\u001b[0m\nnext" in done.stderr
    assert "\x1b" not in done.stderr
