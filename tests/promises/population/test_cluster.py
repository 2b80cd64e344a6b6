"""Batches on a real Dask cluster on this machine: a scheduler and workers in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import distributed
import pytest

import safear as sa
from crowds import JOB, bytes_of, part_bytes
from promises.cli.conftest import Safear
from safear.errors import ClassifierError, MissingExtraError
from safear.risk import Objective

PROBLEM = sa.parse_problem(JOB)
PATIENCE = 60.0
NOBODY = "tcp://127.0.0.1:1"  # nothing listens there


SERVING = """
import asyncio
from distributed import Scheduler, Worker

async def serve():
    here = {"host": "127.0.0.1", "dashboard": False}
    async with Scheduler(port=0, **here) as scheduler:
        async with Worker(scheduler.address, nthreads=1, **here), Worker(scheduler.address, nthreads=1, **here):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(serve())
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler and two workers in a process of their own, since one imports everything quicker than three do."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = os.environ | {"DASK_TEMPORARY_DIRECTORY": str(folder)}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", SERVING], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, (folder / "log").read_text(encoding="utf-8")
            yield address
        finally:
            process.kill()


def run(home: Path, out: str, **options: Any) -> Any:
    options = {"classifier": None, "part_size": 6, "keep": ["id"]} | options
    return sa.batch(PROBLEM, options.pop("classifier"), home / "people.csv", out=home / out, **options)


def make_classifier(least: int, *, broken: bool = False, **more: Any) -> sa.Classifier:
    """A classifier of somebody's own; a local class is sent as it is, as are those of scripts and notebooks."""

    class ByCode:
        def __init__(self) -> None:
            self.home = os.getpid()
            self.more = more

        def favourable(self, inputs: Any) -> Any:
            if broken and os.getpid() != self.home:
                raise RuntimeError("no such model here")
            return inputs.codes[:, 0] >= least

    return ByCode()


# ----------------------------------------------------------------------------------------------------------- same bytes


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (None, None)], ids=["greedy", "menu"])
def test_the_cluster_writes_the_same_bytes(objective: Objective | None, method: Any, home: Path, cluster: str) -> None:
    name = "menu" if objective is None else "greedy"
    here = run(home, f"{name} here", objective=objective, method=method, threads=1)
    calls: list[tuple[int, int]] = []
    there = run(
        home,
        f"{name} there",
        objective=objective,
        method=method,
        scheduler=cluster,
        progress=lambda *call: calls.append(call),
    )
    assert there == here
    assert bytes_of(home / f"{name} there") == bytes_of(home / f"{name} here")
    assert calls == [(done, 36) for done in range(6, 37, 6)]


def test_the_program_writes_the_same_bytes(home: Path, cluster: str, safear: Safear) -> None:
    Path("job.yaml").write_text(JOB, encoding="utf-8")
    call = ("job.yaml", home / "people.csv", "--objective", "mean", "--part-size", "6")
    for out, more in (("here", ()), ("there", ("--scheduler", cluster))):
        assert safear("batch", *call, "--out", out, *more).code == 0
    assert bytes_of(Path("there")) == bytes_of(Path("here"))


def test_what_is_there_is_not_sent(home: Path, cluster: str) -> None:
    run(home, "begun", objective=sa.Mean(), threads=1)
    expected = bytes_of(home / "begun")
    for number in (0, 3, 5):
        (home / "begun" / f"part-{number:05d}.parquet").unlink()
    assert run(home, "begun", objective=sa.Mean(), scheduler=cluster).resumed == 3
    assert bytes_of(home / "begun") == expected


def test_two_batches_one_after_the_other_do_not_mix(home: Path, cluster: str) -> None:
    """Workers keep the solver of a job; another classifier is another job."""
    for least in (1, 2):
        classifier = make_classifier(least)
        run(home, f"here {least}", classifier=classifier, objective=sa.Mean(), threads=1)
        run(home, f"there {least}", classifier=classifier, objective=sa.Mean(), scheduler=cluster)
        assert part_bytes(home / f"there {least}") == part_bytes(home / f"here {least}")
    assert part_bytes(home / "there 1") != part_bytes(home / "there 2")


def test_a_large_classifier(home: Path, cluster: str) -> None:
    """A forest has tens of megabytes, which Dask warns of; warnings are errors here and noise to a user."""
    classifier = make_classifier(2, trees=os.urandom(12_000_000))
    summary = run(home, "large", classifier=classifier, objective=sa.Mean(), scheduler=cluster)
    assert summary.people == 36


def test_a_function_in_a_file(home: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILE.py:NAME, as on the command line, works on workers that do not have the file: it needs nothing else."""
    monkeypatch.chdir(home)
    Path("lending.py").write_text("def decide(frame):\n    return frame['skill'] == 'expert'\n", encoding="utf-8")
    classifier = sa.load_classifier("lending.py:decide", PROBLEM)
    run(home, "file here", classifier=classifier, objective=sa.Mean(), threads=1)
    run(home, "file there", classifier=classifier, objective=sa.Mean(), scheduler=cluster)
    assert bytes_of(home / "file there") == bytes_of(home / "file here")


def test_workers_ask_about_nothing_twice_in_a_batch(home: Path, cluster: str) -> None:
    """However many parts there are: they keep what they know."""
    asked = home / "asked"

    class Noting:
        def favourable(self, inputs: Any) -> Any:
            with asked.open("a", encoding="utf-8") as notes:
                notes.writelines(f"{os.getpid()} {row}\n" for row in inputs.codes.tolist())
            return inputs.codes[:, 0] >= 2

    run(home, "noted", classifier=Noting(), objective=sa.Mean(), scheduler=cluster)
    lines = [line for line in asked.read_text(encoding="utf-8").splitlines() if int(line.split()[0]) != os.getpid()]
    assert len(lines) == len(set(lines)) > 0


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_a_worker_that_is_killed(home: Path, cluster: str, tmp_path: Path) -> None:
    """SIGKILL after the first part; its work is done by the others, and the bytes are the same."""
    run(home, "undisturbed", threads=1, part_size=2)
    command = [sys.executable, "-m", "dask", "worker", cluster, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    command += ["--local-directory", str(tmp_path)]
    with subprocess.Popen([*command, "--host", "127.0.0.1"], cwd=tmp_path, stderr=subprocess.DEVNULL) as victim:
        try:
            with distributed.Client(cluster, set_as_default=False, timeout=PATIENCE) as client:  # type: ignore[no-untyped-call]
                client.wait_for_workers(3, timeout=PATIENCE)
            summary = run(home, "disturbed", scheduler=cluster, progress=lambda *_: victim.kill(), part_size=2)
        finally:
            victim.kill()
    assert victim.returncode == -signal.SIGKILL
    assert (summary.parts, summary.resumed) == (18, 0)
    assert bytes_of(home / "disturbed") == bytes_of(home / "undisturbed")


def test_a_classifier_that_fails_on_a_worker(home: Path, cluster: str) -> None:
    """It is told as it is here, and not as a traceback of somewhere else."""
    classifier = make_classifier(2, broken=True)
    with pytest.raises(ClassifierError, match="the classifier failed: RuntimeError: no such model here"):
        run(home, "failing", classifier=classifier, objective=sa.Mean(), scheduler=cluster)


def test_workers_that_lack_what_the_classifier_needs(home: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is only here: an error of ours that names it, not a traceback of Dask's."""
    monkeypatch.syspath_prepend(home)
    (home / "only_here.py").write_text("def decide(frame):\n    return frame['skill'] == 'expert'\n", encoding="utf-8")
    classifier = sa.load_classifier("only_here:decide", PROBLEM)
    with pytest.raises(sa.InputError, match="only_here"):
        run(home, "only here", classifier=classifier, objective=sa.Mean(), scheduler=cluster)


@pytest.mark.parametrize(
    "address, told",
    [
        (NOBODY, "there is no Dask scheduler: Timed out trying to connect to tcp://127.0.0.1:1"),
        ("127.0.0.1:1", "there is no Dask scheduler: Timed out"),
        ("nonsense", "there is no Dask scheduler: missing port number in address 'nonsense'"),
        ("post://127.0.0.1:1", "there is no Dask scheduler: unknown address scheme 'post'"),
    ],
)
def test_no_scheduler(address: str, told: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told within seconds; and once there is one, the same can be asked again."""
    client = distributed.Client

    def soon(*arguments: Any, **options: Any) -> Any:
        assert options["timeout"] <= 10
        return client(*arguments, **(options | {"timeout": 1}))  # type: ignore[no-untyped-call]

    monkeypatch.setattr(distributed, "Client", soon)
    before = time.monotonic()
    with pytest.raises(sa.InputError) as error:
        run(home, "unsolved", objective=sa.Mean(), scheduler=address)
    assert time.monotonic() - before < 30
    (mistake,) = error.value.mistakes
    assert mistake.cause.startswith(told)
    assert mistake.remedy == "start one with: dask scheduler"
    assert mistake.place.file == address


def test_a_classifier_that_cannot_be_sent(home: Path) -> None:
    with pytest.raises(ClassifierError) as error:
        run(home, "unsent", classifier=make_classifier(2, lock=Lock()), objective=sa.Mean(), scheduler=NOBODY)
    (mistake,) = error.value.mistakes
    assert mistake.cause.startswith("the classifier cannot be sent to the cluster: ")
    assert "lock" in mistake.cause
    assert mistake.remedy == "give one that can be pickled, or leave out the scheduler"


def test_without_dask(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError) as error:
        run(home, "without", objective=sa.Mean(), scheduler=NOBODY)
    assert str(error.value) == "Dask is not installed; install it with: pip install 'safear[cluster]'"
