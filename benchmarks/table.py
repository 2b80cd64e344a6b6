"""The records of `make bench`: one line of a table each, kept in `results.json`.

`python -m benchmarks.table` prints what is kept. Ratios say more than seconds: machines differ and are noisy. Each
record says on which processor it was taken.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")
HEADER = ("what", "ours", "beside it", "takes", "ratio", "goal", "")


@dataclass(frozen=True)
class Record:
    """One measurement: seconds of ours, seconds of something else if there is one, and what was hoped for.

    `ratio` is other_s / ours_s: above 1, ours is faster. `met` is None where nothing was hoped for. `memory_gb` is the
    most that the process held.
    """

    name: str
    ours_s: float
    other: str | None = None
    other_s: float | None = None
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    note: str | None = None
    memory_gb: float | None = None
    processor: str | None = None


@cache
def name_processor() -> str:
    """This machine's: its name, the widest vectors that it knows, and how many cores it has."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    told = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = told.get("flags", "").split()
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else None
    name = told.get("model name") or platform.processor() or platform.machine()
    return ", ".join(text for text in (name, vectors, f"{os.cpu_count()} cores") if text)


def compare(
    name: str, ours_s: float, other: str, other_s: float, *, at_least: float | None = None, note: str | None = None
) -> Record:
    """Ours beside something else; with a goal, ours is to be `at_least` so many times as fast."""
    ratio = other_s / ours_s
    goal, met = (None, None) if at_least is None else (f">= {at_least:g}x", ratio >= at_least)
    return Record(name, ours_s, other, other_s, ratio, goal, met, note)


def add(records: Iterable[Record]) -> None:
    """Put records of this machine into `results.json`, in place of those of the same name; whole or not at all."""
    merged = {record.name: record for record in read()}
    merged.update((record.name, replace(record, processor=name_processor())) for record in records)
    with tempfile.NamedTemporaryFile("w", dir=RESULTS.parent, suffix=".tmp", encoding="utf-8", delete=False) as file:
        file.write(json.dumps([asdict(record) for record in merged.values()], indent=2) + "\n")
    written = Path(file.name)
    written.chmod(0o644)  # temporary files are private
    written.replace(RESULTS)


def read() -> list[Record]:
    """What is kept in `results.json`."""
    if not RESULTS.exists():
        return []
    return [Record(**record) for record in json.loads(RESULTS.read_text(encoding="utf-8"))]


def lay_out(records: Sequence[Record]) -> str:
    """The records as a table, each with its note below, and in the end the processors that they are for."""
    cells = [HEADER, *map(_cells, records)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    notes = [None, *map(_note, records)]
    texts = [
        text
        for line, note in zip(lines, notes, strict=True)
        for text in (line, f"    {note}" if note else None)
        if text is not None
    ]
    return "\n".join([*texts, *name_processors(records)])


def name_processors(records: Iterable[Record]) -> list[str]:
    """A line for each processor that records were taken on."""
    return [f"Measured on: {name}." for name in dict.fromkeys(record.processor for record in records) if name]


def _cells(record: Record) -> tuple[str, ...]:
    return (
        record.name,
        in_words(record.ours_s),
        record.other or "",
        "" if record.other_s is None else in_words(record.other_s),
        "" if record.ratio is None else f"{record.ratio:,.{_decimals(record.ratio)}f}x",
        record.goal or "",
        {None: "", True: "met", False: "MISSED"}[record.met],
    )


def _note(record: Record) -> str | None:
    memory = None if record.memory_gb is None else f"{record.memory_gb:.2f} GB at most"
    return "; ".join(text for text in (record.note, memory) if text) or None


def _decimals(number: float) -> int:
    """So many decimals that about three digits are shown."""
    return 0 if number >= 100 else 1 if number >= 10 else 2


def in_words(seconds: float) -> str:
    """A time in the unit that suits it."""
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
    unit, size = next((pair for pair in units if seconds >= pair[1]), units[-1])
    return f"{seconds / size:,.{_decimals(seconds / size)}f} {unit}"


if __name__ == "__main__":
    print(lay_out(read()))
