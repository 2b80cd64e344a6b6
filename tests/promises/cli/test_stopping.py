"""Ctrl+C and SIGTERM, once or twice, with real processes: the end comes soon, with one line, and what is done is kept.

Classifiers here hang for ten minutes: a program that waits for them does not end in time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import pytest

import safear as sa
from crowds import JOB, bytes_of, job_people
from lanes import scaled

pytestmark = pytest.mark.usefixtures("heeded")
PEOPLE = scaled(32, least=8)
PATIENCE = 120.0  # seconds after which something hangs
HANGING = """
    import os
    import time
    from pathlib import Path

    def decide(frame):
        if Path("hang").exists() or list(Path("out").glob("part-*")):
            Path(f"hanging-{os.getpid()}").touch()
            time.sleep(600)
        return frame["skill"] == "expert"
"""
STOPPED = "\nstopped before the end; run the same command again to start anew\n"
PERSON = "--set skill=basic --set age=20 --set gender=male"
MAIN = "from safear.cli.main import main; main()"
FEW_ARE_MANY = "from safear.population import workers; workers.MANY = 2; "
# On threads, where the model is asked once: the first part takes for ever, and what is done meanwhile is kept.
FIRST_HANGS = """
import os, time
from pathlib import Path
from safear.population.parts import PartSolver
solve = PartSolver.solve
def hang(self, part):
    if part.number == 0:
        Path(f"hanging-{os.getpid()}").touch()
        time.sleep(600)
    return solve(self, part)
PartSolver.solve = hang
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a problem, people, and a model that hangs once there is a file 'hang', or a part of a batch."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    (tmp_path / "model.py").write_text(textwrap.dedent(HANGING), encoding="utf-8")
    people = job_people(PEOPLE, seed=3)
    people.to_csv(tmp_path / "people.csv", index=False)
    people[["skill", "age", "gender"]].to_csv(tmp_path / "plain.csv", index=False)
    return tmp_path


class Begin(Protocol):
    """Starts Python with arguments, which a test may leave as it is."""

    def __call__(self, place: Path, *arguments: str) -> subprocess.Popen[str]: ...


@pytest.fixture
def begin_python() -> Iterator[Begin]:
    """Whatever happens, nothing of what was started is left."""
    processes = []

    def start(place: Path, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=place,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # nothing but what is written on purpose
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        with process, suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def begin(begin_python: Begin) -> Begin:
    """Start a command."""
    return lambda place, *arguments: begin_python(place, "-c", MAIN, *arguments)


def await_that(process: subprocess.Popen[str], *, at_least: int, place: Path, pattern: str) -> None:
    """Wait until so many files are there."""
    end = time.monotonic() + PATIENCE
    while len(list(place.glob(pattern))) < at_least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def end_it(process: subprocess.Popen[str], number: signal.Signals, times: int) -> tuple[int, str, str]:
    """Send a signal to the program and all that it has started, perhaps again, and see how it ends."""
    for _ in range(times):
        os.killpg(process.pid, number)
        time.sleep(0.05)
    out, err = process.communicate(timeout=PATIENCE / 4)
    return process.returncode, out, err


def is_gone(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has asked how."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return True


CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@pytest.mark.parametrize(
    "first, number, times",
    [(FIRST_HANGS, signal.SIGINT, 3), (FIRST_HANGS, signal.SIGTERM, 1), (FEW_ARE_MANY, signal.SIGINT, 2)],
    ids=["Ctrl+C on threads", "SIGTERM on threads", "Ctrl+C and processes"],
)
def test_a_batch_whose_model_hangs(
    first: str, number: signal.Signals, times: int, place: Path, begin_python: Begin
) -> None:
    out = place / "out"
    options = ["--out", "out", "--part-size", "1", "--threads", "2", "--classifier", "model.py:decide"]
    process = begin_python(place, "-c", first + MAIN, "batch", "job.yaml", "people.csv", *options)
    await_that(process, at_least=1, place=place, pattern="hanging-*")
    await_that(process, at_least=1 if first == FEW_ARE_MANY else 6, place=out, pattern="part-*")
    code, said, told = end_it(process, number, times)
    there = len(list(out.glob("part-*.parquet")))
    assert told == f"\ninterrupted; {there} finished parts are in out: run the same command again to continue\n"
    assert (code, said) == (CODES[number], "")
    workers = [int(path.name.partition("-")[2]) for path in place.glob("hanging-*")]
    assert (process.pid in workers) == (first == FIRST_HANGS)
    end = time.monotonic() + PATIENCE
    while not all(is_gone(pid) for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert 1 <= there < PEOPLE
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        again = {"part_size": 1, "threads": 1}
        problem, decide = sa.parse_problem(JOB), lambda frame: frame["skill"] == "expert"
        summary = sa.batch(problem, decide, "people.csv", out="out", **again)  # type: ignore[arg-type]
        sa.batch(problem, decide, "people.csv", out="undisturbed", **again)  # type: ignore[arg-type]
    assert (summary.parts, summary.resumed) == (PEOPLE, there)
    assert {name: (out / name).stat().st_mtime_ns for name in kept} == kept
    assert bytes_of(out) == bytes_of(place / "undisturbed")


@pytest.mark.parametrize(
    "command, number",
    [
        (f"recommend job.yaml {PERSON} --save plan.json", signal.SIGTERM),
        ("audit job.yaml plain.csv --group gender --output audit.json", signal.SIGINT),
        ("compare job.yaml --people plain.csv --output compared.json", signal.SIGINT),
        (f"plot traces job.yaml {PERSON} --out plans.svg", signal.SIGTERM),
        ("serve job.yaml --port 0", signal.SIGTERM),
    ],
)
def test_a_command_whose_model_hangs(command: str, number: signal.Signals, place: Path, begin: Begin) -> None:
    (place / "hang").touch()
    before = sorted(path.name for path in place.iterdir())
    process = begin(place, *command.split(), "--classifier", "model.py:decide")
    await_that(process, at_least=1, place=place, pattern="hanging-*")
    serves = command.startswith("serve")
    assert end_it(process, number, 1 if serves else 2) == (CODES[number], "", STOPPED)
    new = {path.name for path in place.iterdir() if "hanging-" not in path.name} - {"__pycache__"}
    assert sorted(new) == before


COMPILED = """
import hashlib
from safear.cli.stopping import watching
with watching():
    words = ["begun"]
    while True:
        try:
            if words:
                print(words.pop(), flush=True)
            hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 2**31 - 1)  # without the GIL, and deaf to signals
        except KeyboardInterrupt:  # it came before that
            pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_never_comes_back_to_python_is_ended(number: signal.Signals, tmp_path: Path, begin_python: Begin) -> None:
    process = begin_python(tmp_path, "-c", COMPILED)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert end_it(process, number, 2) == (CODES[number], "", STOPPED)


def test_the_last_line_is_said_in_the_language_of_the_command(place: Path, begin: Begin) -> None:
    (place / "hang").touch()
    process = begin(
        place, "recommend", "job.yaml", *PERSON.split(), "--language", "de", "--classifier", "model.py:decide"
    )
    await_that(process, at_least=1, place=place, pattern="hanging-*")
    told = "\nvor dem Ende abgebrochen; derselbe Befehl beginnt von vorn\n"
    assert end_it(process, signal.SIGINT, 1) == (130, "", told)


def test_signals_that_are_ignored_stay_ignored(place: Path, begin_python: Begin) -> None:
    """As in the background of a script, or after `nohup`."""
    (place / "hang").touch()
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    command = f"recommend job.yaml {PERSON} --classifier model.py:decide".split()
    process = begin_python(place, "-c", ignore + MAIN, *command)
    await_that(process, at_least=1, place=place, pattern="hanging-*")
    os.killpg(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    assert end_it(process, signal.SIGTERM, 1) == (143, "", STOPPED)


# What is raised while DuckDB looks at a table becomes an error of DuckDB's own, whose text is a traceback.
MADE_AN_ERROR = """
import os, signal, time
import safear as sa
from safear.population.folder import Folder
def write(self, number, rows):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    except KeyboardInterrupt:
        pass
    raise sa.InputError.at((), "cannot be written: Traceback (most recent call last):")
Folder.write = write
"""


def test_a_library_that_makes_an_error_of_it(place: Path, begin_python: Begin) -> None:
    command = ["batch", "job.yaml", "people.csv", "--out", "out", "--threads", "1"]
    process = begin_python(place, "-c", MADE_AN_ERROR + MAIN, *command)
    told = process.communicate(timeout=PATIENCE)
    assert told == ("", "\ninterrupted; 0 finished parts are in out: run the same command again to continue\n")
    assert process.returncode == CODES[signal.SIGTERM]


LAST_MOMENT = """
import os, signal
from contextlib import contextmanager
from safear.cli import main
@contextmanager
def watching():
    try:
        yield
    finally:
        os.kill(os.getpid(), signal.SIGINT)
main.watching = watching
"""


def test_ctrl_c_when_all_was_done(place: Path, begin_python: Begin) -> None:
    process = begin_python(place, "-c", LAST_MOMENT + MAIN, "check", "job.yaml")
    _, told = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told) == (CODES[signal.SIGINT], "")


PRESSED_EARLY = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"


def test_while_the_program_is_loaded_it_ends_in_silence(tmp_path: Path) -> None:
    """Its first import of others sends the signal."""
    (tmp_path / "click.py").write_text(PRESSED_EARLY, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "safear", "demo"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("delay", [0.01, 0.03, 0.06, 0.1, 0.2])
def test_whenever_it_is_stopped_there_is_no_traceback(delay: float, place: Path, begin_python: Begin) -> None:
    """If Python loses the signal while it imports something, the user presses Ctrl+C again."""
    (place / "hang").touch()
    command = f"recommend job.yaml {PERSON} --classifier model.py:decide".split()
    process, end = begin_python(place, "-m", "safear", *command), time.monotonic() + PATIENCE
    time.sleep(delay)
    ended = None
    while ended is None:
        assert time.monotonic() < end
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            ended = process.communicate(timeout=2)
    told = ended[1]
    # Python itself tells where it was, and may end with 1, until it has loaded the package and found the first line.
    assert "Traceback" not in told or not any(part in told for part in ("__main__.py", "safear/cli")), told
    expected = {1} if told.endswith("KeyboardInterrupt\n") else {CODES[signal.SIGINT]}
    assert process.returncode in expected | {-signal.SIGINT}, told


def test_whoever_loads_the_commands_keeps_their_handlers() -> None:
    code = "import signal; import safear.cli.main, safear.__main__\n"
    code += "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, check=True)


def test_the_installed_program_begins_there() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"safear": "safear.__main__:run_program"}
