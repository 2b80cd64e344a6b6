"""Everybody's figures at once are those of each person alone, whichever way the engine goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from crowds import Own, Somebody, drawn_crowds, every_way, everybody, make_part
from doors import FAMILY_MEASURES, KERNEL_MEASURES, READ, Crowd, Engine, PeopleFigures, Purpose
from doors import FIGURE_MEASURES as MEASURES
from doors import engine as engine_module
from lanes import scaled
from safear.classifier import Inputs
from safear.errors import ObjectiveError, TooLargeError
from safear.evaluation import run_exactly
from safear.people import read_people
from safear.problem import apply_terms
from safear.recourse import Desk

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
EVERYTHING = (*READ, "value", "bound", "best_success")
AIMS = [
    Purpose(sa.Mean()),
    Purpose(sa.Mean(), "greedy", 0.5),
    Purpose(sa.MeanStd(1.0), "greedy"),
    Purpose(sa.MeanLowerStd(1.5), level=0.8),
    Purpose(sa.MeanStd(1.0), "optimal"),
    Purpose(sa.CVaR(0.9), level=0.99),
    Purpose(sa.Entropic(0.5)),
    Purpose(sa.SuccessFirst()),
]
ASKED = [FAMILY_MEASURES, KERNEL_MEASURES, EVERYTHING, (*MEASURES, "best_success")]


def codes_of(people: list[dict[str, str]]) -> NDArray[np.int16]:
    return read_people(PROBLEM, people).codes


def work_out(
    crowd: Crowd, aim: Purpose, measures: tuple[str, ...] = MEASURES, problem: sa.Problem = PROBLEM
) -> PeopleFigures:
    return Engine(Desk.of(problem)).work_out(crowd, aim, measures)


Alone = tuple[int, str | None, dict[str, float | None]]


def alone(problem: sa.Problem, one: Somebody, aim: Purpose) -> Alone:
    """The decision, the first action and all measures of one person by themselves."""
    personal = apply_terms(problem, one.own.terms)
    mdp = sa.compile_mdp(personal, start=one.levels)
    if mdp.goal[mdp.start]:
        return 0, None, dict.fromkeys(EVERYTHING)
    best = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
    if best == 0:  # nothing leads to a goal, or only what nominally never happens
        return 2, None, dict.fromkeys(EVERYTHING) | {"success": 0.0, "best_success": 0.0}
    solution = sa.solve(mdp, aim.objective, method=aim.method)
    runs = run_exactly(solution)
    cost = runs.distribution
    figures = {name: read(cost, runs, aim.level) for name, read in READ.items()}
    bound = None if solution.certificate is None else solution.bound
    figures |= {"value": aim.objective.of(cost), "bound": bound, "best_success": best}
    return 1, solution.policy.action(), figures


def assert_as_alone(found: PeopleFigures, problem: sa.Problem, people: list[Somebody], aim: Purpose) -> None:
    assert_these(found, problem, people, [alone(problem, one, aim) for one in people])


def assert_these(found: PeopleFigures, problem: sa.Problem, people: list[Somebody], expected: list[Alone]) -> None:
    names = [None, *(action.name for action in problem.actions)]
    for number, (one, (decision, first, figures)) in enumerate(zip(people, expected, strict=True)):
        assert found.decision[number] == decision, one
        assert names[found.first_action[number] + 1] == first, one
        for measure in found.measures:
            figure, known = found.of(measure)[number], figures[measure]
            assert (figure is np.ma.masked) == (known is None), (one, measure)
            if known is not None:
                assert figure == pytest.approx(known, rel=1e-9, abs=1e-9), (one, measure)


@settings(max_examples=scaled(120))
@given(
    crowd=drawn_crowds(most=4, plain=True),
    aim=st.sampled_from(AIMS),
    measures=st.sampled_from(ASKED),
    way=every_way(),
    own=st.booleans(),
)
def test_drawn_people_as_if_alone(
    crowd: tuple[sa.Problem, list[Somebody]], aim: Purpose, measures: tuple[str, ...], way: dict[str, int], own: bool
) -> None:
    """The bound is known for optimal plans alone; the compiled way does not ask for it."""
    problem, people = crowd
    if not own:
        people = [Somebody(one.levels) for one in people]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(engine_module, name, value)
        found = work_out(make_part(problem, people), aim, measures, problem)
    assert_as_alone(found, problem, people, aim)


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_a_whole_space_as_if_alone(aim: Purpose) -> None:
    people = [Somebody(levels) for levels in everybody(PROBLEM)]
    expected, people = [alone(PROBLEM, one, aim) for one in people] * 2, people * 2
    for measures in ASKED:
        found = work_out(make_part(PROBLEM, people), aim, measures)
        assert 0 < found.favourable.sum() < len(people)
        assert 0 < found.without_recourse.sum() < len(people)
        assert_these(found, PROBLEM, people, expected)


def test_people_with_terms_of_their_own_are_apart_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks have 15 states: worth it for the people of one group, not for the one of the other."""
    monkeypatch.setattr(engine_module, "WORTH_IT", 1)
    people = [Somebody(levels) for levels in everybody(PROBLEM) if levels["group"] == "a"]
    people[7] = Somebody(people[7].levels, Own(cost={"pay": 0.25}))
    people.append(Somebody({**people[3].levels, "group": "b"}))
    found = work_out(make_part(PROBLEM, people), AIMS[0])
    assert_as_alone(found, PROBLEM, people, AIMS[0])
    everywhere = work_out(make_part(PROBLEM, [Somebody(one.levels) for one in people]), AIMS[0])
    assert np.flatnonzero((everywhere.of("mean") != found.of("mean")).filled(False)).tolist() == [7]


def test_order_and_repetition_do_not_matter() -> None:
    codes = codes_of(everybody(PROBLEM))
    once = work_out(Crowd.of(PROBLEM, codes), AIMS[4])
    chosen = np.random.default_rng(2).integers(0, len(codes), 80)
    again = work_out(Crowd.of(PROBLEM, codes[chosen]), AIMS[4])
    assert np.array_equal(again.decision, once.decision[chosen])
    assert np.array_equal(again.figures.filled(-1), once.figures[chosen].filled(-1))


def test_the_given_classifier_decides_and_is_asked_about_each_input_once() -> None:
    asked: list[tuple[int, ...]] = []

    class Model:
        def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
            asked.extend(tuple(row) for row in inputs.codes.tolist())
            good: NDArray[np.bool_] = np.isin(inputs.codes[:, 0], [2, 4])
            return good

    people = everybody(PROBLEM)
    engine = Engine(Desk.of(PROBLEM, Model()))
    for aim in (AIMS[0], AIMS[4]):
        found = engine.work_out(Crowd.of(PROBLEM, codes_of(people)), aim, MEASURES)
        assert found.favourable.tolist() == [person["x"] in {"mid", "goal"} for person in people]
        assert found.without_recourse.tolist() == [person["x"] == "lost" for person in people]
    assert len(asked) == len(set(asked)) > 0


def test_progress_is_told_in_people() -> None:
    seen: list[tuple[int, int]] = []
    crowd = Crowd.of(PROBLEM, np.repeat(codes_of(everybody(PROBLEM)), 2, axis=0))
    Engine(Desk.of(PROBLEM)).work_out(crowd, AIMS[5], MEASURES, progress=lambda *step: seen.append(step))
    assert seen == [(30, 60), (60, 60)]


@pytest.mark.parametrize("objective", [sa.CVaR(0.9), sa.VaR(0.9), sa.MeanVariance(1.0)], ids=str)
def test_an_objective_without_a_greedy_method(objective: Any) -> None:
    with pytest.raises(ObjectiveError, match="needs method 'optimal'"):
        Purpose(objective, "greedy")


def test_a_mistake_says_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise TooLargeError.at(("here",), "too many")

    monkeypatch.setattr(engine_module, "solve", refuse)
    crowd = make_part(PROBLEM, [Somebody({"x": "goal", "trade": "none", "group": "a"})] * 2)
    crowd.codes[1, 0] = 1
    with pytest.raises(TooLargeError) as refused:
        work_out(crowd, AIMS[0])
    assert str(refused.value) == "people.csv: row 2.here: too many"
