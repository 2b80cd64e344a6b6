"""`safear recommend`: plans for one person."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.person_options import find_menu, person_options
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.problem.model import Problem
    from safear.recourse.menu import Menu


@click.command(
    epilog="""\b
Example:
  safear recommend loan
  safear recommend loan --set savings=moderate --objective mean-std:0.5
  safear recommend my-problem.yaml --classifier model.skops --person person.json --json
  safear recommend loan --forbid "change job" --terms my-terms.yaml
  safear recommend loan --report plan.html --language de --contact "Ms Weber, 0531 1234"

\b
Objectives:
  mean  mean-std:0.5  mean-variance:0.5  entropic:0.5  mean-lower-std:0.5     the number is the risk aversion
  cvar:0.95  var:0.95  mean-cvar:0.5:0.95                                     0.95 means the worst 5%
  budget:6                                                                    succeed within a cost of 6
  success-first  success-first:cvar:0.95                                      the highest success, then the other

\b
--report needs Jinja2: pip install 'safear[report]'

\b
Exit codes:  0 there are plans, or nothing to do;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@click.argument("problem_file", metavar="PROBLEM")
@person_options
@click.option(
    "--simulate", type=click.IntRange(1, 10_000_000), metavar="N", help="Also run each plan N times, as a cross-check."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of simulation and episodic method.")
@click.option("--all-steps", is_flag=True, help="Show every situation of a plan, however rare.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the JSON object to a file."
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Write a page for the person, and print only what it says in short.",
)
@click.option("--language", metavar="CODE", default="en", show_default=True, help="Of what people read: en or de.")
@click.option("--contact", metavar="TEXT", help="Where the person can ask, for the report.")
@click.pass_context
@verbose_option
def recommend(context: click.Context, /, problem_file: str, **options: Any) -> None:
    """Recommend plans for a person: what to do now, what to do if it fails, and what it may cost.

    PROBLEM is a problem file or the name of a bundled problem. The person is the problem's first unless given.
    Without --objective a menu from safest to cheapest on average is offered, chosen from all optimal plans between.
    """
    from safear.datasets.bundled import find_problem
    from safear.recourse.teller import Teller

    teller = Teller.of(options["language"])
    _check_report(options)
    original = find_problem(problem_file)
    problem = original if options["horizon"] is None else original.with_horizon(options["horizon"])
    menu = find_menu(problem, options)
    failure = menu.no_recourse
    simulations = _simulate(menu, options)
    if options["output"] is not None:
        from safear.files import write_text

        write_text(
            options["output"],
            json.dumps(_menu_record(menu, simulations), indent=2, allow_nan=False, ensure_ascii=False) + "\n",
        )
    if options["as_json"]:
        plain = (sys.stdout.encoding or "").lower() not in {"utf-8", "utf8"}
        click.echo(json.dumps(_menu_record(menu, simulations), indent=2, allow_nan=False, ensure_ascii=plain))
    elif failure is None and options["output"] is None and options["report"] is None:
        from safear.cli.render import print_menu, print_simulations

        print_menu(menu, all_steps=options["all_steps"], language=options["language"])
        print_simulations(menu, simulations)
    if options["report"] is not None:
        _report(menu, original=original, problem_file=problem_file, options=options)
    if failure is not None:
        click.echo(teller.no_recourse(failure), err=True)
        context.exit(3)


def _check_report(options: dict[str, Any]) -> None:
    """Refuse a report that cannot be written before anything is computed for it."""
    if options["report"] is not None and options["report"] == options["output"]:
        raise click.UsageError("--report and --output name the same file")
    if options["report"] is None:
        if options["contact"] is not None:
            raise click.UsageError("--contact goes with --report")
        return
    from safear.reports.page import require_writable

    require_writable(options["report"])


def _report(menu: Menu, *, original: Problem, problem_file: str, options: dict[str, Any]) -> None:
    """Write the page and, unless JSON is printed, say what it says in short."""
    from safear.reports import Sources, report_menu

    person = options["person"] or next(iter(original.people), "--set")
    page = report_menu(
        menu,
        language=options["language"],
        original=original,
        contact=options["contact"],
        sources=Sources(
            problem_file,
            options["classifier"] or "the rule of the problem",
            [" ".join([person, *options["settings"]])],
            options["seed"] if options["method"] == "episodic" else None,
        ),
    )
    page.save(options["report"])
    if not options["as_json"]:
        click.echo("\n".join([*page.summary, f"The report is in {options['report']}."]))


def _menu_record(menu: Menu, simulations: list[dict[str, Any]]) -> dict[str, Any]:
    from safear.recourse.records import menu_record

    record = menu_record(menu)
    for plan, found in zip(record["plans"], simulations, strict=False):
        plan["simulated"] = found
    return record


def _simulate(menu: Menu, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The cross-check of each plan, if there is one."""
    import numpy as np

    from safear.evaluation.simulate import simulate
    from safear.recourse.records import costs_record

    found = []
    for number, offer in enumerate(menu if options["simulate"] is not None else ()):
        rng = np.random.default_rng([options["seed"], number])
        runs = simulate(offer.solution, rollouts=options["simulate"], rng=rng).distribution
        figures = {"cost": costs_record(runs.given_success), "all_runs": costs_record(runs.all_runs)}
        found.append({"rollouts": options["simulate"], "seed": options["seed"], "success": runs.success} | figures)
    return found
