"""From a policy to the contingent plan that people read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.core.nodes import END, GOAL, LOST, STUCK
from safear.evaluation.policy import Policy, policy_of
from safear.problem.model import Record
from safear.recourse.level_changes import NOTHING, find_changes
from safear.recourse.plan import Branch, Extent, FollowUp, Hope, Plan, PlanStep, Tries
from safear.recourse.plan_graph import Graph, Node, Way, follow
from safear.recourse.promises import Promises
from safear.recourse.reasons import Reason, Reasons
from safear.recourse.rules import order_steps
from safear.recourse.step_bounds import bound_edge
from safear.solvers.solution import Solution

_KINDS = {GOAL: "goal", END: "out of time", STUCK: "stuck", LOST: "lost"}
_HOPES: tuple[Hope, ...] = ("none", "not_with_this_plan", "yes")  # in the core's numbers


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
    graph = follow(policy, origin, whole=limit is None)
    goal = mdp.goal_name
    if not graph.nodes:
        return Plan((), goal, glossary=mdp.glossary)
    outline = graph.outline
    line = np.asarray(outline.line)[: outline.along].tolist()
    told, repeating = order_steps(mdp, outline, _choose_told(graph, line, limit))
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
        hopes=[_HOPES[hope] for hope in np.asarray(outline.nodes.hope).tolist()],
        reasons=Reasons(policy, origin, graph, solution.objective) if isinstance(solution, Solution) else None,
    )
    steps = tuple(map(maker.make_step, maker.numbers))
    again = frozenset(place + 1 for place in repeating)
    return Plan(steps, goal, len(graph.nodes) - len(steps), mdp.glossary, limit is None, again)


def _choose_told(graph: Graph, line: list[int], limit: int | None) -> NDArray[np.int64]:
    """Say of each node whether it is told: at most `limit`, first those of a line, then by how often a run comes there.

    Without a limit, all are.
    """

    def rank(number: int) -> tuple[float, ...]:
        node = graph.nodes[number]
        visits, weight = (float(f"{times:.9g}") for times in (node.visits, node.weight))  # no rounding error decides
        return line.index(number) if number in line else len(line), -visits, -weight, node.row, *node.box

    if limit is None:
        return np.ones(len(graph.nodes), np.int64)
    told = np.zeros(len(graph.nodes), np.int64)
    told[sorted(np.flatnonzero(graph.outline.told).tolist(), key=rank)[:limit]] = 1
    return told


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
            branches=tuple(
                self._make_branch(edge, ways, shown) for edge, ways in enumerate(node.ways, mdp.edge_start[node.row])
            ),
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

    def _make_branch(self, edge: int, ways: Sequence[Way], person: dict[str, str]) -> Branch:
        mdp = self.graph.mdp
        outcome, after = mdp.outcome(edge), mdp.shown_person(int(mdp.edge_next[edge]))
        changes, label = find_changes(person, after, first=outcome.change, promises=self.promises), outcome.label
        follow_ups = tuple(
            FollowUp(
                self._name_kind(way.target),
                self.numbers.get(way.target),
                way.share,
                way.share_if_off,
                way.box.first,
                way.box.last,
                self._find_spent(way.box.low, way.box.high),
            )
            for way in ways
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
