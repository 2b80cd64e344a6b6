"""`safear recommend`: plans for one person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.letter import check_letter, letter_options, write_letter
from safear.cli.options import LANGUAGE, PROBLEM, CountRange, record_options, tell_record
from safear.cli.person_options import find_menu, person_options, require_recourse
from safear.cli.saving import check_saving, save_chosen, save_options
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.recourse.menu import Menu
    from safear.recourse.records import MenuRecord, SimulatedRecord


@click.command(
    epilog="""\b
Example:
  safear recommend loan
  safear recommend loan --set savings=moderate --objective mean-std:0.5
  safear recommend my-problem.yaml --classifier model.skops --person person.json --json
  safear recommend loan --forbid "change job" --terms my-terms.yaml
  safear recommend loan --report letter.html --plan safest --language de --contact "Ms Weber, 0531 1234"
  safear recommend loan --report letter.html --figures figures.json --date 2026-11-17 --reference "KR 2026/118"
  safear recommend loan --save plan.json --plan safest

\b
Objectives:
  mean  mean-std:0.5  mean-variance:0.5  entropic:0.5  mean-lower-std:0.5     the number is the risk aversion
  cvar:0.95  var:0.95  mean-cvar:0.5:0.95                                     0.95 means the worst 5%
  budget:6                                                                    succeed within a cost of 6
  success-first  success-first:cvar:0.95                                      the highest success, then the least cost

\b
--report needs Jinja2: pip install 'safear[report]'

\b
Exit codes:  0 there are plans, or nothing to do;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@PROBLEM
@person_options
@click.option("--simulate", type=CountRange(1, 10_000_000), metavar="N", help="Check each plan with N simulated runs.")
@click.option("--all-steps", is_flag=True, help="Show every situation of a plan, however rare.")
@record_options
@letter_options
@LANGUAGE
@save_options
@verbose_option
def recommend(problem_file: str, **options: Any) -> None:
    """Recommend plans for a person: what to do now, what to do if it fails, and what it may cost.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance) with its forest.
    The person is the problem's first unless given. Without --objective you get a menu from safest to cheapest on
    average, chosen from all optimal plans between.
    """
    from safear.recourse.teller import Teller

    tell = Teller.of(options["language"])
    check_letter(options)
    check_saving(options, also=("report", "figures"))
    source = find_source(problem_file, options)
    menu = find_menu(source, options)
    tell = tell.about(menu.problem)
    failure = menu.no_recourse
    simulated = _simulate(menu, options)

    def make_record() -> MenuRecord:
        from safear.recourse.records import MenuRecord

        return MenuRecord.of(menu, simulated=simulated)

    save_chosen(menu, options, tell)  # first: whoever reads what is printed may stop reading
    told = tell_record(make_record, options)
    written = write_letter(menu, tell, source=source, problem_file=problem_file, options=options)
    if failure is None and not told and not written:
        from safear.cli.render import print_menu, print_simulations

        print_menu(menu, all_steps=options["all_steps"], language=options["language"])
        print_simulations(menu, simulated, language=options["language"])
    require_recourse(menu, tell)


def _simulate(menu: Menu, options: dict[str, Any]) -> list[SimulatedRecord]:
    """A cross-check of each plan, if it is asked for."""
    rollouts, seed = options["simulate"], options["seed"]
    if rollouts is None:
        return []
    import numpy as np

    from safear.evaluation.simulate import simulate
    from safear.recourse.records import SimulatedRecord

    found = []
    for number, offer in enumerate(menu):
        runs = simulate(offer.solution, rollouts=rollouts, rng=np.random.default_rng([seed, number]))
        found.append(SimulatedRecord.of(runs, rollouts=rollouts, seed=seed))
    return found
