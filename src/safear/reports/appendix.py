"""The appendix of a page: what it was computed from and with, and all figures with all their digits."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from safear._version import __version__
from safear.population.audit import RESAMPLES, Audit
from safear.population.decomposition import Gap
from safear.problem.dump import dump_problem_text
from safear.problem.model import Problem
from safear.reports.audit_tables import Cell, Table
from safear.reports.audit_words import format_exactly
from safear.reports.verdicts import Division
from safear.texts.names import show_name


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the input came from, in the words of who gave it: files, patterns, names."""

    problem: str | None = None
    classifier: str | None = None
    people: Sequence[str] = ()
    seed: int | None = None  # of what was drawn at random, if anything was


def list_versions() -> list[tuple[str, str]]:
    """What computed it."""
    return [("SafeAR", __version__), ("Python", platform.python_version()), ("NumPy", np.__version__)]


def digest_problem(problem: Problem) -> str:
    """The SHA-256 of the problem as SafeAR writes it."""
    return hashlib.sha256(dump_problem_text(problem).encode()).hexdigest()


def list_origin(audit: Audit, sources: Sources) -> list[tuple[str, str]]:
    """What somebody needs to compute the same again, by name."""
    population = audit.population
    people = ", ".join(map(show_name, sources.people)) or "a table in memory"
    return [
        *list_versions(),
        ("problem", show_name(sources.problem or "made in memory")),
        ("SHA-256 of the problem as SafeAR writes it", digest_problem(audit.problem)),
        ("classifier", show_name(sources.classifier or "given in memory, or the problem's own rule")),
        ("people", people),
        ("rows read", f"{population.rows:,}"),
        ("rows set aside", f"{population.skipped:,}"),
        ("kinds of people (levels and groups)", f"{len(population.counts):,}"),
        ("bootstrap", f"seed {audit.seed}, {RESAMPLES:,} resamples, percentile intervals of 95%"),
    ]


def exact_tables(audit: Audit, divisions: Sequence[Division], origins: Mapping[str, Iterable[Gap]]) -> Iterator[Table]:
    """All figures, each such that the same number can be read back."""
    yield _write("Everybody: all figures", "figure|value", list(audit.overall.items()))
    for division in divisions:
        yield from _write_division(division)
    for feature, parts in origins.items():
        rows = [astuple(part) for part in parts]
        headings = "measure|group|other|gap|start|model|covered"
        yield _write(f"By {feature}: where gaps come from (group minus other)", headings, rows, names=3)


def _write_division(division: Division) -> Iterator[Table]:
    groups, by = division.groups, f"By {division.name}"
    people = [
        (row.group, row.people, row.rejected, row.without_recourse, row.gives_up, row.small) for row in groups.groups
    ]
    yield _write(f"{by}: people", "group|people|rejected|without recourse|plan gives up|small", people)
    figures = [(row.group, row.measure, row.people, row.value, row.low, row.high) for row in groups.figures]
    headings = "group|measure|people who have it|mean|low|high"
    yield _write(f"{by}: means and bootstrap intervals", headings, figures, names=2)
    spreads = [(name, division.difference[name], division.ratio[name]) for name in division.difference]
    yield _write(f"{by}: largest difference and smallest ratio", "measure|difference|ratio", spreads)
    if division.comparisons:
        names = [(item.measure.name, item.group.group, item.other.group) for item in division.comparisons]
        pairs = list(zip(names, division.comparisons, strict=True))
        gaps = [(*name, item.difference, item.low, item.high) for name, item in pairs]
        tests = [(*name, item.effect, item.test, item.p, item.p_holm) for name, item in pairs]
        headings = "measure|group|other|difference|low|high"
        yield _write(f"{by}: differences (group minus other) and bootstrap intervals", headings, gaps, names=3)
        yield _write(f"{by}: rank tests", "measure|group|other|effect|test|p|p (Holm)", tests, names=3)


def _write(caption: str, headings: str, rows: Sequence[Sequence[object]], *, names: int = 1) -> Table:
    cells = tuple(tuple(_write_cell(value) for value in row) for row in rows)
    return Table(show_name(caption), tuple(map(Cell, headings.split("|"))), cells, names)


def _write_cell(value: object) -> Cell:
    return Cell(show_name(value) if isinstance(value, str) else format_exactly(value))
