"""What a draft does to the people of its table: do decisions agree, and how many of the rejected have a way?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.drafts.panel import Flags
from safear.mdp.arrays import MDP
from safear.mdp.filed_goals import FiledGoals
from safear.people.counts import make_filed
from safear.people.frame_counts import Frame
from safear.population.filed_families import meet_records
from safear.recourse.case import Desk

SAMPLE = 300  # rejected people who are tried, of more


@dataclass(frozen=True, slots=True)
class Outlook:
    """Of `people`, `rejected` are rejected by the model; for `agree` the problem says the same as the model.

    Of `tried` rejected people, `with_way` have a plan. `reasons` has how many of the others there are for each reason,
    who were searched for a plan of at most so many `steps`: "no_action" (no action is offered to them), "never" (all
    that they can ever reach was tried) and "horizon" (more steps would reach more).
    """

    people: int
    rejected: int
    agree: int
    tried: int
    with_way: int
    reasons: Mapping[str, int]
    steps: int

    @property
    def is_sample(self) -> bool:
        """Whether not all rejected people were tried."""
        return self.tried < self.rejected


@dataclass(frozen=True, slots=True)
class Hopeful:
    """A person of the table who has a plan, and in how few steps they can be accepted."""

    row: int
    steps: int


def read_filed(desk: Desk, table: pd.DataFrame) -> Filed:
    """The rows of a table as people, in their order; all of them must be readable."""
    return make_filed(desk.problem, desk.sight, Frame(desk.problem, (), table, desk.sight).read())


def decide_filed(desk: Desk, filed: Filed) -> Flags:
    """Whom the problem's desk accepts."""
    if not desk.sight:
        return desk.goals.in_force.among(filed.codes)
    return FiledGoals(desk.goals.in_force, filed).among(filed.codes, np.arange(len(filed)))


def find_ways(desk: Desk, filed: Filed, rows: NDArray[np.int64]) -> tuple[list[Hopeful], dict[str, int]]:
    """Who of some rejected people has a plan, and how often each reason why others have none.

    With one step first, then with more for those who need them: most need few.
    """
    ways: list[Hopeful] = []
    left, horizon = rows, 0
    while len(left) and horizon < desk.problem.horizon:
        horizon += 1
        compiler, found = desk.with_horizon(horizon).compiler, np.zeros(len(left), dtype=bool)
        for family, whom, lanes in meet_records(compiler, filed.take(left)):
            found[whom] = np.atleast_1d(family.goal.any(axis=0))[lanes]
        ways += [Hopeful(int(row), horizon) for row in left[found]]
        left = left[~found]
    reasons: Counter[str] = Counter()
    for row in left.tolist():
        case = desk.open(filed.record(desk.problem, row))
        if not case.favourable and not case.needs_plan:
            reasons[_find_reason(case.mdp)] += 1
    return ways, dict(reasons)


def _find_reason(mdp: MDP) -> str:
    """Why there is no plan, as far as the horizon tells: a draft does not search on, for many people at once."""
    if mdp.dead_end[mdp.locate()]:
        return "no_action"
    return "horizon" if (mdp.depth == mdp.horizon).any() else "never"


def draw_rejected(accepted: Flags, most: int = SAMPLE) -> NDArray[np.int64]:
    """The rows of rejected people, or so many of them, always the same, in their order."""
    rejected = np.flatnonzero(~accepted)
    rng = np.random.default_rng(1)
    return rejected if len(rejected) <= most else np.sort(rng.choice(rejected, most, replace=False))
