"""`races`: several processes at a time write the same caches, the same batch and the same file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from random import Random

from soak.counts import Count, Tally
from soak.forking import TELLTALE, load_everything, start_command
from soak.kills import JOBS, Job, is_leftover, make_place, read_files, run_whole

AT_A_TIME = 4
RACING = tuple(job for job in JOBS if job.name != "batch in processes")


def race(root: Path, job: Job, tally: Tally) -> None:
    """The same command so many times at a time in the same folder: whole files, the same bytes, each ends well."""
    whole = run_whole(root, job)
    again = f"{AT_A_TIME} at a time: safear {' '.join(job.arguments)}"
    with make_place(root) as place:
        outputs = [root / f"race-{number}.txt" for number in range(AT_A_TIME)]
        children = [
            start_command(job.arguments, folder=place.folder, output=output, env=place.env) for output in outputs
        ]
        for child in children:
            code = child.wait()
            child.end()
            tally.add("inputs")
            if TELLTALE in child.printed:
                tally.fail("tracebacks", child.printed[-700:], again)
            elif code not in {0, 2}:
                tally.fail("wrong", f"exit code {code}: {child.printed[-400:]}", again)
            else:
                tally.add("read" if code == 0 else "refused")
        if all(child.code for child in children):
            tally.fail("wrong", f"none of them ends well: {children[0].printed[-400:]}", again)
        files = {**read_files(place.folder), **read_files(place.cache)}
        for name, content in {**whole.files, **whole.kept}.items():
            tally.add("compared")
            if files.get(name) != content:
                tally.fail("differing", f"{name} differs", again)
        for name in files:
            if is_leftover(name):
                tally.fail("lost", f"left over: {name}", again)


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """Races for so many seconds, or so many."""
    load_everything()
    tally, rng, until, number = Tally("races"), Random(seed), time.monotonic() + seconds, 0
    jobs = [job for job in RACING if most is None or job.name != "kept forest"]
    rng.shuffle(jobs)
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        root = Path(name)
        while time.monotonic() < until and (most is None or number < most):
            race(root, jobs[number % len(jobs)], tally)
            number += 1
    tally.notes.append(f"{AT_A_TIME} processes at a time, {len(RACING)} commands")
    return tally.done()
