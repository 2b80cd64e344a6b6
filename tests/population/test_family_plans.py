"""Plans for a whole space, block beside block, against plans for one MDP at a time."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from compare import as_points, as_policy, as_state
from oracle import Oracle
from safear import memory
from safear.classifier import Inputs
from safear.errors import ClassifierError, ObjectiveError, PersonError, TooLargeError
from safear.evaluation import StatePolicy, evaluate_states
from safear.mdp import check_mdp
from safear.mdp import families as families_module
from safear.mdp.families import compile_families, count_blocks
from safear.population.family_plans import SpaceSolution, solve_families, solve_family, solve_space
from safear.risk import Objective
from safear.solvers.sweep import Stepwise
from safear.threads import AHEAD
from strategies import problems

OBJECTIVES = st.one_of(
    st.just(sa.Mean()),
    st.sampled_from([0.0, 0.25, 1.0, 2.0]).map(sa.MeanStd),
    st.sampled_from([0.0, 0.25, 1.0, 2.0]).map(sa.MeanLowerStd),
)


def divide(problem: sa.Problem) -> sa.Problem:
    """The same problem with every feature immutable that nothing changes."""
    changing = problem.changed_features | {effect.cause for effect in problem.side_effects}
    return replace(problem, features=tuple(replace(f, mutable=f.name in changing) for f in problem.features))


JOB: dict[str, Any] = {
    "safear": 1,
    "title": "a job",
    "horizon": 4,
    "features": {
        "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        "skill": {"kind": "ordinal", "levels": ["low", "mid", "high"]},
        "pay": {"kind": "numeric", "edges": [1000, 2000]},
        "age": {"kind": "numeric", "edges": [30, 50], "mutable": False},
        "grade": {"kind": "ordinal", "levels": ["1", "2", "3", "4"], "mutable": False},
    },
    "goal": {"favourable": "hired", "failure_cost": 7},
    "classifier": {"rule": "skill == high and (pay >= 1000 or age < 30) or grade >= 3 and pay >= 2000"},
    "actions": {
        "learn": {"cost": 1.5, "chance": [{"when": "sex == f", "chance": 0.7}, 0.8], "change": {"skill": "+1"}},
        "ask": {"cost": 1, "chance": 0.5, "change": {"pay": "+1"}},
        "gamble": {
            "cost": 0.2,
            "outcomes": [
                {"chance": 0.3, "change": {"pay": "+2"}},
                {"chance": 0.2, "change": {"pay": "-1"}, "cost": 2},
                {"change": {"skill": "-1"}},
            ],
        },
    },
    "constraints": ["not (age >= 50 and pay < 1000)", "not (sex == m and age >= 50)"],
}
PROBLEM = sa.parse_problem(JOB)  # 24 blocks in 6 families: only the grade does not matter to what actions do
ANNE = {"sex": "f", "skill": "low", "pay": "<1000", "age": "30-50", "grade": "2"}


def assert_covers(solution: SpaceSolution, expected: sa.Solution) -> None:
    """Every state of the whole is in one block, with the same plan at every step and the same value."""
    whole = expected.mdp
    met = np.zeros(whole.n_states, dtype=int)
    assert isinstance(expected.policy, StatePolicy)
    for part in solution.families:
        for lane in range(part.family.n_lanes):
            block = part.block(lane)
            assert block.objective == solution.objective
            assert block.method == "greedy"
            assert isinstance(block.policy, StatePolicy)
            for state in range(block.mdp.n_states):
                place = whole.locate(block.mdp.person(state))
                met[place] += 1
                assert block.planned[state] == pytest.approx(expected.planned[place], rel=1e-12, abs=1e-12)
                assert block.policy.choices[:, state].tolist() == expected.policy.choices[:, place].tolist()
    assert (met == 1).all()
    assert solution.n_states == whole.n_states


# ----------------------------------------------------------------------------------------------------- the same answers


@given(problems(), OBJECTIVES)
def test_a_space_is_the_whole(document: dict[str, Any], objective: Stepwise) -> None:
    problem = divide(sa.parse_problem(document))
    solution = solve_space(problem, None, objective=objective, threads=1)
    assert_covers(solution, sa.solve(sa.compile_mdp(problem), objective, method="greedy"))


@settings(max_examples=60)
@given(problems(), OBJECTIVES, st.integers(1, 4))
def test_a_family_is_its_blocks(document: dict[str, Any], objective: Stepwise, lanes: int) -> None:
    problem = divide(sa.parse_problem(document))
    for family in compile_families(problem, lanes=lanes):
        solution = solve_family(family, objective)
        assert solution.choices.shape == (problem.horizon, *family.goal.shape)
        for lane in range(family.n_lanes):
            ours, theirs = solution.block(lane), sa.solve(family.block(lane), objective, method="greedy")
            assert np.allclose(ours.planned, theirs.planned, rtol=1e-12, atol=1e-12)
            assert as_policy(ours) == as_policy(theirs)


@settings(max_examples=60)
@given(problems(), st.sampled_from([0.0, 0.5, 2.0]), st.booleans())
def test_a_space_is_algorithm_1(document: dict[str, Any], aversion: float, lower: bool) -> None:
    """Against an engine that shares no code with ours, from every state."""
    objective = sa.MeanLowerStd(aversion) if lower else sa.MeanStd(aversion)
    solution = solve_space(divide(sa.parse_problem(document)), None, objective=objective, threads=1)
    judge = Oracle(document)
    for state in filter(judge.allowed, judge.all_states()):
        block = solution.block(judge.named(state))
        policy, value = judge.greedy(state, aversion, lower=lower)
        assert block.planned_value(judge.named(state)) == pytest.approx(value, abs=1e-9)
        ours = as_policy(block)
        assert {key: ours[key] for key in policy} == policy


@pytest.mark.parametrize("objective", [sa.Mean(), sa.MeanStd(1.0), sa.MeanLowerStd(0.5)], ids=str)
@pytest.mark.parametrize(("most", "lanes"), [(1, [1] * 24), (3, [3, 1] * 6), (64, [4] * 6)])
def test_any_number_of_lanes(objective: Stepwise, most: int, lanes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families_module, "MOST", most)
    solution = solve_space(PROBLEM, None, objective=objective, threads=2)
    assert [part.family.n_lanes for part in solution.families] == lanes
    assert_covers(solution, sa.solve(sa.compile_mdp(PROBLEM), objective, method="greedy"))


@pytest.mark.parametrize("example", ["loan", "health-insurance"])
def test_the_examples(example: str) -> None:
    problem = sa.load_example(example)
    expected = sa.solve(sa.compile_mdp(problem), sa.MeanStd(0.5), method="greedy")
    assert_covers(solve_space(problem, None, objective=sa.MeanStd(0.5)), expected)


def test_without_aversion_it_is_the_optimum() -> None:
    solution = solve_space(PROBLEM, None, objective=sa.Mean())
    best = sa.solve(sa.compile_mdp(PROBLEM, start=ANNE), sa.Mean(), method="optimal")
    assert solution.block(ANNE).planned_value(ANNE) == pytest.approx(best.value, abs=1e-12)


# ----------------------------------------------------------------------------------------------------------- one person


@settings(max_examples=60)
@given(problems(), OBJECTIVES)
def test_a_persons_block_is_a_solution_like_any_other(document: dict[str, Any], objective: Stepwise) -> None:
    problem = divide(sa.parse_problem(document))
    person = problem.default_person
    assert person is not None
    block = solve_space(problem, None, objective=objective, threads=1).block(person)
    check_mdp(block.mdp)
    judge = Oracle(document)
    expected = judge.distribution(as_policy(block), judge.start())
    points = {key: float(chance) for key, chance in expected.items() if chance}
    assert as_points(sa.evaluate(block, start=person)) == pytest.approx(points, abs=1e-12)
    together = evaluate_states(block).distribution(block.mdp.locate(person))
    assert as_points(together) == pytest.approx(points, abs=1e-12)
    assert block.policy.action(person) == as_policy(block).get((0, judge.start()))


def test_a_person_as_it_was_filed() -> None:
    """Raw numbers of numeric features will do; the block is that of the levels they fall into."""
    solution = solve_space(PROBLEM, None, objective=sa.MeanStd(1.0))
    raw = solution.block({**ANNE, "pay": 840, "age": 49.5})
    assert raw.mdp.person(raw.mdp.locate(ANNE)) == ANNE
    assert raw.planned_value(ANNE) == solution.block(ANNE).planned_value(ANNE)
    assert as_state(raw.mdp.person(0))[3:] == ("30-50", "2")
    assert repr(solution) == f"SpaceSolution({sa.MeanStd(1.0)}, {solution.n_states:,} states)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sex": "x"}, "sex: 'x' is not a level of 'sex'"),
        ({"age": 60, "pay": 2500, "sex": "m"}, "breaks the constraint"),
        ({"shoe": 44}, "shoe: there is no feature 'shoe'"),
    ],
)
def test_a_person_who_cannot_be(change: dict[str, Any], message: str) -> None:
    """No man is 50 or more: those blocks are empty."""
    solution = solve_space(PROBLEM, None, objective=sa.Mean())
    with pytest.raises(PersonError, match=message):
        solution.block({**ANNE, **change})


# -------------------------------------------------------------------------------------------------------- what is asked


class Asked:
    """A classifier that counts, and notices who asks."""

    def __init__(self) -> None:
        self.inputs: list[tuple[int, ...]] = []
        self.threads: set[int] = set()

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        self.inputs += [tuple(row) for row in inputs.codes.tolist()]
        self.threads.add(threading.get_ident())
        answers: NDArray[np.bool_] = inputs.codes[:, 1] == 2
        return answers


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_the_classifier_is_asked_once_and_by_one_thread(threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are not always safe to be asked by several at a time."""
    monkeypatch.setattr(families_module, "MOST", 2)
    model = Asked()
    solution = solve_space(PROBLEM, model, objective=sa.MeanStd(0.5), threads=threads)
    assert len(model.inputs) == len(set(model.inputs)) == solution.n_states
    assert model.threads == {threading.get_ident()}
    assert len(solution.families) == 12


def test_progress_is_told_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without states are told too."""
    monkeypatch.setattr(families_module, "MOST", 3)
    told: list[tuple[int, int]] = []
    solution = solve_space(PROBLEM, None, objective=sa.Mean(), progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 24) for done in itertools.accumulate([3, 1] * 6)]
    assert count_blocks(PROBLEM) == 24
    assert sum(not part.family.shared.n_states for part in solution.families) == 2


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families_module, "MOST", 1)
    one, four = (solve_space(PROBLEM, None, objective=sa.MeanStd(1.0), threads=threads) for threads in (1, 4))
    assert len(one.families) == 24
    for ours, theirs in zip(one.families, four.families, strict=True):
        assert np.array_equal(ours.family.levels, theirs.family.levels)
        assert np.array_equal(ours.choices, theirs.choices)
        assert np.array_equal(ours.planned, theirs.planned)


@pytest.mark.parametrize("threads", [1, 2])
def test_families_are_solved_as_they_are_asked_for(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nine states each, and so many are being worked on."""
    monkeypatch.setattr(families_module, "MOST", 1)
    model = Asked()
    parts = solve_families(PROBLEM, model, objective=sa.Mean(), threads=threads)
    for taken in (1, 2, 3):
        next(parts)
        assert len(model.inputs) == 9 * (taken - 1 + AHEAD * threads)
    assert isinstance(parts, Generator)
    parts.close()


def test_an_error_of_the_classifier_gets_out() -> None:
    class Broken:
        def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
            raise OSError(f"{len(inputs)} inputs are too many")

    with pytest.raises(ClassifierError, match="inputs are too many"):
        solve_space(PROBLEM, Broken(), objective=sa.Mean())


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    "objective",
    [
        sa.CVaR(0.95),
        sa.VaR(0.9),
        sa.Budget(3),
        sa.MeanCVaR(0.5, 0.9),
        sa.MeanVariance(1.0),
        sa.Entropic(0.5),
        sa.SuccessFirst(sa.Mean()),
    ],
    ids=str,
)
def test_objectives_that_one_sweep_cannot_do(objective: Objective) -> None:
    expected = (
        f"'{objective}' cannot be solved for many blocks in one sweep\n"
        "    use Mean, MeanStd or MeanLowerStd here, and solve(mdp, ...) for the optimum of the others"
    )
    with pytest.raises(ObjectiveError) as refused:
        solve_space(PROBLEM, None, objective=objective)
    assert str(refused.value) == expected
    with pytest.raises(ObjectiveError) as refused:
        solve_family(next(compile_families(PROBLEM)), objective)
    assert str(refused.value) == expected


REMEDY = "    take families one by one: solve_families, or solve for the people you have: audit, batch"


def test_a_space_that_does_not_fit_is_refused_beforehand() -> None:
    """216 combinations of levels, a byte for each of 4 steps, 8 for the value, one for the goal."""
    model = Asked()
    with pytest.raises(TooLargeError) as refused:
        solve_space(PROBLEM, model, objective=sa.Mean(), max_bytes=216 * 13 - 1000)
    cause = "the plans for 216 states in 24 blocks would need about 3 KiB; the limit is 2 KiB"
    assert str(refused.value) == f"{cause}\n{REMEDY}"
    with pytest.raises(TooLargeError):
        solve_space(PROBLEM, model, objective=sa.Mean(), max_bytes=216 * 13 - 1)
    assert not model.inputs
    assert solve_space(PROBLEM, model, objective=sa.Mean(), max_bytes=2**20).n_states == 168


def test_more_than_the_machine_has_left_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A space of two trillion states: nothing is allocated before the answer."""
    features = {
        **JOB["features"],
        **{f"f{i}": {"kind": "ordinal", "levels": [str(level) for level in range(100)]} for i in range(5)},
    }
    problem = sa.parse_problem({**JOB, "features": features})
    monkeypatch.setattr(memory, "available", lambda: 3 * 2**30)
    model = Asked()
    with pytest.raises(TooLargeError) as refused:
        solve_space(problem, model, objective=sa.Mean())
    cause = "the plans for 2,160,000,000,000 states in 24 blocks would need about 26,151.5 GiB"
    assert str(refused.value) == f"{cause}; this machine has 3.0 GiB left\n{REMEDY}"
    assert not model.inputs


def test_what_was_kept_is_what_was_announced() -> None:
    """A byte per state and step, a number per state, and whether it is a goal."""
    solution = solve_space(PROBLEM, None, objective=sa.Mean())
    arrays = [array for part in solution.families for array in (part.choices, part.planned, part.family.goal)]
    assert sum(array.nbytes for array in arrays) == solution.n_states * (4 + 8 + 1)
