"""What commands about one person have in common: the options that say who it is and what is wanted, and the menu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import FILE, OBJECTIVES, CountRange, Option, about_problem, combine, level, method
from safear.cli.results import print_note

if TYPE_CHECKING:
    import numpy as np

    from safear.classifier.protocol import Classifier
    from safear.cli.sources import Source
    from safear.problem.model import Problem, Record
    from safear.problem.terms import Terms
    from safear.recourse.menu import Menu
    from safear.recourse.offer import Offer
    from safear.recourse.teller import Teller
    from safear.risk.objectives import Objective
    from safear.solvers.episodic import Episodic
    from safear.solvers.solve import Method

PLAN = click.option(
    "--plan", metavar="NAME|N", help="Which plan of the menu, by its name or its number.  [default: the first]"
)
OUTCOMES = click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    metavar="N|LABEL|worked|failed",
    help="How a step ended; repeat it for each step. If several outcomes work (or fail), give the number or the label.",
)
ROW = click.option("--row", type=CountRange(1), help="Which row of the CSV or Parquet file, counted from 1.")
PERSON = "A YAML or JSON file, a row of a CSV or Parquet file, or one of the problem's people.  [default: the first]"
ROBUST = click.option(
    "--robust",
    is_flag=True,
    help="Plan for the worst chances within their intervals, instead of their nominal values.",
)


def about_person(*, person: str = PERSON, steps: Option[Any] | None = None, robust: bool = True) -> Option[Any]:
    """Who it is and what is wanted; `person` and `steps` are how --person and --horizon are told."""
    return combine(
        click.option("--person", metavar="FILE|NAME", help=person),
        ROW,
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Change a feature of the person, or a column that the model sees as filed.",
        ),
        click.option("--terms", type=FILE, help="The person's own costs, chances and ruled-out actions, in a file."),
        click.option("--forbid", multiple=True, metavar="ACTION", help="Rule out an action; may be repeated."),
        OBJECTIVES,
        method("episodic"),
        level(None),
        *([ROBUST] if robust else []),
        click.option(
            "--exact/--simple",
            default=None,
            help="The best plans, or simpler ones that are nearly as good (within 2%).  "
            "[default: simple in the menu, exact with --objective]",
        ),
        click.option("--most", type=CountRange(1), metavar="N", help="The most plans of the menu.  [default: 3]"),
        click.option(
            "--episodes", type=CountRange(1, 1_000_000), help="Episodes of the episodic method.  [default: 10000]"
        ),
        about_problem(steps=steps),
    )


person_options = about_person()


@dataclass(frozen=True, eq=False)
class Question:
    """What the options ask for, all of it read: a mistake is told before anything is computed.

    There is no `record` if nobody was named and the person is known otherwise.
    """

    problem: Problem
    classifier: Classifier
    record: Record | None
    terms: Terms | None
    objectives: list[Objective] | None
    method: Method | Episodic | None
    level: float
    most: int
    robust: bool
    exact: bool | None
    seed: int

    @classmethod
    def read(cls, source: Source, options: dict[str, Any], *, known: bool = False) -> Question:
        """Of the options; `known` says that the person need not be named."""
        from safear.classifier.adapters import as_classifier
        from safear.classifier.filed import Sight
        from safear.recourse.offer import TAIL
        from safear.recourse.selection import MOST_PLANS
        from safear.risk.objectives import parse_objective
        from safear.solvers.episodic import Episodic

        problem = source.problem
        objectives = [parse_objective(text) for text in options["objectives"]] or None
        terms = _read_terms(problem, options)
        classifier = as_classifier(source.classifier, problem)
        given, nobody = Sight.of(problem, classifier).given, known and options["person"] is None
        record = None if nobody else _find_person(problem, options, given=given)
        solver = options["method"]
        if options["episodes"] is not None:
            if solver != "episodic":
                raise click.UsageError("--episodes goes with --method episodic")
            solver = Episodic(episodes=options["episodes"])
        worst, most = options["level"], options["most"]
        for name, value in (("--level", worst), ("--most", most)):
            if value is not None and (objectives is not None or solver not in {None, "optimal"}):
                cause = f"{name} goes with the menu of optimal plans: leave out --objective and --method"
                raise click.UsageError(cause)
        return cls(
            problem,
            classifier,
            record,
            terms,
            objectives,
            solver,
            level=TAIL if worst is None else worst,
            most=MOST_PLANS if most is None else most,
            robust=options.get("robust", False),
            exact=options["exact"],
            seed=options["seed"],
        )

    def answer(self) -> Menu:
        """The menu."""
        from safear.cli.render import show_progress
        from safear.recourse.menu import recommend

        with show_progress() as progress:
            return recommend(
                self.problem,
                self.classifier,
                self.record,
                objectives=self.objectives,
                method=self.method,
                level=self.level,
                most=self.most,
                robust=self.robust,
                exact=self.exact,
                terms=self.terms,
                rng=self._generator(),
                progress=progress,
            )

    def _generator(self) -> np.random.Generator | None:
        """What a method that learns draws from; the others need none."""
        if self.method in {None, "optimal", "greedy"}:
            return None
        import numpy as np

        return np.random.default_rng(self.seed)


def find_menu(source: Source, options: dict[str, Any]) -> Menu:
    """What the options ask for."""
    return Question.read(source, options).answer()


def find_plan(menu: Menu, name: str | None) -> Offer:
    """The plan of a menu with that name, or that number from 1; the first if there is none."""
    from safear.errors import ObjectiveError, suggest
    from safear.numerals import find_listed

    if name is None:
        return menu[0]
    if (place := find_listed(name, len(menu))) is not None:
        return menu[place]
    try:
        return menu[name]
    except KeyError:
        known = suggest(name, [offer.name for offer in menu])
        raise ObjectiveError.at((), f"--plan {name}: there is no such plan", known, code="unknown_name") from None


def require_recourse(menu: Menu, tell: Teller) -> None:
    """Where no plan reaches the goal: say why and what would help, and end with exit code 3."""
    if menu.no_recourse is None:
        return
    from safear.recourse.advice_teller import AdviceTeller

    advice = [] if menu.advice is None else AdviceTeller(menu.advice, tell).lines(to_person=False)
    print_note("\n".join([tell.no_recourse(menu.no_recourse), *(f"  {line}" for line in advice)]))
    click.get_current_context().exit(3)


def check_row(person: str | None, row: int | None) -> None:
    """A row is one of a table."""
    from safear.people.rows import is_table

    if row is not None and (person is None or not is_table(person)):
        raise click.UsageError("--row goes with --person FILE.csv or FILE.parquet")


def _read_terms(problem: Problem, options: dict[str, Any]) -> Terms | None:
    """Those of a file, and what --forbid adds."""
    from safear.errors import TermsError, suggest
    from safear.problem.load import load_terms
    from safear.problem.terms import Terms

    terms = Terms() if options["terms"] is None else load_terms(options["terms"], problem)
    for name in options["forbid"]:
        if name not in problem.action_by_name:
            raise TermsError.at(
                (),
                f"--forbid {name}: there is no such action",
                suggest(name, problem.action_by_name),
                code="unknown_action",
                action=name,
            )
    terms = replace(terms, forbid=(*terms.forbid, *options["forbid"]))
    return None if terms == Terms() else terms


def _find_person(problem: Problem, options: dict[str, Any], *, given: Sequence[str]) -> dict[str, object]:
    """The record that was named, or the default person, with the settings put in; checked, raw numbers kept."""
    from safear.errors import PersonError, suggest
    from safear.people.rows import is_person_file, is_table, load_row
    from safear.problem.load import load_record
    from safear.problem.person import read_person, read_texts_of

    source, row, tree = options["person"], options["row"], None
    check_row(source, row)
    if source is None:
        record: dict[str, object] = dict(problem.default_person or {})
    elif source in problem.people:
        record = dict(problem.people[source])
    elif problem.people and not Path(source).exists() and not is_person_file(source):
        cause = f"there is neither a file '{source}' nor such a person in the problem"
        raise PersonError.at((), cause, suggest(source, problem.people), code="unknown_name")
    elif is_table(source):
        record = dict(load_row(source, problem, row=row, given=given))
    else:
        record, tree = load_record(source, problem)
    changed = set()
    for setting in options["settings"]:
        name, equals, level = (part.strip() for part in setting.partition("="))
        if not equals:
            raise PersonError.at((), f"--set {setting}: should be NAME=VALUE", code="syntax")
        if name not in problem.feature_by_name and name not in record and name not in given:
            cause, known = f"--set {setting}: there is no feature '{name}'", [*problem.feature_by_name, *given]
            raise PersonError.at((), cause, suggest(name, known), code="unknown_feature", feature=name)
        if name in changed:
            raise PersonError.at((), f"--set {setting}: '{name}' is set twice", code="twice")
        record |= read_texts_of({name: level}, problem.feature_by_name)
        changed.add(name)
    try:
        read_person(problem, record, given=given)
    except PersonError as error:
        if tree is None:
            raise
        located = [item if set(item.place.path) & changed else tree.locate(item) for item in error.mistakes]
        raise PersonError(located) from None
    return record
