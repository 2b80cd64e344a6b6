"""What commands about one person have in common: the options that say who it is and what is wanted, and the menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from safear.problem.model import Problem
    from safear.problem.terms import Terms
    from safear.recourse.menu import Menu

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--classifier", metavar="SOURCE", help="FILE.skops, FILE.csv, MODULE:NAME or FILE.py:NAME; else the rule."
    ),
    click.option(
        "--trust", multiple=True, metavar="TYPE", help="A type that a skops file may hold besides the known ones."
    ),
    click.option(
        "--person", metavar="FILE|NAME", help="A person in a YAML or JSON file, or by name one of the problem's."
    ),
    click.option("--set", "settings", multiple=True, metavar="FEATURE=LEVEL", help="Change one feature of the person."),
    click.option(
        "--objective", "objectives", multiple=True, help="What to make small; may be repeated. Else the menu."
    ),
    click.option(
        "--method",
        type=click.Choice(["optimal", "greedy", "episodic"]),
        help="How to solve: optimal, or as in the paper.  [default: optimal where possible]",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True),
        help="What the menu calls safe: 0.95 is the worst 5%.  [default: 0.95]",
    ),
    click.option("--horizon", type=click.IntRange(1, 1000), help="At most so many steps, instead of the problem's."),
    click.option(
        "--terms", type=click.Path(path_type=Path), help="Personal terms: own costs, chances, forbidden actions."
    ),
    click.option("--forbid", multiple=True, metavar="ACTION", help="An action that is out of the question."),
    click.option(
        "--episodes", type=click.IntRange(1, 1_000_000), help="Episodes of the episodic method.  [default: 10000]"
    ),
)


def person_options(command: Command) -> Command:
    """Who the person is, who decides, what is to be made small, and how."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def find_menu(problem: Problem, options: dict[str, Any], decider: object = None) -> Menu:
    """What the options ask for; `decider` decides if no classifier is given."""
    import numpy as np

    from safear.classifier.sources import load_classifier
    from safear.cli.render import show_progress
    from safear.recourse.menu import recommend
    from safear.recourse.offer import TAIL
    from safear.risk.objectives import parse_objective
    from safear.solvers.episodic import Episodic

    # All of the input is read before anything is computed, so that a mistake is told at once.
    objectives = [parse_objective(text) for text in options["objectives"]] or None
    terms = _read_terms(problem, options)
    record = _find_person(problem, options["person"], options["settings"])
    source = options["classifier"]
    classifier = decider if source is None else load_classifier(source, problem, trust=options["trust"])
    method = options["method"]
    if options["episodes"] is not None:
        if method != "episodic":
            raise click.UsageError("--episodes goes with --method episodic")
        method = Episodic(episodes=options["episodes"])
    level = options["level"]
    if level is not None and (objectives is not None or method not in {None, "optimal"}):
        raise click.UsageError("--level goes with the menu of optimal plans: no --objective, and no other --method")
    with show_progress() as progress:
        return recommend(
            problem,
            classifier,
            record,
            objectives=objectives,
            method=method,
            level=TAIL if level is None else level,
            terms=terms,
            rng=np.random.default_rng(options["seed"]),
            progress=progress,
        )


def _read_terms(problem: Problem, options: dict[str, Any]) -> Terms | None:
    """Those of a file, and what --forbid adds."""
    from safear.errors import TermsError, suggest
    from safear.problem.load import load_terms
    from safear.problem.terms import Terms

    terms = Terms() if options["terms"] is None else load_terms(options["terms"], problem)
    for name in options["forbid"]:
        if name not in problem.action_by_name:
            raise TermsError.at((), f"--forbid {name}: there is no such action", suggest(name, problem.action_by_name))
    terms = replace(terms, forbid=(*terms.forbid, *options["forbid"]))
    return None if terms == Terms() else terms


def _find_person(problem: Problem, source: str | None, settings: tuple[str, ...]) -> dict[str, object]:
    """The record that was named, or the default person, with the settings put in; checked, raw numbers kept."""
    from safear.errors import PersonError, suggest
    from safear.problem.load import load_record
    from safear.problem.person import read_person

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
