"""Walking along a plan: what has happened so far, what to do now, and what may happen then.

A walk is the list of outcomes so far, one per step. Each call follows it from the start, so nothing needs to be stored,
and the amount spent, which some plans look at, is always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from safear.errors import InputError
from safear.evaluation.forward import run_on
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.recourse.plan import Changes, find_changes
from safear.recourse.promises import Promises
from safear.recourse.teller import Teller
from safear.recourse.walk_teller import WalkTeller
from safear.risk.distribution import CostDistribution
from safear.texts.notebook import show_lines

Kind = Literal["step", "goal", "out of time", "stuck"]
WORDS = ("works", "fails")


class Followed(Protocol):
    """What can be followed: an offer, or a plan that was kept. `start` is where its runs begin."""

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

    `label` is its name in the problem, if it has one; `changes` are the features whose level changes.
    """

    outcome: int
    chance: float
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
    `changes` are the levels in which the person differs from the start. Costs are in `unit`; `goal` is the problem's
    name for the favourable decision, if it has one; `level` says which runs count as the worst, as in the plan.
    """

    kind: Kind
    person: dict[str, str]
    changes: Changes
    steps_left: int
    spent: float
    action: str | None
    endings: tuple[Possible, ...]
    taken: tuple[Taken, ...]
    ahead: CostDistribution
    level: float
    unit: str
    goal: str | None

    @property
    def works(self) -> float:
        """How often the step works."""
        return sum(ending.chance for ending in self.endings if ending.works)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(WalkTeller(self, Teller.of()).lines())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return show_lines(str(self))


def walk(plan: Followed, outcomes: Sequence[int | str] = ()) -> Situation:
    """Follow a plan from the start, with each step ending as given. Raises a WalkError if that is impossible.

    An outcome is its number among those of the action (`situation.endings` has them), or "works" or "fails" where
    there is only one of that kind.
    """
    policy, mdp = plan.policy, plan.policy.mdp
    origin = state = plan.start
    opening, spent = int(policy.accounts[origin]), 0
    taken: list[Taken] = []
    for step, outcome in enumerate(outcomes):
        row = _row(policy, state, step=step, account=opening - spent)
        if row is None:
            raise WalkError.at(
                ("outcomes", step), "the walk ended before this step", "leave this outcome out", code="walk_ended"
            )
        edge = _choose(plan, state, _edges(mdp, row), step=step, outcome=outcome)
        taken.append(Taken(_action(mdp, row), _ending(plan, state, edge)))
        state, spent = int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])
    step = len(taken)
    row = _row(policy, state, step=step, account=opening - spent)
    return Situation(
        _kind(mdp, state, step=step, acts=row is not None),
        mdp.person(state),
        find_changes(mdp.shown_person(origin), mdp.shown_person(state), promises=plan.promises),
        mdp.horizon - step,
        mdp.to_cost(spent),
        None if row is None else _action(mdp, row),
        () if row is None else tuple(_ending(plan, state, edge) for edge in _edges(mdp, row)),
        tuple(taken),
        run_on(policy, state, step=step, account=opening - spent).distribution,
        plan.level,
        mdp.unit,
        mdp.goal_name,
    )


def _kind(mdp: MDP, state: int, *, step: int, acts: bool) -> Kind:
    if mdp.goal[state]:
        return "goal"
    if acts:
        return "step"
    return "out of time" if step >= mdp.horizon else "stuck"


def _row(policy: Policy, state: int, *, step: int, account: int) -> int | None:
    """The row that is taken; None where there is nothing to do."""
    if step >= policy.mdp.horizon or policy.mdp.goal[state]:
        return None
    row = int(policy.rows(step, np.array([state]), np.array([account]))[0])
    return None if row < 0 else row


def _edges(mdp: MDP, row: int) -> range:
    return range(mdp.edge_start[row], mdp.edge_start[row + 1])


def _action(mdp: MDP, row: int) -> str:
    return mdp.actions[int(mdp.row_action[row])]


def _ending(plan: Followed, state: int, edge: int) -> Possible:
    mdp = plan.policy.mdp
    outcome, cost = int(mdp.edge_outcome[edge]), mdp.to_cost(int(mdp.edge_cost[edge]))
    written, after = mdp.outcome(edge), mdp.shown_person(int(mdp.edge_next[edge]))
    changes = find_changes(mdp.shown_person(state), after, first=written.change, promises=plan.promises)
    return Possible(outcome, float(mdp.edge_chance[edge]), mdp.works(edge), cost, written.label, changes)


def _choose(plan: Followed, state: int, edges: range, *, step: int, outcome: int | str) -> int:
    """The edge that is meant by an outcome's number, or by "works" or "fails"."""
    mdp = plan.policy.mdp
    if outcome in WORDS:
        meant = [edge for edge in edges if mdp.works(edge) == (outcome == "works")]
    else:
        meant = [edge for edge in edges if str(int(mdp.edge_outcome[edge])) == str(outcome)]
    if len(meant) == 1:
        return meant[0]
    endings = [_ending(plan, state, edge) for edge in edges]
    possible = ", ".join(f"{ending.outcome} ({_in_short(ending)})" for ending in endings)
    cause = f"'{outcome}' can mean several outcomes" if meant else f"this step cannot end in outcome {outcome}"
    raise WalkError.at(("outcomes", step), cause, f"possible: {possible}", code="impossible_outcome")


def _in_short(ending: Possible) -> str:
    kind, label = WORDS[not ending.works], Teller.of().outcome(ending)
    return f"{kind}: {label}" if label else kind
