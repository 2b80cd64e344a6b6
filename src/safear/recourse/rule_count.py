"""The number of rules of a plan, counted from the runs of its policy: as many as `group_rules` finds in its steps."""

from __future__ import annotations

import numpy as np

from safear.core.nodes import Telling
from safear.core.rules import count_steps_told
from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP, once_per_mdp
from safear.problem.model import Record
from safear.recourse.level_changes import find_changes
from safear.recourse.plan_graph import follow_runs, list_stuck
from safear.recourse.plan_making import RARE_STEP
from safear.recourse.turns import RARE
from safear.solvers.solution import Solution


def count_rules(plan: Solution | Policy, start: Record | int | None = None) -> int:
    """Return the number of rules that a plan would be told in if there were no limit: steps that are not too rare.

    Several steps that repeat an action until it has worked so often are one rule.
    """
    policy = policy_of(plan)
    mdp = policy.mdp
    runs = follow_runs(policy, mdp.locate_start(start))
    steps, pairs = count_steps_told(mdp.arrays, _make_telling(mdp), runs, mdp.row_state)
    return steps - sum(_fail_alike(mdp, one, other) for one, other in pairs)


@once_per_mdp
def _make_telling(mdp: MDP) -> Telling:
    """Return what counting takes besides the runs."""
    goal, stuck, works = (
        np.ascontiguousarray(flags).view(np.uint8) for flags in (mdp.goal, list_stuck(mdp), mdp.working)
    )
    return Telling(goal, stuck, mdp.steps_to_goal, works, mdp.horizon, RARE_STEP, RARE)


@once_per_mdp
def _fail_alike(mdp: MDP, one: int, other: int) -> bool:
    """Return whether the same is said of all outcomes of two rows that do not work."""
    edges = [edge for row in (one, other) for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])]
    return len({_describe(mdp, edge) for edge in edges if not mdp.working[edge]}) <= 1


def _describe(mdp: MDP, edge: int) -> tuple[object, ...]:
    """Return what is said of an outcome: what it costs, what it is called and what it changes (see `Branch`)."""
    state, after = int(mdp.row_state[mdp.edge_row[edge]]), int(mdp.edge_next[edge])
    outcome = mdp.outcome(edge)
    changes = (
        () if state == after else find_changes(mdp.shown_person(state), mdp.shown_person(after), first=outcome.change)
    )
    return int(mdp.edge_cost[edge]), outcome.label, changes
