"""Batches on a real Dask cluster: a scheduler and workers that are processes of their own, on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from population.crowds import JOB, bytes_of, job_people, part_bytes
from safear.classifier import Inputs
from safear.classifier.sources import load_classifier
from safear.errors import ClassifierError, MissingExtraError
from safear.population import BatchSummary
from safear.population import cluster as cluster_module
from safear.population.cluster import solve_part
from safear.population.parts import Job
from safear.risk import Objective

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")

PROBLEM = sa.parse_problem(JOB)
PATIENCE = 60.0
NOBODY = "tcp://127.0.0.1:1"  # nothing listens there


@dataclass
class Cluster:
    """A scheduler and its workers; `folder` is where they run."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{len(self.processes)}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def start_scheduler(self) -> None:
        told = self.folder / "scheduler.json"
        self.start("scheduler", "--port", "0", "--scheduler-file", str(told))
        self.wait_for(lambda: told.exists() and told.read_text(encoding="utf-8").endswith("}"))
        self.address = json.loads(told.read_text(encoding="utf-8"))["address"]

    def start_worker(self) -> subprocess.Popen[bytes]:
        """One thread each, and nobody who would start it again."""
        return self.start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)
        )

    def wait_for_workers(self, count: int) -> None:
        with distributed.Client(self.address, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def wait_for(self, condition: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, [path.read_text() for path in self.folder.glob("*.log")]
            time.sleep(0.02)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        found.start_scheduler()
        found.start_worker()
        found.start_worker()
        found.wait_for_workers(2)
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with people in it."""
    folder = tmp_path_factory.mktemp("home")
    job_people(36, seed=5).to_csv(folder / "people.csv", index=False)
    return folder


def run(home: Path, out: str, **options: Any) -> BatchSummary:
    options = {"classifier": None, "part_size": 6, "keep": ["id"]} | options
    return sa.batch(PROBLEM, options.pop("classifier"), home / "people.csv", out=home / out, **options)


def make_classifier(least: int, *, broken: bool = False, **more: Any) -> sa.Classifier:
    """A classifier of somebody's own; a local class is sent as it is, as are those of scripts and notebooks."""

    class ByCode:
        def __init__(self) -> None:
            self.home = os.getpid()
            self.more = more

        def favourable(self, inputs: Inputs) -> np.ndarray[Any, Any]:
            if broken and os.getpid() != self.home:
                raise RuntimeError("no such model here")
            return inputs.codes[:, 0] >= least

    return ByCode()


# ----------------------------------------------------------------------------------------------------------- same bytes


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (None, None)], ids=["greedy", "menu"])
def test_the_cluster_writes_the_same_bytes(
    objective: Objective | None, method: Any, home: Path, cluster: Cluster
) -> None:
    name = "menu" if objective is None else "greedy"
    here = run(home, f"{name} here", objective=objective, method=method, threads=1)
    calls: list[tuple[int, int]] = []
    there = run(
        home,
        f"{name} there",
        objective=objective,
        method=method,
        scheduler=cluster.address,
        progress=lambda *call: calls.append(call),
    )
    assert there == here
    assert bytes_of(home / f"{name} there") == bytes_of(home / f"{name} here")
    assert calls == [(done, 36) for done in range(6, 37, 6)]


def test_what_is_there_is_not_sent(home: Path, cluster: Cluster) -> None:
    run(home, "begun", objective=sa.Mean(), threads=1)
    expected = bytes_of(home / "begun")
    for number in (0, 3, 5):
        (home / "begun" / f"part-{number:05d}.parquet").unlink()
    assert run(home, "begun", objective=sa.Mean(), scheduler=cluster.address).resumed == 3
    assert bytes_of(home / "begun") == expected


def test_two_batches_one_after_the_other_do_not_mix(home: Path, cluster: Cluster) -> None:
    """Workers keep the solver of a job; another classifier is another job."""
    for least in (1, 2):
        classifier = make_classifier(least)
        run(home, f"here {least}", classifier=classifier, objective=sa.Mean(), threads=1)
        run(home, f"there {least}", classifier=classifier, objective=sa.Mean(), scheduler=cluster.address)
        assert part_bytes(home / f"there {least}") == part_bytes(home / f"here {least}")
    assert part_bytes(home / "there 1") != part_bytes(home / "there 2")


def test_a_large_classifier(home: Path, cluster: Cluster) -> None:
    """A forest has tens of megabytes, which Dask warns of; warnings are errors here and noise to a user."""
    classifier = make_classifier(2, trees=os.urandom(12_000_000))
    summary = run(home, "large", classifier=classifier, objective=sa.Mean(), scheduler=cluster.address)
    assert summary.people == 36


def test_a_function_in_a_file(home: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILE.py:NAME, as on the command line, works on workers that do not have the file: it needs nothing else."""
    monkeypatch.chdir(home)
    Path("lending.py").write_text("def decide(frame):\n    return frame['skill'] == 'expert'\n", encoding="utf-8")
    classifier = load_classifier("lending.py:decide", PROBLEM)
    run(home, "file here", classifier=classifier, objective=sa.Mean(), threads=1)
    run(home, "file there", classifier=classifier, objective=sa.Mean(), scheduler=cluster.address)
    assert bytes_of(home / "file there") == bytes_of(home / "file here")


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_a_worker_that_is_killed(home: Path, cluster: Cluster) -> None:
    """SIGKILL after the first part; its work is done by the others, and the bytes are the same."""
    run(home, "undisturbed", threads=1, part_size=2)
    victim = cluster.start_worker()
    cluster.wait_for_workers(3)

    def kill(*_: int) -> None:
        if victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()

    summary = run(home, "disturbed", scheduler=cluster.address, progress=kill, part_size=2)
    assert victim.poll() == -signal.SIGKILL
    assert (summary.parts, summary.resumed) == (18, 0)
    assert bytes_of(home / "disturbed") == bytes_of(home / "undisturbed")


def test_a_classifier_that_fails_on_a_worker(home: Path, cluster: Cluster) -> None:
    """It is told as it is here, and not as a traceback of somewhere else."""
    classifier = make_classifier(2, broken=True)
    with pytest.raises(ClassifierError, match="the classifier failed: RuntimeError: no such model here"):
        run(home, "failing", classifier=classifier, objective=sa.Mean(), scheduler=cluster.address)


def test_workers_that_lack_what_the_classifier_needs(
    home: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that is only here: an error of ours that names it, not a traceback of Dask's."""
    monkeypatch.syspath_prepend(home)
    (home / "only_here.py").write_text("def decide(frame):\n    return frame['skill'] == 'expert'\n", encoding="utf-8")
    classifier = load_classifier("only_here:decide", PROBLEM)
    with pytest.raises(sa.InputError, match="only_here"):
        run(home, "only here", classifier=classifier, objective=sa.Mean(), scheduler=cluster.address)


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
        return client(*arguments, **(options | {"timeout": 1}))

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


# ---------------------------------------------------------------------------------------------------------- on a worker


def test_a_worker_keeps_the_solver_of_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Job] = []

    class FakeSolver:
        def __init__(self, job: Job) -> None:
            made.append(job)

        def solve(self, part: Any) -> pd.DataFrame:
            return pd.DataFrame({"part": [part.number]})

    monkeypatch.setattr(cluster_module, "PartSolver", FakeSolver)
    monkeypatch.setattr(cluster_module, "_solvers", {})
    jobs = [Job(PROBLEM, None, sa.Mean()), Job(PROBLEM, None, sa.MeanStd(1))]
    part = type("Fake", (), {"number": 7})()
    for key, job in (("a", jobs[0]), ("a", jobs[0]), ("b", jobs[1]), ("b", jobs[1])):
        number, rows = solve_part(key, job, part)
        assert (number, rows["part"].tolist()) == (7, [7])
    assert made == jobs
    assert list(cluster_module._solvers) == ["b"]
