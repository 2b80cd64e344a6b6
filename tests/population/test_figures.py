"""Everybody's figures at once are those of each person alone: compiled, solved and run by themselves."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from safear.errors import ObjectiveError, PersonError
from safear.evaluation import run_exactly
from safear.people.lists import read_people
from safear.population import blocks as blocks_module
from safear.population.figures import MEASURES, ROUNDING, PeopleFigures, compute_figures
from safear.problem import read_person
from safear.risk import Objective
from safear.solvers.solve import Method
from strategies import problems

JOB: dict[str, Any] = {
    "safear": 1,
    "title": "A better job",
    "horizon": 4,
    "features": {
        "x": {"kind": "ordinal", "levels": ["lost", "low", "mid", "high", "goal"]},
        "trade": {"kind": "nominal", "levels": ["none", "baker", "smith"]},
        "group": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
    },
    "goal": {"favourable": "yes", "failure_cost": 20},
    "classifier": {"rule": "x == goal or (group == b and x == high and trade != none)"},
    "actions": {
        "try": {
            "cost": 1,
            "when": "x > lost",
            "outcomes": [{"chance": 0.6, "change": {"x": "+2"}}, {"chance": 0.4, "cost": 3}],
        },
        "pay": {"cost": 3.5, "when": "x > lost and trade != none", "chance": 0.95, "change": {"x": "goal"}},
        "train": {"cost": 0.5, "when": "x > lost", "chance": 0.7, "change": {"trade": "smith", "x": "+1"}},
    },
}
PROBLEM = sa.parse_problem(JOB)
AIMS: list[tuple[Objective, Method | None]] = [
    (sa.Mean(), None),
    (sa.Mean(), "greedy"),
    (sa.MeanStd(1.0), "greedy"),
    (sa.MeanStd(1.0), "optimal"),
    (sa.MeanStd(0.5), None),
    (sa.CVaR(0.9), None),
]


def everybody(problem: sa.Problem) -> list[dict[str, str]]:
    """All people whom the constraints allow."""
    names = [feature.name for feature in problem.features]
    found = []
    for levels in product(*(feature.levels for feature in problem.features)):
        person = dict(zip(names, levels, strict=True))
        try:
            read_person(problem, person)
        except PersonError:
            continue
        found.append(person)
    return found


def figures_alone(
    problem: sa.Problem, person: dict[str, str], objective: Objective, method: Method | None, level: float
) -> list[float | None] | None:
    """The MEASURES of one person by themselves; None if they are accepted."""
    mdp = sa.compile_mdp(problem, start=person)
    if mdp.goal[mdp.locate()]:
        return None
    solution = sa.solve(mdp, objective, method=method)
    cost, runs = sa.evaluate(solution), run_exactly(solution)
    var, cvar = (cost.var(level), cost.cvar(level)) if cost.success else (None, None)
    return [cost.success, cost.mean, cost.variance, var, cvar, runs.sparsity, runs.proximity]


def has_recourse(problem: sa.Problem, person: dict[str, str]) -> bool:
    """Whether any plan at all may succeed."""
    mdp = sa.compile_mdp(problem, start=person)
    return sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success > 0


def assert_as_alone(
    found: PeopleFigures,
    problem: sa.Problem,
    people: list[dict[str, str]],
    objective: Objective,
    method: Method | None,
    level: float = 0.95,
) -> None:
    assert found.figures.shape == (len(people), len(MEASURES))
    for number, person in enumerate(people):
        expected = figures_alone(problem, person, objective, method, level)
        assert found.favourable[number] == (expected is None), person
        assert found.without_recourse[number] == (expected is not None and not has_recourse(problem, person)), person
        row = found.figures[number]
        mask = np.ma.getmaskarray(row).tolist()
        if expected is None:
            assert all(mask), person
            continue
        assert mask == [value is None for value in expected], person
        known = [value for value in expected if value is not None]
        assert np.ma.compressed(row).tolist() == pytest.approx(known, rel=1e-9, abs=1e-9), person


def codes_of(problem: sa.Problem, people: list[dict[str, str]]) -> NDArray[np.int16]:
    return read_people(problem, people)


# ----------------------------------------------------------------------------------------------------- a small problem


@pytest.mark.parametrize(("objective", "method"), AIMS, ids=str)
def test_everybody_as_if_alone(objective: Objective, method: Method | None) -> None:
    people = everybody(PROBLEM)
    found = compute_figures(PROBLEM, None, codes_of(PROBLEM, people), objective=objective, method=method)
    assert 0 < found.favourable.sum() < len(people)
    assert 0 < found.without_recourse.sum() < len(people)
    assert_as_alone(found, PROBLEM, people, objective, method)


@pytest.mark.parametrize(("objective", "method"), AIMS, ids=str)
@pytest.mark.parametrize(("limit", "value"), [("MAX_BLOCK", 1), ("WORTH_IT", 0)])
def test_people_of_a_large_block_are_solved_one_by_one(
    limit: str, value: int, objective: Objective, method: Method | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = everybody(PROBLEM) * 2
    codes = codes_of(PROBLEM, people)
    together = compute_figures(PROBLEM, None, codes, objective=objective, method=method)
    monkeypatch.setattr(blocks_module, limit, value)
    blocks = list(blocks_module.group_people(PROBLEM, None, codes))
    assert len(blocks) == len(people) / 2
    assert all(len(block.mdp.starts) == 1 for block in blocks)
    apart = compute_figures(PROBLEM, None, codes, objective=objective, method=method)
    assert np.array_equal(apart.favourable, together.favourable)
    assert np.array_equal(apart.without_recourse, together.without_recourse)
    assert np.array_equal(np.ma.getmaskarray(apart.figures), np.ma.getmaskarray(together.figures))
    assert apart.figures.filled(0) == pytest.approx(together.figures.filled(0), rel=1e-9, abs=1e-9)


def test_order_and_repetition_do_not_matter() -> None:
    codes = codes_of(PROBLEM, everybody(PROBLEM))
    once = compute_figures(PROBLEM, None, codes, objective=sa.MeanStd(1.0))
    chosen = np.random.default_rng(2).integers(0, len(codes), 80)
    again = compute_figures(PROBLEM, None, codes[chosen], objective=sa.MeanStd(1.0))
    assert np.array_equal(again.favourable, once.favourable[chosen])
    assert np.array_equal(again.without_recourse, once.without_recourse[chosen])
    assert np.array_equal(again.figures.filled(-1), once.figures[chosen].filled(-1))


def test_only_undefined_figures_are_masked() -> None:
    """lost: success 0 and nothing else; goal: nothing at all; low: everything."""
    people = [{"x": x, "trade": "none", "group": "a"} for x in ("lost", "goal", "low")]
    found = compute_figures(PROBLEM, None, codes_of(PROBLEM, people), objective=sa.Mean())
    assert np.ma.getmaskarray(found.figures).tolist() == [[False] + [True] * 6, [True] * 7, [False] * 7]
    assert found.figures[0, 0] == 0
    assert found.favourable.tolist() == [False, True, False]
    assert found.without_recourse.tolist() == [True, False, False]


@pytest.mark.parametrize("objective", [sa.Mean(), sa.MeanStd(1.0)], ids=str)
def test_the_level_is_that_of_var_and_cvar(objective: Objective) -> None:
    people = [person for person in everybody(PROBLEM) if person["x"] in {"low", "mid"}]
    codes = codes_of(PROBLEM, people)
    low, high = (compute_figures(PROBLEM, None, codes, objective=objective, level=level) for level in (0.5, 0.99))
    assert_as_alone(low, PROBLEM, people, objective, None, 0.5)
    assert_as_alone(high, PROBLEM, people, objective, None, 0.99)
    assert (low.figures[:, 3] < high.figures[:, 3]).any()


def test_the_given_classifier_decides() -> None:
    people = everybody(PROBLEM)
    found = compute_figures(
        PROBLEM, lambda frame: frame["x"].isin(["mid", "goal"]), codes_of(PROBLEM, people), objective=sa.Mean()
    )
    assert found.favourable.tolist() == [person["x"] in {"mid", "goal"} for person in people]
    assert found.without_recourse.tolist() == [person["x"] == "lost" for person in people]


def test_progress_is_told_in_people() -> None:
    seen: list[tuple[int, int]] = []
    codes = codes_of(PROBLEM, everybody(PROBLEM))
    compute_figures(PROBLEM, None, codes, objective=sa.Mean(), progress=lambda *step: seen.append(step))
    assert seen == [(15, 30), (30, 30)]


@pytest.mark.parametrize("objective", [sa.CVaR(0.9), sa.VaR(0.9), sa.MeanVariance(1.0)], ids=str)
def test_an_objective_without_a_greedy_method(objective: Objective) -> None:
    codes = codes_of(PROBLEM, everybody(PROBLEM))
    with pytest.raises(ObjectiveError, match="needs method 'optimal'"):
        compute_figures(PROBLEM, None, codes, objective=objective, method="greedy")


# -------------------------------------------------------------------------------------------------------- any problem


@given(problems(max_horizon=3), st.sampled_from(AIMS), st.integers(0, 2**32))
@settings(max_examples=60)
def test_drawn_problems(document: dict[str, Any], aim: tuple[Objective, Method | None], seed: int) -> None:
    problem = sa.parse_problem(document)
    everyone = everybody(problem)
    chosen = np.random.default_rng(seed).permutation(len(everyone))[:10]
    people = [everyone[number] for number in chosen]
    found = compute_figures(problem, None, codes_of(problem, people), objective=aim[0], method=aim[1])
    assert_as_alone(found, problem, people, *aim)


def _rankable(values: list[float]) -> list[float]:
    figures = np.ma.array(np.zeros((len(values), len(MEASURES))))
    figures[:, 1] = values
    nobody = np.zeros(len(values), dtype=bool)
    return list(PeopleFigures(nobody, nobody, figures, nobody).rankable[:, 1])


def test_what_differs_by_rounding_is_equal_for_ranks_but_chains_are_not() -> None:
    """A hundred figures, each 0.9e-12 from the next: pairs of neighbours are equal, not all of them."""
    chain = [5e-12 + 0.9e-12 * i for i in range(100)]
    assert _rankable([*reversed(chain), 2.0, 2.0 + 1e-15]) == [*reversed(np.repeat(chain[::2], 2)), 2.0, 2.0]
    assert _rankable([3e6, 3e6 + 2e-6, 3e6 + 4e-6]) == [3e6, 3e6, 3e6 + 4e-6]
    assert _rankable([1.0, 1.0 + 1e-11]) == [1.0, 1.0 + 1e-11]


@given(st.lists(st.floats(0, 1e-10) | st.floats(0, 10), max_size=40))
def test_figures_for_ranks_are_close_and_in_order(values: list[float]) -> None:
    found = np.array(_rankable(values))
    assert (np.abs(found - values) <= ROUNDING * np.maximum(1, found)).all()
    order = np.argsort(values, kind="stable")
    steps = np.diff(found[order])
    assert ((steps == 0) | (steps > ROUNDING)).all()
