"""The nodes of plans, the ways between them and what is told of them, against plain transcriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import plan_graph
from lanes import scaled
from moody_policies import Ruled, in_pieces, policies
from plain_nodes import PlainGraph, surround
from safear.evaluation import Policy, StatePolicy

CHANCES: list[object] = [0.5, 0.75, 0.9, 0.995, 0.9995, 0.0005, [0, 0, 0.6], [0.4, 1, 1], [0, 0, 0.0005]]


def draw_maze(rng: np.random.Generator, odd: float) -> dict[str, Any]:
    """A ladder to climb up or down, in which something is often odd; or never, or always."""
    levels = [str(level) for level in range(int(rng.integers(3, 5)))]
    step, start, end = ("+1", levels[0], levels[-1]) if rng.random() < 0.5 else ("-1", levels[-1], levels[0])
    actions = {}
    for number in range(int(rng.integers(1, 4))):
        chances: list[Any] = [CHANCES[rng.integers(len(CHANCES))]]
        if rng.random() < odd:
            chances = [[0.5, 0.375], [0.02, 0.9]][rng.integers(2)]
        outcomes: list[dict[str, Any]] = [{"chance": chance} for chance in chances] + [{}]
        for place, outcome in enumerate(outcomes):
            if place == 0 or rng.random() < odd:
                outcome["change"] = {"a": str(rng.choice(levels)) if rng.random() < odd else step}
            if rng.random() < odd:
                outcome["cost"] = int(rng.integers(4))
            if rng.random() < odd:
                outcome["works"] = bool(rng.integers(2))
        actions[f"do {number}"] = {"cost": int(rng.integers(4)), "outcomes": outcomes}
    return {
        "safear": 1,
        "title": "maze",
        "horizon": int(rng.integers(1, 9)),
        "goal": {"favourable": "out", "failure_cost": int(rng.integers(10)), "stop": bool(rng.integers(2))},
        "features": {"a": {"kind": "ordinal", "levels": levels}},
        "actions": actions,
        "classifier": {"rule": f"a == {end}"},
        "people": {"p": {"a": start if rng.random() > odd else levels[1]}},
    }


def wanderers(odd: float) -> st.SearchStrategy[Policy]:
    """Policies in a maze that seldom change their mind, by what was spent or not."""
    return st.integers(0, 2**32).map(lambda seed: wander(np.random.default_rng(seed), odd))


def wander(rng: np.random.Generator, odd: float) -> Policy:
    problem = sa.parse_problem(draw_maze(rng, odd))
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    moods = (rng.random((mdp.horizon, mdp.n_states, 20)) * (1 + odd * rng.choice([0, 1, 2, 4]))).astype(int)
    if rng.random() < 0.6:
        return Ruled(mdp, lambda step, states, spent: moods[step, states, np.minimum(spent, 19)])
    offered = np.diff(mdp.row_start)
    choices = np.where(offered > 0, moods[:, :, 0] % np.maximum(offered, 1), 255).astype(np.uint8)
    return StatePolicy(mdp, choices)


@pytest.mark.parametrize(("odd", "whole"), [(0.0, False), (0.1, False), (0.2, True), (0.5, False), (0.5, True)])
@settings(max_examples=scaled(60))
@given(data=st.data())
def test_nodes_are_those_of_the_definition(odd: float, whole: bool, data: st.DataObject) -> None:
    policy = data.draw(st.one_of(wanderers(odd), policies()) if odd == 0.5 else wanderers(odd))
    plain = PlainGraph.of_policy(policy, whole=whole)
    for known in (policy, in_pieces(policy)):
        check_graph(plain, plan_graph.draw(known, policy.mdp.start, whole=whole))


def check_graph(plain: PlainGraph, outline: Any) -> None:
    """Compare all that is known of the nodes."""
    nodes, ways = outline.nodes, outline.ways
    every = range(plain.count)
    assert list(nodes.of) == plain.of
    assert list(nodes.row) == [plain.find_row(node) for node in every]
    for own, part in ((nodes.visits, "chance"), (nodes.weight, "weight")):
        expected = [sum(getattr(plain.cells[i], part) for i in plain.cells_of[node]) for node in every]
        assert list(own) == pytest.approx(expected, abs=1e-12)
    boxes = [surround(map(plain.box_of, plain.cells_of[node])) for node in every]
    assert np.transpose(nodes.box).tolist() == [list(box) for box in boxes]
    assert np.transpose(nodes.entered).tolist() == [plain.find_entered(node) for node in every]
    assert list(nodes.hope) == plain.hopes
    if nodes.n_pieces or plain.pieces:
        found = np.asarray(nodes.pieces)[:, : nodes.n_pieces].T.tolist()
        assert found == [[*box, state, row, part] for box, state, row, part in plain.pieces]
    for node in every:
        check_ways(plain, node, ways)
    assert list(outline.line)[: outline.along] == plain.find_line()
    told = plain.choose_told()
    assert list(outline.told) == told
    for each in (told, [1] * plain.count, [1, 0] * plain.count):
        order, repeating = plain.walk(each[: plain.count])
        assert outline.walk(np.array(each[: plain.count], np.int64)) == (
            order,
            [(place, plain.find_row(order[place - 1]), plain.find_row(order[place])) for place in repeating],
        )


def check_ways(plain: PlainGraph, node: int, ways: Any) -> None:
    """Compare where the edges of a node lead."""
    for number, expected in enumerate(plain.ways[node].values()):
        slot = ways.slot[node] + number
        own = slice(ways.start[slot], ways.start[slot + 1])
        assert list(ways.target[own]) == [way.target for way in expected]
        assert np.transpose(ways.box)[own].tolist() == [list(way.box) for way in expected]
        assert list(ways.share[own]) == pytest.approx([way.share for way in expected], abs=1e-12)
        assert list(ways.share_if_off[own]) == pytest.approx([way.share_if_off for way in expected], abs=1e-12)


BACK = [{"chance": 0.9, "change": {"a": "-1"}}, {}]
BOTH_WORK = [{"chance": 0.005, "works": True}, {"change": {"a": "+1"}, "works": True}]


def lead_to(level: str) -> list[dict[str, Any]]:
    """Outcomes of an action that leads to a level, or else to 1."""
    return [{"chance": 0.5, "change": {"a": level}}, {"change": {"a": "1"}}]


@pytest.mark.parametrize(
    ("start", "horizon", "actions", "chosen"),
    [
        pytest.param("2", 8, [BACK], {}, id="the first edge of all works again"),
        pytest.param("3", 8, [BACK, lead_to("2")], {3: 1}, id="two nodes lead to the first"),
        pytest.param("4", 8, [BACK, lead_to("0"), lead_to("5")], {2: 1, 1: 2, 5: 255}, id="one without hope"),
        pytest.param("1", 3, [BOTH_WORK, lead_to("0")], {3: 255, 4: 255}, id="two outcomes count as working"),
    ],
)
def test_nodes_repeat_what_has_worked(start: str, horizon: int, actions: list[Any], chosen: dict[int, int]) -> None:
    document = draw_maze(np.random.default_rng(0), 0.0) | {
        "features": {"a": {"kind": "ordinal", "levels": list("012345")}},
        "actions": {f"do {number}": {"cost": 1, "outcomes": each} for number, each in enumerate(actions)},
        "classifier": {"rule": "a == 0"},
        "horizon": horizon,
        "people": {"p": {"a": start}},
    }
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    choices = [255 if level == 0 else chosen.get(level, 0) for level in mdp.codes(np.arange(mdp.n_states))[:, 0]]
    policy = StatePolicy(mdp, np.array([choices] * horizon, dtype=np.uint8))
    check_graph(PlainGraph.of_policy(policy, whole=False), plan_graph.draw(policy, mdp.start, whole=False))


def test_what_is_too_improbable_for_a_number_still_happens() -> None:
    """After thirty failures, each less probable than one in ten billions, which an action then meets again."""
    action = {"cost": 1, "outcomes": [{"chance": 1 - 1e-11, "change": {"a": "1"}}, {}]}
    document = {**draw_maze(np.random.default_rng(0), 0.0), "actions": {"do 0": action, "do 1": action}, "horizon": 32}
    document |= {
        "features": {"a": {"kind": "ordinal", "levels": ["0", "1"]}},
        "classifier": {"rule": "a == 1"},
        "people": {"p": {"a": "0"}},
    }
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    policy = StatePolicy(mdp, np.repeat(np.arange(32)[:, None] >= 30, mdp.n_states, axis=1).astype(np.uint8))
    policy.choices[:, mdp.goal] = 255
    plain = PlainGraph.of_policy(policy, whole=True)
    assert [cell.weight for cell in plain.cells[-2:]] == [0, 0]
    check_graph(plain, plan_graph.draw(policy, mdp.start, whole=True))
