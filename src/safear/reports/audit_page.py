"""The page about an audit, for an auditor: sentences first, then pictures and tables, then what belongs in the file."""

from __future__ import annotations

from dataclasses import dataclass

from safear.plots.disparity_picture import describe_group, draw_groups
from safear.population.audit import RESAMPLES, Audit
from safear.population.audit_teller import AuditTeller
from safear.population.groups import BETWEEN
from safear.reports.appendix import Sources, exact_tables, list_origin
from safear.reports.audit_tables import (
    Table,
    comparison_table,
    figures_table,
    origin_table,
    overall_table,
    people_table,
)
from safear.reports.findings import Finding, FindingTeller
from safear.reports.page import Page, render
from safear.reports.verdicts import Division, divide
from safear.texts.names import show_name

TERMS = ("helpless", "success", "cost", "tail", "effort", "gives_up", "interval", "p", "verdict", "small")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page about one division of the people."""

    key: str
    title: str
    findings: tuple[Finding, ...]
    picture: str
    caption: str
    picture_words: tuple[str, ...]
    tables: tuple[Table, ...]


def report_audit(
    audit: Audit,
    *,
    language: str = "en",
    title: str | None = None,
    sources: Sources | None = None,
    dated: str | None = None,
) -> Page:
    """The page about an audit, in a language.

    `sources` says where the input came from and `dated` when: an audit knows neither. The same audit gives the same
    bytes.
    """
    tell = AuditTeller.of(language, audit.problem.glossary)
    found, divisions, origins = FindingTeller(tell), divide(audit, language), audit.decompositions()
    short = found.sum_up(audit, divisions, origins)
    by_name = {division.groups.by: division for division in divisions}
    return render(
        "audit.html.jinja",
        tell.texts,
        summary=tuple(finding.text for finding in short),
        title=show_name(title or tell("audit.title", problem=tell.teller.text(audit.problem.title))),
        dated=dated and show_name(dated),
        say=tell.part("audit"),
        asked=found.asked(audit),
        settings=_list_settings(audit, tell),
        findings=short,
        overall=(people_table(audit, tell), overall_table(audit, tell)),
        sections=[_make_section(audit, division, number, tell) for number, division in enumerate(divisions, start=1)],
        origins=[origin_table(name, by_name[name,], parts, tell) for name, parts in origins.items() if parts],
        reading=_list_terms(audit, tell),
        origin=list_origin(audit, sources or Sources(), tell),
        exact=list(exact_tables(audit, divisions, origins, tell)),
    )


def _list_settings(audit: Audit, tell: AuditTeller) -> list[tuple[str, str]]:
    problem, population = audit.problem, audit.population
    values = (
        tell.teller.text(problem.title),
        tell.teller.goal(problem.goal.favourable),
        BETWEEN.join(map(tell.teller.feature, population.groups)),
        str(audit.objective),
        tell(f"audit.method.{audit.method or 'any'}"),
        tell.percent(audit.level),
        tell.teller.steps(problem.horizon),
        tell.teller.cost(float(problem.goal.failure_cost), problem.cost_unit),
        tell.texts.whole(population.rows),
        tell.texts.whole(population.skipped),
        tell("audit.asked.smallest", minimum=audit.minimum),
    )
    return list(zip(tell.headings("audit.asked.settings"), values, strict=True))


def _list_terms(audit: Audit, tell: AuditTeller) -> list[tuple[str, str]]:
    """What the words and figures of the page mean."""
    values = {
        "unit": tell.teller.text(audit.problem.cost_unit),
        "level": tell.percent(audit.level),
        "worst": tell.teller.worst_name(audit.level),
        "in_worst": tell.teller.worst(audit.level),
        "resamples": RESAMPLES,
        "minimum": audit.minimum,
    }
    say = tell.part("audit.reading")
    return [(say(f"{key}.term", **values), say(f"{key}.text", **values)) for key in TERMS]


def _make_section(audit: Audit, division: Division, number: int, tell: AuditTeller) -> Section:
    unit, found = tell.teller.text(audit.problem.cost_unit), FindingTeller(tell)
    title = tell("audit.by", column=division.name)
    tables = people_table(audit, tell, division), figures_table(division, tell), comparison_table(division, tell)
    return Section(
        key=f"groups-{number}",
        title=title,
        findings=(found.conclude(division), found.acceptance(division), *found.explain(division, unit)),
        picture=draw_groups(division.groups).svg,
        caption=tell("audit.picture", title=title, unit=unit),
        picture_words=tuple(describe_group(division.groups, row) for row in division.groups.drawn),
        tables=tuple(table for table in tables if table is not None),
    )
