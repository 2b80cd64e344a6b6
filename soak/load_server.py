"""A `safear serve` in processes of its own, and what they use: memory, threads, open files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = "from safear.cli.main import main; main()"
STOP_SECONDS = 20.0  # after which a server that was told to stop is ended


@dataclass(frozen=True, slots=True)
class Usage:
    """What the server's processes use together."""

    megabytes: float = 0.0
    threads: int = 0
    files: int = 0

    @classmethod
    def of(cls, processes: list[int]) -> Usage:
        """Of these processes; one that ends meanwhile counts for nothing."""
        megabytes, threads, files = 0.0, 0, 0
        for process in processes:
            with suppress(OSError):
                status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
                files += len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208  # names alone, they may be gone
                megabytes += int(_find(r"VmRSS:\s+(\d+)", status)) / 1024
                threads += int(_find(r"Threads:\s+(\d+)", status))
        return cls(megabytes, threads, files)


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return "0" if found is None else found[1]


@dataclass(eq=False)
class Served:
    """A server that runs: its address, its log, and the most that it used so far."""

    process: subprocess.Popen[str]
    base: str
    log: Path
    most_megabytes: float = 0.0
    most_threads: int = 0
    most_files: int = 0
    killed: list[float] = field(default_factory=list)  # when a worker was

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.base.rpartition(":")[2])

    def workers(self) -> list[int]:
        """The processes that answer: its children, or itself if it has none."""
        found: list[int] = []
        with suppress(OSError):
            listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
            found = [int(one) for one in listed.split() if "resource_tracker" not in _read_command(int(one))]
        return found or [self.process.pid]

    def look(self) -> Usage:
        """What it uses now."""
        usage = Usage.of(list({self.process.pid, *self.workers()}))
        self.most_megabytes = max(self.most_megabytes, usage.megabytes)
        self.most_threads = max(self.most_threads, usage.threads)
        self.most_files = max(self.most_files, usage.files)
        return usage

    def kill_worker(self) -> None:
        """End one of several workers, as a system that is out of memory does."""
        self.killed.append(time.monotonic())
        os.kill(self.workers()[0], signal.SIGKILL)

    def stop(self) -> float:
        """Tell it to stop; the seconds that it took."""
        start = time.monotonic()
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_SECONDS)
        return time.monotonic() - start


def _read_command(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8")
    return ""


@contextmanager
def serve(
    *arguments: str, log: Path | None = None, folder: Path | None = None, environment: dict[str, str] | None = None
) -> Iterator[Served]:
    """`safear serve` with these arguments on a free port, until it has stopped; its log goes to a file."""
    command = [sys.executable, "-c", COMMAND, "serve", *arguments, "--port", "0"]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    known = {**os.environ, "PYTHONPATH": path, **(environment or {})}
    errors = (log or Path(os.devnull)).open("w", encoding="utf-8")
    with (
        errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", cwd=folder, env=known
        ) as process,
    ):
        try:
            found = re.search(r"http://[\d.:]+", process.stdout.readline() if process.stdout else "")
            if found is None:
                said = "" if log is None else log.read_text(encoding="utf-8")
                sys.exit(f"the server did not start: {said}")
            yield Served(process, found[0], log or Path(os.devnull))
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
