"""Blocks side by side against blocks compiled one at a time."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import CompiledMDP, Compiler, Crowd, Engine, FamilyCompiler, immutable_features
from doors import families as families_module
from doors import goals as goals_module
from lanes import scaled
from oracle import Oracle
from safear.classifier import Inputs
from safear.errors import ProblemError, TooLargeError
from safear.mdp import Family, check_mdp, compile_blocks, compile_families
from safear.recourse import Desk
from strategies import Document, problems

ERA = ["past", "now", "soon"]
GRADE = ["I", "II", "III", "IV"]


# -------------------------------------------------------------------------------------------------------- what is drawn


def conjoin(entry: dict[str, Any], condition: str) -> None:
    """`when` that also asks for this."""
    entry["when"] = f"({entry['when']}) and ({condition})" if "when" in entry else condition


def by_case(entry: dict[str, Any], key: str, condition: str, number: float) -> None:
    """A number that is another one if the condition holds."""
    if isinstance(entry.get(key), int | float):
        entry[key] = [{"when": condition, key: number}, entry[key]]


@st.composite
def divided_documents(draw: st.DrawFn) -> Document:
    """Drawn documents with up to two features more, which nothing changes and on which anything may depend."""
    document: Document = draw(problems(max_horizon=2))
    person: dict[str, Any] = document["people"]["someone"]
    for name, kind, names in (("era", "nominal", ERA), ("grade", "ordinal", GRADE)):
        if draw(st.sampled_from([False, True, True])):
            levels = names[: draw(st.integers(2, len(names)))]
            seen = draw(st.sampled_from([False, True, True]))
            entry = {"kind": kind, "levels": levels, "mutable": False, "seen_by_classifier": seen}
            rows = list(document["features"].items())
            rows.insert(draw(st.integers(0, len(rows))), (name, entry))  # before or between those that can change
            document["features"] = dict(rows)
            person[name], other = draw(st.permutations(levels))[:2]
            condition = draw(st.sampled_from([f"{name} == {other}", f"{name} != {other}"]))
            action = draw(st.sampled_from(list(document["actions"].values())))
            matters = draw(
                st.sampled_from(["no", "no", "no", "no", "when", "chance", "cost", "constraint", "gone", "effect"])
            )
            if matters == "when":
                conjoin(action, condition)
            elif matters in {"chance", "cost"}:
                by_case(action, matters, condition, 0.25)
            elif matters == "constraint":
                first, levels_of_first = next(iter(Oracle(document).features.items()))
                level = draw(st.sampled_from(levels_of_first.levels))
                document.setdefault("constraints", []).append(f'{name} != {other} or "{first}" != "{level}"')
            elif matters == "gone":
                document.setdefault("constraints", []).append(f"{name} != {other}")
            elif document.get("side_effects"):
                conjoin(document["side_effects"][0], condition)
            if seen and draw(st.sampled_from([False, True, True])):
                rule, word = document["classifier"]["rule"], draw(st.sampled_from(["and", "or"]))
                document["classifier"]["rule"] = f"({rule}) {word} {condition}"
    return document


def divide(problem: sa.Problem) -> sa.Problem:
    """The same problem with every feature immutable that nothing changes."""
    changing = problem.changed_features | {effect.cause for effect in problem.side_effects}
    return replace(
        problem, features=tuple(replace(f, mutable=f.name in changing or bool(f.at_most)) for f in problem.features)
    )


@st.composite
def divided_problems(draw: st.DrawFn) -> sa.Problem:
    """Problems with blocks."""
    problem = sa.parse_problem(draw(divided_documents()))
    return divide(problem) if draw(st.booleans()) else problem


JOB: Document = {
    "safear": 1,
    "title": "a job",
    "horizon": 3,
    "features": {
        "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        "skill": {"kind": "ordinal", "levels": ["low", "mid", "high"]},
        "region": {"kind": "nominal", "levels": ["n", "e", "s"], "mutable": False, "seen_by_classifier": False},
        "pay": {"kind": "ordinal", "levels": ["little", "much"]},
        "age": {"kind": "ordinal", "levels": ["young", "old"], "mutable": False},
    },
    "goal": {"favourable": "hired", "failure_cost": 7},
    "classifier": {"rule": "skill == high and (pay == much or sex == m) or age == old and skill >= mid"},
    "actions": {
        "learn": {"cost": 1.5, "chance": 0.8, "change": {"skill": "+1"}},
        "ask": {"cost": 1, "chance": 0.5, "change": {"pay": "+1"}},
    },
}


def job(**changes: Any) -> sa.Problem:
    """JOB with other parts."""
    return sa.parse_problem({**JOB, **changes})


def learning(**changes: Any) -> dict[str, Any]:
    """The actions of JOB, with other parts of 'learn'."""
    return {**JOB["actions"], "learn": {**JOB["actions"]["learn"], **changes}}


# ----------------------------------------------------------------------------------------------------------- comparison


def assert_same(ours: sa.MDP, theirs: sa.MDP) -> None:
    """Every field, arrays with their types."""
    for field in fields(ours):
        if field.name == "goals":  # who said so
            continue
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, field.name
            assert np.array_equal(one, other), field.name
        else:
            assert one == other, field.name


def named(problem: sa.Problem, levels: Sequence[int]) -> dict[str, str]:
    """A block by the names of its levels."""
    return {f.name: f.levels[code] for f, code in zip(immutable_features(problem), levels, strict=True)}


def all_levels(problem: sa.Problem) -> list[tuple[int, ...]]:
    """The level numbers of every block."""
    return list(itertools.product(*(range(len(f.levels)) for f in problem.features if not f.mutable)))


def assert_families(problem: sa.Problem, found: Sequence[Family], expected: Sequence[tuple[int, ...]]) -> None:
    """Each of the expected blocks once, each as if compiled alone."""
    levels = [tuple(row) for family in found for row in family.levels.tolist()]
    assert sorted(levels) == sorted(expected)
    for family in found:
        assert family.goal.shape == (family.shared.n_states, family.n_lanes)
        assert not family.shared.goal.any()
        check_mdp(family.shared)
        for lane, row in enumerate(family.levels.tolist()):
            block = family.block(lane)
            check_mdp(block)
            assert_same(block, sa.compile_mdp(problem, block=named(problem, row)))


# -------------------------------------------------------------------------------------------------- families and blocks


@given(divided_problems(), st.none() | st.integers(1, 7))
def test_every_block_once_and_as_if_alone(problem: sa.Problem, lanes: int | None) -> None:
    found = list(compile_families(problem, lanes=lanes))
    assert_families(problem, found, all_levels(problem))
    assert all(1 <= family.n_lanes <= (lanes or families_module.MOST) for family in found)
    assert len(all_levels(problem)) == sum(family.n_lanes for family in found)


@settings(max_examples=scaled(60))
@given(divided_problems(), st.integers(1, 5), st.data())
def test_some_blocks_in_any_order(problem: sa.Problem, lanes: int, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(all_levels(problem)), unique=True))
    blocks = np.array(chosen, dtype=np.int16).reshape(len(chosen), len(immutable_features(problem)))
    found = list(compile_families(problem, blocks=blocks, lanes=lanes))
    assert_families(problem, found, chosen)
    assert all(1 <= family.n_lanes <= lanes for family in found)


@settings(max_examples=scaled(60))
@given(divided_problems())
def test_blocks_are_those_of_the_families(problem: sa.Problem) -> None:
    """And together they have every state of the space."""
    blocks = list(compile_blocks(problem))
    assert len(blocks) == len(all_levels(problem))
    whole = sa.compile_mdp(problem)
    people = [tuple(block.person(state).items()) for block in blocks for state in range(block.n_states)]
    assert sorted(people) == sorted(tuple(whole.person(state).items()) for state in range(whole.n_states))


@settings(max_examples=scaled(40))
@given(divided_documents())
def test_goals_are_those_of_the_rule(document: Document) -> None:
    """Against an engine that shares no code with ours."""
    judge = Oracle(document)
    for family in compile_families(sa.parse_problem(document)):
        for lane in range(family.n_lanes):
            block = family.block(lane)
            for state in range(block.n_states):
                person = tuple(block.person(state).values())
                assert family.goal[state, lane] == judge.is_goal(person)
                offered = [] if judge.is_goal(person) else [choice.action for choice in judge.offered(person)]
                rows = block.row_action[block.row_start[state] : block.row_start[state + 1]]
                assert [block.actions[action] for action in rows] == offered


def test_what_does_not_matter_is_shared() -> None:
    """Neither sex, nor region, nor age changes what an action does: one family of twelve blocks."""
    problem = job()
    (family,) = compile_families(problem)
    assert family.levels.tolist() == [list(levels) for levels in all_levels(problem)]
    assert repr(family) == "Family(12 blocks of MDP(6 states, 7 rows, 14 edges, 0 goals, horizon 3))"
    assert_families(problem, [family], all_levels(problem))
    assert family.goal.sum(axis=0).tolist() == [1, 4] * 3 + [2, 4] * 3  # young and old; men need no pay


@pytest.mark.parametrize(
    "changes",
    [
        {"actions": learning(when="sex == f")},
        {"actions": learning(chance=[{"when": "sex == f", "chance": 0.6}, 0.8])},
        {"actions": learning(cost=[{"when": "not (sex == f)", "cost": 2}, 1])},
        {"constraints": ["sex == m or skill < high"]},
        {"side_effects": [{"cause": "skill", "change": {"pay": "+1"}, "when": "sex == m"}]},
        {
            "actions": {
                "learn": {
                    "cost": 1,
                    "outcomes": [
                        {"chance": 0.5, "change": {"skill": "+1"}, "cost": [{"when": "sex == f", "cost": 3}, 1]},
                        {"change": {"pay": "-1"}},
                    ],
                }
            }
        },
    ],
    ids=["when", "chance", "cost", "constraint", "side effect", "cost of an outcome"],
)
def test_what_matters_divides(changes: dict[str, Any]) -> None:
    """Only the sex does, and it does make a difference, so that families taken together would be wrong."""
    problem = job(**changes)
    assert {f.name for f in immutable_features(problem)} & problem.decisive_features == {"sex"}
    first, second = compile_families(problem)
    assert_families(problem, [first, second], all_levels(problem))
    assert (first.n_lanes, second.n_lanes) == (6, 6)
    assert {tuple(row) for row in first.levels[:, :1].tolist()} == {(0,)}
    compared = ("row_start", "row_action", "edge_next", "edge_chance", "edge_cost")
    shared = [[getattr(family.shared, name).tolist() for name in compared] for family in (first, second)]
    assert [one != other for one, other in zip(*shared, strict=True)].count(True) >= 1


def test_a_block_without_states() -> None:
    """A constraint that nobody of a block fulfils leaves a block with nothing in it."""
    problem = job(constraints=["not (sex == f and region != n)", "not (age == old and region == s)"])
    found = list(compile_families(problem))
    assert_families(problem, found, all_levels(problem))
    empty = [family for family in found if not family.shared.n_states]
    assert sum(family.n_lanes for family in empty) == 5
    assert all(family.goal.shape == (0, family.n_lanes) for family in empty)


def test_without_immutable_features_there_is_one_block() -> None:
    problem = sa.load_example("loan")
    (family,) = compile_families(problem)
    assert family.levels.shape == (1, 0)
    assert_same(family.block(0), sa.compile_mdp(problem))
    (same,) = compile_families(problem, blocks=np.zeros((1, 0), dtype=np.int16))
    assert_same(same.block(0), sa.compile_mdp(problem))
    assert not list(compile_families(problem, blocks=np.zeros((0, 0), dtype=np.int16)))


def test_as_many_lanes_as_suit_the_cache() -> None:
    """At most 64 lanes; of a large block at least 4."""
    years = [f"y{year}" for year in range(9)]
    features = {**JOB["features"], "year": {"kind": "ordinal", "levels": years, "mutable": False}}
    assert [family.n_lanes for family in compile_families(job(features=features))] == [64, 44]
    features["skill"] = {**JOB["features"]["skill"], "levels": ["low", "mid", "high", *map(str, range(24_000))]}
    families = compile_families(job(features=features))
    assert [family.n_lanes for family in itertools.islice(families, 2)] == [4, 4]


def test_families_come_as_they_are_asked_for() -> None:
    """The classifier is not asked about a family that nobody wants yet."""
    model = Recorder(modulus=3)
    families = compile_families(job(), model, lanes=2)
    assert not model.asked
    next(families)
    assert len(model.asked) == 2 * 6
    assert len(list(families)) == 5


def test_only_one_family_is_in_memory_at_a_time() -> None:
    """Each may take as much as `max_bytes`. Twelve combinations of decisive levels: as many sets of rows and edges."""
    problem = job(constraints=["skill < high or sex == m or region == n or age == old"])
    kept: list[weakref.ref[sa.MDP]] = []
    for family in compile_families(problem):
        kept.append(weakref.ref(family.shared))
        assert sum(mdp() is not None for mdp in kept) <= 2  # the one at hand and, while it is made, the one before
    assert len(kept) == 12


def test_a_block_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLargeError, match="the block of 6 states would need about 4 KiB; the limit is 1 KiB"):
        next(compile_families(job(), max_bytes=1024))


def test_a_problem_with_mistakes_is_refused() -> None:
    problem = job()
    with pytest.raises(ProblemError):
        next(compile_families(replace(problem, horizon=0)))


# ---------------------------------------------------------------------------------------------------- decisive features


@given(divided_problems())
def test_levels_that_are_not_decisive_change_no_row_and_no_edge(problem: sa.Problem) -> None:
    """Compiled one by one, for a classifier that rejects everybody."""
    features = immutable_features(problem)
    seen: dict[tuple[int, ...], CompiledMDP] = {}
    for levels in all_levels(problem):
        names = named(problem, levels)
        mdp = sa.compile_mdp(problem, Recorder(), block=names)
        matter = tuple(code for f, code in zip(features, levels, strict=True) if f.name in problem.decisive_features)
        other = seen.setdefault(matter, mdp)
        assert_same(replace(mdp, space=other.space), other)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, set()),
        ({"classifier": {"rule": "skill == high and sex == f and age == old"}}, set()),
        ({"constraints": ["not (age == old and skill == low)", "region in [n, e] or pay == much"]}, {"age", "region"}),
        ({"actions": learning(when="sex == f or not (region != n and true)")}, {"sex", "region"}),
        ({"actions": learning(cost=[{"when": "age == old", "cost": 1}, 3], when="sex == f")}, {"age", "sex"}),
        ({"side_effects": [{"cause": "skill", "change": {"pay": "+1"}, "when": "region not in [n]"}]}, {"region"}),
    ],
    ids=["none", "rule", "constraints", "when", "cases", "side effect"],
)
def test_decisive_features(changes: dict[str, Any], names: set[str]) -> None:
    """Wherever a feature may be looked at; the rule of the classifier is no such place."""
    problem = job(**changes)
    immutable = {feature.name for feature in immutable_features(problem)}
    assert problem.decisive_features & immutable == names
    assert {"skill", "pay"} <= problem.decisive_features


# ----------------------------------------------------------------------------------------------------------- classifier


class Recorder:
    """Takes every `modulus`-th input by the sum of its level numbers (none if 0), and remembers what it was asked."""

    def __init__(self, modulus: int = 0, seconds: float = 0) -> None:
        self.modulus, self.seconds = modulus, seconds
        self.asked: list[tuple[int, ...]] = []

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        self.asked += [tuple(row) for row in inputs.codes.tolist()]
        time.sleep(self.seconds)
        if not self.modulus:
            return np.zeros(len(inputs), dtype=bool)
        answers: NDArray[np.bool_] = inputs.codes.sum(axis=1) % self.modulus == 0
        return answers


@settings(max_examples=scaled(60))
@given(divided_problems(), st.integers(1, 3), st.integers(1, 5), st.sampled_from([0, 10**8]))
def test_each_input_is_asked_about_once(problem: sa.Problem, modulus: int, lanes: int, dense: int) -> None:
    """And none that belongs to no state, whether or not there is a table of all inputs."""
    model, whole = Recorder(modulus), sa.compile_mdp(problem, Recorder(modulus))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goals_module, "DENSE", dense)
        found = list(compile_families(problem, model, lanes=lanes))
    assert whole.space is not None
    assert whole.states is not None
    codes = whole.space.decode(whole.states)[:, [f.seen_by_classifier for f in problem.features]]
    assert len(model.asked) == len(set(model.asked))
    assert set(model.asked) == {tuple(row) for row in codes.tolist()}
    assert int(sum(family.goal.sum() for family in found)) == int(whole.goal.sum())
    for family in found:
        for lane in range(family.n_lanes):
            block = family.block(lane)
            for state in range(block.n_states):
                assert whole.goal[whole.locate(block.person(state))] == block.goal[state]


def test_only_what_is_in_some_block_is_asked_about() -> None:
    """Blocks that are not wanted are not asked about."""
    model = Recorder(modulus=2)
    list(compile_families(job(), model, blocks=np.array([[0, 2, 1], [0, 0, 1]], dtype=np.int16)))
    assert sorted(model.asked) == sorted(itertools.product([0], range(3), range(2), [1]))  # the region is not seen


# ------------------------------------------------------------------------------------------------------ again and again


def family_compiler(problem: sa.Problem, model: object = None, *, kept: int = 1) -> FamilyCompiler:
    return FamilyCompiler(Compiler.of(problem, model), kept=kept)


@settings(max_examples=scaled(40))
@given(divided_problems(), st.integers(1, 3), st.data())
def test_some_blocks_again_and_again(problem: sa.Problem, kept: int, data: st.DataObject) -> None:
    """Whatever was asked for before, and however little of it is kept."""
    model, features = Recorder(modulus=2), immutable_features(problem)
    compiler = family_compiler(problem, model, kept=kept)
    for _ in range(3):
        chosen = data.draw(st.lists(st.sampled_from(all_levels(problem)), unique=True, max_size=5))
        blocks = np.array(chosen, dtype=np.int16).reshape(len(chosen), len(features))
        found = list(compiler.families(blocks))
        assert sorted(tuple(row) for family in found for row in family.levels.tolist()) == sorted(chosen)
        for family in found:
            for lane, levels in enumerate(family.levels.tolist()):
                alone = sa.compile_mdp(problem, Recorder(modulus=2), block=named(problem, levels))
                assert_same(family.block(lane), alone)
    assert len(model.asked) == len(set(model.asked))


def test_what_blocks_share_is_kept_while_there_is_room() -> None:
    compiler = family_compiler(job(actions=learning(when="region == n or sex == f")), kept=2)  # six combinations
    blocks = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.int16)
    first, second = compiler.families(blocks)
    assert [family.shared for family in compiler.families(blocks)] == [first.shared, second.shared]
    assert next(compiler.families(blocks[2:])).shared is first.shared  # the age does not matter
    others = list(compiler.families(np.array([[1, 0, 0], [1, 1, 0]], dtype=np.int16)))
    assert len({id(family.shared) for family in (first, second, *others)}) == 4
    assert next(compiler.families(blocks)).shared is not first.shared


def test_by_several_threads_at_a_time() -> None:
    """They get the same, and the slow classifier is still asked about each input once."""
    problem = job(actions=learning(when="region == n or age == old"))
    model = Recorder(modulus=3, seconds=0.02)
    compiler = family_compiler(problem, model)
    begin = threading.Barrier(4, timeout=10)

    def work(_: int) -> list[Family]:
        begin.wait()
        return list(compiler.families())

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    expected = list(compile_families(problem, Recorder(modulus=3)))
    for found in results:
        assert [family.goal.tolist() for family in found] == [family.goal.tolist() for family in expected]
        for family, alone in zip(found, expected, strict=True):
            assert_same(family.shared, alone.shared)
    assert len(model.asked) == len(set(model.asked))


# --------------------------------------------------------------------------------------------------------------- people


@settings(max_examples=scaled(40))
@given(divided_problems(), st.data())
def test_people_are_in_the_blocks_of_their_families(problem: sa.Problem, data: st.DataObject) -> None:
    whole = sa.compile_mdp(problem)
    assert whole.space is not None
    assert whole.states is not None
    chosen = data.draw(st.lists(st.integers(0, whole.n_states - 1), max_size=12))
    codes = whole.space.decode(whole.states[chosen])
    place = [feature.name for feature in immutable_features(problem)]
    met: list[int] = []
    for mdp, inside, states in Engine(Desk.of(problem)).blocks(Crowd.of(problem, codes)):
        met += inside.tolist()
        people = [whole.person(chosen[person]) for person in inside]
        assert [mdp.person(state) for state in states] == people
        assert_same(mdp, sa.compile_mdp(problem, block={name: people[0][name] for name in place}))
    assert sorted(met) == list(range(len(chosen)))
