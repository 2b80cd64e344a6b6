"""A policy as a contingent plan: what to do, what may happen, and what to do then.

A step of the plan is a situation together with what is done in it, a pair (state, action). How probable it is to go
from one to the next is added up exactly over all times, so a step can say where each of its outcomes leads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safear.mdp.model import MDP
from safear.recourse.words import count_of, describe_levels, format_cost, name_goal, times_in
from safear.solvers.policy import Policy
from safear.solvers.solution import Solution, policy_of
from safear.spec.model import Record

RARE = 0.01  # a way on that is taken in fewer of the cases is not spelled out
RARE_STEP = 0.001  # nor a step that fewer runs come to
_GOAL, _END, _STUCK = -1, -2, -3  # where a run may go besides a row


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What comes after an outcome, with its share of the cases in which the outcome happens and when it first does.

    `step` is the number of a step of the plan, None where there is none: `kind` is then "goal", "out of time",
    "stuck" (no action is left) or "not shown".
    """

    kind: str
    step: int | None
    share: float
    since: int


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of a step: how likely, what it costs, what it changes, and what comes next, in order of time."""

    chance: float
    works: bool
    label: str
    cost: float
    follow_ups: tuple[FollowUp, ...]


@dataclass(frozen=True, slots=True, repr=False)
class PlanStep:
    """A situation and what to do in it. `visits` is how often, on average, a run comes here.

    `out_of_reach`: the plan cannot come to a goal any more from here, but goes on as plans do.
    """

    number: int
    person: dict[str, str]
    situation: str
    action: str
    visits: float
    branches: tuple[Branch, ...]
    unit: str = "units"
    out_of_reach: bool = False

    @property
    def chance(self) -> float:
        """The probability that the action works."""
        return sum(branch.chance for branch in self.branches if branch.works)

    @property
    def cost(self) -> float:
        """What the action costs if it works."""
        return next((branch.cost for branch in self.branches if branch.works), self.branches[0].cost)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.action}: {format_cost(self.cost, self.unit)}, works {times_in(self.chance)}"


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """A contingent plan: steps in the order in which they come if all goes well, then the others, likely ones first."""

    steps: tuple[PlanStep, ...]
    goal: str
    hidden_steps: int = 0

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The plan in plain words, a line each."""
        if not self.steps:
            return ["Nothing to do."]
        lines = [line for step in self.steps for line in _describe_step(step, self.goal)]
        if any(step.situation for step in self.steps):
            lines.append("What a step's (when ...) does not mention is as it is today.")
        if self.hidden_steps:
            situations = (
                "1 rarer situation is" if self.hidden_steps == 1 else f"{self.hidden_steps} rarer situations are"
            )
            lines.append(f"{situations} not shown.")
        return lines


def make_plan(solution: Solution | Policy, start: Record | int | None = None, *, limit: int | None = 20) -> Plan:
    """The contingent plan of a policy for a person: the likely steps, at most `limit` of them; all if it is None."""
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    first, visits, flows = _follow(policy, origin)
    goal = name_goal(mdp.problem)
    if first < 0:
        return Plan((), goal)
    rows = _order(mdp, first, visits, flows)
    shown = rows if limit is None else [r for r in rows if r == first or visits[r].count >= RARE_STEP][:limit]
    hopeful = _lead_to_goal(mdp, flows)
    numbers = {row: number for number, row in enumerate(shown, start=1)}
    levels = mdp.person(origin) if mdp.space is not None else {}
    steps = tuple(
        replace(_make_step(mdp, row, numbers, visits, flows, levels), out_of_reach=row not in hopeful) for row in shown
    )
    return Plan(steps, goal, len(rows) - len(steps))


@dataclass(slots=True)
class _Flow:
    """How probable it is to go on in one way, and after how many steps that first happens."""

    chance: float
    since: int


@dataclass(slots=True)
class _Visit:
    """How often a row is taken on average, and at which steps."""

    count: float
    first: int
    last: int


Flows = dict[int, dict[int, _Flow]]  # edge -> next row, or one of the constants


def _follow(policy: Policy, origin: int) -> tuple[int, dict[int, _Visit], Flows]:
    """The first row, how often each row is taken, and how often each edge leads on to which row."""
    mdp = policy.mdp
    visits: dict[int, _Visit] = {}
    flows: Flows = {}
    here = {origin: 1.0}
    first = _row_at(policy, origin, 0)
    for step in range(mdp.horizon):
        there: dict[int, float] = {}
        for state, chance in here.items():
            row = _row_at(policy, state, step)
            if row < 0:
                continue
            visit = visits.setdefault(row, _Visit(0.0, step, step))
            visit.count += chance
            visit.last = step
            for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
                target, flow = int(mdp.edge_next[edge]), chance * float(mdp.edge_chance[edge])
                there[target] = there.get(target, 0.0) + flow
                onward = flows.setdefault(edge, {})
                next_row = _row_at(policy, target, step + 1)
                onward.setdefault(next_row, _Flow(0.0, step + 1)).chance += flow
        here = there
    return first, visits, flows


def _row_at(policy: Policy, state: int, step: int) -> int:
    mdp = policy.mdp
    if mdp.goal[state]:
        return _GOAL
    if mdp.dead_end[state] and (mdp.depth is None or mdp.depth[state] < mdp.horizon):
        return _STUCK
    if step >= mdp.horizon:
        return _END
    return int(policy.rows(step, np.array([state]))[0])


def _order(mdp: MDP, first: int, visits: dict[int, _Visit], flows: Flows) -> list[int]:
    """The rows met if every action works, then the others by how often they are taken."""
    line: list[int] = []
    row = first
    while row >= 0 and row not in line:
        line.append(row)
        edges = range(mdp.edge_start[row], mdp.edge_start[row + 1])
        edge = max(edges, key=lambda edge: (mdp.works(edge), mdp.edge_chance[edge]))
        onward = flows[edge]
        row = max(onward, key=lambda target: onward[target].chance)
    others = [row for row in visits if row not in line]
    return line + sorted(others, key=lambda row: (-visits[row].count, row))


def _lead_to_goal(mdp: MDP, flows: Flows) -> set[int]:
    """The rows from which the plan may still come to a goal."""
    found: set[int] = set()
    grows = True
    while grows:
        more = {int(mdp.edge_row[edge]) for edge, onward in flows.items() if _GOAL in onward or found & onward.keys()}
        grows, found = more != found, more
    return found


def _make_step(
    mdp: MDP, row: int, numbers: dict[int, int], visits: dict[int, _Visit], flows: Flows, start: dict[str, str]
) -> PlanStep:
    state = int(mdp.row_state[row])
    person = mdp.person(state) if mdp.space is not None else {}
    situation = describe_levels(start, person, verb="is")
    if any(mdp.row_state[other] == state for other in numbers if other != row):
        left = _steps_left(mdp.horizon - visits[row].last, mdp.horizon - visits[row].first)
        situation = f"{situation} and {left}" if situation else left
    number = int(mdp.row_action[row])
    edges = range(mdp.edge_start[row], mdp.edge_start[row + 1])
    return PlanStep(
        number=numbers[row],
        person=person,
        situation=situation,
        action=mdp.actions[number],
        visits=visits[row].count,
        branches=tuple(_make_branch(mdp, edge, numbers, flows[edge], person) for edge in edges),
        unit="units" if mdp.problem is None else mdp.problem.cost_unit,
    )


def _steps_left(least: int, most: int) -> str:
    """When: the same situation may ask for one thing early and for another late."""
    if least == most:
        return f"there {'is' if most == 1 else 'are'} {count_of(most, 'step')} left"
    return f"there are {least} to {most} steps left"


def _make_branch(
    mdp: MDP, edge: int, numbers: dict[int, int], onward: dict[int, _Flow], person: dict[str, str]
) -> Branch:
    label = ""
    if mdp.problem is not None:
        outcome = mdp.problem.actions[int(mdp.row_action[mdp.edge_row[edge]])].outcomes[int(mdp.edge_outcome[edge])]
        after = mdp.person(int(mdp.edge_next[edge]))
        label = outcome.label or describe_levels(person, after, first=outcome.change)
    total = sum(flow.chance for flow in onward.values())
    kinds = {_GOAL: "goal", _END: "out of time", _STUCK: "stuck"}
    follow_ups = tuple(
        FollowUp(
            kinds.get(target, "step" if target in numbers else "not shown"),
            numbers.get(target),
            flow.chance / total,
            flow.since,
        )
        for target, flow in sorted(onward.items(), key=lambda item: item[1].since)
    )
    cost = mdp.to_cost(int(mdp.edge_cost[edge]))
    return Branch(float(mdp.edge_chance[edge]), mdp.works(edge), label, cost, follow_ups)


def _describe_step(step: PlanStep, goal: str) -> list[str]:
    situation = f"(when {step.situation}) " if step.situation else ""
    costs = format_cost(step.cost, step.unit)
    name = step.action[:1].upper() + step.action[1:]
    lines = [f"{step.number}. {situation}{name}: costs {costs}, works {times_in(step.chance)}."]
    ways = sum(branch.works for branch in step.branches)
    several = len(step.branches) - ways > 1
    for branch in step.branches:
        if branch.works:
            detail = ", ".join(part for part in (branch.label, times_in(branch.chance) if ways > 1 else "") if part)
            condition = f"If it works ({detail})" if detail else "If it works"
        elif several or branch.label:
            detail = branch.label or "nothing changes"
            condition = f"If it fails ({detail}, {times_in(branch.chance)})" if several else f"If it fails ({detail})"
        else:
            condition = "If it fails"
        extra = "" if branch.cost == step.cost else f" costs {format_cost(branch.cost, step.unit)} instead;"
        lines.append(f"   {condition}:{extra} {_describe_follow_ups(branch, step, goal)}.")
    if step.out_of_reach:
        lines.append(f"   From here {goal} is out of reach; you may as well stop.")
    return lines


def _describe_follow_ups(branch: Branch, step: PlanStep, goal: str) -> str:
    """What comes next, in order of time: `try again; later go on with step 3; at the end the time is up`."""
    likely = [f for f in branch.follow_ups if f.share >= RARE]
    if all(f.kind == "not shown" for f in likely):
        likely = likely[:1]
    words = [_describe_follow_up(likely[0], step, goal)]
    for follow_up in likely[1:]:
        when = "at the end" if follow_up.kind == "out of time" else "later"
        words.append(f"{when} {_describe_follow_up(follow_up, step, goal)}")
    return "; ".join(dict.fromkeys(words))


def _describe_follow_up(follow_up: FollowUp, step: PlanStep, goal: str) -> str:
    if follow_up.kind == "goal":
        return f"done ({goal})"
    if follow_up.kind == "out of time":
        return "the time is up"
    if follow_up.kind == "stuck":
        return "no step is left"
    if follow_up.step is None:
        return "go on with a step that is not shown"
    return "try again" if follow_up.step == step.number else f"go on with step {follow_up.step}"
