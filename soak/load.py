"""`python -m soak.load`: the page and the API under load, with everything that goes wrong outside of them.

Two rounds, each with a `safear serve` in processes of its own on the loopback interface. In the first, half of the
clients ask as they should and know the right answer, the others do everything wrong; the model behind an address hangs,
fails, talks nonsense and recovers; a worker is killed; and the server is told to stop while all of them ask. In the
second, a model in the server's own process hangs for ever.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import safear as sa
from safear.classifier.waiting import MOST_LEFT
from safear.web.connections import MOST_CONNECTIONS
from safear.web.service import Service
from soak.counts import Count, Failure
from soak.load_http import Answer, Connection, Tally, write_request
from soak.load_model import CREDIT, FOLDER, Mood, decide, set_mood
from soak.load_server import Served, Usage, serve
from soak.load_vandals import MARK, annoy
from soak.load_visitors import ERRORS, Visitor, make_visitors, visit

CLIENTS = 200
WORKERS = 2
# When the model behind the address changes its mood, in shares of the round; a worker is killed at the last.
MOODS: list[tuple[float, Mood]] = [(0.25, "hang"), (0.4, "fail"), (0.5, "garbage"), (0.6, "well")]
KILL, QUIET = 0.75, 2.0  # seconds after which nothing of the clients is left
STUCK = 0.25  # share of the time for the second round
# For each connection, what is sent (64 kB, as received and as joined) or an answer that is not taken (64 kB and its own
# length): 800 large bodies that are not sent to the end took 70 MB. Besides, kept menus (400 at most) and threads.
MOST_MEGABYTES = MOST_CONNECTIONS * 0.25 + 100  # more than before, for each worker
MOST_LINES = 400  # of the log
STOP_SECONDS = 5.0  # promised are two; the machine is shared with the clients
RECOVERY_SECONDS = 10.0  # once the model is well, until somebody has the right answer


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """The figures of a run: what was answered, what it took, and which promises were broken."""

    clients: int
    seconds: float
    answers: int  # of any kind
    right: int  # answers that were compared and are the same to the byte
    told_to_come_back: int  # 503, all with Retry-After
    model_failures: int  # 502, all while the model failed
    refused: int  # 4xx
    p50: float
    p95: float
    p99: float
    megabytes_before: float
    megabytes_most: float
    megabytes_after: float
    threads_before: int
    threads_most: int
    threads_after: int
    files_before: int
    files_most: int
    files_after: int
    recovery: float  # seconds from the model's recovery to the next right answer
    stop: float  # seconds
    log_lines: int
    stuck_answers: int  # beside a model that hangs for ever
    stuck_threads: int  # that it holds
    broken: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Round:
    tally: Tally
    before: Usage
    served: Served
    after: Usage
    recovery: float
    stop: float
    lines: list[str]


def run_load(*, clients: int, seconds: float, seed: int) -> LoadRecord:
    """The figures of a run with so many clients for so long."""
    _allow_files()
    rng = random.Random(seed)
    service = Service.of(sa.parse_problem(CREDIT), decide)
    service.warm_up()  # as the server does
    visitors = make_visitors(service, max(4, min(clients // 5, 40)), rng)
    with tempfile.TemporaryDirectory(prefix="safear-load-") as name:
        crowd = _run_crowd(Path(name), visitors, clients=clients, seconds=seconds * (1 - STUCK), rng=rng)
        stuck = _run_stuck(Path(name), visitors, clients=min(clients, 50), seconds=seconds * STUCK, rng=rng)
    both = Tally(crowd.tally.counts + stuck.tally.counts, broken=crowd.tally.broken + stuck.tally.broken)
    cuts = statistics.quantiles(crowd.tally.seconds, n=100) if len(crowd.tally.seconds) > 1 else [0.0] * 99
    return LoadRecord(
        clients=clients,
        seconds=seconds,
        answers=both.count(*range(200, 600)),
        right=len(crowd.tally.seconds) + len(stuck.tally.seconds),
        told_to_come_back=both.count(503),
        model_failures=both.count(502),
        refused=both.count(*range(400, 500)),
        p50=cuts[49],
        p95=cuts[94],
        p99=cuts[98],
        megabytes_before=crowd.before.megabytes,
        megabytes_most=crowd.served.most_megabytes,
        megabytes_after=crowd.after.megabytes,
        threads_before=crowd.before.threads,
        threads_most=crowd.served.most_threads,
        threads_after=crowd.after.threads,
        files_before=crowd.before.files,
        files_most=crowd.served.most_files,
        files_after=crowd.after.files,
        recovery=crowd.recovery,
        stop=max(crowd.stop, stuck.stop),
        log_lines=len(crowd.lines) + len(stuck.lines),
        stuck_answers=stuck.tally.count(*range(200, 600)),
        stuck_threads=stuck.after.threads - stuck.before.threads,
        broken=dict(both.broken),
    )


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """The part of `make soak`: an input is a request that was answered; with `most`, so many clients."""
    record = run_load(clients=most or CLIENTS, seconds=seconds, seed=seed)
    failures = tuple(Failure("wrong", told, f"python -m soak.load --seed {seed}") for told in record.broken)
    figures = {name: value for name, value in asdict(record).items() if name != "broken"}
    return Count(
        "load",
        inputs=record.answers,
        read=record.right,
        refused=record.refused + record.told_to_come_back + record.model_failures,
        compared=record.right,
        wrong=sum(record.broken.values()),
        seconds=seconds,
        note=", ".join(f"{name} {value:g}" for name, value in figures.items()),
        failures=failures,
    )


def _allow_files() -> None:
    """As many open files as the system lets us have: every client has some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _model(folder: Path) -> Iterator[str]:
    """The model behind an address; its address."""
    set_mood(folder, "well")
    command = [sys.executable, "-m", "soak.load_model", str(folder)]
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, sys.path)])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="ascii", cwd=root, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline() if process.stdout else 0)}/"
        finally:
            process.kill()


def _run_crowd(folder: Path, visitors: list[Visitor], *, clients: int, seconds: float, rng: random.Random) -> _Round:
    """Visitors and vandals at once, a model in all moods, a worker that is killed."""
    problem, log = folder / "credit.json", folder / "crowd.log"
    problem.write_text(json.dumps(CREDIT), encoding="utf-8")
    with _model(folder) as address:
        arguments = [str(problem), "--classifier", address, "--workers", str(WORKERS), "--no-analyst"]
        with serve(*arguments, log=log) as served:
            return asyncio.run(_crowd(served, folder, visitors, clients=clients, seconds=seconds, rng=rng))


async def _crowd(
    served: Served, folder: Path, visitors: list[Visitor], *, clients: int, seconds: float, rng: random.Random
) -> _Round:
    tally = Tally(kills=served.killed)
    await asyncio.gather(*(_warm_up(served.port, visitor) for visitor in visitors[:4]))
    before, start = served.look(), time.monotonic()
    until = start + seconds
    watching = asyncio.create_task(_watch(served))
    directing = asyncio.create_task(_direct(served, folder, tally, start=start, seconds=seconds))
    guests = [visitors[number % len(visitors)] for number in range(clients - clients // 2)]
    seeds = [random.Random(rng.random()) for _ in range(clients)]
    await asyncio.gather(
        *(visit(served.port, tally, guest, until=until, rng=seeds[n]) for n, guest in enumerate(guests)),
        *(annoy(served.port, tally, until=until, rng=one) for one in seeds[len(guests) :]),
    )
    recovery = await directing
    await asyncio.sleep(QUIET)
    after = served.look()
    if served.process.poll() is not None or len(served.workers()) != WORKERS:
        tally.broken["not all workers are there at the end"] += 1
    lines = _read_log(served, visitors, tally)  # what is told of the end is not of the crowd
    stop = await _stop_under_load(served, visitors, rng)
    watching.cancel()
    _judge_usage(tally, before, served, after)
    if recovery > RECOVERY_SECONDS:
        tally.broken[f"recovered after {recovery:.1f} s"] += 1
    if stop > STOP_SECONDS:
        tally.broken[f"stopped after {stop:.1f} s"] += 1
    return _Round(tally, before, served, after, recovery, stop, lines)


async def _warm_up(port: int, visitor: Visitor) -> None:
    connection = Connection(port)
    for asked in visitor.questions:
        await connection.send(write_request(asked.path, asked.body, kind=asked.kind))
    connection.close()


async def _watch(served: Served) -> None:
    while True:
        served.look()
        await asyncio.sleep(0.25)


async def _direct(served: Served, folder: Path, tally: Tally, *, start: float, seconds: float) -> float:
    """Change the model's mood, kill a worker; the seconds from the model's recovery to the next right answer."""
    tally.troubles.append((start + MOODS[0][0] * seconds, float("inf")))
    for share, mood in MOODS:
        await asyncio.sleep(max(start + share * seconds - time.monotonic(), 0.0))
        set_mood(folder, mood)
    well = time.monotonic()
    # Who asked while it failed may be told so later: questions wait, and each is tried again for some seconds.
    tally.troubles[-1] = (tally.troubles[-1][0], well)
    while tally.last_right < well and time.monotonic() < start + seconds:
        await asyncio.sleep(0.02)
    recovery = time.monotonic() - well
    await asyncio.sleep(max(start + KILL * seconds - time.monotonic(), 0.0))
    served.kill_worker()
    return recovery


async def _stop_under_load(served: Served, visitors: list[Visitor], rng: random.Random) -> float:
    """The seconds that the server takes to stop while visitors ask; what they meet is not counted."""
    until = time.monotonic() + 60
    seeds = [random.Random(rng.random()) for _ in visitors]
    asking = [
        asyncio.create_task(visit(served.port, Tally(), one, until=until, rng=seeds[n]))
        for n, one in enumerate(visitors)
    ]
    await asyncio.sleep(1)
    taken = await asyncio.to_thread(served.stop)
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    return taken


def _read_log(served: Served, visitors: list[Visitor], tally: Tally) -> list[str]:
    text = served.log.read_text(encoding="utf-8", errors="replace")
    marks = {MARK, *(mark for visitor in visitors for mark in visitor.marks)}
    for mark in marks:
        if mark.lower() in text.lower():
            tally.broken["personal data in the log"] += 1
    if "Traceback" in text:
        tally.broken["a traceback in the log"] += 1
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        tally.broken[f"{len(lines)} lines in the log"] += 1
    return lines


def _judge_usage(tally: Tally, before: Usage, served: Served, after: Usage) -> None:
    """Whether what was used stays within its bounds, and is given back."""
    grown = served.most_megabytes - before.megabytes
    if grown > MOST_MEGABYTES * WORKERS:
        tally.broken[f"{grown:.0f} MB more than before"] += 1
    # Each worker keeps the threads that work, and those for the model that they have not ended yet.
    if after.threads > before.threads + WORKERS * (os.cpu_count() or 1) * 2:
        tally.broken[f"{after.threads} threads left, {before.threads} before"] += 1
    if after.files > before.files + WORKERS * (os.cpu_count() or 1) * 2:
        tally.broken[f"{after.files} files left open, {before.files} before"] += 1


def _run_stuck(folder: Path, visitors: list[Visitor], *, clients: int, seconds: float, rng: random.Random) -> _Round:
    """A model in the server's own process that hangs for ever: what does not need it is still answered."""
    set_mood(folder, "well")
    log, arguments = folder / "stuck.log", [str(folder / "credit.json"), "--classifier", "soak.load_model:grant"]
    with serve(*arguments, "--no-analyst", log=log, environment={FOLDER: str(folder)}) as served:
        return asyncio.run(_stick(served, folder, visitors, clients=clients, seconds=seconds, rng=rng))


async def _stick(
    served: Served, folder: Path, visitors: list[Visitor], *, clients: int, seconds: float, rng: random.Random
) -> _Round:
    tally = Tally()
    await _warm_up(served.port, visitors[0])
    before, until = served.look(), time.monotonic() + seconds
    tally.troubles.append((0.0, float("inf")))
    set_mood(folder, "hang")
    seeds = [random.Random(rng.random()) for _ in range(clients)]
    guests = [visitors[number % len(visitors)] for number in range(clients)]
    await asyncio.gather(
        *(visit(served.port, tally, guest, until=until, rng=seeds[n]) for n, guest in enumerate(guests)),
        _look_in(served.port, tally, until=until),
    )
    after = served.look()
    set_mood(folder, "well")
    well = time.monotonic()
    while tally.last_right < well and time.monotonic() < well + RECOVERY_SECONDS:
        await visit(served.port, tally, visitors[0], until=time.monotonic() + 0.2, rng=rng)
    recovery = time.monotonic() - well
    if tally.last_right < well:
        tally.broken["no answer once the model does not hang any more"] += 1
    stop = await asyncio.to_thread(served.stop)
    if after.threads - before.threads > MOST_LEFT + (os.cpu_count() or 1):
        tally.broken[f"{after.threads} threads beside a model that hangs, {before.threads} before"] += 1
    return _Round(tally, before, served, after, recovery, stop, _read_log(served, visitors, tally))


async def _look_in(port: int, tally: Tally, *, until: float) -> None:
    """Whether the server still tells how it is, quickly and on a new connection."""
    while time.monotonic() < until:
        connection, start = Connection(port), time.monotonic()
        try:
            answer: Answer = await connection.send(write_request("/api/v1/health"))
            tally.note("health beside a model that hangs", answer, start=start, allowed={200})
        except ERRORS as error:
            tally.note_cut("health beside a model that hangs", error, start=start)
        connection.close()
        await asyncio.sleep(0.5)


def main() -> None:
    """Run it, print the figures, and end with 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    record = run_load(clients=options.clients, seconds=options.seconds, seed=options.seed)
    print(json.dumps(asdict(record), indent=2))
    sys.exit(1 if record.broken else 0)


if __name__ == "__main__":
    main()
