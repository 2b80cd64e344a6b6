"""`kills`: commands that write are ended at random moments; what they wrote is whole, and they can be done again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

from soak.counts import Count, Tally
from soak.forking import PATIENCE, TELLTALE, Child, load_everything, start_command
from soak.seeds import TINY

SIGNALS = (*[signal.SIGKILL] * 8, signal.SIGINT, signal.SIGTERM)
ROWS = 24
LOG = "action,worked\n" + "learn,yes\nlearn,no\n" * 12


class Job(NamedTuple):
    """A command that writes. `again` is how often it may be ended before it is left to finish.

    `prepare` is called in its process before; `hires`: it has workers, processes of their own.
    """

    name: str
    arguments: tuple[str, ...]
    weight: int
    again: int = 3
    prepare: Callable[[], object] | None = None
    hires: bool = False


def _command(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def hire_at_once() -> None:
    """Have a batch of a few people start workers."""
    from safear.population import workers  # noqa: PLC0415  # loaded by the parent

    workers.MANY = 2


_BATCH = "batch problem.yaml people.csv --out out"
JOBS = (
    Job("batch of plans", _command(f"{_BATCH} --objective mean --part-size 4 --threads 1"), 6),
    Job("batch on two threads", _command(f"{_BATCH} --objective cvar:0.95 --part-size 3 --threads 2 --plans"), 4),
    Job("batch of menus", _command(f"{_BATCH} --part-size 6 --threads 1"), 2),
    Job("batch in processes", _command(f"{_BATCH} --part-size 2 --threads 2"), 3, prepare=hire_at_once, hires=True),
    Job("saved plan", _command("recommend problem.yaml --save plan.json -o menu.json"), 4),
    Job("letter", _command("recommend problem.yaml --report letter.html --date 2024-05-31 --reference A1"), 2),
    Job("picture", _command("plot traces problem.yaml -o plans.svg"), 3),
    Job("fitted problem", _command("fit problem.yaml log.csv -o fitted.yaml"), 3),
    Job("audit", _command("audit problem.yaml people.csv --group gender -o audit.json --skip-bad bad.csv"), 2),
    Job("schema", _command("schema menu -o schema.json"), 2),
    Job("kept forest", _command("check german"), 1),
)


def write_inputs(folder: Path) -> None:
    """A problem, people and a log."""
    people = "id,skill,age,gender,cost:learn\n" + "".join(
        f"{i},{('basic', 'skilled', 'expert')[i % 3]},{18 + 3 * i % 50},{('female', 'male')[i % 2]},{i % 4 or ''}\n"
        for i in range(ROWS)
    )
    for name, text in {"problem.yaml": TINY, "people.csv": people, "log.csv": LOG}.items():
        (folder / name).write_text(text, encoding="utf-8")


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def is_leftover(name: str) -> bool:
    """Whether a file is one that something was being written to."""
    return any(part.startswith(".") for part in Path(name).parts)


def is_whole(name: str, content: bytes, whole: Mapping[str, bytes]) -> bool:
    """Whether a file is as it is in the end; the list of the parts of a batch has some of its lines until then."""
    final = whole.get(name)
    if name.endswith("_parts.sha256") and final is not None:
        return set(content.splitlines(keepends=True)) <= set(final.splitlines(keepends=True))
    return content == final


class Place(NamedTuple):
    """Where a command runs: its folder, that of its caches, and that of temporary files."""

    folder: Path
    cache: Path
    temporary: Path

    @property
    def env(self) -> dict[str, str]:
        """What the command is told of them."""
        return {"SAFEAR_CACHE": str(self.cache), "TMPDIR": str(self.temporary), "COLUMNS": "100"}

    def start(self, job: Job) -> Child:
        """Begin a command."""
        output = self.folder.with_suffix(".txt")
        return start_command(job.arguments, folder=self.folder, output=output, env=self.env, prepare=job.prepare)

    def find_workers(self) -> list[int]:
        """The processes that the command has started, whoever their parent is now: they begin with its settings."""
        mark, found = os.fsencode(f"SAFEAR_CACHE={self.cache}"), []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended meanwhile
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


@contextmanager
def make_place(root: Path) -> Iterator[Place]:
    """Empty folders with the inputs."""
    base = Path(tempfile.mkdtemp(dir=root))
    place = Place(base / "work", base / "cache", base / "tmp")
    for folder in place:
        folder.mkdir()
    write_inputs(place.folder)
    try:
        yield place
    finally:
        shutil.rmtree(base, ignore_errors=True)


class Whole(NamedTuple):
    """How a command ends if nobody ends it: its files, its kept files, and the seconds that it takes."""

    files: Mapping[str, bytes]
    kept: Mapping[str, bytes]
    seconds: float


def run_whole(root: Path, job: Job) -> Whole:
    """Let a command finish."""
    with make_place(root) as place:
        began = time.monotonic()
        child, hired = place.start(job), not job.hires
        while not hired and child.is_running():
            hired = bool(place.find_workers())
        code = child.wait()
        if code or not hired:
            raise RuntimeError(f"{job.name} ends with {code}{'' if hired else ', without workers'}: {child.printed}")
        return Whole(read_files(place.folder), read_files(place.cache), time.monotonic() - began)


def wait_for_moment(rng: Random, child: Child, place: Place, whole: Whole) -> None:
    """A random moment, or the one in which something begins to be written."""
    if rng.random() < 0.6:
        time.sleep(rng.random() * whole.seconds)
        return
    known, until = _names(place), time.monotonic() + 3 * whole.seconds
    while child.is_running() and time.monotonic() < until and _names(place) == known:
        pass
    time.sleep(rng.choice((0, 0, 0.0005, 0.002)))


def _names(place: Place) -> set[str]:
    found = set()
    for folder in (place.folder, place.cache, place.folder / "out"):
        try:
            found |= {entry.name for entry in os.scandir(folder)}
        except FileNotFoundError:
            continue
    return found


def kill_once(rng: Random, job: Job, place: Place, whole: Whole, tally: Tally, again: str) -> None:
    """Begin, end at some moment, and look at what is there."""
    child = place.start(job)
    wait_for_moment(rng, child, place, whole)
    workers = place.find_workers() if job.hires else []
    if workers and rng.random() < 0.3:
        lose_worker(rng.choice(workers), child, job, tally, again)
    number = rng.choice(SIGNALS)
    was_running = child.is_running()
    child.send(number)
    code = child.wait()
    if job.hires:
        require_no_workers(place, f"{job.name} after {signal.Signals(number).name}", tally, again)
    if code is None:
        tally.fail("wrong", f"{job.name}: does not end after {signal.Signals(number).name}", again)
    elif was_running and code != 0:
        tally.add("kills")
    child.end()
    if TELLTALE in child.printed:
        name = signal.Signals(number).name
        tally.fail("tracebacks", f"{job.name}: a traceback after {name}: {child.printed[-600:]}", again)
    for name, content in read_files(place.folder).items():
        if not is_leftover(name) and not is_whole(name, content, whole.files):
            tally.fail("lost", f"{job.name}: {name} is half-written ({len(content)} bytes)", again)
    for name, content in read_files(place.cache).items():
        if not is_leftover(name) and not is_whole(name, content, whole.kept):
            tally.fail("lost", f"{job.name}: the kept {name} is half-written ({len(content)} bytes)", again)


def lose_worker(worker: int, child: Child, job: Job, tally: Tally, again: str) -> None:
    """End a worker, as the system does that is out of memory: somebody else does its work."""
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
        tally.add("kills")
    if child.wait() != 0:
        tally.fail("wrong", f"{job.name}: ends with {child.code} without one of its workers: {child.printed}", again)


def require_no_workers(place: Place, whose: str, tally: Tally, again: str) -> None:
    """Workers end with who has started them; one that nobody has told needs a moment."""
    until = time.monotonic() + PATIENCE
    while (left := place.find_workers()) and time.monotonic() < until:
        time.sleep(0.01)
    if left:
        tally.fail("lost", f"{whose}: {len(left)} of its processes are still there", again)
    for worker in left:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def finish(job: Job, place: Place, whole: Whole, tally: Tally, again: str) -> None:
    """Do it again to the end: the same bytes as ever, and nothing besides."""
    child = place.start(job)
    code = child.wait()
    child.end()
    tally.add("compared")
    if code != 0:
        kind = "tracebacks" if TELLTALE in child.printed else "wrong"
        tally.fail(kind, f"{job.name}: done again, it ends with {code}: {child.printed[-600:]}", again)
        return
    files = read_files(place.folder)
    missing = [name for name, content in whole.files.items() if files.get(name) != content]
    if missing:
        tally.fail("differing", f"{job.name}: done again, {missing} differ", again)
    left = [name for name in files if is_leftover(name)]
    left += [f"SAFEAR_CACHE/{name}" for name in read_files(place.cache) if is_leftover(name)]
    left += [f"TMPDIR/{path.name}" for path in place.temporary.iterdir()]
    if left:
        tally.fail("lost", f"{job.name}: left over after it was done again: {left}", again)


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """End commands for so many seconds, or so many times."""
    load_everything()
    tally, rng, until = Tally("kills"), Random(seed), time.monotonic() + seconds
    wholes: dict[str, Whole] = {}
    jobs = [job for job in JOBS if most is None or job.name != "kept forest"]  # which takes seconds
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        root, number = Path(name), 0
        while time.monotonic() < until and (most is None or tally.numbers["kills"] < most):
            number += 1
            (job,) = rng.choices(jobs, [job.weight for job in jobs])
            again = f"python -m soak kills --seed {seed} (number {number})"
            if job.name not in wholes:
                wholes[job.name] = run_whole(root, job)
            with make_place(root) as place:
                for _ in range(rng.randint(1, job.again)):
                    kill_once(rng, job, place, wholes[job.name], tally, again)
                finish(job, place, wholes[job.name], tally, again)
    tally.notes.append(f"{len(JOBS)} commands, done again to the end {tally.numbers['compared']} times")
    return tally.done()
