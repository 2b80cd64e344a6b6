"""A policy as a contingent plan: what to do, what may happen, and what to do then.

A step of the plan is a situation together with what is done in it. Where a state asks for one thing now and for another
then, the situation says how many steps are left, or what has been spent. How probable it is to go from one step to the
next is added up exactly over all times, so a step can say where each of its outcomes leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from safear.evaluation.extremes import Range
from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP
from safear.mdp.intervals import bound_sum
from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.model import Record
from safear.recourse.plan_graph import END, GOAL, LOST, STUCK, Box, Graph, Node, follow
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.promises import Promise, Promises
from safear.recourse.teller import Teller
from safear.solvers.solution import Solution
from safear.texts.notebook import show_lines

if TYPE_CHECKING:
    import pandas as pd

NOTHING: Promises = MappingProxyType({})
RARE_STEP = 0.001  # a step that fewer runs come to is not told

Spent = Literal["nothing", "exactly", "at_most", "at_least", "between"]
Hope = Literal["yes", "not_with_this_plan", "none"]
_KINDS = {GOAL: "goal", END: "out of time", STUCK: "stuck", LOST: "lost"}


class LevelChange(NamedTuple):
    """A feature with its new level and, of a number, what is promised."""

    feature: str
    level: str
    promise: Promise | None = None


Changes = tuple[LevelChange, ...]


class Tries(NamedTuple):
    """How often an action has been tried."""

    action: str
    times: int


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What comes after an outcome, with its share of the cases in which the outcome happens.

    `since` and `until` are after how many steps of the run that first and last is so. `share_if_off` is the share if
    what nominally never happens does so as often as its interval allows: the same where everything does happen.
    `step` is the number of a step of the plan, None where there is none: `kind` is then "goal", "out of time",
    "stuck" (no action is left), "lost" (no goal can be reached any more) or "not shown".
    """

    kind: str
    step: int | None
    share: float
    share_if_off: float
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of a step: how likely, what it costs, what it changes, and what comes next, in order of time.

    `low` and `high` are the least and the most that its chance may be: it may happen though its chance is 0.
    `label` is what the problem calls it, if it does; `changes` are in order of importance.
    """

    chance: float
    low: float
    high: float
    works: bool
    cost: float
    follow_ups: tuple[FollowUp, ...]
    label: str | None = None
    changes: Changes = ()


@dataclass(frozen=True, slots=True, repr=False)
class PlanStep:
    """A situation and what to do in it. `visits` is how often, on average, a run comes here.

    `person` has the levels of the situation, `shown` those that are not hidden.
    `changes` are the levels in which the situation differs from the start. `steps_left` and `spent` (in `unit`; None if
    the policy does not look at it) are the least and the most of these with which a run comes here; `says_steps_left`
    is whether the situation tells this step from others by the one, and `says_spent` how by the other (None: not).
    `tries` are those of limited actions, where they tell the situation from another.
    `hope`: whether a goal can still be reached from here, or only not with this plan, which goes on as plans do.
    `glossary` has the labels of what is named here.
    """

    number: int
    person: dict[str, str]
    shown: dict[str, str]
    changes: Changes
    action: str
    visits: float
    branches: tuple[Branch, ...]
    steps_left: tuple[int, int]
    spent: tuple[float, float] | None = None
    says_steps_left: bool = False
    says_spent: Spent | None = None
    tries: tuple[Tries, ...] = ()
    unit: str = "units"
    hope: Hope = "yes"
    glossary: Glossary = NO_LABELS

    @property
    def chance(self) -> float:
        """The probability that the action works."""
        return sum(branch.chance for branch in self.branches if branch.works)

    @property
    def within(self) -> Range:
        """The least and the most that this may be."""
        return bound_working(self.branches)

    @property
    def cost(self) -> float:
        """What the action costs if it works."""
        return next((branch.cost for branch in self.branches if branch.works), self.branches[0].cost)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return Teller.of(glossary=self.glossary).step(self)


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """A contingent plan: steps in the order in which they come if all goes well, then the others, likely ones first.

    `goal` is the problem's name for the favourable decision, if it has one; `glossary` has its labels.
    """

    steps: tuple[PlanStep, ...]
    goal: str | None
    hidden_steps: int = 0
    glossary: Glossary = NO_LABELS

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return show_lines(str(self))

    def to_frame(self) -> pd.DataFrame:
        """A row per step and outcome: when to do what, how that may end, and which step most often comes then.

        `then` is the number of that step, or how it ends: "goal", "out of time", "stuck", "lost".
        """
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        tell = Teller.of(glossary=self.glossary)
        columns = ("step", "when", "action", "visits", "works", "outcome", "chance", "low", "high", "cost", "then")
        rows = []
        for step in self.steps:
            for branch in step.branches:
                likeliest = max(branch.follow_ups, key=lambda item: (item.share, item.share_if_off))
                then = likeliest.kind if likeliest.step is None else likeliest.step
                chances = (branch.chance, branch.low, branch.high)
                ending = (branch.works, tell.outcome(branch), *chances, branch.cost, then)
                rows.append((step.number, tell.situation(step), step.action, step.visits, *ending))
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def counted(self) -> frozenset[int]:
        """The steps whose situation is told from another by what has been spent."""
        return frozenset(step.number for step in self.steps if step.says_spent is not None)

    @property
    def depends_on_spent(self) -> bool:
        """Whether there is such a step."""
        return bool(self.counted)

    def lines(self, language: str = "en") -> list[str]:
        """The plan in plain words, a line each."""
        return PlanTeller(self, Teller.of(language, self.glossary)).lines()


def make_plan(
    solution: Solution | Policy,
    start: Record | int | None = None,
    *,
    limit: int | None = 20,
    promises: Promises = NOTHING,
) -> Plan:
    """The contingent plan of a policy for a person: the likely steps, at most `limit` of them; all if it is None."""
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    rare = 0.0 if limit is None else RARE_STEP
    graph = follow(policy, origin, rare=rare)
    goal = mdp.goal_name
    if graph.first < 0:
        return Plan((), goal, glossary=mdp.glossary)
    order = _order(graph)
    told = [number for number in order if number == graph.first or graph.nodes[number].weight >= rare]
    by_state: dict[int, list[Node]] = {}
    for number in told:
        by_state.setdefault(graph.nodes[number].state, []).append(graph.nodes[number])
    maker = _Maker(
        graph,
        numbers={node: number for number, node in enumerate(told[:limit], start=1)},
        told=by_state,
        start=mdp.shown_person(origin),
        unit=mdp.unit,
        counts_spent=policy.looks_at_spent,
        promises=promises,
    )
    hopes = _find_hopes(graph)
    steps = tuple(maker.make_step(node, hopes[node]) for node in maker.numbers)
    return Plan(steps, goal, len(order) - len(steps), mdp.glossary)


def count_rules(plan: Solution | Policy, start: Record | int | None = None) -> int:
    """The number of steps that a plan would tell if there were no limit: those that are not too rare."""
    policy = policy_of(plan)
    graph = follow(policy, policy.mdp.locate_start(start), rare=RARE_STEP)
    return sum(number == graph.first or node.weight >= RARE_STEP for number, node in enumerate(graph.nodes))


def _find_hopes(graph: Graph) -> list[Hope]:
    """For each node, whether a run that follows the plan may still come to a goal, or whether any other could."""
    mdp, hopeful = graph.mdp, graph.hopeful
    if hopeful.all():
        return ["yes"] * len(hopeful)
    needed = mdp.steps_to_goal
    return [
        "yes" if hope else "not_with_this_plan" if needed[node.state] <= mdp.horizon - node.box.first else "none"
        for hope, node in zip(hopeful.tolist(), graph.nodes, strict=True)
    ]


class Bounded(Protocol):
    """One way in which a step may end."""

    @property
    def works(self) -> bool:
        """Whether the action then counts as having worked."""

    @property
    def low(self) -> float:
        """The least that its chance may be."""

    @property
    def high(self) -> float:
        """The most."""


def bound_working(endings: Sequence[Bounded]) -> Range:
    """The least and the most that the chance of a step to work may be."""
    low, high, works = (np.array([getattr(one, name) for one in endings]) for name in ("low", "high", "works"))
    return Range(*bound_sum(low, high, works))


def bound_edge(mdp: MDP, edge: int) -> Range:
    """The least and the most that the chance of an outcome may be, given those of the others."""
    first, last = mdp.edge_start[mdp.edge_row[edge]], mdp.edge_start[mdp.edge_row[edge] + 1]
    return Range(*bound_sum(mdp.edge_low[first:last], mdp.edge_high[first:last], np.arange(first, last) == edge))


def find_changes(
    before: Mapping[str, str], after: Mapping[str, str], *, first: Iterable[str] = (), promises: Promises = NOTHING
) -> Changes:
    """The features whose level is another, with the level afterwards. `first` names what matters most."""
    names = [name for name in dict.fromkeys((*first, *after)) if name in after]
    changed = [(name, after[name]) for name in names if before[name] != after[name]]
    return tuple(LevelChange(*pair, promises.get(pair)) for pair in changed)


def _order(graph: Graph) -> list[int]:
    """The nodes met if every action works, then the others by how often a run comes there."""
    mdp, nodes = graph.mdp, graph.nodes
    line: list[int] = []
    node = graph.first
    while node >= 0 and node not in line:
        line.append(node)
        edge = max(graph.edges(node), key=lambda edge: (mdp.works(edge), mdp.edge_chance[edge]))
        node = max(graph.ways(node, edge), key=lambda way: (way.chance, way.weight)).target
    others = set(range(len(nodes))).difference(line)

    def rank(number: int) -> tuple[float, float, int, Box]:
        node = nodes[number]
        visits, weight = (float(f"{times:.9g}") for times in (node.visits, node.weight))  # no rounding error decides
        return -visits, -weight, node.row, node.box

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
    promises: Promises

    def make_step(self, number: int, hope: Hope) -> PlanStep:
        mdp, node = self.graph.mdp, self.graph.nodes[number]
        person, shown = mdp.person(node.state), mdp.shown_person(node.state)
        others = [other for other in self.told[node.state] if other is not node]
        says_steps_left, says_spent = _choose_words(node, others)
        rivals = [piece for other in others for piece in other.pieces]
        if says_steps_left:
            rivals = [piece for piece in rivals if piece.meets_time(node.box)]
        least, most = mdp.horizon - node.box.last, mdp.horizon - node.box.first
        return PlanStep(
            number=self.numbers[number],
            person=person,
            shown=shown,
            changes=find_changes(self.start, shown, promises=self.promises),
            action=mdp.actions[int(mdp.row_action[node.row])],
            visits=node.visits,
            branches=tuple(self._make_branch(number, edge, shown) for edge in self.graph.edges(number)),
            steps_left=(least, most),
            spent=(mdp.to_cost(node.box.low), mdp.to_cost(node.box.high)) if self.counts_spent else None,
            says_steps_left=says_steps_left,
            says_spent=_choose_spent(node.box, rivals) if says_spent else None,
            tries=self._choose_tries(node.state, shown),
            unit=self.unit,
            hope=hope,
            glossary=mdp.glossary,
        )

    def _choose_tries(self, state: int, shown: dict[str, str]) -> tuple[Tries, ...]:
        """The counts in which a state differs from others that are told of and look the same."""
        mdp = self.graph.mdp
        counters = [feature for feature in mdp.features if feature.counts]
        if not counters:
            return ()
        here = mdp.person(state)
        alike = [mdp.person(other) for other in self.told if mdp.shown_person(other) == shown]
        telling = [item for item in counters if any(other[item.name] != here[item.name] for other in alike)]
        return tuple(Tries(item.counts, int(here[item.name])) for item in telling)

    def _make_branch(self, number: int, edge: int, person: dict[str, str]) -> Branch:
        mdp = self.graph.mdp
        outcome, after = mdp.outcome(edge), mdp.shown_person(int(mdp.edge_next[edge]))
        changes, label = find_changes(person, after, first=outcome.change, promises=self.promises), outcome.label
        ways = self.graph.ways(number, edge)
        total, weight = sum(way.chance for way in ways), sum(way.weight for way in ways)
        follow_ups = tuple(
            FollowUp(
                _KINDS.get(way.target, "step" if way.target in self.numbers else "not shown"),
                self.numbers.get(way.target),
                way.chance / total if total else way.weight / weight if weight else 1 / len(ways),
                way.weight / weight if weight else 1 / len(ways),  # what is too improbable for a number still happens
                way.since,
                way.until,
            )
            for way in ways
        )
        cost, within = mdp.to_cost(int(mdp.edge_cost[edge])), bound_edge(mdp, edge)
        chances = (float(mdp.edge_chance[edge]), within.low, within.high)
        return Branch(*chances, mdp.works(edge), cost, follow_ups, label, changes)


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


def _choose_spent(box: Box, rivals: Sequence[Box]) -> Spent:
    """How to say what has been spent; `rivals` are the pieces of other nodes that these words must exclude."""
    if box.high == 0:
        return "nothing"
    if box.low == box.high:
        return "exactly"
    if all(rival.low > box.high for rival in rivals):
        return "at_most"
    return "at_least" if all(rival.high < box.low for rival in rivals) else "between"
