"""Entries of tables: a figure of the paper beside ours."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

CLOSE = 0.10  # within so much of the paper's figure, relatively, a entry counts as matched
SIGNIFICANT = 0.05
MEASURES = (
    "success",
    "mean",
    "variance",
    "var80",
    "tail_mean80",
    "var95",
    "tail_mean95",
    "sparsity",
    "proximity",
)


def read_measures(cost: Any, ends: Any) -> dict[str, Any]:
    """All MEASURES: of one person (a CostDistribution and Runs) or of all states (StateDistributions for both)."""
    return {
        "success": cost.success,
        "mean": cost.mean,
        "variance": cost.variance,
        "var80": cost.var(0.8),
        "tail_mean80": cost.tail_mean(0.8),
        "var95": cost.var(0.95),
        "tail_mean95": cost.tail_mean(0.95),
        "sparsity": ends.sparsity,
        "proximity": ends.proximity,
    }


@dataclass(frozen=True, slots=True)
class EntryKey:
    """Which entry of which table."""

    table: str
    dataset: str
    group: str
    policy: str
    horizon: int | None
    measure: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure of the paper beside ours: exact, simulated as in the paper, and its range over five forests.

    None where the paper prints none, or where it is undefined. `note` marks slips of the paper.
    """

    key: EntryKey
    paper: float | None
    ours: float | None
    simulated: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def is_close(self) -> bool | None:
        """Whether ours is within 10% of the paper's figure; None where there is nothing to compare.

        Two p-values agree if both or neither are below 0.05. Times are not compared, nor the size of the paper's
        samples with that of our populations.
        """
        if self.paper is None or self.ours is None or self.key.measure == "seconds" or self._is_sample:
            return None
        if self.key.measure.startswith("p_"):
            return (self.ours < SIGNIFICANT) == (self.paper < SIGNIFICANT)
        return abs(self.ours - self.paper) <= CLOSE * abs(self.paper)

    @property
    def _is_sample(self) -> bool:
        return self.key.measure == "n" and self.key.dataset == "adult" and self.key.table in {"horizon", "second-model"}

    def record(self) -> dict[str, Any]:
        """As plain data."""
        figures = {name: getattr(self, name) for name in ("paper", "ours", "simulated", "low", "high", "note")}
        return asdict(self.key) | figures


@cache
def published() -> Mapping[EntryKey, tuple[float | None, str]]:
    """What the paper prints: the figure and a note for each entry."""
    text = (resources.files(__package__) / "published.csv").read_text(encoding="utf-8")
    result = {}
    for row in csv.DictReader(text.splitlines()):
        horizon = int(row["horizon"]) if row["horizon"] else None
        key = EntryKey(row["table"], row["dataset"], row["group"], row["policy"], horizon, row["measure"])
        result[key] = (float(row["value"]) if row["value"] else None, row["note"])
    return result


def make_entry(
    key: EntryKey, ours: float | None, simulated: float | None = None, others: Iterable[float | None] = ()
) -> Entry:
    """Our figure beside the paper's; `others` are those of other forests."""
    paper, note = published().get(key, (None, ""))
    spread = [value for value in (ours, *others) if value is not None] if others else []
    return Entry(key, paper, ours, simulated, min(spread, default=None), max(spread, default=None), note)
