"""Commands of `safear` in processes that are forked from one in which everything is loaded: a start takes no time.

The process that forks must have no threads, so it solves nothing on several of them and opens no DuckDB by itself.
"""

from __future__ import annotations

import atexit
import gc
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

PATIENCE = 120.0  # seconds for a command, on a machine that has other things to do
MEMORY = 4 * 2**30  # bytes of addresses: what reads without end is stopped before the machine is
HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
TELLTALE = "Traceback (most recent call last)"


@cache
def load_everything() -> None:
    """Import what commands import when they run, and load the compiled code that small problems need."""
    import duckdb  # noqa: F401, PLC0415  # so that children need not
    import pandas as pd  # noqa: PLC0415  # as above
    from click.testing import CliRunner  # noqa: PLC0415  # as above

    import safear as sa  # noqa: PLC0415  # as above
    from safear.cli.main import cli  # noqa: PLC0415  # as above
    from soak.seeds import tiny_problem  # noqa: PLC0415  # as above

    for module in ("population.batch", "population.workers", "fitting.fit", "people.counts", "plots", "reports"):
        __import__(f"safear.{module}")
    people = pd.DataFrame({"skill": ["basic", "skilled"], "age": [20, 60], "gender": ["male", "female"]})
    for objective in (sa.Mean(), sa.CVaR(0.95)):
        sa.audit(tiny_problem(), None, people, groups="gender", objective=objective).to_frame()
    menu = sa.recommend(tiny_problem())
    sa.plots.traces(menu)
    sa.reports.report_menu(menu)
    for name in ("menu", "audit"):
        CliRunner().invoke(cli, ["schema", name])
    gc.collect()
    gc.freeze()  # what is here now is never looked at again, and so never copied
    atexit.register(gc.unfreeze)


@dataclass
class Child:
    """A process that was forked; `output` is the file that it prints to, and one that ends in `.err` has its errors."""

    pid: int
    output: Path
    began: float
    code: int | None = None

    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is None

    def send(self, number: int) -> None:
        """Send it a signal."""
        if self.is_running():
            os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE) -> int | None:
        """Its exit code, or minus the signal that ended it; None if it had to be ended because it took too long."""
        until, pause = time.monotonic() + seconds, 0.0005
        while self.is_running():
            if time.monotonic() > until:
                self.end()
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return self.code

    def end(self) -> None:
        """End it, and whatever it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.code is None:
            with suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.code = -signal.SIGKILL

    @property
    def result(self) -> str:
        """What it has printed to standard output."""
        return self.output.read_text(encoding="utf-8", errors="replace") if self.output.exists() else ""

    @property
    def printed(self) -> str:
        """All that it has printed."""
        told = self.output.with_suffix(".err")
        return self.result + (told.read_text(encoding="utf-8", errors="replace") if told.exists() else "")


def fork(work: Callable[[], int], output: Path) -> Child:
    """A process of its own group that does some work, prints to a file and ends with the code that the work gives."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HEEDED)  # none comes before the child heeds them in its own way
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return Child(pid, output, time.monotonic())
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for number in HEEDED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python has it
        told = output.with_suffix(".err")
        with output.open("wb") as stream, told.open("wb") as other, Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(stream.fileno(), 1)
            os.dup2(other.fileno(), 2)
        code = work()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            os.write(2, end.code.encode())
    except BaseException:  # noqa: BLE001  # as Python does at the top
        with suppress(Exception):
            traceback.print_exc()
        code = 1
    finally:
        with suppress(Exception):
            sys.stdout.flush()
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


Streams = Literal["usual", "no stdin", "no stdout", "no stderr", "full", "nobody reads"]


def start_command(
    arguments: Sequence[str],
    *,
    folder: Path,
    output: Path,
    env: Mapping[str, str] | None = None,
    streams: Streams = "usual",
    prepare: Callable[[], object] | None = None,
) -> Child:
    """`safear ARGUMENTS` in a folder. `prepare` is called in the new process before."""

    def work() -> int:
        os.chdir(folder)
        os.environ.update(env or {})
        tempfile.tempdir = None  # TMPDIR may be another one now
        if prepare is not None:
            prepare()
        _change_streams(streams)
        sys.argv = ["safear", *arguments]
        encoding, _, errors = (env or {}).get("PYTHONIOENCODING", "utf-8").partition(":")
        for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
            stream = None
            if streams != f"no {name}":
                stream = open(number, "w" if number else "r", encoding=encoding, errors=errors or None, closefd=False)  # noqa: SIM115  # a standard stream
            setattr(sys, name, stream)
        from safear.__main__ import run_program  # noqa: PLC0415  # what it needs was loaded by the parent

        signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python has it
        run_program()
        return 0

    return fork(work, output)


def _change_streams(streams: Streams) -> None:
    """Close a standard stream, or have standard output go where nothing can be written."""
    if streams == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    elif streams == "nobody reads":
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    elif streams != "usual":
        os.close({"no stdin": 0, "no stdout": 1, "no stderr": 2}[streams])
