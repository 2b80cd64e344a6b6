"""`users`: another user, without a home, with a package that cannot be written to, runs everything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import safear as sa
from soak.counts import Count, Tally
from soak.forking import TELLTALE
from soak.kills import write_inputs

NOBODY = 65534
RUN = "from safear.cli.main import main; main()"
COMMANDS = (
    ("demo",), ("recommend", "loan"), ("recommend", "loan", "--objective", "cvar:0.95", "--json"), ("check", "loan"),
    ("plot", "traces", "loan", "-o", "plans.svg"), ("compare", "loan", "--objective", "mean-std:0.5"),
    ("audit", "problem.yaml", "people.csv", "--group", "gender"),
    ("batch", "problem.yaml", "people.csv", "--out", "out", "--objective", "mean"), ("sensitivity", "loan"),
)  # fmt: skip
HOMES: tuple[dict[str, str], ...] = ({}, {"HOME": "/nowhere"}, {"HOME": "/"}, {"TMPDIR": "/proc"})


# Nobody may read everything, since the interpreter may lie in somebody's home, and write nothing.
BECOME = (
    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)  # fmt: skip


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:  # noqa: ARG001  # nothing is drawn
    """Every command as nobody, in every kind of home, for so many seconds. Needs root, who alone can become nobody."""
    tally, until = Tally("users"), time.monotonic() + seconds
    if os.geteuid() or not shutil.which(BECOME[0]):
        tally.notes.append("left out: only root can become another user, by setpriv")
        return tally.done()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        root = Path(name)
        root.chmod(0o755)
        package = root / "package"  # a copy that nobody may write to
        ignored = shutil.ignore_patterns("__pycache__", "_renew.py")
        shutil.copytree(Path(sa.__file__).parent, package / "safear", ignore=ignored)
        subprocess.run(["chmod", "-R", "a+rX,go-w", str(package)], check=True)
        todo = [(words, home) for home in HOMES for words in COMMANDS]
        for words, home in todo[:most]:
            if time.monotonic() > until:
                break
            folder = Path(tempfile.mkdtemp(dir=root))
            write_inputs(folder)
            os.chown(folder, NOBODY, NOBODY)
            env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **home}
            done = subprocess.run(
                [*BECOME, sys.executable, "-c", RUN, *words], cwd=folder, env=env, capture_output=True, check=False,
                timeout=600,
            )  # fmt: skip
            printed = (done.stdout + done.stderr).decode("utf-8", "replace")
            again = f"as nobody, {home or 'no HOME'}: safear {' '.join(words)}"
            tally.add("inputs")
            if TELLTALE in printed:
                tally.fail("tracebacks", printed[-700:], again)
            elif done.returncode:
                tally.fail("wrong", f"exit code {done.returncode}: {printed[-500:]}", again)
            else:
                tally.add("read")
    tally.notes.append(f"{len(COMMANDS)} commands as nobody, {len(HOMES)} kinds of home")
    return tally.done()
