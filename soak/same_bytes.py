"""`same_bytes`: what is written has the same bytes whatever the hash seed, threads, caches, locale and processor."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random

from soak.counts import Count, Tally
from soak.kills import read_files, write_inputs

SCRIPT = """\
import os, sys
from click.testing import CliRunner
from safear.cli.main import cli

def run(*words):
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    if done.exit_code: sys.exit(f"{words}: {done.exit_code}: {done.output}")
    return done.stdout

def keep(name, text):
    with open(name, "w", encoding="utf-8") as file: file.write(text)

audit = "audit", "problem.yaml", "people.csv", "--group", "gender", "--objective"
batch = "batch", "problem.yaml", "people.csv", "--part-size", "5", "--threads", os.environ["SOAK_THREADS"]
keep("cvar.json", run("recommend", "loan", "--objective", "cvar:0.95", "--json"))
keep("audit.json", run(*audit, "mean", "--json"))
run(*batch, "--out", "plans", "--objective", "mean")
if "few" not in sys.argv:  # what takes long
    keep("menu.json", run("recommend", "loan", "--json"))
    keep("sensitivity.json", run("sensitivity", "health-insurance", "--json"))
    run("recommend", "loan", "--report", "letter.html", "--date", "2024-05-31", "--reference", "A 1")
    run("recommend", "loan", "--save", "plan.json")
    run("plot", "traces", "loan", "-o", "traces.svg")
    run("plot", "frontier", "loan", "-o", "frontier.svg")
    run("plot", "distribution", "loan", "-o", "distribution.png")
    run(*batch, "--out", "menus")
"""
CHANGES: Mapping[str, Mapping[str, str]] = {
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed 4242": {"PYTHONHASHSEED": "4242"},
    "one thread": {"SOAK_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "four threads": {
        "SOAK_THREADS": "4",
        "OPENBLAS_NUM_THREADS": "4",
        "OMP_NUM_THREADS": "4",
    },
    "LC_ALL=C": {"LC_ALL": "C", "PYTHONUTF8": "0"},
    "a Turkish locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "Pacific time": {"TZ": "Pacific/Kiritimati"},
    "a narrow terminal": {"COLUMNS": "20", "TERM": "dumb"},
    "BLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "BLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "the core for any processor": {"SAFEAR_CORE": "baseline"},
    "optimised Python": {"PYTHONOPTIMIZE": "1"},
}


def write_outputs(root: Path, env: Mapping[str, str], *, few: bool = False) -> dict[str, str]:
    """Everything that is compared, by the SHA-256 of its bytes."""
    folder = Path(tempfile.mkdtemp(dir=root)) / "work"  # always called the same: results name their files
    folder.mkdir()
    write_inputs(folder)
    usual = {"PYTHONHASHSEED": "0", "SOAK_THREADS": "2"}
    command = [sys.executable, "-c", SCRIPT, *(["few"] if few else [])]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **usual, **env}, capture_output=True, check=False, timeout=1800
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace")[-1500:])
    found = {name: hashlib.sha256(content).hexdigest() for name, content in read_files(folder).items()}
    shutil.rmtree(folder.parent)
    return found


def compare(usual: Mapping[str, str], found: Mapping[str, str], what: str, tally: Tally) -> None:
    """Count the files that are as they usually are, and those that are not."""
    for name in sorted(found):
        tally.add("compared")
        if usual.get(name) != found.get(name):
            tally.fail("differing", f"{name} differs: {what}", f"soak.same_bytes.CHANGES[{what!r}]")


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """The usual outputs, then those of each change in a random order, for so many seconds; or few, of so many."""
    tally, until = Tally("same_bytes"), time.monotonic() + seconds
    changes = list(CHANGES)
    Random(seed).shuffle(changes)
    done = []
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        root = Path(name)
        few = most is not None

        usual = write_outputs(root, {}, few=few)
        for change in changes[:most]:
            if time.monotonic() > until:
                break
            try:
                found = write_outputs(root, CHANGES[change], few=few)
            except RuntimeError as error:
                tally.fail("tracebacks", f"{change}: {error}", f"soak.same_bytes.CHANGES[{change!r}]")
                continue
            compare(usual, found, change, tally)
            done.append(change)
    tally.notes.append(f"{len(usual)} files with {', '.join(done)}")
    return tally.done()
