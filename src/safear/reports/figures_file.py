"""The file of figures that belongs to a letter: everything with all digits, and what it was computed from and with."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from safear.recourse.figure_records import ResultRecord
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.records import MenuRecord, PlanRecord
from safear.reports.appendix import Sources, list_versions
from safear.reports.reference import choose_offer, digest_person, digest_problem, name_reference


class SourcesRecord(ResultRecord):
    """Where the input came from; null each where nobody said."""

    problem: str | None
    classifier: str | None = Field(description="null: given in memory, or the problem's own rule")
    person: str | None
    seed: int | None = Field(description="of what was drawn at random, if anything was")


class FiguresRecord(ResultRecord):
    """What the provider keeps of a letter, so that somebody can compute the same again."""

    reference: str = Field(description="the one that the letter has")
    dated: date | None
    chosen: str | None = Field(description="the plan that the letter is about, by its code")
    versions: dict[str, str]
    sources: SourcesRecord
    problem_sha256: str = Field(description="of the problem used, with the person's own terms, as SafeAR writes it")
    person_sha256: str = Field(description="of what is known of the person as filed, as JSON with sorted keys")
    tails: dict[str, float] = Field(description="the mean cost of each plan's worst runs at the level of the menu")
    menu: MenuRecord
    between: PlanRecord | None = Field(description="the plan that the letter is about, if the menu does not offer it")


def report_figures(
    menu: Menu,
    chosen: Offer | str | int | None = None,
    *,
    dated: date | None = None,
    reference: str | None = None,
    sources: Sources | None = None,
) -> FiguresRecord:
    """The figures of the letter that `report_menu` makes of the same menu, plan, date and reference."""
    offer, sources = choose_offer(menu, chosen), sources or Sources()
    offered = offer is None or any(each.solution is offer.solution for each in menu)
    return FiguresRecord(
        reference=name_reference(menu, offer, dated=dated, given=reference),
        dated=dated,
        chosen=None if offer is None else offer.code,
        versions=dict(list_versions()),
        sources=SourcesRecord(
            problem=sources.problem,
            classifier=sources.classifier,
            person=", ".join(sources.people) or None,
            seed=sources.seed,
        ),
        problem_sha256=digest_problem(menu.problem),
        person_sha256=digest_person(menu),
        tails={each.code: each.tail for each in menu},
        menu=MenuRecord.of(menu),
        between=None if offer is None or offered else PlanRecord.of(offer),
    )
