"""A policy as a contingent plan: what to do, what may happen, and what to do then.

A step of the plan is a situation together with what is done in it. Where a state asks for one thing now and for another
then, the situation says how many steps are left, or what has been spent. How probable it is to go from one step to the
next is added up exactly over all times, so a step can say where each of its outcomes leads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.recourse.plan_graph import END, GOAL, STUCK, Box, Graph, Node, follow
from safear.recourse.words import (
    count_of,
    describe_levels,
    find_changes,
    format_cost,
    format_number,
    name_goal,
    times_in,
)
from safear.solvers.solution import Solution
from safear.texts.numbers import round_exactly

RARE = 0.01  # a way on that is taken in fewer of the cases is not spelled out
RARE_STEP = 0.001  # nor a step that fewer runs come to
_KINDS = {GOAL: "goal", END: "out of time", STUCK: "stuck"}


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What comes after an outcome, with its share of the cases in which the outcome happens.

    `since` and `until` are after how many steps of the run that first and last is so.
    `step` is the number of a step of the plan, None where there is none: `kind` is then "goal", "out of time",
    "stuck" (no action is left) or "not shown".
    """

    kind: str
    step: int | None
    share: float
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of a step: how likely, what it costs, what it changes, and what comes next, in order of time.

    `label` says in words what happens: as the problem does (`named`), or else what `changes`, the features whose level
    is another afterwards, in order of importance.
    """

    chance: float
    works: bool
    label: str
    cost: float
    follow_ups: tuple[FollowUp, ...]
    named: bool = False
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class PlanStep:
    """A situation and what to do in it. `visits` is how often, on average, a run comes here.

    `steps_left` and `spent` (in `unit`; None if the policy does not look at it) are the least and the most of these
    with which a run comes here; `says_steps_left` and `says_spent` are whether the situation tells this step from
    others by them. `out_of_reach`: the plan cannot come to a goal any more from here, but goes on as plans do.
    """

    number: int
    person: dict[str, str]
    situation: str
    action: str
    visits: float
    branches: tuple[Branch, ...]
    steps_left: tuple[int, int]
    spent: tuple[float, float] | None = None
    says_steps_left: bool = False
    says_spent: bool = False
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

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def counted(self) -> frozenset[int]:
        """The steps whose situation is told from another by what has been spent."""
        return frozenset(step.number for step in self.steps if step.says_spent)

    @property
    def depends_on_spent(self) -> bool:
        """Whether there is such a step."""
        return bool(self.counted)

    def lines(self) -> list[str]:
        """The plan in plain words, a line each."""
        if not self.steps:
            return ["Nothing to do."]
        lines = [line for step in self.steps for line in _describe_step(step, self.goal, self.counted)]
        if any(step.situation for step in self.steps):
            lines.append("What a step's (when ...) does not mention is as it is today.")
        if self.hidden_steps:
            situations = (
                "1 rarer situation is" if self.hidden_steps == 1 else f"{self.hidden_steps} rarer situations are"
            )
            lines.append(f"{situations} not shown.")
        if self.depends_on_spent:
            lines.append("What to do next depends on what has been spent so far; keep count.")
        return lines


def make_plan(solution: Solution | Policy, start: Record | int | None = None, *, limit: int | None = 20) -> Plan:
    """The contingent plan of a policy for a person: the likely steps, at most `limit` of them; all if it is None."""
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    rare = 0.0 if limit is None else RARE_STEP
    graph = follow(policy, origin, rare=rare)
    goal = name_goal(mdp.problem)
    if graph.first < 0:
        return Plan((), goal)
    order = _order(graph)
    told = [number for number in order if number == graph.first or graph.nodes[number].visits >= rare]
    by_state: dict[int, list[Node]] = {}
    for number in told:
        by_state.setdefault(graph.nodes[number].state, []).append(graph.nodes[number])
    maker = _Maker(
        graph,
        numbers={node: number for number, node in enumerate(told[:limit], start=1)},
        told=by_state,
        start=mdp.person(origin) if mdp.space is not None else {},
        unit=mdp.unit,
        counts_spent=policy.looks_at_spent,
    )
    hopeful = graph.hopeful().tolist()
    steps = tuple(maker.make_step(node, out_of_reach=not hopeful[node]) for node in maker.numbers)
    return Plan(steps, goal, len(order) - len(steps))


def _order(graph: Graph) -> list[int]:
    """The nodes met if every action works, then the others by how often a run comes there."""
    mdp, nodes = graph.mdp, graph.nodes
    line: list[int] = []
    node = graph.first
    while node >= 0 and node not in line:
        line.append(node)
        edge = max(graph.edges(node), key=lambda edge: (mdp.works(edge), mdp.edge_chance[edge]))
        node = max(graph.ways(node, edge), key=lambda way: way.chance).target
    others = set(range(len(nodes))).difference(line)

    def rank(number: int) -> tuple[float, int, Box]:
        node = nodes[number]
        return -float(f"{node.visits:.9g}"), node.row, node.box  # no rounding error decides

    return line + sorted(others, key=rank)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes steps of the nodes in `numbers`. `told` are, by state, those that situations must tell apart."""

    graph: Graph
    numbers: dict[int, int]
    told: dict[int, list[Node]]
    start: dict[str, str]
    unit: str
    counts_spent: bool

    def make_step(self, number: int, *, out_of_reach: bool) -> PlanStep:
        mdp, node = self.graph.mdp, self.graph.nodes[number]
        person = mdp.person(node.state) if mdp.space is not None else {}
        others = [other for other in self.told[node.state] if other is not node]
        says_steps_left, says_spent = _choose_words(node, others)
        rivals = [piece for other in others for piece in other.pieces]
        if says_steps_left:
            rivals = [piece for piece in rivals if piece.meets_time(node.box)]
        least, most = mdp.horizon - node.box.last, mdp.horizon - node.box.first
        parts = [
            describe_levels(self.start, person, verb="is"),
            _steps_left(least, most) if says_steps_left else "",
            _spent(mdp, node.box, rivals, self.unit) if says_spent else "",
        ]
        return PlanStep(
            number=self.numbers[number],
            person=person,
            situation=" and ".join(part for part in parts if part),
            action=mdp.actions[int(mdp.row_action[node.row])],
            visits=node.visits,
            branches=tuple(self._make_branch(number, edge, person) for edge in self.graph.edges(number)),
            steps_left=(least, most),
            spent=(mdp.to_cost(node.box.low), mdp.to_cost(node.box.high)) if self.counts_spent else None,
            says_steps_left=says_steps_left,
            says_spent=says_spent,
            unit=self.unit,
            out_of_reach=out_of_reach,
        )

    def _make_branch(self, number: int, edge: int, person: dict[str, str]) -> Branch:
        mdp = self.graph.mdp
        label, named = "", False
        changes: tuple[tuple[str, str], ...] = ()
        if mdp.problem is not None:
            outcome = mdp.problem.actions[int(mdp.row_action[mdp.edge_row[edge]])].outcomes[int(mdp.edge_outcome[edge])]
            after = mdp.person(int(mdp.edge_next[edge]))
            changes = find_changes(person, after, first=outcome.change)
            label, named = outcome.label or describe_levels(person, after, first=outcome.change), bool(outcome.label)
        ways = self.graph.ways(number, edge)
        total = sum(way.chance for way in ways)
        follow_ups = tuple(
            FollowUp(
                _KINDS.get(way.target, "step" if way.target in self.numbers else "not shown"),
                self.numbers.get(way.target),
                way.chance / total if total else 1 / len(ways),  # what is too improbable for a number still happens
                way.since,
                way.until,
            )
            for way in ways
        )
        cost = mdp.to_cost(int(mdp.edge_cost[edge]))
        return Branch(float(mdp.edge_chance[edge]), mdp.works(edge), label, cost, follow_ups, named, changes)


def _choose_words(node: Node, others: Sequence[Node]) -> tuple[bool, bool]:
    """Whether to say how many steps are left and what has been spent: as little as tells a node from the others.

    If one of the two tells all nodes of a state apart, all of them say that one.
    """
    if not others:
        return False, False
    everyone = [node, *others]
    for tells in (_time_tells, _spent_tells):
        if all(tells(one, other) for one in everyone for other in everyone if one is not other):
            return tells is _time_tells, tells is _spent_tells
    if all(_time_tells(node, other) for other in others):
        return True, False
    return not all(_spent_tells(node, other) for other in others), True


def _time_tells(node: Node, other: Node) -> bool:
    """Whether the range of steps of a node holds nothing of another node."""
    return not any(node.box.meets_time(piece) for piece in other.pieces)


def _spent_tells(node: Node, other: Node) -> bool:
    """Whether the range of what has been spent of a node holds nothing of another node."""
    return not any(node.box.meets_spent(piece) for piece in other.pieces)


def _steps_left(least: int, most: int) -> str:
    """When: the same situation may ask for one thing early and for another late."""
    if least == most:
        return f"there {'is' if most == 1 else 'are'} {count_of(most, 'step')} left"
    return f"there are {least} to {most} steps left"


def _spent(mdp: MDP, box: Box, rivals: Sequence[Box], unit: str) -> str:
    """How much: `you have spent at most 3 months`, `... 3.2 to 5 months`, `... 6 months or more`.

    `rivals` are the pieces of other nodes that these words must exclude.
    """
    low, high = mdp.to_cost(box.low), mdp.to_cost(box.high)
    if box.high == 0:
        return "you have spent nothing yet"
    if box.low == box.high:
        return f"you have spent {_exact_cost(high, unit)}"
    if all(rival.low > box.high for rival in rivals):
        return f"you have spent at most {_exact_cost(high, unit)}"
    if all(rival.high < box.low for rival in rivals):
        return f"you have spent {_exact_cost(low, unit)} or more"
    return f"you have spent {_exact_cost(low, unit).partition(' ')[0]} to {_exact_cost(high, unit)}"


def _exact_cost(value: float, unit: str) -> str:
    """As `format_cost`, with as many decimals as it takes: a limit that was rounded would not be true."""
    digits = round_exactly(value)
    return format_cost(value, unit) if digits == format_number(value) else f"{digits} {unit}"


def _describe_step(step: PlanStep, goal: str, counted: Collection[int]) -> list[str]:
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
        lines.append(f"   {condition}:{extra} {_describe_follow_ups(branch, step, goal, counted)}.")
    if step.out_of_reach:
        lines.append(f"   From here {goal} is out of reach; you may as well stop.")
    return lines


def group_follow_ups(branch: Branch, step: PlanStep, counted: Collection[int]) -> list[list[FollowUp]]:
    """What comes next, in order of time; the rarest left out.

    What is not always later than the rest is a choice and stands in one group with it. So does a step that says what
    has been spent (`counted`), later or not: that, not the time, is what to look at.
    """
    likely = [f for f in branch.follow_ups if f.share >= RARE]
    if all(f.kind == "not shown" for f in likely):
        likely = likely[:1]
    groups: list[list[FollowUp]] = []
    for follow_up in likely:
        if groups and _is_choice(follow_up, groups[-1], step, counted):
            groups[-1].append(follow_up)
        else:
            groups.append([follow_up])
    return groups


def _describe_follow_ups(branch: Branch, step: PlanStep, goal: str, counted: Collection[int]) -> str:
    """`try again; later go on with step 3; at the end the time is up`; `go on with step 2 or 3, whichever applies`."""
    groups = group_follow_ups(branch, step, counted)
    words = [_describe_choice(groups[0], step, goal)]
    for group in groups[1:]:
        when = "at the end" if group[0].kind == "out of time" else "later"
        words.append(f"{when} {_describe_choice(group, step, goal)}")
    return "; ".join(dict.fromkeys(words))


def _is_choice(follow_up: FollowUp, before: Sequence[FollowUp], step: PlanStep, counted: Collection[int]) -> bool:
    """Whether time does not tell a follow-up from those before it, or is not what to look at."""
    overlaps = follow_up.since <= max(f.until for f in before)
    return overlaps or (follow_up.step in counted and [f.step for f in before] != [step.number])


def _describe_choice(group: Sequence[FollowUp], step: PlanStep, goal: str) -> str:
    """`try again or go on with step 3 or 4, whichever applies`."""
    if len(group) == 1:
        return _describe_follow_up(group[0], step, goal)
    numbers = sorted(f.step for f in group if f.step is not None and f.step != step.number)
    words = [_describe_follow_up(f, step, goal) for f in group if f.step == step.number]
    words += [f"go on with step {' or '.join(map(str, numbers))}"] if numbers else []
    words += [_describe_follow_up(f, step, goal) for f in group if f.step is None]
    applies = ", whichever applies" if sum(f.step is not None for f in group) > 1 else ""
    return " or ".join(dict.fromkeys(words)) + applies


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
