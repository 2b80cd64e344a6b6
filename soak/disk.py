"""`disk`: nothing more can be written. It is told as an error of ours, and what was there before is as it was."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from soak.counts import Count, Tally
from soak.forking import TELLTALE, load_everything, start_command
from soak.kills import JOBS, Job, is_leftover, is_whole, read_files, run_whole, write_inputs

WRITING = tuple(job for job in JOBS if job.name not in {"kept forest", "batch in processes"})
TARGETS = (
    "out",
    "plan.json",
    "menu.json",
    "letter.html",
    "plans.svg",
    "fitted.yaml",
    "audit.json",
    "bad.csv",
    "schema.json",
)


@contextmanager
def small_disk(root: Path, size: int) -> Iterator[Path | None]:
    """A file system of so many bytes; None where only root could have one."""
    place = Path(tempfile.mkdtemp(dir=root))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "soak", str(place)]
    done = subprocess.run(mount, capture_output=True, check=False) if os.geteuid() == 0 else None
    if done is None or done.returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


def limit_files(size: int) -> Callable[[], None]:
    """No file may become larger, as with a quota."""

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python has it: writing fails instead
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is printed goes to files too
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return prepare


class Trial:
    """A command that cannot write what it wants, and what must be so afterwards."""

    def __init__(self, root: Path, tally: Tally) -> None:
        self.root, self.tally = root, tally

    def run(self, job: Job, folder: Path, how: str, prepare: Callable[[], object] | None = None) -> None:
        """Run it; what was there before stays, or is replaced by what belongs there, whole."""
        write_inputs(folder) if not (folder / "problem.yaml").exists() else None
        before, again = read_files(folder), f"{how}: safear {' '.join(job.arguments)}"
        output = self.root / "out.txt"
        env = {"TMPDIR": str(self.root), "SAFEAR_CACHE": str(self.root / "cache")}
        child = start_command(job.arguments, folder=folder, output=output, env=env, prepare=prepare)
        code = child.wait()
        child.end()
        self.tally.add("inputs")
        if TELLTALE in child.printed:
            self.tally.fail("tracebacks", child.printed[-700:], again)
        elif code not in {0, 2}:
            self.tally.fail("wrong", f"exit code {code}: {child.printed[-400:]}", again)
        elif code == 2 and not child.printed.strip():
            self.tally.fail("wrong", "nothing is told", again)
        else:
            self.tally.add("read" if code == 0 else "refused")
        self.check(job, folder, before, again)

    def check(self, job: Job, folder: Path, before: dict[str, bytes], again: str) -> None:
        """No half of a file, no file lost, nothing left over."""
        if not folder.exists():
            return
        whole, after = self.wholes(job), read_files(folder)
        for name, content in after.items():
            if is_leftover(name):
                self.tally.fail("lost", f"left over: {name}", again)
            elif content != before.get(name) and not is_whole(name, content, whole):
                self.tally.fail("lost", f"{name} is half-written ({len(content)} bytes)", again)
        for name in before.keys() - after.keys():
            self.tally.fail("lost", f"{name} is gone", again)

    def wholes(self, job: Job) -> dict[str, bytes]:
        """What the command writes where it can."""
        known: dict[str, dict[str, bytes]] = self.__dict__.setdefault("_wholes", {})
        if job.name not in known:
            known[job.name] = dict(run_whole(self.root, job).files)
        return known[job.name]


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """Every command that writes, on disks that are full, limited, read-only or gone, for so many seconds."""
    load_everything()
    tally, rng, until, number = Tally("disk"), Random(seed), time.monotonic() + seconds, 0
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        root = Path(name)
        trial = Trial(root, tally)
        while time.monotonic() < until and (most is None or tally.numbers["inputs"] < most):
            job, kind = WRITING[number % len(WRITING)], (number // len(WRITING)) % 4
            number += 1
            folder = Path(tempfile.mkdtemp(dir=root))
            if kind == 0:
                with small_disk(root, rng.choice((20480, 24576, 40960))) as place:
                    if place is not None:
                        trial.run(job, place, "a full disk")
            elif kind == 1:
                size = rng.choice((1000, 2000, 4096))
                write_inputs(folder)
                for target in TARGETS[1:]:
                    (folder / target).write_text("as it was", encoding="utf-8")
                trial.run(job, folder, f"no file above {size} bytes", limit_files(size))
            elif kind == 2 and not is_root:
                write_inputs(folder)
                folder.chmod(0o555)
                trial.run(job, folder, "a read-only folder")
                folder.chmod(0o755)
            elif kind == 3:
                write_inputs(folder)
                trial.run(job, folder, "a folder that is gone", partial(shutil.rmtree, folder))
            shutil.rmtree(folder, ignore_errors=True)
    tally.notes.append(
        "full disks (tmpfs), limited files, folders that are gone" + ("" if is_root else ", read-only folders")
    )
    return tally.done()
