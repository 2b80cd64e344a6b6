"""Objectives: their values, their texts, and what is refused."""

from __future__ import annotations

import pytest

import safear as sa


@pytest.mark.parametrize("objective", [sa.Mean(), sa.MeanStd(0.5), sa.MeanStd(0), sa.MeanLowerStd(2)])
def test_text_reads_back(objective: sa.Mean | sa.MeanStd | sa.MeanLowerStd) -> None:
    assert sa.parse_objective(str(objective)) == objective


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("means", "objective 'means' is not known\n    did you mean 'mean'?"),
        ("mean-std", "objective 'mean-std' needs a number\n    write 'mean-std:0.5'"),
        ("mean-std:", "objective 'mean-std:': '' is not a number\n    write 'mean-std:0.5'"),
        ("mean-std:half", "objective 'mean-std:half': 'half' is not a number\n    write 'mean-std:0.5'"),
        ("mean:1", "objective 'mean:1': 'mean' takes no number\n    write 'mean'"),
        ("mean-std:-1", "the risk aversion -1.0 is not a number from 0 up"),
        ("mean-std:nan", "the risk aversion nan is not a number from 0 up"),
        ("mean-lower-std:inf", "the risk aversion inf is not a number from 0 up"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(sa.ObjectiveError) as caught:
        sa.parse_objective(text)
    assert str(caught.value) == message


def test_values_on_a_distribution() -> None:
    problem = sa.load_example("health-insurance")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    cost = sa.evaluate(sa.solve(mdp, sa.Mean()))
    runs = cost.all_runs
    assert sa.Mean().of(cost) == pytest.approx(1.9921875)
    assert sa.MeanStd(2).of(cost) == pytest.approx(runs.mean + 2 * runs.variance**0.5)
    upper = sum(
        chance * max(value - runs.mean, 0) ** 2 for value, chance in zip(runs.values, runs.chances, strict=True)
    )
    assert sa.MeanLowerStd(2).of(cost) == pytest.approx(runs.mean + 2 * upper**0.5)


def test_solve_refuses_what_it_cannot_do() -> None:
    mdp = sa.compile_mdp(sa.load_example("loan"))
    with pytest.raises(sa.ObjectiveError, match=r"no optimal method for 'mean-std:0\.5' yet"):
        sa.solve(mdp, sa.MeanStd(0.5), method="optimal")
    with pytest.raises(sa.ObjectiveError, match="did you mean 'greedy'"):
        sa.solve(mdp, sa.MeanStd(0.5), method="gredy")  # type: ignore[arg-type]
    with pytest.raises(sa.ObjectiveError, match="is not an objective"):
        sa.solve(mdp, "mean")  # type: ignore[arg-type]
