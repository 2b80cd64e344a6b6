"""`safear walk`: where somebody is on the way along a plan, and what to do now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, record_options, tell_record
from safear.cli.person_options import OUTCOMES, PLAN, find_menu, find_plan, person_options, require_recourse
from safear.cli.results import print_result
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.recourse.walk_records import SituationRecord


@click.command(
    epilog="""\b
Example:
  safear walk loan
  safear walk loan --plan safest --outcome works --outcome fails
  safear walk loan --objective mean --outcome 1 --json

\b
Exit codes:  0 fine;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@PROBLEM
@PLAN
@OUTCOMES
@person_options
@LANGUAGE
@record_options
@verbose_option
def walk(problem_file: str, **options: Any) -> None:
    """Follow a plan: what has happened so far, what to do now, and what is still to come.

    PROBLEM, the person and the plans are those of `safear recommend`. Give an --outcome for each step taken so far.
    """
    from safear.recourse.teller import Teller
    from safear.recourse.walk import WalkError
    from safear.recourse.walk import walk as follow
    from safear.recourse.walk_teller import WalkTeller

    teller = Teller.of(options["language"])
    menu = find_menu(find_source(problem_file, options), options)
    teller = teller.about(menu.problem)
    require_recourse(menu, teller)
    if menu.favourable:
        raise WalkError.at((), "the decision is already favourable; there is no plan to follow", code="favourable")
    offer = find_plan(menu, options["plan"])
    situation = follow(offer, options["outcomes"])

    def make_record() -> SituationRecord:
        from safear.recourse.walk_records import SituationRecord

        return SituationRecord.of(situation)

    if not tell_record(make_record, options):
        print_result(f"{teller.text(menu.problem.title)}: {teller.describe_plan(offer)}")
        print_result("\n".join(WalkTeller(situation, teller).lines()))
