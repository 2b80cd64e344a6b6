"""The figures of `docs/scale.md`, from `results.json`: `python -m benchmarks.scale` prints them as Markdown.

With --write they replace those in the document.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks import table
from benchmarks.adult_shaped import adult_shaped

from safear.mdp import compile_families

DOCUMENT = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- from here: python -m benchmarks.scale --write -->", "<!-- to here -->"


def describe() -> str:
    """All tables."""
    records = {record.name: record for record in table.read()}
    tables = [describe_states(records), describe_rows(records), describe_people(records)]
    return "\n\n".join([*table.name_processors(records.values()), *tables])


def describe_states(records: dict[str, table.Record]) -> str:
    """The sweep and the plans of a whole space, by the number of states."""
    shared = next(iter(compile_families(adult_shaped()))).shared
    rows, edges = shared.n_rows / shared.n_states, shared.n_edges / shared.n_states
    sizes = {count_in(name): record for name, record in records.items() if name.startswith("all plans, ")}
    sweeps = {count_in(n): r for n, r in records.items() if n.startswith("a state and step of the sweep, ")}
    small, kept = min(sizes), shared.horizon + 8 + 1
    lines = [
        f"Here a state has {rows:.1f} actions and {edges:.1f} outcomes on average; the horizon is {shared.horizon}.",
        "",
        "| states | a state and step | all plans | memory | the model says |",
        "|---:|---:|---:|---:|---:|",
    ]
    for states in sorted(sizes):
        memory, base = sizes[states].memory_gb or 0.0, sizes[small].memory_gb or 0.0
        model = base + (states - small) * kept / 1e9
        each, whole = table.in_words(sweeps[states].ours_s), table.in_words(sizes[states].ours_s)
        lines.append(f"| {states:,} | {each} | {whole} | {memory:.2f} GB | {model:.2f} GB |")
    most = max(sizes)
    per_state = sizes[most].ours_s / most
    minutes, gigabytes = 10**10 * per_state / 60, 10**10 * kept / 1e9
    lines += ["", f"So 10^10 states would take {minutes:,.0f} minutes, and keeping all plans {gigabytes:,.0f} GB."]
    return "\n".join(lines)


def describe_rows(records: dict[str, table.Record]) -> str:
    """Audits, by the number of rows: a line through the two largest, and how far the others are from it."""
    sizes = {count_in(name): record for name, record in records.items() if name.startswith("audit of ")}
    large, largest = sorted(sizes)[-2:]
    slope = (sizes[largest].ours_s - sizes[large].ours_s) / (largest - large)
    fixed = max(sizes[large].ours_s - slope * large, 0.0)
    lines = [
        f"Audits, with a line through the two largest: {fixed:.1f} s plus {slope * 1e9:.0f} ns per row.",
        "",
        "| rows | measured | the line says | memory |",
        "|---:|---:|---:|---:|",
    ]
    for rows in sorted(sizes):
        record = sizes[rows]
        line = table.in_words(fixed + slope * rows)
        lines.append(f"| {rows:,} | {table.in_words(record.ours_s)} | {line} | {record.memory_gb or 0:.2f} GB |")
    minutes = (fixed + slope * 10**10) / 60
    lines += ["", f"So 10^10 rows would take {minutes:,.0f} minutes on this machine and need no more memory."]
    return "\n".join(lines)


def describe_people(records: dict[str, table.Record]) -> str:
    """People with their own costs."""
    lines = ["| | measured | each |", "|---|---:|---:|"]
    for name, record in records.items():
        if "people with own costs" in name:
            each = record.ours_s / count_in(name)
            lines.append(f"| {name} | {table.in_words(record.ours_s)} | {table.in_words(each)} |")
    return "\n".join(lines)


def count_in(name: str) -> int:
    """The number in the name of a record."""
    return int(re.findall(r"[\d,]*\d", name)[0].replace(",", ""))


def main() -> None:
    """Print, or write into the document."""
    found = describe()
    if sys.argv[1:] != ["--write"]:
        print(found)
        return
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{found}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
