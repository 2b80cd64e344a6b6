"""The number of rules of a plan, counted from the runs of its policy: as many as `group_rules` finds in its steps."""

from __future__ import annotations

from safear.evaluation.fast_runs import often_if_off, require_arrays, way_to_go
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.recourse.level_changes import find_changes
from safear.recourse.turns import RARE


def count_fast(policy: Policy, start: int, *, rare: float) -> int:
    """How many rules a plan has whose steps are told unless fewer than `rare` runs come there; in compiled loops."""
    from safear.recourse.node_kernels import Telling  # noqa: PLC0415  # loads Numba
    from safear.recourse.rule_kernels import count_steps_told  # noqa: PLC0415

    mdp, account = policy.mdp, int(policy.accounts[start])
    going = way_to_go(mdp, often=often_if_off(mdp), counts_spent=policy.looks_at_spent, possible=True)
    stuck = mdp.dead_end & (mdp.depth < mdp.horizon)  # what is met only at the very end was compiled without its rows
    telling = Telling(mdp.goal, stuck, mdp.steps_to_goal, mdp.working, mdp.horizon, rare, RARE)
    steps, pairs = count_steps_told(mdp.arrays, telling, require_arrays(policy), going, mdp.row_state, start, account)
    return int(steps) - sum(_fail_alike(mdp, *pair) for pair in pairs.tolist())


def _fail_alike(mdp: MDP, one: int, other: int) -> bool:
    """Whether the same is said of all outcomes of two rows that do not work."""
    edges = [edge for row in (one, other) for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])]
    return len({_describe(mdp, edge) for edge in edges if not mdp.working[edge]}) <= 1


def _describe(mdp: MDP, edge: int) -> tuple[object, ...]:
    """What is said of an outcome: what it costs, what it is called and what it changes (see `Branch`)."""
    state, after = int(mdp.row_state[mdp.edge_row[edge]]), int(mdp.edge_next[edge])
    outcome = mdp.outcome(edge)
    changes = (
        () if state == after else find_changes(mdp.shown_person(state), mdp.shown_person(after), first=outcome.change)
    )
    return int(mdp.edge_cost[edge]), outcome.label, changes
