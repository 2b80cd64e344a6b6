"""Batches in real processes: the same bytes, errors in their places, and nobody left behind."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

import safear as sa
from crowds import JOB, bytes_of, part_bytes
from limits import leave_memory
from parts.people.test_counts import write_csv
from promises.population.conftest import TuneWorkers
from safear.errors import ClassifierError, InputError, ProblemError, TooLargeError
from safear.risk import Objective

PROBLEM = sa.parse_problem(JOB)
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def few_are_many(tune_workers: TuneWorkers) -> None:
    """Workers for batches of any size."""
    tune_workers(many=2)


# A process that has imported everything, and forks for each program that asks for it: the fork has its streams and runs
# its code, and the program ends as the fork does. Once nobody writes to its standard input any more, it ends, too.
FORKING = """
import os, select, signal, socket, sys
sys.path[:] = sys.argv[2].split(os.pathsep)
import safear.population.worker, promises.population.test_workers
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who look after forks
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(sys.argv[1])
    listening.listen()
    print("ready", flush=True)
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        with listening.accept()[0] as asked:
            code, streams, _, _ = socket.recv_fds(asked, 10**5, 3)
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                if fork := os.fork():
                    for stream in streams:
                        os.close(stream)
                    asked.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]))
                    os._exit(0)
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                os.closerange(3, 100)
                exec(code, {"__name__": "__main__"})
            for stream in streams:
                os.close(stream)
"""
ASKING = """#!{python} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    socket.send_fds(asked, [sys.argv[-1].encode()], [0, 1, 2])
    os.close(0)
    os.close(1)
    code = int(asked.recv(10) or 1)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@pytest.fixture(scope="module")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Python that begins with everything imported."""
    folder = tmp_path_factory.mktemp("forking")
    address, program = folder / "address", folder / "python"
    program.write_text(ASKING.format(python=sys.executable, address=str(address)), encoding="utf-8")
    program.chmod(0o755)
    command = [sys.executable, "-c", FORKING, str(address), os.pathsep.join(sys.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield program
        finally:
            process.kill()


@pytest.fixture
def at_once(forking: Path, tune_workers: TuneWorkers) -> None:
    """Workers that need not import anything: for what does not depend on how they begin."""
    tune_workers(python=str(forking))


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


def run(home: Path, out: str, **options: Any) -> Any:
    options = {"classifier": None, "part_size": 6, "keep": ["id"], "threads": 2} | options
    return sa.batch(PROBLEM, options.pop("classifier"), home / "people.csv", out=home / out, **options)


class ByCode:
    """A classifier of somebody's own."""

    def __init__(self, *, elsewhere: Callable[[], object] | None = None, **more: Any) -> None:
        self.home, self.elsewhere, self.more = os.getpid(), elsewhere, more

    def favourable(self, inputs: Any) -> Any:
        """What it says, after doing `elsewhere` if this is another process."""
        if self.elsewhere is not None and os.getpid() != self.home:
            self.elsewhere()
        return inputs.codes[:, 0] >= 2


# ----------------------------------------------------------------------------------------------------------- same bytes


def check_bytes(home: Path, out: str, started: list[Any], count: int, **options: Any) -> None:
    calls: list[tuple[int, int]] = []
    alone = run(home, f"{out} alone", threads=1, **options)
    assert not started
    many = run(home, out, threads=count, progress=lambda *call: calls.append(call), **options)
    assert len(started) == count
    assert many == alone
    assert bytes_of(home / out) == bytes_of(home / f"{out} alone")
    assert calls == [(done, 36) for done in range(6, 37, 6)]


def test_processes_write_the_same_bytes(home: Path, started: list[Any]) -> None:
    check_bytes(home, "afresh", started, 2)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "options, count",
    [({}, 3), ({"exact": True, "plans": True}, 2), ({"objective": sa.CVaR(0.9)}, 2)],
    ids=["menu", "saved", "cvar"],
)
def test_whatever_is_asked_of_processes_the_bytes_are_the_same(
    options: dict[str, Any], count: int, home: Path, started: list[Any]
) -> None:
    check_bytes(home, f"{count} {options}", started, count, **options)


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (sa.Mean(), None)], ids=str)
def test_compiled_work_stays_on_threads(objective: Objective, method: Any, home: Path, started: list[Any]) -> None:
    run(home, f"compiled {objective}", objective=objective, method=method)
    assert not started


def test_few_people_do_not_wait_for_processes(home: Path, started: list[Any], tune_workers: TuneWorkers) -> None:
    tune_workers(many=37)
    run(home, "few")
    tune_workers(many=36)
    run(home, "one part", part_size=36)
    run(home, "few", part_size=6)  # all is there
    assert not started


@pytest.mark.usefixtures("at_once")
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


@pytest.mark.usefixtures("at_once")
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
    tune_workers: TuneWorkers,
) -> None:
    tune_workers(python=executable)
    run(home, f"no {Path(executable).name}")
    (line,) = read_log(caplog)
    assert line.startswith(told)
    assert len(started) in {0, 2}


def test_a_program_that_is_no_python(home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen program would be run again as a whole."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    run(home, "frozen")
    assert not started


def test_what_does_not_fit_is_refused(home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_memory(500 * 2**20, monkeypatch)
    with pytest.raises(TooLargeError, match=r"2 processes would need about .* MiB; this machine has 500\.0 MiB left"):
        run(home, "too large")
    assert not (home / "too large").exists()
    run(home, "as room allows", threads=None)
    assert not started


# ------------------------------------------------------------------------------------------------------ what goes wrong


@pytest.mark.usefixtures("at_once")
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


@pytest.mark.usefixtures("at_once")
def test_a_classifier_that_fails_in_a_process(home: Path, started: list[Any]) -> None:
    with pytest.raises(ClassifierError, match="the classifier failed: RuntimeError: no such model here"):
        run(home, "failing", classifier=ByCode(elsewhere=raise_own))
    assert len(started) == 2


class StubbornError(Exception):
    """One that cannot be made again from what it was made of."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


@pytest.mark.usefixtures("at_once")
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


@pytest.mark.usefixtures("at_once")
def test_the_part_of_a_process_that_is_killed(home: Path, started: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Is solved by another one."""
    run(home, "undisturbed", classifier=ByCode(), threads=1)
    run(home, "disturbed", classifier=ByCode(elsewhere=partial(kill_once, home / "killed")))
    assert bytes_of(home / "disturbed") == bytes_of(home / "undisturbed")
    assert len(started) == 3
    assert read_log(caplog) == [
        "a process was killed, as systems do that are out of memory; another one solves its part"
    ]


@pytest.mark.usefixtures("at_once")
def test_a_part_that_kills_whoever_solves_it(home: Path, started: list[Any]) -> None:
    with pytest.raises(InputError) as error:
        run(home, "deadly", classifier=ByCode(elsewhere=partial(os._exit, 3)))
    assert str(error.value) == (
        "a process ended with code 3, again\n"
        "    use fewer processes (threads, --threads), then run the same again to continue"
    )
    assert len(started) > 2


@pytest.mark.usefixtures("at_once")
def test_nobody_goes_on_after_a_mistake_of_whoever_takes_the_results(
    home: Path, started: list[Any], tune_workers: TuneWorkers
) -> None:
    tune_workers(stop_seconds=PATIENCE)  # a busy machine takes its time

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
def test_a_run_that_is_stopped(number: signal.Signals, code: int, home: Path, forking: Path, tmp_path: Path) -> None:
    """Parts that are finished are kept, the workers end, and nothing but our own line is said."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW), encoding="utf-8")
    (tmp_path / "people.csv").write_bytes((home / "people.csv").read_bytes())
    program = (
        "from safear.cli.main import main; from safear.population import workers; "
        f"workers.MANY, workers.get_executable = 2, lambda: {str(forking)!r}; main()"
    )
    options = ["--out", "out", "--part-size", "1", "--threads", "2", "--classifier", "slow.py:decide"]
    end = time.monotonic() + PATIENCE
    with subprocess.Popen(
        [sys.executable, "-c", program, "batch", "job.yaml", "people.csv", *options],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    ) as process:
        try:
            while len(list((tmp_path / "out").glob("part-*"))) < 4:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end
                time.sleep(0.005)
            workers = children_of(process.pid)
            os.killpg(process.pid, number)
            told = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    there = len(list((tmp_path / "out").glob("part-*")))
    said = f"\ninterrupted; {there} finished parts are in out: run the same command again to continue\n"
    assert process.returncode == code
    assert told == ("", said if number == signal.SIGINT else "")
    assert len(workers) == 2
    while any(is_running(worker) for worker in workers):  # told by nobody, a worker needs a moment
        assert number == signal.SIGKILL
        assert time.monotonic() < end
        time.sleep(0.005)


def children_of(parent: int) -> list[str]:
    """The processes that a process has started."""
    return Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()


def is_running(process: str) -> bool:
    """Whether it is there, and not only as what nobody has asked about yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
