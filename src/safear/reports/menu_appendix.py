"""The appendix of a person's page: what it was computed from and with, and all figures with all their digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.records import PlanFiguresRecord, as_scalars
from safear.reports.appendix import Sources, digest_problem, list_versions, write_exactly
from safear.reports.audit_tables import Table
from safear.texts import Texts
from safear.texts.names import show_name


def digest_person(menu: Menu) -> str:
    """The SHA-256 of what decides about the person, as JSON with sorted keys: levels, and what is seen as filed."""
    filed, sight = as_scalars(menu.case.decision.record), menu.case.sight
    seen = dict(menu.person) | {name: filed[name] for name in (*sight.numbers, *sight.given)}
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def list_menu_origin(menu: Menu, texts: Texts, *, sources: Sources, dated: str | None) -> list[tuple[str, str]]:
    """What somebody needs to compute the same again, by name."""
    say = texts.part("report.file")
    facts = [
        *list_versions(),
        (say("problem"), show_name(sources.problem or say("in_memory"))),
        (say("problem_digest"), digest_problem(menu.problem)),
        (say("classifier"), show_name(sources.classifier or say("classifier_unknown"))),
        (say("person"), ", ".join(map(show_name, sources.people)) or say("in_memory")),
        (say("person_digest"), digest_person(menu)),
        (say("decision"), say("favourable" if menu.favourable else "unfavourable")),
    ]
    if menu.no_recourse is not None:
        facts.append((say("reason"), menu.no_recourse.code))
    if menu.offers:
        facts.append((say("level"), texts.exactly(menu.level)))
    if sources.seed is not None:
        facts.append((say("seed"), str(sources.seed)))
    if dated is not None:
        facts.append((say("dated"), show_name(dated)))
    return facts


def exact_menu_tables(menu: Menu, texts: Texts) -> Iterator[Table]:
    """All figures, each such that the same number can be read back."""
    if not menu.offers:
        return
    yield _write_figures(menu, texts)
    for number, offer in enumerate(menu, start=1):
        yield _write_steps(number, offer, texts)
        yield _write_ways(number, offer, texts)


def _write_figures(menu: Menu, texts: Texts) -> Table:
    """A column per plan; the names of the figures are those of `PlanRecord`."""
    columns = [dict(_flatten(_figures(offer))) for offer in menu]
    say = texts.part("report.file")
    headings = (say("figure"), *(say("plan", number=number) for number in range(1, len(columns) + 1)))
    names = dict.fromkeys(name for column in columns for name in column)  # plans without intervals have fewer
    rows = [(name, *(column.get(name) for column in columns)) for name in names]
    return write_exactly(say("figures"), headings, rows, texts)


def _figures(offer: Offer) -> dict[str, Any]:
    names = ("name", "method", "objectives", "value", "planned_value", "bound", "value_error", "success", "all_runs")
    record = PlanFiguresRecord.of(offer).model_dump()
    figures = {name: record[name] for name in names}
    figures["all_runs"]["cvar"] |= {f"{offer.level:g}": offer.tail}  # the level of this menu, whatever it is
    figures |= {"cost if it succeeds": record["cost"]} | {name: record[name] for name in ("sparsity", "proximity")}
    return figures | ({} if record["ranges"] is None else {"ranges": record["ranges"]})


def _flatten(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name} ")
        else:
            yield prefix + name, ", ".join(value) if isinstance(value, list) else value


def _write_steps(number: int, offer: Offer, texts: Texts) -> Table:
    rows = [
        (step.number, step.action, place, branch.chance, branch.cost, step.visits)
        for step in offer.long_plan.steps
        for place, branch in enumerate(step.branches, start=1)
    ]
    say = texts.part("report.file")
    return write_exactly(say("steps", number=number), say("step_headings").split("|"), rows, texts, names=2)


def _write_ways(number: int, offer: Offer, texts: Texts) -> Table:
    say = texts.part("report.file")
    rows = [
        (place, len(trace.steps), trace.chance, trace.cost, trace.spent, trace.success)
        for place, trace in enumerate(offer.traces.shown, start=1)
    ]
    words = [(*row[:-1], say("yes" if row[-1] else "no")) for row in rows]
    return write_exactly(say("ways", number=number), say("way_headings").split("|"), words, texts)
