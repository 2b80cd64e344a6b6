"""`safear recommend`: plans for one person."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.recourse.menu import Menu
    from safear.spec.model import Problem


@click.command(
    epilog="""\b
Example:
  safear recommend loan
  safear recommend loan --set savings=moderate --objective mean-std:0.5
  safear recommend my-problem.yaml --classifier model.skops --person person.json --json
  safear recommend loan --forbid "change job" --terms my-terms.yaml

\b
Objectives:
  mean  mean-std:0.5  mean-variance:0.5  entropic:0.5  mean-lower-std:0.5     the number is the risk aversion
  cvar:0.95  var:0.95  mean-cvar:0.5:0.95                                     0.95 means the worst 5%
  budget:6                                                                    succeed within a cost of 6
  success-first  success-first:cvar:0.95                                      the highest success, then the other

\b
Exit codes:  0 there are plans, or nothing to do;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@click.argument("problem_file", metavar="PROBLEM")
@click.option(
    "--classifier", metavar="SOURCE", help="FILE.skops, FILE.csv, MODULE:NAME or FILE.py:NAME; else the rule."
)
@click.option(
    "--trust", multiple=True, metavar="TYPE", help="A type that a skops file may hold besides the known ones."
)
@click.option("--person", metavar="FILE|NAME", help="A person in a YAML or JSON file, or by name one of the problem's.")
@click.option("--set", "settings", multiple=True, metavar="FEATURE=LEVEL", help="Change one feature of the person.")
@click.option("--objective", "objectives", multiple=True, help="What to make small; may be repeated. Else the menu.")
@click.option(
    "--method",
    type=click.Choice(["optimal", "greedy", "episodic"]),
    help="How to solve: optimal, or as in the paper.  [default: optimal where possible]",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True),
    help="What the menu calls safe: 0.95 is the worst 5%.  [default: 0.95]",
)
@click.option("--horizon", type=click.IntRange(1, 1000), help="At most so many steps, instead of the problem's.")
@click.option("--terms", type=click.Path(path_type=Path), help="Personal terms: own costs, chances, forbidden actions.")
@click.option("--forbid", multiple=True, metavar="ACTION", help="An action that is out of the question.")
@click.option(
    "--simulate", type=click.IntRange(1, 10_000_000), metavar="N", help="Also run each plan N times, as a cross-check."
)
@click.option(
    "--episodes", type=click.IntRange(1, 1_000_000), help="Episodes of the episodic method.  [default: 10000]"
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of simulation and episodic method.")
@click.option("--all-steps", is_flag=True, help="Show every situation of a plan, however rare.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the JSON object to a file."
)
@click.pass_context
@verbose_option
def recommend(context: click.Context, /, problem_file: str, **options: Any) -> None:
    """Recommend plans for a person: what to do now, what to do if it fails, and what it may cost.

    PROBLEM is a problem file or the name of a bundled problem. The person is the problem's first unless given.
    Without --objective a menu from safest to cheapest on average is offered, chosen from all optimal plans between.
    """
    from safear.datasets.bundled import find_problem

    problem = find_problem(problem_file)
    if options["horizon"] is not None:
        problem = problem.with_horizon(options["horizon"])
    menu, failure = _recommend(problem, options)
    record = _menu_record(menu, options)
    if failure is not None:
        record["message"] = failure
    if options["output"] is not None:
        from safear.files import write_text

        write_text(options["output"], json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    if options["as_json"]:
        plain = (sys.stdout.encoding or "").lower() not in {"utf-8", "utf8"}
        click.echo(json.dumps(record, indent=2, allow_nan=False, ensure_ascii=plain))
    elif failure is None and options["output"] is None:
        from safear.cli.render import print_menu, print_simulations

        print_menu(menu, all_steps=options["all_steps"])
        print_simulations(record)
    if failure is not None:
        click.echo(failure, err=True)
        context.exit(3)


def _recommend(problem: Problem, options: dict[str, Any]) -> tuple[Menu, str | None]:
    """The menu, and why it is empty if there is no recourse."""
    import numpy as np

    from safear.classifier.load import load_classifier
    from safear.cli.render import show_progress
    from safear.errors import NoRecourseError, TermsError, suggest
    from safear.recourse.menu import Menu, menu, recommend
    from safear.risk.objectives import parse_objective
    from safear.solvers.episodic import Episodic
    from safear.spec.load import load_terms
    from safear.spec.person import read_person
    from safear.spec.terms import Terms, apply_terms

    # All of the input is read before anything is computed, so that a mistake is told at once.
    objectives = [parse_objective(text) for text in options["objectives"]] or None
    if options["terms"] is not None:
        problem = apply_terms(problem, load_terms(options["terms"], problem))
    for name in options["forbid"]:
        if name not in problem.action_by_name:
            raise TermsError.at((), f"--forbid {name}: there is no such action", suggest(name, problem.action_by_name))
    problem = apply_terms(problem, Terms(forbid=options["forbid"]))
    record = _find_person(problem, options["person"], options["settings"])
    source = options["classifier"]
    classifier = None if source is None else load_classifier(source, problem, trust=options["trust"])
    method = options["method"]
    if options["episodes"] is not None:
        if method != "episodic":
            raise click.UsageError("--episodes goes with --method episodic")
        method = Episodic(episodes=options["episodes"])
    rng = np.random.default_rng(options["seed"])
    level = options["level"]
    if level is not None and (objectives is not None or method not in {None, "optimal"}):
        raise click.UsageError("--level goes with the menu of optimal plans: no --objective, and no other --method")
    try:
        with show_progress() as progress:
            if level is not None:
                return menu(problem, classifier, record, level=level, progress=progress), None
            return recommend(
                problem, classifier, record, objectives=objectives, method=method, rng=rng, progress=progress
            ), None
    except NoRecourseError as error:
        return Menu(problem, read_person(problem, record), favourable=False, offers=()), str(error)


def _find_person(problem: Problem, source: str | None, settings: tuple[str, ...]) -> dict[str, object]:
    """The record that was named, or the default person, with the settings put in; checked, raw numbers kept."""
    from safear.errors import PersonError, suggest
    from safear.spec.load import load_record
    from safear.spec.person import read_person

    tree = None
    if source is None:
        record: dict[str, object] = dict(problem.default_person or {})
    elif source in problem.people:
        record = dict(problem.people[source])
    elif problem.people and not Path(source).exists() and not Path(source).suffix:
        cause = f"there is neither a file '{source}' nor such a person in the problem"
        raise PersonError.at((), cause, suggest(source, problem.people))
    else:
        read, tree = load_record(source)
        record = dict(read)
    changed = set()
    for setting in settings:
        name, equals, level = (part.strip() for part in setting.partition("="))
        if not equals:
            raise PersonError.at((), f"--set {setting}: should be FEATURE=LEVEL")
        if name not in problem.feature_by_name:
            cause = f"--set {setting}: there is no feature '{name}'"
            raise PersonError.at((), cause, suggest(name, problem.feature_by_name))
        if name in changed:
            raise PersonError.at((), f"--set {setting}: '{name}' is set twice")
        record[name] = level
        changed.add(name)
    try:
        read_person(problem, record)
    except PersonError as error:
        if tree is None:
            raise
        located = [item if set(item.place.path) & changed else tree.locate(item) for item in error.mistakes]
        raise PersonError(located) from None
    return record


def _menu_record(menu: Menu, options: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from safear.evaluation.simulate import simulate
    from safear.recourse.records import costs_record, menu_record

    record = menu_record(menu)
    if options["simulate"] is not None:
        for number, offer in enumerate(menu):
            rng = np.random.default_rng([options["seed"], number])
            runs = simulate(offer.solution, rollouts=options["simulate"], rng=rng)
            record["plans"][number]["simulated"] = {
                "rollouts": options["simulate"],
                "seed": options["seed"],
                "success": runs.distribution.success,
                "cost": costs_record(runs.distribution.given_success),
                "all_runs": costs_record(runs.distribution.all_runs),
            }
    return record
