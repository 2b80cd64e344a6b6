"""Batches in real processes: the same bytes, errors in their places, and nobody left behind."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

import numpy as np
import pytest

import safear as sa
from people.test_counts import write_csv
from population.crowds import JOB, bytes_of, job_people, part_bytes
from safear.classifier import Inputs
from safear.errors import ClassifierError, InputError, ProblemError, TooLargeError
from safear.population import BatchSummary
from safear.population import workers as workers_module
from safear.risk import Objective

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

PROBLEM = sa.parse_problem(JOB)
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers for batches of any size."""
    monkeypatch.setattr(workers_module, "MANY", 2)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with people in it."""
    folder = tmp_path_factory.mktemp("home")
    job_people(36, seed=5).to_csv(folder / "people.csv", index=False)
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that are started; in the end none may be left, not even as a zombie."""
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = popen(*arguments, **options)
        processes.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    yield processes
    assert all(process.returncode is not None for process in processes)


def run(home: Path, out: str, **options: Any) -> BatchSummary:
    options = {"classifier": None, "part_size": 6, "keep": ["id"], "threads": 2} | options
    return sa.batch(PROBLEM, options.pop("classifier"), home / "people.csv", out=home / out, **options)


class ByCode:
    """A classifier of somebody's own."""

    def __init__(self, *, elsewhere: Callable[[], object] | None = None, **more: Any) -> None:
        self.home, self.elsewhere, self.more = os.getpid(), elsewhere, more

    def favourable(self, inputs: Inputs) -> np.ndarray[Any, Any]:
        """What it says, after doing `elsewhere` if this is another process."""
        if self.elsewhere is not None and os.getpid() != self.home:
            self.elsewhere()
        return inputs.codes[:, 0] >= 2


# ----------------------------------------------------------------------------------------------------------- same bytes


@pytest.mark.parametrize(
    "options, count",
    [({}, 3), ({"exact": True, "plans": True}, 2), ({"objective": sa.CVaR(0.9)}, 2)],
    ids=["menu", "saved", "cvar"],
)
def test_processes_write_the_same_bytes(options: dict[str, Any], count: int, home: Path, started: list[Any]) -> None:
    calls: list[tuple[int, int]] = []
    alone = run(home, f"{count} {options} alone", threads=1, **options)
    assert not started
    many = run(home, f"{count} {options}", threads=count, progress=lambda *call: calls.append(call), **options)
    assert len(started) == count
    assert many == alone
    assert bytes_of(home / f"{count} {options}") == bytes_of(home / f"{count} {options} alone")
    assert calls == [(done, 36) for done in range(6, 37, 6)]


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (sa.Mean(), None)], ids=str)
def test_compiled_work_stays_on_threads(objective: Objective, method: Any, home: Path, started: list[Any]) -> None:
    run(home, f"compiled {objective}", objective=objective, method=method)
    assert not started


def test_few_people_do_not_wait_for_processes(home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "MANY", 37)
    run(home, "few")
    monkeypatch.setattr(workers_module, "MANY", 36)
    run(home, "one part", part_size=36)
    run(home, "few", part_size=6)  # all is there
    assert not started


def test_what_is_there_is_not_solved_again(home: Path, started: list[Any]) -> None:
    run(home, "begun", threads=1)
    expected = bytes_of(home / "begun")
    for number in (0, 3, 5):
        (home / "begun" / f"part-{number:05d}.parquet").unlink()
    assert run(home, "begun").resumed == 3
    assert bytes_of(home / "begun") == expected
    assert len(started) == 2


def test_a_script_without_a_main_guard(home: Path, tmp_path: Path) -> None:
    """It is not run again by its workers, and its own functions go with them; what they print does not disturb."""
    script = """
        import safear as sa
        from safear.population import workers
        workers.MANY = 2
        print("begin")
        def decide(frame):
            print("asked")
            return frame["skill"] == "expert"
        summary = sa.batch(sa.load_problem("job.yaml"), decide, "people.csv", out="out", part_size=6, threads=2)
        print(summary.parts)
    """
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    (tmp_path / "people.csv").write_bytes((home / "people.csv").read_bytes())
    (tmp_path / "script.py").write_text(textwrap.dedent(script), encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
                          check=True)  # fmt: skip
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1], set(lines[1:-1])) == ("begin", "6", {"asked"})
    assert "asked" in done.stderr  # by workers
    assert not done.stderr.replace("asked", "").strip()


# ------------------------------------------------------------------------------------------ what cannot go to a process


def read_log(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_classifier_that_cannot_be_sent(home: Path, started: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    run(home, "unsent", classifier=ByCode(lock=Lock()))
    run(home, "unsent alone", classifier=ByCode(), threads=1)
    assert bytes_of(home / "unsent") == bytes_of(home / "unsent alone")
    assert not started
    (line,) = read_log(caplog)
    assert line.startswith("the classifier cannot be sent to other processes (")
    assert line.endswith("); threads do the work, which takes longer")


class OnlyHere(ByCode):
    """A classifier that cannot be read elsewhere."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        if os.getpid() != state["home"]:
            raise ConnectionError("no such model here")
        self.__dict__.update(state)


def test_a_classifier_that_cannot_be_read(home: Path, started: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    run(home, "unread", classifier=OnlyHere())
    run(home, "unread alone", classifier=ByCode(), threads=1)
    assert bytes_of(home / "unread") == bytes_of(home / "unread alone")
    assert len(started) == 2
    assert read_log(caplog) == [
        "the classifier cannot be read in other processes (no such model here); threads do the work, which takes longer"
    ]


@pytest.mark.parametrize(
    "executable, told",
    [("/no/such/python", "no process can be started ("), ("/bin/false", "a process could not start (it ended with")],
)
def test_no_python_to_start(
    executable: str,
    told: str,
    home: Path,
    started: list[Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers_module, "get_executable", lambda: executable)
    run(home, f"no {Path(executable).name}")
    (line,) = read_log(caplog)
    assert line.startswith(told)
    assert len(started) in {0, 2}


def test_nobody_waits_for_a_process_that_does_not_listen(
    tmp_path: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job is larger than what a pipe holds, so that it is still being sent when the process is dismissed."""
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    deaf.chmod(0o755)
    monkeypatch.setattr(workers_module, "get_executable", lambda: str(deaf))
    monkeypatch.setattr(workers_module, "STOP_SECONDS", 0.01)

    class Interrupted(SimpleQueue[Any]):
        def get(self, *_: Any) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(workers_module, "SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(workers_module.Crew(bytes(2**20), 2).solve(iter([])))
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


def test_a_program_that_is_no_python(home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen program would be run again as a whole."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    run(home, "frozen")
    assert not started


def test_what_does_not_fit_is_refused(home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safear.memory.available", lambda: 500 * 2**20)
    with pytest.raises(TooLargeError, match=r"2 processes would need about .* MiB; this machine has 500\.0 MiB left"):
        run(home, "too large")
    assert not (home / "too large").exists()
    run(home, "as room allows", threads=None)
    assert not started


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_somebody_who_cannot_be_solved_is_named(tmp_path: Path, started: list[Any]) -> None:
    """The first in the file, whoever comes upon theirs first; all before them are there."""
    columns = {"skill": ["basic"] * 12, "age": [20] * 12, "gender": ["male"] * 12}
    costs = ["", "", "", "", "", "1e-15", "", "1e-15", *[""] * 4], ["", "", "", "", "", "1e15", "", "1e15", *[""] * 4]
    path = write_csv(tmp_path / "p.csv", {**columns, "cost:learn": costs[0], "cost:study": costs[1]})
    for count in (1, 3):
        with pytest.raises(ProblemError) as error:
            sa.batch(PROBLEM, None, path, out=tmp_path / f"on {count}", part_size=1, threads=count)
        assert f"{path}: row 6" in str(error.value)
        assert set(part_bytes(tmp_path / f"on {count}")) >= {f"part-{number:05d}.parquet" for number in range(5)}
    assert len(started) == 3


def raise_own() -> None:
    raise RuntimeError("no such model here")


def test_a_classifier_that_fails_in_a_process(home: Path, started: list[Any]) -> None:
    with pytest.raises(ClassifierError, match="the classifier failed: RuntimeError: no such model here"):
        run(home, "failing", classifier=ByCode(elsewhere=raise_own))
    assert len(started) == 2


class StubbornError(Exception):
    """One that cannot be made again from what it was made of."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def test_a_mistake_of_ours_says_where(home: Path, started: list[Any]) -> None:
    """Whatever kind of error it is."""

    class Broken(ByCode):
        @property
        def time_limit(self) -> float | None:
            if os.getpid() != self.home:
                raise StubbornError("this", "that")
            return None

    with pytest.raises(RuntimeError, match="StubbornError: this and that") as error:
        run(home, "broken", classifier=Broken())
    assert "in time_limit" in error.value.__notes__[0]
    assert len(started) == 2


def kill_once(mark: Path) -> None:
    """As the system does that is out of memory."""
    with suppress(FileExistsError):
        mark.touch(exist_ok=False)  # of several processes, one makes it
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_part_of_a_process_that_is_killed(home: Path, started: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Is solved by another one."""
    run(home, "undisturbed", classifier=ByCode(), threads=1)
    run(home, "disturbed", classifier=ByCode(elsewhere=partial(kill_once, home / "killed")))
    assert bytes_of(home / "disturbed") == bytes_of(home / "undisturbed")
    assert len(started) == 3
    assert read_log(caplog) == [
        "a process was killed, as systems do that are out of memory; another one solves its part"
    ]


def test_a_part_that_kills_whoever_solves_it(home: Path, started: list[Any]) -> None:
    with pytest.raises(InputError) as error:
        run(home, "deadly", classifier=ByCode(elsewhere=partial(os._exit, 3)))
    assert str(error.value) == (
        "a process ended with code 3, again\n"
        "    use fewer processes (threads, --threads), then run the same again to continue"
    )
    assert len(started) > 2


def test_nobody_goes_on_after_a_mistake_of_whoever_takes_the_results(home: Path, started: list[Any]) -> None:
    def fail(*_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(home, "stopped", progress=fail)
    assert [process.poll() for process in started] == [0, 0]


SLOW = """
    import time
    from pathlib import Path

    def decide(frame):
        if Path("out").exists():
            time.sleep(0.2)  # so that there is something left to do when it is stopped
        return frame["skill"] == "expert"
"""


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize(
    "number, code", [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)], ids=["Ctrl+C", "kill"]
)
def test_a_run_that_is_stopped(number: signal.Signals, code: int, home: Path, tmp_path: Path) -> None:
    """Parts that are finished are kept, the workers end, and nothing but our own line is said."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW), encoding="utf-8")
    (tmp_path / "people.csv").write_bytes((home / "people.csv").read_bytes())
    program = (
        "import sys; from safear.population import workers; workers.MANY = 2; from safear.cli.main import main; main()"
    )
    options = ["--out", "out", "--part-size", "1", "--threads", "2", "--classifier", "slow.py:decide"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, "batch", "job.yaml", "people.csv", *options],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    end = time.monotonic() + PATIENCE
    while len(list((tmp_path / "out").glob("part-*"))) < 4:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)
    workers = children_of(process.pid)
    os.killpg(process.pid, number)
    told = process.communicate(timeout=PATIENCE)
    there = len(list((tmp_path / "out").glob("part-*")))
    said = f"\ninterrupted; {there} finished parts are in out: run the same command again to continue\n"
    assert process.returncode == code
    assert told == ("", said if number == signal.SIGINT else "")
    assert len(workers) == 2
    while any(is_running(worker) for worker in workers):  # told by nobody, a worker needs a moment
        assert number == signal.SIGKILL
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("sent", [b"", pickle.dumps(["/nowhere"])[:-3]])
def test_whoever_starts_a_worker_may_be_killed_at_once(sent: bytes) -> None:
    """It has not been told yet where anything is, and ends without a word."""
    command = [sys.executable, "-P", "-c", workers_module.BEGIN]
    done = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def children_of(parent: int) -> list[str]:
    """The processes that a process has started."""
    return Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()


def is_running(process: str) -> bool:
    """Whether it is there, and not only as what nobody has asked about yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
