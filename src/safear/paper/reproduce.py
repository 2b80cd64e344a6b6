"""`reproduce`: recompute tables of the paper one by one, and sum up how close they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from safear.errors import ObjectiveError, suggest
from safear.paper import dice, gap, instances, tables
from safear.paper.claims import Claim, check_claims
from safear.paper.entries import Entry
from safear.paper.tables import Advance, Workshop

Progress = Callable[[str, int, int], None]  # (table, done, total)
TABLES: dict[str, tuple[Callable[[Workshop, Advance], Iterator[Entry]], int]] = {  # and how often it advances
    "models": (tables.models, 3),
    "risk": (tables.risk, 6),
    "gender": (tables.gender, 12),
    "gender-tests": (tables.gender_tests, 6),
    "second-model": (tables.second_model, 12),
    "horizon": (tables.horizon, 30),
    "insurance": (tables.insurance, 4),
    "lower-deviation": (tables.lower_deviation, 8),
    "synthetic": (tables.synthetic, 1),
    "dice": (dice.dice, 20),
    "episodic": (instances.episodic, 6),
    "cases": (instances.cases, 4),
    "loan": (tables.loan, 1),
    "optimal": (gap.optimal, 16),
}


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A recomputed table."""

    name: str
    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def compared(self) -> int:
        """How many entries have a figure on both sides."""
        return sum(entry.is_close is not None for entry in self.entries)

    @property
    def close(self) -> int:
        """How many of them are within 10%."""
        return sum(entry.is_close is True for entry in self.entries)


def reproduce(
    names: Sequence[str] = (), *, workshop: Workshop | None = None, progress: Progress | None = None
) -> Iterator[PaperTable]:
    """Recompute tables, each as soon as it is finished; all if none is named (`dice` only if dice-ml is installed)."""
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        guess = suggest(unknown[0], TABLES) or ""
        names_of_all = f"tables: {', '.join(TABLES)}"
        remedy = f"{guess} ({names_of_all})" if guess.startswith("did you mean") else names_of_all
        raise ObjectiveError.at((), f"there is no table '{unknown[0]}'", remedy, code="unknown_name")
    shop = Workshop() if workshop is None else workshop
    for name in dict.fromkeys(names) or [name for name in TABLES if name != "dice" or dice.is_installed()]:
        compute, steps = TABLES[name]
        done = count(1)

        def advance(table: str = name, steps: int = steps, done: Iterator[int] = done) -> None:
            if progress is not None:
                progress(table, next(done), steps)

        entries = tuple(compute(shop, advance))
        yield PaperTable(name, entries, tuple(check_claims(shop, name, entries)))


def to_csv(finished: Iterable[PaperTable]) -> str:
    """All entries as CSV."""
    records = [entry.record() for table in finished for entry in table.entries]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def to_markdown(table: PaperTable) -> str:
    """A table as Markdown: a row per group, policy and horizon, a column per measure; see `format_cell`."""
    rows: dict[tuple[str, str, str, int | None], dict[str, Entry]] = {}
    measures: dict[str, None] = {}
    for entry in table.entries:
        key = entry.key
        rows.setdefault((key.dataset, key.group, key.policy, key.horizon), {})[key.measure] = entry
        measures[key.measure] = None
    head = ["data set", "group", "policy", "horizon", *measures]
    lines = [f"## {table.name}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (dataset, group, policy, steps), entries in rows.items():
        shown = [format_cell(entries[measure]) if measure in entries else "" for measure in measures]
        lines.append("| " + " | ".join([dataset, group, policy, str(steps or ""), *shown]) + " |")
    if table.compared:
        lines += ["", f"{table.close} of {table.compared} cells are within 10% of the paper."]
    if "mean" in measures and table.name != "loan":
        lines += ["", "Costs are those of successful runs, as in the paper."]
    lines.append("")
    for claim in table.claims:
        lines.append(f"- {describe_claim(claim)}")
    notes = [
        f"- {entry.key.dataset}, {entry.key.group}, {entry.key.policy}, {entry.key.measure}: the paper {entry.note}"
        for entry in table.entries
        if len(entry.note) > 3
    ]
    return "\n".join([*lines, *notes, ""])


def format_cell(entry: Entry) -> str:
    """`3.73 / 3.74 (3.49) [3.50, 3.73]`: exact, simulated, the paper's, and the range over forests; what there is."""
    ours = "n/a" if entry.ours is None else format_figure(entry.ours, entry.key.measure)
    if entry.simulated is not None:
        ours = f"{ours} / {format_figure(entry.simulated, entry.key.measure)}"
    if entry.paper is not None:
        ours += f" ({'<' * (entry.note == '<')}{format_figure(entry.paper, entry.key.measure)})"
    if entry.low is not None and entry.high is not None:
        ours += f" [{format_figure(entry.low, entry.key.measure)}, {format_figure(entry.high, entry.key.measure)}]"
    return ours


_SHARES = {
    "success",
    "accuracy",
    "within 3",
    "seconds",
    "greedy worse",
    "by",
    "at most by",
    "other first step",
    "gives up",
}


def format_figure(value: float, measure: str) -> str:
    """With as many digits as the paper prints; shares with three."""
    if measure in {"n", "features", "immutable", "states", "no_counterfactual"}:
        return f"{value:.0f}"
    if measure.startswith("p_"):
        return f"{value:.4f}"
    return f"{value:.3f}" if measure in _SHARES else f"{value:.2f}"


def describe_claim(claim: Claim) -> str:
    """`adult: more aversion, less variance: holds with 5 of 5 forests`."""
    count, total = sum(claim.holds.values()), len(claim.holds)
    verdict = "holds" if claim.holds_mostly else "does NOT hold"
    return f"{claim.dataset}: {claim.text}: {verdict} ({count} of {total} {claim.tried}{'s' * (total > 1)})"
