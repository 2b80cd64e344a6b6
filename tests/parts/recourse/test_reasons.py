"""Why a plan drops a step: each sentence is checked against every run, with plain recursions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import inf

import numpy as np
from hypothesis import given

import safear as sa
from doors import run_on
from moody_policies import OBJECTIVES, entangled
from safear.evaluation import Policy
from safear.recourse import PlanStep, make_plan
from safear.risk import Objective

NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Ways:
    """What an action may cost at least, and costs at best on average, from a state with so many steps left."""

    mdp: sa.MDP

    def __hash__(self) -> int:
        return id(self)

    def edges(self, row: int) -> list[int]:
        return list(range(self.mdp.edge_start[row], self.mdp.edge_start[row + 1]))

    def rows(self, state: int, left: int) -> range:
        mdp = self.mdp
        if mdp.goal[state] or left == 0 or (mdp.stops and mdp.steps_to_goal[state] > left):
            return range(0)
        return range(mdp.row_start[state], mdp.row_start[state + 1])

    @cache  # noqa: B019  # as short as a test
    def least(self, state: int, left: int) -> float:
        return (
            0
            if self.mdp.goal[state]
            else min((self.least_by(row, left) for row in self.rows(state, left)), default=inf)
        )

    def least_by(self, row: int, left: int) -> float:
        mdp = self.mdp
        ways = [edge for edge in self.edges(row) if mdp.edge_high[edge] > 0]
        return min(int(mdp.edge_cost[edge]) + self.least(int(mdp.edge_next[edge]), left - 1) for edge in ways)

    @cache  # noqa: B019
    def mean(self, state: int, left: int) -> float:
        failure = self.mdp.to_cost(self.mdp.failure_cost)
        if self.mdp.goal[state]:
            return 0
        return min((self.mean_by(row, left) for row in self.rows(state, left)), default=failure)

    def mean_by(self, row: int, left: int) -> float:
        mdp = self.mdp
        parts = [
            float(mdp.edge_chance[edge])
            * (mdp.to_cost(int(mdp.edge_cost[edge])) + self.mean(int(mdp.edge_next[edge]), left - 1))
            for edge in self.edges(row)
        ]
        return sum(parts)


def row_of(policy: Policy, origin: int, state: int, step: int, spent: int) -> int:
    account = int(policy.accounts[origin]) - spent
    return int(policy.rows(step, np.array([state]), np.array([account]))[0])


def is_here(step: PlanStep, mdp: sa.MDP, state: int, made: int, spent: int) -> bool:
    held = step.spent is None or step.spent[0] - NEAR <= mdp.to_cost(spent) <= step.spent[1] + NEAR
    return step.person == mdp.person(state) and step.made[0] <= made <= step.made[1] and held


def check_reasons(solution: sa.Solution) -> Counter[str]:
    """Look at every place where a run does something else in the same state, and at what the plan says of it."""
    policy, found = solution.policy, Counter[str]()
    mdp = policy.mdp
    origin, ways = mdp.locate_start(), Ways(mdp)
    plan = make_plan(solution, limit=None)
    waiting, seen = [(origin, 0, 0)], {(origin, 0, 0)}
    while waiting:
        state, made, spent = waiting.pop()
        row = row_of(policy, origin, state, made, spent)
        for edge in ways.edges(row) if row >= 0 else []:
            if mdp.edge_high[edge] == 0 or made + 1 == mdp.horizon:
                continue
            there, paid = int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])
            if (there, made + 1, paid) not in seen and not mdp.goal[there]:
                seen.add((there, made + 1, paid))
                waiting.append((there, made + 1, paid))
            new = row_of(policy, origin, there, made + 1, paid)
            if there != state or new in {-1, row}:
                continue
            (step,) = [step for step in plan.steps if is_here(step, mdp, there, made + 1, paid)]
            reason, old = step.reason, mdp.actions[mdp.row_action[row]]
            if reason is None or reason.action != old:
                continue
            found[reason.code] += 1
            left, paid_cost, unit = mdp.horizon - made - 1, mdp.to_cost(paid), mdp.to_cost(1)
            totals = [paid_cost + unit * ways.least_by(one, left) for one in (row, new)]
            match reason.code:
                case "time":
                    assert totals[0] == inf
                case "within":
                    assert reason.limit is not None
                    assert totals[1] - NEAR <= reason.limit < totals[0]
                case "past":
                    assert reason.limit is not None
                    assert min(totals) > reason.limit
                    ahead = run_on(policy, there, step=made + 1, account=int(policy.accounts[origin]) - paid)
                    assert ahead.distribution.all_runs.mean < ways.mean_by(row, left)
                case "deadline":
                    assert ways.mean_by(new, left) < ways.mean_by(row, left)
    return found


@given(entangled())
def test_reasons_are_true_of_every_run(document: dict[str, object]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for objective in OBJECTIVES:
        check_reasons(sa.solve(mdp, objective))


def test_each_reason_is_given() -> None:
    problem = sa.load_example("loan").with_horizon(6)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    found = Counter[str]()
    objectives: list[Objective] = [sa.Mean(), sa.Budget(3), sa.Budget(4)]
    for objective in [*objectives, *(sa.CVaR(level) for level in (0.5, 0.8, 0.9, 0.95))]:
        found += check_reasons(sa.solve(mdp, objective))
    assert set(found) == {"within", "past", "deadline"}


def test_the_reason_in_words() -> None:
    plan = sa.recommend(sa.load_example("loan"))[0].plan
    why = "Why not “study part-time” again: it can no longer lead to “approved” within 3 months, and this can."
    assert f"   {why}" in plan.lines()
    warum = "Warum nicht noch einmal „nebenher studieren“: Das führt nicht mehr innerhalb der Grenze (3 Monate) zu"
    assert f"   {warum} „bewilligt“, dies schon." in plan.lines("de")
