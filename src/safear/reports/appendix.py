"""The appendix of an audit: what it was computed from and with, and all figures with all their digits."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from safear._version import __version__
from safear.population.audit import RESAMPLES, Audit
from safear.population.audit_teller import AuditTeller
from safear.population.decomposition import Gap
from safear.reports.audit_tables import Cell, Table
from safear.reports.reference import digest_problem
from safear.reports.verdicts import Division
from safear.texts import Texts
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


def list_origin(audit: Audit, sources: Sources, tell: AuditTeller) -> list[tuple[str, str]]:
    """What somebody needs to compute the same again, by name."""
    population, say = audit.population, tell.part("audit.file")
    return [
        *list_versions(),
        (say("problem"), show_name(sources.problem or say("problem_in_memory"))),
        (say("problem_digest"), digest_problem(audit.problem)),
        (say("classifier"), show_name(sources.classifier or say("classifier_unknown"))),
        (say("people"), ", ".join(map(show_name, sources.people)) or say("in_memory")),
        (say("rows"), tell.texts.whole(population.rows)),
        (say("skipped"), tell.texts.whole(population.skipped)),
        (say("kinds"), tell.texts.whole(len(population.counts))),
        (say("bootstrap"), say("resampled", seed=str(audit.seed), resamples=RESAMPLES)),
    ]


def exact_tables(
    audit: Audit, divisions: Sequence[Division], origins: Mapping[str, Iterable[Gap]], tell: AuditTeller
) -> Iterator[Table]:
    """All figures, each such that the same number can be read back; measures are named as in the audit's tables."""

    def write(key: str, column: str, rows: Sequence[Sequence[object]], *, names: int = 1) -> Table:
        caption, headings = tell(f"audit.file.{key}", column=column), tell.headings(f"audit.file.{key}_headings")
        return write_exactly(caption, headings, rows, tell.texts, names=names)

    yield write("overall", "", list(audit.overall.items()))
    for division in divisions:
        groups, by, label = division.groups, division.name, division.groups.label
        people = [
            (label(row.number), row.people, row.rejected, row.without_recourse, row.gives_up, row.small)
            for row in groups.groups
        ]
        yield write("people_by", by, people)
        figures = [(label(row.number), row.measure, row.people, row.value, row.low, row.high) for row in groups.figures]
        yield write("figures", by, figures, names=2)
        spreads = [(name, division.difference[name], division.ratio[name]) for name in division.difference]
        yield write("spread", by, spreads)
        pairs = division.comparisons
        if pairs:
            names = [(item.measure.name, label(item.group.number), label(item.other.number)) for item in pairs]
            gaps = [(item.difference, item.low, item.high) for item in pairs]
            tests = [(item.effect, item.test, item.p, item.p_holm) for item in pairs]
            yield write("differences", by, [(*a, *b) for a, b in zip(names, gaps, strict=True)], names=3)
            yield write("tests", by, [(*a, *b) for a, b in zip(names, tests, strict=True)], names=3)
    for feature, parts in origins.items():
        yield write("origins", feature, [astuple(part) for part in parts], names=3)


def write_exactly(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[object]], texts: Texts, *, names: int = 1
) -> Table:
    """A table with all digits."""
    cells = tuple(
        tuple(Cell(show_name(value) if isinstance(value, str) else texts.exactly(value)) for value in row)
        for row in rows
    )
    return Table(show_name(caption), tuple(map(Cell, headings)), cells, names)
