"""Going on with a plan later: from its file alone, or with a new menu from where somebody is.

A walk along a saved plan is the same as one along the offer that it was made of (`recourse/walk.py`). What no outcome
foresaw ("I got a guarantor instead") is a `Turn`: the plan goes on if it knows what to do there, and else a new menu
does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from safear.arguments import OUTCOMES, ArgumentKind, takes
from safear.errors import InputError, PlanError, quote_list, suggest
from safear.evaluation.forward import follow
from safear.mdp.compiled import CompiledMDP
from safear.plans.plan_file import BeforeForm, Scalar
from safear.plans.plan_writing import clean_record, hash_answers, hash_record
from safear.plans.saved_plan import SAVED_PLAN, SavedPlan
from safear.problem.model import PROBLEM, Problem, Record, as_decimal
from safear.problem.person import read_texts_of
from safear.problem.terms import Terms, apply_terms
from safear.recourse.case import Desk, find_record
from safear.recourse.menu import MENU, Menu, Request, make_menu
from safear.recourse.walk import Situation, Standing, WalkError, file_again, go_along, look_around

if TYPE_CHECKING:
    from safear.recourse.case import PersonLike

MORE_TIME = "ask for a new menu with more steps: replan(horizon=...) in Python, --menu --horizon on the command line"


@dataclass(frozen=True, slots=True)
class Turn:
    """A step that went otherwise than foreseen: what features are `now`, and what it has `cost`.

    It may have taken more `steps` than one.
    """

    now: Mapping[str, object] = field(default_factory=dict)
    cost: float = 0.0
    steps: int = 1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cost) and self.cost >= 0):
            raise WalkError.at(("cost",), f"{self.cost} cannot have been spent", "give 0 or more", code="out_of_range")
        if self.steps < 1:
            raise WalkError.at(("steps",), f"{self.steps} is not a number of steps", "give 1 or more", code="too_few")


TURN = ArgumentKind("a turn", "give Turn(...)", (Turn,))


@takes(plan=SAVED_PLAN, outcomes=OUTCOMES, turn=TURN.or_none)
def resume(plan: SavedPlan, outcomes: Sequence[int | str] = (), *, turn: Turn | None = None) -> Situation:
    """Where somebody is along a saved plan, and what to do now: from the file alone, without model or problem.

    Each step so far ended as `outcomes` say (see `walk`), and then, if there was one, came a `turn` that no outcome
    foresees. If the plan goes on with an earlier one, what was spent on that counts as spent. Raises a PlanError with
    the code "unforeseen" if the plan does not know what to do there: see `replan`.
    """
    here = go_along(plan, outcomes)
    spent = _spend_all(plan, here, turn)
    return replace(look_around(plan, here if turn is None else _take(plan, here, turn)), spent=spent)


def _add_cost(plan: SavedPlan, here: Standing, turn: Turn | None) -> Fraction:
    """What was spent on the plan up to here, and on a turn."""
    return here.spent * plan.mdp.quantum + Fraction("0" if turn is None else str(turn.cost))


def _spend_all(plan: SavedPlan, here: Standing, turn: Turn | None) -> float:
    """The same with what was spent before."""
    return float(Fraction(str(plan.spent_before)) + _add_cost(plan, here, turn))


def _take(plan: SavedPlan, here: Standing, turn: Turn) -> Standing:
    """Where a turn leads, if the plan knows what to do there at that time with so much spent, and ever after."""
    mdp, step = plan.mdp, here.step + turn.steps
    levels = mdp.person(here.state) | {name: _read_level(plan, name, value) for name, value in turn.now.items()}
    # What is left of the account pays for whole quanta alone, so a part of one is spent as a whole one is.
    spent = math.ceil(_add_cost(plan, here, turn) / mdp.quantum * (1 - Fraction(1, 10**12)))
    if step > mdp.horizon:
        cause = f"the plan has {mdp.horizon} steps, and these would be {step}"
        raise WalkError.at(("steps",), cause, MORE_TIME, code="walk_ended")
    for state, person in enumerate(mdp.people):
        if person == levels and _is_foreseen(plan, there := Standing(state, step, spent, here.taken)):
            return there
    raise _unforeseen()


def _is_foreseen(plan: SavedPlan, there: Standing) -> bool:
    """Whether a run that goes on from there never comes where the plan does not know what to do."""
    choosing = plan.policy.choosing(int(plan.policy.accounts[plan.start]) - there.spent)
    cells = follow(plan.mdp, choosing, there.state, there.step, possible=True).cells
    return bool(((np.asarray(cells.row) >= 0) | plan.mdp.is_over(cells.state, np.asarray(cells.step))).all())


def _read_level(plan: SavedPlan, name: str, value: object) -> str:
    """The level that a value means, as far as the file can tell: by name, or as a number that was promised."""
    known = plan.form.person.levels
    if name not in known:
        if plan.record is not None and name not in plan.record:
            raise PlanError.at(("now", name), "there is no such feature", suggest(name, known), code="unknown_feature")
        raise _unforeseen()
    number = as_decimal(value)
    met = list(dict.fromkeys(person[name] for person in plan.mdp.people))
    for level in met:
        promise = plan.promises.get((name, level))
        if number is not None and promise and promise.low <= number <= promise.high:
            return level
        if level == str(value) and promise and number is None:
            cause = f"'{level}' may be more than the plan counts on, which is {promise}"
            raise PlanError.at(("now", name), cause, "give the number", code="vague")
        if level == str(value):
            return level
    raise _unforeseen(name, f"'{value}'; it knows {quote_list([_name_met(plan, name, level) for level in met])}")


def _name_met(plan: SavedPlan, name: str, level: str) -> str:
    promise = plan.promises.get((name, level))
    return level if promise is None else str(promise)


def _unforeseen(name: str = "", what: str = "this") -> PlanError:
    remedy = "ask for a new menu from there: replan in Python, --menu on the command line"
    path = ("now", name) if name else ("now",)
    return PlanError.at(path, f"the plan does not foresee {what}", remedy, code="unforeseen")


@dataclass(frozen=True, eq=False)
class Restart:
    """From where somebody asks for a new menu: the problem with the steps that are left, and the record as it is now.

    `before` is what a plan of the new menu is saved with.
    """

    problem: Problem
    record: Record
    before: BeforeForm

    @property
    def spent(self) -> float:
        """What they have spent so far, which the new figures do not count."""
        return self.before.spent

    @property
    def steps_left(self) -> int:
        """How many steps the new plans have."""
        return self.problem.horizon


def find_restart(  # noqa: PLR0913  # as `replan`
    plan: SavedPlan,
    problem: Problem,
    classifier: object = None,
    *,
    outcomes: Sequence[int | str] = (),
    turn: Turn | None = None,
    person: PersonLike | None = None,
    terms: Terms | None = None,
    changed: bool = False,
    horizon: int | None = None,
) -> Restart:
    """Where a walk, and a turn, have led. See `replan`."""
    if plan.record is None and person is None:
        cause = "the plan was saved without personal data"
        raise PlanError.at(("person",), cause, "give the person as they were filed", code="nobody")
    record = clean_record(plan.record or {} if person is None else find_record(problem, person))
    if not changed:
        # A plan that goes on with an earlier one has only the steps that were left of the problem's.
        then = problem if plan.form.before is None else problem.with_horizon(plan.mdp.horizon)
        _require_person(plan, record)
        plan.require_problem(then if terms is None else apply_terms(then, terms))
        _require_answers(plan, Desk.of(then, classifier), record, terms)
    here = go_along(plan, outcomes)
    left = plan.mdp.horizon - here.step - (0 if turn is None else turn.steps) if horizon is None else horizon
    if left < 1:
        raise WalkError.at(("outcomes",), "no step is left", MORE_TIME, code="walk_ended")
    now = {**record, **file_again(problem, look_around(plan, here)), **_read_turn(problem, record, turn)}
    before = BeforeForm(spent=_spend_all(plan, here, turn), hash=plan.person_hash or hash_record(record))
    return Restart(problem.with_horizon(left), now, before)


def _read_turn(problem: Problem, record: Record, turn: Turn | None) -> dict[str, object]:
    """What a turn brought about: features and columns that are known, texts read as in a file."""
    known, now = (*problem.feature_by_name, *problem.given, *record), {} if turn is None else turn.now
    for name in now:
        if name not in known:
            raise PlanError.at(("now", name), "there is no such feature", suggest(name, known), code="unknown_feature")
    texts = {name: value for name, value in now.items() if isinstance(value, str)}
    return {**now, **read_texts_of(texts, problem.feature_by_name)}


def _require_person(plan: SavedPlan, record: Mapping[str, Scalar]) -> None:
    """Refuse another person than the one whom the plan is for, as far as the file can tell."""
    if plan.form.person.hash not in {None, hash_record(record)}:
        raise _other_person()


def _other_person() -> PlanError:
    remedy = (
        "give the person as they were filed then; or say that the record has changed: changed=True, --changed on the "
        "command line"
    )
    return PlanError.at(("person",), "this is not the person whom the plan is for", remedy, code="other_person")


def _require_answers(plan: SavedPlan, desk: Desk, record: Record, terms: Terms | None) -> None:
    """Refuse a model that decides otherwise than the one that the plan was made with.

    Without personal data there is no hash of its answers; the states of the plan itself are compared instead.
    """
    mdp = desk.open(record, terms=terms).mdp
    if not isinstance(mdp, CompiledMDP):
        return
    answers = plan.form.answers
    if not (_fits(plan, mdp) if answers is None else hash_answers(mdp) == answers.hash):
        cause = "the model decides otherwise than it did when the plan was made"
        remedy = "use the original model; or say that it has changed: changed=True, --changed on the command line"
        raise PlanError.at(("classifier",), cause, remedy, code="other_answers")


def _fits(plan: SavedPlan, mdp: CompiledMDP) -> bool:
    """Whether somebody can come to all states of a plan, and to goals where it does."""
    start = mdp.person(mdp.start)
    if not plan.mdp.person(plan.start).items() <= start.items():
        raise _other_person()
    try:
        states = [mdp.locate({**start, **person}) for person in plan.mdp.people]
    except InputError:
        return False
    return bool((mdp.goal[states] == plan.mdp.goal).all())


@takes(plan=SAVED_PLAN, problem=PROBLEM, outcomes=OUTCOMES, turn=TURN.or_none)
def replan(  # noqa: PLR0913  # all but three by name, and each can be left out
    plan: SavedPlan,
    problem: Problem,
    classifier: object = None,
    *,
    outcomes: Sequence[int | str] = (),
    turn: Turn | None = None,
    person: PersonLike | None = None,
    terms: Terms | None = None,
    changed: bool = False,
    horizon: int | None = None,
    request: Request = MENU,
) -> Menu:
    """A new menu from where somebody is along a saved plan, with the steps that are left, or `horizon` from now on.

    The record keeps the numbers that were filed; what has changed has the number that was promised, and what a `turn`
    brought about the value that it gives. The figures are of what is to come. Problem, terms and model must be those
    that the plan was made with, unless they have `changed` on purpose. A plan without personal data needs the `person`,
    who is taken for the right one if the plan fits them.
    """
    start = find_restart(
        plan,
        problem,
        classifier,
        outcomes=outcomes,
        turn=turn,
        person=person,
        terms=terms,
        changed=changed,
        horizon=horizon,
    )
    return make_menu(Desk.of(start.problem, classifier).open(start.record, terms=terms), request)
