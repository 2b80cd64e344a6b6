"""The record of the last run, `results.json`, and the table that is printed and stands in `docs/reliability.md`.

`python -m soak.results` prints what is kept.
"""

from __future__ import annotations

import json
import os
import platform
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soak.counts import Count

RESULTS = Path(__file__).parent / "results.json"
DOCUMENT = Path(__file__).parent.parent / "docs" / "reliability.md"
HEADER = ("part", "inputs", "read", "refused", "kills", "compared", "tracebacks", "lost", "differing", "wrong")


def write(counts: Sequence[Count], path: Path, **more: Any) -> None:
    """Write a run to a file, whole or not at all."""
    content = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **more,
        "parts": [count.as_dict() for count in counts],
    }
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", encoding="utf-8", delete=False) as file:
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    written = Path(file.name)
    written.chmod(0o644)  # temporary files are private
    written.replace(path)


def show(counts: Sequence[Count], document: Path = DOCUMENT) -> None:
    """Put the table of a run in place of the one in the document."""
    text = document.read_text(encoding="utf-8")
    table = re.compile(rf"^\| {HEADER[0]} .*(?:\n\|.*)*", re.MULTILINE)
    document.write_text(table.sub(lambda _: lay_out(counts), text, count=1), encoding="utf-8")


def read(path: Path = RESULTS) -> list[Count]:
    """The parts of a run."""
    return [Count.from_dict(part) for part in json.loads(path.read_text(encoding="utf-8"))["parts"]]


def _cells(count: Count) -> tuple[str, ...]:
    return (count.part, *(f"{getattr(count, name):,}" for name in HEADER[1:]))


def sum_up(counts: Sequence[Count]) -> Count:
    """All parts together."""
    return Count("all", **{name: sum(getattr(count, name) for count in counts) for name in HEADER[1:]})


def lay_out(counts: Sequence[Count]) -> str:
    """A table in Markdown, with all parts together in its last row."""
    rows = [_cells(count) for count in [*counts, sum_up(counts)]]
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    lines = [" | ".join(map(_align, row, widths, range(len(row)))) for row in (HEADER, *rows)]
    rule = " | ".join("-" * width if not i else "-" * (width - 1) + ":" for i, width in enumerate(widths))
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def _align(cell: str, width: int, column: int) -> str:
    """Names to the left, numbers to the right."""
    return cell.rjust(width) if column else cell.ljust(width)


if __name__ == "__main__":
    print(lay_out(read()))
