"""The page about an audit, for an auditor: sentences first, then pictures and tables, then what belongs in the file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from safear.plots.disparity_picture import describe_group, draw_groups
from safear.population.audit import RESAMPLES, Audit
from safear.population.groups import BETWEEN
from safear.recourse.teller import Teller
from safear.reports.appendix import Sources, exact_tables, list_origin
from safear.reports.audit_tables import (
    Table,
    comparison_table,
    figures_table,
    origin_table,
    overall_table,
    people_table,
)
from safear.reports.audit_words import describe_objective, join_words
from safear.reports.findings import (
    Finding,
    conclude,
    explain,
    tell_acceptance,
    tell_giving_up,
    tell_origin,
    tell_small,
    tell_without_recourse,
)
from safear.reports.page import Page, render
from safear.reports.verdicts import Division, divide
from safear.texts import load_texts
from safear.texts.names import show_name
from safear.texts.numbers import count_of


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page about one division of the people."""

    key: str
    title: str
    conclusion: Finding
    findings: tuple[Finding, ...]
    picture: str
    picture_words: tuple[str, ...]
    tables: tuple[Table, ...]


def report_audit(
    audit: Audit, *, title: str | None = None, sources: Sources | None = None, dated: str | None = None
) -> Page:
    """The page about an audit.

    `sources` says where the input came from and `dated` when: an audit knows neither. The same audit gives the same
    bytes.
    """
    divisions = divide(audit)
    unit = show_name(audit.problem.cost_unit)
    origins = {name: audit.decompose(name) for name in audit.population.groups if audit.can_decompose(name)}
    by_name = {division.name: division for division in divisions}
    found = [_say_by(division, conclude(division)) for division in divisions]
    found += [tell_without_recourse(audit, divisions), *tell_giving_up(audit)]
    found += [_say_by(division, finding) for division in divisions for finding in tell_small(division)]
    for name, parts in origins.items():
        found += tell_origin(name, by_name[name], parts, unit)
    sections = [_make_section(audit, division, number) for number, division in enumerate(divisions, start=1)]
    return render(
        "audit.html.jinja",
        load_texts("en"),
        summary=tuple(finding.text for finding in found),
        title=show_name(title or f"{audit.problem.title}: who carries more risk?"),
        dated=dated and show_name(dated),
        asked=_tell_asked(audit),
        settings=_list_settings(audit),
        findings=found,
        overall=(people_table(audit), overall_table(audit)),
        sections=sections,
        origins=[origin_table(name, by_name[name], parts) for name, parts in origins.items() if parts],
        worst=Teller.of().percent(1 - audit.level),
        level=Teller.of().percent(audit.level),
        unit=unit,
        minimum=audit.minimum,
        resamples=RESAMPLES,
        origin=list_origin(audit, sources or Sources()),
        exact=list(exact_tables(audit, divisions, origins)),
    )


def _say_by(division: Division, finding: Finding) -> Finding:
    """A finding of a division, where several are told of."""
    return replace(finding, text=f"By {show_name(division.name)}: {finding.text[:1].lower()}{finding.text[1:]}")


def _tell_asked(audit: Audit) -> list[str]:
    """What was asked, in sentences."""
    problem, population, overall = audit.problem, audit.population, audit.overall
    goal, groups = (
        Teller.of().goal(problem.goal.favourable),
        join_words([show_name(name) for name in population.groups]),
    )
    read = f"{overall['n']:,} people were read"
    if population.skipped:
        read += f"; {count_of(population.skipped, 'row')} of {population.rows:,} could not be used and were set aside"
    accepted = overall["n"] - overall["rejected"]
    question = (
        "People who are rejected can act to change that, but their steps may fail. This audit asks whether groups "
    )
    question += f"of people, by {groups}, carry different risks on the way to “{goal}”."
    answer = f"{read}. The model accepts {accepted:,} ({Teller.of().percent(overall['favourable'])}) and rejects "
    greedy = "greedy " if audit.method == "greedy" else ""
    answer += f"{overall['rejected']:,}. Everybody who is rejected follows the {greedy}plan for "
    answer += f"{describe_objective(audit.objective)}, in at most {Teller.of().steps(problem.horizon)}. All figures of "
    answer += "a person are exact; groups are compared by their means."
    return [question, answer]


def _list_settings(audit: Audit) -> list[tuple[str, str]]:
    problem, population = audit.problem, audit.population
    return [
        ("problem", show_name(problem.title)),
        ("goal", Teller.of().goal(problem.goal.favourable)),
        ("groups", show_name(BETWEEN.join(population.groups))),
        ("objective", str(audit.objective)),
        ("method", audit.method or "optimal where possible"),
        ("level of “within” and “worst”", Teller.of().percent(audit.level)),
        ("horizon", Teller.of().steps(problem.horizon)),
        ("a failure costs", Teller.of().cost(float(problem.goal.failure_cost), show_name(problem.cost_unit))),
        ("rows read", f"{population.rows:,}"),
        ("rows set aside", f"{population.skipped:,}"),
        ("smallest group compared", f"{audit.minimum:,} rejected"),
    ]


def _make_section(audit: Audit, division: Division, number: int) -> Section:
    unit = show_name(audit.problem.cost_unit)
    tables = (people_table(audit, division), figures_table(audit, division), comparison_table(division))
    return Section(
        key=f"groups-{number}",
        title=f"By {show_name(division.name)}",
        conclusion=conclude(division),
        findings=(tell_acceptance(division), *explain(division, unit)),
        picture=draw_groups(division.groups).svg,
        picture_words=tuple(show_name(describe_group(division.groups, row)) for row in division.groups.drawn),
        tables=tuple(table for table in tables if table is not None),
    )
