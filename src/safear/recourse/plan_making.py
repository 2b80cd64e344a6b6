"""From a policy to the contingent plan that people read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.recourse.level_changes import NOTHING, find_changes
from safear.recourse.plan import Branch, Extent, FollowUp, Hope, Plan, PlanStep, Tries
from safear.recourse.plan_graph import END, GOAL, LOST, STUCK, Box, Graph, Node, Way, follow
from safear.recourse.promises import Promises
from safear.recourse.reasons import Reason, Reasons
from safear.recourse.step_bounds import bound_edge
from safear.recourse.traces import go_smoothly
from safear.recourse.turns import RARE
from safear.solvers.solution import Solution

RARE_STEP = 0.001  # a step that fewer runs come to is not told
_KINDS = {GOAL: "goal", END: "out of time", STUCK: "stuck", LOST: "lost"}


def make_plan(
    solution: Solution | Policy,
    start: Record | int | None = None,
    *,
    limit: int | None = 20,
    promises: Promises = NOTHING,
) -> Plan:
    """The contingent plan of a policy for a person: the likely steps, at most `limit` of them; all if it is None.

    Steps from which the plan no longer leads to a goal are told only if all are, or if none does. Why steps are dropped
    is told of solutions only: a policy may be of an MDP that has nothing but its own rows.
    """
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    rare = 0.0 if limit is None else RARE_STEP
    graph = follow(policy, origin, rare=rare)
    goal = mdp.goal_name
    if graph.first < 0:
        return Plan((), goal, glossary=mdp.glossary)
    hopes = _find_hopes(graph)
    gives_up = limit is not None and hopes[graph.first] == "yes"
    line = _follow_line(policy, origin, graph)
    order = [number for number in _rank(graph, line) if hopes[number] == "yes" or not gives_up]
    likely = [number for number in order if number == graph.first or graph.nodes[number].weight >= rare]
    told = _walk_along(graph, line, likely[:limit], share=0.0 if limit is None else RARE)
    by_state: dict[int, list[Node]] = {}
    for number in told:
        by_state.setdefault(graph.nodes[number].state, []).append(graph.nodes[number])
    maker = _Maker(
        graph,
        line=frozenset(line),
        numbers={node: number for number, node in enumerate(told, start=1)},
        told=by_state,
        start=mdp.shown_person(origin),
        unit=mdp.unit,
        counts_spent=policy.looks_at_spent,
        promises=promises,
        hopes=hopes,
        reasons=Reasons(policy, origin, graph, solution.objective) if isinstance(solution, Solution) else None,
    )
    steps = tuple(map(maker.make_step, maker.numbers))
    return Plan(steps, goal, len(graph.nodes) - len(steps), mdp.glossary, is_whole=limit is None)


def _find_hopes(graph: Graph) -> list[Hope]:
    """For each node, whether a run that follows the plan may still come to a goal, or whether any other could."""
    mdp, hopeful = graph.mdp, graph.hopeful
    if hopeful.all():
        return ["yes"] * len(hopeful)
    return [
        "yes" if hope else judge_hope(mdp, node.state, step=node.box.first)
        for hope, node in zip(hopeful.tolist(), graph.nodes, strict=True)
    ]


def judge_hope(mdp: MDP, state: int, *, step: int) -> Hope:
    """Whether another plan could still lead to a goal where this one does not."""
    return "not_with_this_plan" if mdp.steps_to_goal[state] <= mdp.horizon - step else "none"


def _follow_line(policy: Policy, origin: int, graph: Graph) -> list[int]:
    """The nodes met by a run in which every action works the first time, each as it most often does."""
    mdp, line, spent = graph.mdp, [], 0
    for step, edge in enumerate(go_smoothly(policy, origin)):
        here = Box(step, step, spent, spent)
        line += [
            number for number, node in enumerate(graph.nodes) if node.row == mdp.edge_row[edge] and node.box.meets(here)
        ]
        spent += int(mdp.edge_cost[edge]) if policy.looks_at_spent else 0
    return list(dict.fromkeys(line))


def _rank(graph: Graph, line: list[int]) -> list[int]:
    """The nodes of a line, then the others by how often a run comes there."""

    def rank(number: int) -> tuple[float, float, int, Box]:
        node = graph.nodes[number]
        visits, weight = (float(f"{times:.9g}") for times in (node.visits, node.weight))  # no rounding error decides
        return -visits, -weight, node.row, node.box

    return line + sorted(set(range(len(graph.nodes))).difference(line), key=rank)


def _walk_along(graph: Graph, line: list[int], told: list[int], *, share: float) -> list[int]:
    """The nodes in walking order: a line, then where its steps lead if things go differently, and on.

    Only what some step leads to in at least such a share of the cases is there: nobody would be sent to the others.
    """
    found = dict.fromkeys(node for node in line if node in told)
    waiting = list(reversed(found))
    while waiting:
        node = waiting.pop()
        found.setdefault(node)
        ways = [one for edge in graph.edges(node) for one in _share_ways(graph, node, edge)]
        ahead = [one.way.target for one in ways if max(one.share, one.share_if_off) >= share]
        waiting += [target for target in reversed(ahead) if target not in found and target in told]
    return list(found)


class _SharedWay(NamedTuple):
    """A way with its share of the cases in which its edge is taken, and the same by weight."""

    way: Way
    share: float
    share_if_off: float


def _share_ways(graph: Graph, node: int, edge: int) -> list[_SharedWay]:
    """Where an edge leads, in order of time, and how often."""
    ways = graph.ways(node, edge)
    total, weight = sum(way.chance for way in ways), sum(way.weight for way in ways)
    # What is too improbable for a number still happens.
    by_weight = [way.weight / weight if weight else 1 / len(ways) for way in ways]
    shares = [way.chance / total for way in ways] if total else by_weight
    return [_SharedWay(*one) for one in zip(ways, shares, by_weight, strict=True)]


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes steps of the nodes in `numbers`. `told` are, by state, those that situations must tell apart."""

    graph: Graph
    line: frozenset[int]
    numbers: dict[int, int]
    told: dict[int, list[Node]]
    start: dict[str, str]
    unit: str
    counts_spent: bool
    promises: Promises
    hopes: Sequence[Hope]
    reasons: Reasons | None

    def make_step(self, number: int) -> PlanStep:
        mdp, node = self.graph.mdp, self.graph.nodes[number]
        person, shown = mdp.person(node.state), mdp.shown_person(node.state)
        others = [other for other in self.told[node.state] if other is not node]
        says_made, says_spent = _choose_words(node, others)
        pieces = [piece for other in others for piece in other.pieces]
        rivals = [piece for piece in pieces if not says_made or piece.meets_time(node.box)]
        (first, last), box = node.entered, node.box
        return PlanStep(
            number=self.numbers[number],
            person=person,
            shown=shown,
            changes=find_changes(self.start, shown, promises=self.promises),
            action=mdp.actions[int(mdp.row_action[node.row])],
            visits=node.visits,
            branches=tuple(self._make_branch(number, edge, shown) for edge in self.graph.edges(number)),
            made=(box.first, box.last),
            steps_left=(mdp.horizon - box.last, mdp.horizon - box.first),
            entered=first if first == last else None,
            spent=self._find_spent(box.low, box.high),
            says_made=_choose_extent(box[:2], [piece[:2] for piece in pieces]) if says_made else None,
            says_spent=_choose_extent(box[2:], [piece[2:] for piece in rivals]) if says_spent else None,
            is_main=number in self.line,
            reason=None if number in self.line or self.reasons is None else self._find_reason(self.reasons, number),
            tries=self._choose_tries(node.state, shown),
            unit=self.unit,
            hope=self.hopes[number],
            glossary=mdp.glossary,
        )

    def _find_spent(self, low: int, high: int) -> tuple[float, float] | None:
        return (self.graph.mdp.to_cost(low), self.graph.mdp.to_cost(high)) if self.counts_spent else None

    def _find_reason(self, reasons: Reasons, number: int) -> Reason | None:
        state = self.graph.nodes[number].state
        return reasons.find(number, [other for other in self.numbers if self.graph.nodes[other].state == state])

    def _name_kind(self, target: int) -> str:
        if target < 0:
            return _KINDS[target]
        if target in self.numbers:
            return "step"
        return {"yes": "not shown", "none": "lost", "not_with_this_plan": "given up"}[self.hopes[target]]

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
        follow_ups = tuple(
            FollowUp(
                self._name_kind(way.target),
                self.numbers.get(way.target),
                share,
                share_if_off,
                way.since,
                way.until,
                self._find_spent(way.low, way.high),
            )
            for way, share, share_if_off in _share_ways(self.graph, number, edge)
        )
        cost, within = mdp.to_cost(int(mdp.edge_cost[edge])), bound_edge(mdp, edge)
        chances = (float(mdp.edge_chance[edge]), within.low, within.high)
        return Branch(*chances, mdp.works(edge), cost, follow_ups, label, changes)


def _choose_words(node: Node, others: Sequence[Node]) -> tuple[bool, bool]:
    """Whether to say how many tries were made and what has been spent: as little as tells a node from the others.

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


def _choose_extent(ends: tuple[int, ...], rivals: Sequence[tuple[int, ...]]) -> Extent:
    """How to say what was spent or how many tries were made; `rivals` are the ranges that these words must exclude."""
    low, high = ends
    if high == 0:
        return "nothing"
    if low == high:
        return "exactly"
    if all(rival[0] > high for rival in rivals):
        return "at_most"
    return "at_least" if all(rival[1] < low for rival in rivals) else "between"
