"""Walking along a plan: what has happened so far, what to do now, and what may happen then.

A walk is the list of outcomes so far, one per step. Each call follows it from the start, so nothing needs to be stored,
and the amount spent, which some plans look at, is always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from safear.arguments import OUTCOMES, ArgumentKind, takes
from safear.errors import InputError
from safear.evaluation.extremes import Range
from safear.evaluation.forward import may_succeed, run_on
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.model import Feature, Problem
from safear.recourse.level_changes import Changes, LevelChange, find_changes
from safear.recourse.plan import Hope
from safear.recourse.promises import Promises
from safear.recourse.step_bounds import bound_edge, bound_working
from safear.recourse.teller import Teller
from safear.recourse.walk_teller import WalkTeller
from safear.risk.distribution import CostDistribution
from safear.texts.notebook import show_lines

Kind = Literal["step", "goal", "out of time", "stuck", "lost"]
WORDS = {"works": True, "worked": True, "fails": False, "failed": False}


class Followed(Protocol):
    """What can be followed: an offer, or a saved plan. `start` is where its runs begin."""

    @property
    def policy(self) -> Policy:
        """What to do."""

    @property
    def start(self) -> int:
        """The state in which it begins."""

    @property
    def promises(self) -> Promises:
        """What it brings numbers to."""

    @property
    def level(self) -> float:
        """Which runs count as the worst."""


class WalkError(InputError):
    """Outcomes that cannot have happened, or a plan where there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Possible:
    """One way a step may end; `outcome` is its number among those of the action.

    `low` and `high` are the least and the most that its chance may be: it may happen though its chance is 0.
    `label` is its name in the problem, if it has one; `changes` are the features whose level changes.
    """

    outcome: int
    chance: float
    low: float
    high: float
    works: bool
    cost: float
    label: str | None = None
    changes: Changes = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken, and how it ended."""

    action: str
    ending: Possible


@dataclass(frozen=True, eq=False, repr=False)
class Situation:
    """Where a person is along a plan. `ahead` is the exact success and cost from here on.

    `person` has what is hidden, too: who files it again goes on from there.
    Of the `steps_taken`, those that nobody foresaw are not among `taken`.
    `changes` are the levels in which the person differs from the start. Costs are in `unit`; `goal` is the problem's
    name for the favourable decision, if it has one; `level` says which runs count as the worst, as in the plan;
    `glossary` has the labels of what is named here; `hope` is whether a goal can still be
    reached, or not with this plan.
    """

    kind: Kind
    person: dict[str, str]
    changes: Changes
    steps_taken: int
    steps_left: int
    spent: float
    action: str | None
    endings: tuple[Possible, ...]
    taken: tuple[Taken, ...]
    ahead: CostDistribution
    level: float
    unit: str
    goal: str | None
    glossary: Glossary = NO_LABELS
    hope: Hope = "yes"

    @property
    def has_begun(self) -> bool:
        """Whether anything was done or spent so far, foreseen or not."""
        return self.steps_taken > 0 or self.spent > 0

    @property
    def works(self) -> float:
        """How often the step works."""
        return sum(ending.chance for ending in self.endings if ending.works)

    @property
    def within(self) -> Range:
        """The least and the most that this may be."""
        return bound_working(self.endings)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(WalkTeller(self, Teller.of(glossary=self.glossary)).lines())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return show_lines(str(self))


class Standing(NamedTuple):
    """Where somebody is along a plan: the state, after how many steps, what was spent (in quanta), and how they came.

    Steps that nobody could foresee are counted but not among those `taken`.
    """

    state: int
    step: int = 0
    spent: int = 0
    taken: tuple[Taken, ...] = ()


FOLLOWED = ArgumentKind(
    "a plan to follow", "give a plan of a menu, or one that was saved", (object,), (type,), has=("policy", "start")
)


@takes(plan=FOLLOWED, outcomes=OUTCOMES)
def walk(plan: Followed, outcomes: Sequence[int | str] = ()) -> Situation:
    """Follow a plan from the start, with each step ending as given. Raises a WalkError if that is impossible.

    An outcome is its number among those of the action (`situation.endings` has them), its label, or "works" or "fails"
    (or "worked", "failed") where there is only one of that kind.
    """
    return look_around(plan, go_along(plan, outcomes))


def go_along(plan: Followed, outcomes: Sequence[int | str]) -> Standing:
    """Where steps that end as given lead."""
    mdp, here = plan.policy.mdp, Standing(plan.start)
    for step, outcome in enumerate(outcomes):
        row = find_row(plan, here)
        if row is None:
            raise WalkError.at(
                ("outcomes", step), "the walk ended before this step", "leave this outcome out", code="walk_ended"
            )
        edge = _choose(plan, here.state, _edges(mdp, row), step=step, outcome=outcome)
        taken = Taken(_action(mdp, row), _ending(plan, here.state, edge))
        spent = here.spent + int(mdp.edge_cost[edge])
        here = Standing(int(mdp.edge_next[edge]), here.step + 1, spent, (*here.taken, taken))
    return here


def look_around(plan: Followed, here: Standing) -> Situation:
    """What to do now, what may happen then, and what is ahead."""
    policy, mdp, state = plan.policy, plan.policy.mdp, here.state
    row = find_row(plan, here)
    account = _account(plan, here)
    ahead = run_on(policy, state, step=here.step, account=account).distribution
    hopes = ahead.success > 0 or may_succeed(policy, state, step=here.step, account=account)
    hope: Hope = "not_with_this_plan" if mdp.steps_to_goal[state] <= mdp.horizon - here.step else "none"
    return Situation(
        _kind(mdp, state, step=here.step, acts=row is not None),
        mdp.person(state),
        find_changes(mdp.shown_person(plan.start), mdp.shown_person(state), promises=plan.promises),
        here.step,
        mdp.horizon - here.step,
        mdp.to_cost(here.spent),
        None if row is None else _action(mdp, row),
        () if row is None else tuple(_ending(plan, state, edge) for edge in _edges(mdp, row)),
        here.taken,
        ahead,
        plan.level,
        mdp.unit,
        mdp.goal_name,
        mdp.glossary,
        "yes" if hopes else hope,
    )


def file_again(problem: Problem, here: Situation) -> dict[str, object]:
    """What somebody files anew who asks again from where a walk has brought them; all else stays as it was filed.

    A number that has changed is as promised: the value of its level. What is hidden goes on from where it is.
    """
    features = problem.feature_by_name
    hidden = {name: level for name, level in here.person.items() if name in features and features[name].hidden}
    return {change.feature: _promised(features.get(change.feature), change) for change in here.changes} | hidden


def _promised(feature: Feature | None, change: LevelChange) -> object:
    if change.promise is None or feature is None or change.level not in feature.levels:
        return change.level
    value = feature.values[feature.levels.index(change.level)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _kind(mdp: MDP, state: int, *, step: int, acts: bool) -> Kind:
    if mdp.goal[state]:
        return "goal"
    if acts:
        return "step"
    if step >= mdp.horizon:
        return "out of time"
    return "stuck" if mdp.dead_end[state] else "lost"


def find_row(plan: Followed, here: Standing) -> int | None:
    """The row that is taken; None where there is nothing to do."""
    policy = plan.policy
    if here.step >= policy.mdp.horizon or policy.mdp.goal[here.state]:
        return None
    row = int(policy.rows(here.step, np.array([here.state]), np.array([_account(plan, here)]))[0])
    return None if row < 0 else row


def _account(plan: Followed, here: Standing) -> int:
    """What is left on the account, which opened at the start."""
    return int(plan.policy.accounts[plan.start]) - here.spent


def _edges(mdp: MDP, row: int) -> range:
    return range(mdp.edge_start[row], mdp.edge_start[row + 1])


def _action(mdp: MDP, row: int) -> str:
    return mdp.actions[int(mdp.row_action[row])]


def _ending(plan: Followed, state: int, edge: int) -> Possible:
    mdp = plan.policy.mdp
    outcome, cost = int(mdp.edge_outcome[edge]), mdp.to_cost(int(mdp.edge_cost[edge]))
    written, after = mdp.outcome(edge), mdp.shown_person(int(mdp.edge_next[edge]))
    changes = find_changes(mdp.shown_person(state), after, first=written.change, promises=plan.promises)
    chance, within = float(mdp.edge_chance[edge]), bound_edge(mdp, edge)
    return Possible(outcome, chance, within.low, within.high, mdp.works(edge), cost, written.label, changes)


def _choose(plan: Followed, state: int, edges: range, *, step: int, outcome: int | str) -> int:
    """The edge that is meant by an outcome's number, its label, or a word for how it went."""
    mdp, text = plan.policy.mdp, str(outcome)
    meant = [edge for edge in edges if str(int(mdp.edge_outcome[edge])) == text]
    meant = meant or [edge for edge in edges if (mdp.outcome(edge).label or "").casefold() == text.casefold() != ""]
    meant = meant or [edge for edge in edges if mdp.works(edge) == WORDS.get(text.casefold())]
    if len(meant) == 1:
        return meant[0]
    endings = [_ending(plan, state, edge) for edge in edges]
    possible = ", ".join(f"{ending.outcome} ({_in_short(ending, mdp.glossary)})" for ending in endings)
    cause = f"'{outcome}' can mean several outcomes" if meant else f"this step cannot end in outcome {outcome}"
    raise WalkError.at(("outcomes", step), cause, f"possible: {possible}", code="impossible_outcome")


def _in_short(ending: Possible, glossary: Glossary) -> str:
    kind, label = "works" if ending.works else "fails", Teller.of(glossary=glossary).outcome(ending)
    return f"{kind}: {label}" if label else kind
