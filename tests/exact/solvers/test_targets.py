"""The target sweep against its formula in exact fractions, and what it says of room against what fits."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from compare import columns_of, rows_of
from doors import (
    CERTAIN,
    EXCEEDED,
    EXCESS,
    SQUARE,
    Allowed,
    Loss,
    PolicyArrays,
    TargetSweep,
    fits,
    largest_spent,
    require_columns,
    sweep_targets,
    targets,
)
from doors import (
    TARGETS_MISSED as MISSED,
)
from gambles import gamble
from lanes import scaled
from safear.errors import TooLargeError
from safear.evaluation import SpentPolicy, run_exactly
from small_problems import ladder
from strategies import problems

Number: TypeAlias = Fraction | float

LOSSES: dict[str, tuple[Loss, Callable[[Fraction, bool], Number]]] = {  # as in the table of the module, word for word
    "excess": (EXCESS, lambda x, _: max(x, Fraction(0))),
    "exceeded": (EXCEEDED, lambda x, _: Fraction(x > 0)),
    "missed": (MISSED, lambda x, success: Fraction(x > 0 or not success)),
    "certain": (CERTAIN, lambda x, _: math.inf if x > 0 else Fraction(0)),
    "square": (SQUARE, lambda x, _: x**2),
}
UP_TO_TARGET = [name for name in LOSSES if name != "square"]
WEIGHTS = ((Fraction(1), Fraction(0)), (Fraction(1), Fraction(1, 4)), (Fraction(20), Fraction(1, 2)))
DOCUMENTS = st.one_of(problems(tiny=True), problems(tiny=True), problems(max_horizon=3))

# ------------------------------------------------------------------------------------------------ the formula, plainly


class Best(NamedTuple):
    """What the best plan from some (step, state, w) on has, in quanta."""

    loss: Number
    mean: Fraction
    square: Fraction  # E[C^2]

    @property
    def variance(self) -> Fraction:
        return self.square - self.mean**2


class Formula:
    """U_h(s, w) = min over a of sum p U_{h+1}(s', w - c) as it stands, without a lowest target and without rounding."""

    def __init__(
        self,
        mdp: sa.MDP,
        name: str,
        weights: tuple[Fraction, Fraction] = WEIGHTS[0],
        allowed: Allowed | None = None,
        chances: NDArray[np.float64] | None = None,
    ) -> None:
        self.mdp, self.weights, self.allowed = mdp, weights, allowed
        self.loss = LOSSES[name][1]
        # The chances of drawn problems are decimals; as such, sums are exact and ties are ties.
        each = [mdp.edge_chance.tolist()] * mdp.horizon if chances is None else chances.tolist()
        self.chances = [[Fraction(chance).limit_denominator(10**8) for chance in step] for step in each]
        self.best = cache(self._best)
        self.rows = rows_of(mdp)

    def _best(self, step: int, state: int, w: Fraction) -> Best:
        mdp = self.mdp
        rows = self.rows(state, step)
        if not rows:
            success = bool(mdp.goal[state])
            cost = Fraction(0) if success else Fraction(mdp.failure_cost)
            return Best(self.loss(cost - w, success), cost, cost**2)
        some = [row for row in rows if self.allowed is None or self.allowed[step, row]]
        return min((self._take(step, row, w) for row in some), key=self._rank)  # the first of equals

    def _take(self, step: int, row: int, w: Fraction) -> Best:
        loss: Number = Fraction(0)
        mean = square = Fraction(0)
        for edge in range(*self.mdp.edge_start[row : row + 2].tolist()):
            p, c = self.chances[step][edge], int(self.mdp.edge_cost[edge])
            if p == 0:  # its loss may be infinite
                continue
            later = self.best(step + 1, int(self.mdp.edge_next[edge]), w - c)
            loss += p * later.loss
            mean += p * (c + later.mean)
            square += p * (c**2 + 2 * c * later.mean + later.square)
        return Best(loss, mean, square)

    def _rank(self, best: Best) -> tuple[Number, Fraction]:
        """What is made small, and then the mean."""
        loss_weight, mean_weight = self.weights
        return loss_weight * best.loss + mean_weight * best.mean, best.mean


def some_allowed(mdp: sa.MDP, seed: int) -> Allowed:
    """Some of the rows of each step, at least one in each state that has any."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((mdp.horizon, mdp.n_rows)) < 0.6
    counts = np.diff(mdp.row_start)
    states = np.flatnonzero(counts)
    for step in range(mdp.horizon):
        allowed[step, mdp.row_start[states] + rng.integers(0, counts[states])] = True
    return allowed


def some_columns(count: int, rng: np.random.Generator) -> list[int]:
    """Columns to look at: both ends, and some between."""
    between = rng.integers(1, count + 1, size=3).tolist()
    return sorted({1, 2, count - 1, count, *between} & set(range(1, count + 1)))


def loss_of(found: TargetSweep, weights: tuple[Fraction, Fraction] = WEIGHTS[0]) -> NDArray[np.float64]:
    """The expected loss, from the score with these weights."""
    loss: NDArray[np.float64] = (found.score - float(weights[1]) * found.mean) / float(weights[0])
    return loss


def close(value: Number) -> Any:
    return pytest.approx(float(value), rel=1e-10, abs=1e-10)


def starts_of(mdp: sa.MDP) -> list[int]:
    return [int(start) for start in mdp.starts]


def compiled(document: dict[str, Any], alone: bool) -> sa.MDP:
    """All states, or what one person can reach."""
    problem = sa.parse_problem(document)
    return sa.compile_mdp(problem, start=problem.default_person if alone else None)


def most_of(mdp: sa.MDP) -> int:
    """The largest total that there can be."""
    return int(largest_spent(mdp).max(initial=0)) + mdp.failure_cost


def choices_of(policy: PolicyArrays, columns: int) -> dict[int, list[int | None]]:
    """For each place the choice in each column, None before the first piece."""
    table: dict[int, list[int | None]] = {}
    for place, first, choice in zip(*columns_of(policy), strict=True):
        table.setdefault(place, [None] * columns)
        table[place][first + 1 :] = [choice] * (columns - first - 1)
    return table


# ----------------------------------------------------------------------------------------------------------- the sweep


@pytest.mark.parametrize("name", UP_TO_TARGET)
@settings(max_examples=scaled(25))
@given(
    document=DOCUMENTS,
    low=st.sampled_from([0.0, 0.0, -3.0, 0.375, -2.3]),
    weights=st.sampled_from(WEIGHTS),
    only=st.none() | st.integers(0, 99),
    alone=st.booleans(),
)
def test_every_target_is_that_of_the_formula(
    name: str,
    document: dict[str, Any],
    low: float,
    weights: tuple[Fraction, Fraction],
    only: int | None,
    alone: bool,
) -> None:
    mdp = compiled(document, alone)
    allowed = None if only is None else some_allowed(mdp, only)
    count = most_of(mdp) + 3
    found = sweep_targets(
        mdp,
        LOSSES[name][0],
        targets=(low, count),
        weights=(float(weights[0]), float(weights[1])),
        allowed=allowed,
    )
    formula = Formula(mdp, name, weights, allowed)
    for column in some_columns(count, np.random.default_rng(0)):
        for state in starts_of(mdp):
            best = formula.best(0, state, Fraction(low) + column - 1)
            assert loss_of(found, weights)[state, column] == close(best.loss)
            assert found.mean[state, column] == close(best.mean)


@pytest.mark.parametrize("name", UP_TO_TARGET)
@settings(max_examples=scaled(25))
@given(document=DOCUMENTS, alone=st.booleans(), only=st.none() | st.integers(0, 99))
def test_below_the_lowest_target_the_mean_is_least(
    name: str, document: dict[str, Any], alone: bool, only: int | None
) -> None:
    mdp = compiled(document, alone)
    allowed = None if only is None else some_allowed(mdp, only)
    found = sweep_targets(mdp, LOSSES[name][0], targets=(0.0, 2), allowed=allowed)
    formula = Formula(mdp, name, (Fraction(0), Fraction(1)), allowed)
    if name == "certain":
        formula.loss = LOSSES["excess"][1]  # zero times infinity is no number, and only the mean is looked at
    for state in starts_of(mdp):
        assert found.mean[state, 0] == close(formula.best(0, state, Fraction(-1)).mean)


@settings(max_examples=scaled(60))
@given(
    document=DOCUMENTS,
    shift=st.sampled_from([0.0, 0.5, 0.375, -0.3, 7.25, -2.0]),
    share=st.sampled_from([0.0, 0.25, 0.6, 1.0]),
    only=st.none() | st.integers(0, 99),
    alone=st.booleans(),
)
def test_squares_with_mean_and_variance(
    document: dict[str, Any], shift: float, share: float, only: int | None, alone: bool
) -> None:
    mdp = compiled(document, alone)
    allowed = None if only is None else some_allowed(mdp, only)
    reach = most_of(mdp)
    target = round(share * reach) + shift
    found = sweep_targets(mdp, SQUARE, targets=(target - reach, reach + 2), allowed=allowed)
    formula = Formula(mdp, "square", allowed=allowed)
    low = Fraction(target - reach)
    for column in (reach + 1, reach + 2):  # whatever is spent on the way, the lowest target is not undercut
        for state in starts_of(mdp):
            best = formula.best(0, state, low + column - 1)
            assert loss_of(found)[state, column] == close(best.loss)
            assert found.mean[state, column] == close(best.mean)
            assert found.variance[state, column] == pytest.approx(float(best.variance), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=scaled(25))
@given(
    document=DOCUMENTS,
    share=st.sampled_from([0.0, 0.3, 1.0]),
    shift=st.sampled_from([0.0, 0.5]),
    only=st.none() | st.integers(0, 99),
)
def test_only_the_last_target(
    name: str, document: dict[str, Any], share: float, shift: float, only: int | None
) -> None:
    mdp = compiled(document, alone=True)
    start = mdp.locate()
    allowed = None if only is None else some_allowed(mdp, only)
    reach = int(largest_spent(mdp)[start]) + mdp.failure_cost
    last = round(share * reach)
    low, count = (last + shift - reach, reach + 1) if name == "square" else (0.0, last + 1)
    loss = LOSSES[name][0]
    found = sweep_targets(mdp, loss, targets=(low, count), allowed=allowed, last=1)
    best = Formula(mdp, name, allowed=allowed).best(0, start, Fraction(low) + count - 1)
    assert loss_of(found)[start, count] == close(best.loss)
    assert found.mean[start, count] == close(best.mean)
    if name == "square":
        assert found.variance[start, count] == pytest.approx(float(best.variance), rel=1e-10, abs=1e-9)
    whole = sweep_targets(mdp, loss, targets=(low, count), allowed=allowed)
    some, everything = choices_of(found.policy, count + 1), choices_of(whole.policy, count + 1)
    assert some.keys() == everything.keys()
    for place, choices in some.items():
        assert choices[-1] is not None
        assert all(one in {None, other} for one, other in zip(choices, everything[place], strict=True))


@settings(max_examples=scaled(40))
@given(document=DOCUMENTS, alone=st.booleans(), last=st.integers(1, 12), only=st.none() | st.integers(0, 99))
def test_only_some_of_the_last_targets(document: dict[str, Any], alone: bool, last: int, only: int | None) -> None:
    """They are what they are with all targets, and so is what those do who follow them."""
    mdp = compiled(document, alone)
    allowed = None if only is None else some_allowed(mdp, only)
    count = most_of(mdp) + last
    found = sweep_targets(mdp, SQUARE, targets=(-3.0, count), allowed=allowed, last=last)
    whole = sweep_targets(mdp, SQUARE, targets=(-3.0, count), allowed=allowed)
    starts = starts_of(mdp)
    for name in ("score", "mean", "variance"):
        some, everything = (getattr(each, name)[starts, count + 1 - last :] for each in (found, whole))
        assert np.array_equal(some, everything), name
    done, known = choices_of(found.policy, count + 1), choices_of(whole.policy, count + 1)
    assert done.keys() == known.keys()
    for place, choices in done.items():
        assert all(one in {None, other} for one, other in zip(choices, known[place], strict=True))
        assert None not in choices[-last:]


@settings(max_examples=scaled(30))
@given(document=DOCUMENTS, only=st.none() | st.integers(0, 99))
def test_without_a_target_the_mean_is_least(document: dict[str, Any], only: int | None) -> None:
    """What `deviation` begins with: no column but that below all targets."""
    mdp = compiled(document, alone=True)
    allowed = None if only is None else some_allowed(mdp, only)
    found = sweep_targets(mdp, SQUARE, targets=(0.0, 0), allowed=allowed, last=1)
    best = Formula(mdp, "excess", (Fraction(0), Fraction(1)), allowed).best(0, mdp.locate(), Fraction(0))
    assert found.mean[mdp.locate(), 0] == close(best.mean)
    assert found.variance[mdp.locate(), 0] == pytest.approx(float(best.variance), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("name", ["excess", "certain", "square"])
@pytest.mark.parametrize("seed", range(5))
def test_the_chances_of_each_step_may_differ(seed: int, name: str) -> None:
    """And some of them may be 0 where a loss is infinite."""
    mdp = compiled(gamble(seed), alone=True)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, 10, (mdp.horizon, mdp.n_edges)) * (rng.random((mdp.horizon, mdp.n_edges)) < 0.7)
    drawn[:, mdp.edge_start[:-1]] += 1  # something happens
    chances = drawn / np.add.reduceat(drawn, mdp.edge_start[:-1], axis=1)[:, mdp.edge_row]
    reach = most_of(mdp)
    low, count = (-float(reach), 2 * reach) if name == "square" else (0.0, reach + 3)
    found = sweep_targets(mdp, LOSSES[name][0], targets=(low, count), chances=chances)
    formula, start = Formula(mdp, name, chances=chances), mdp.locate()
    for column in some_columns(count, rng):
        if low + column - 1 >= 0:  # whatever is spent on the way, the lowest target is not undercut
            best = formula.best(0, start, Fraction(low) + column - 1)
            assert loss_of(found)[start, column] == close(best.loss)
            assert found.mean[start, column] == close(best.mean)
            if name == "square":
                assert found.variance[start, column] == pytest.approx(float(best.variance), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("name", UP_TO_TARGET)
@settings(max_examples=scaled(20))
@given(document=DOCUMENTS, weights=st.sampled_from(WEIGHTS))
def test_whoever_follows_the_pieces_has_the_loss(
    name: str, document: dict[str, Any], weights: tuple[Fraction, Fraction]
) -> None:
    """The policy is followed forward; nothing of the sweep's own figures is used."""
    mdp = compiled(document, alone=True)
    start = mdp.locate()
    count = int(largest_spent(mdp)[start]) + mdp.failure_cost + 1
    loss = LOSSES[name][0]
    found = sweep_targets(mdp, loss, targets=(0.0, count), weights=(float(weights[0]), float(weights[1])))
    for column in some_columns(count, np.random.default_rng(1)):
        policy = SpentPolicy.of(mdp, np.full(mdp.n_states, column - 1), found.policy)
        runs = run_exactly(policy)
        total = runs.spent + np.where(runs.succeeded, 0, mdp.failure_cost)
        losses = [
            float(LOSSES[name][1](Fraction(int(x) - column + 1), bool(success)))
            for x, success in zip(total, runs.succeeded, strict=True)
        ]
        assert float(runs.chance @ np.array(losses)) == close(loss_of(found, weights)[start, column])
        assert float(runs.chance @ total) == close(found.mean[start, column])


def test_pieces_say_where_choices_change() -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    found = sweep_targets(mdp, EXCESS, targets=(0.0, most_of(mdp) + 1))
    assert set(columns_of(found.policy)[0]) == {
        step * mdp.n_states + state
        for step in range(mdp.horizon)
        for state in range(mdp.n_states)
        if rows_of(mdp)(state, step) and mdp.depth[state] <= step
    }
    changes = 0
    for choices in choices_of(found.policy, most_of(mdp) + 2).values():
        assert None not in choices
        changes += sum(one != other for one, other in itertools.pairwise(choices))
    assert len(columns_of(found.policy)[0]) == len(set(columns_of(found.policy)[0])) + changes
    assert changes > 0


@pytest.mark.parametrize("chances", ["nominal", "worst"])
def test_progress_is_told_to_the_end(chances: Literal["nominal", "worst"]) -> None:
    """And nothing else changes if somebody wants to know."""
    mdp = sa.compile_mdp(sa.load_example("health-insurance"))
    seen: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total))

    found = sweep_targets(mdp, EXCESS, targets=(0.0, 5), chances=chances, progress=note)
    assert seen == [(done, 8) for done in range(1, 9)]
    silent = sweep_targets(mdp, EXCESS, targets=(0.0, 5), chances=chances)
    assert np.array_equal(found.score, silent.score)
    assert np.array_equal(found.mean, silent.mean)
    assert choices_of(found.policy, 6) == choices_of(silent.policy, 6)


# ----------------------------------------------------------------------------------------------------------------- ties


def choice_between(*prices: int, order: tuple[int, ...]) -> sa.MDP:
    """One step; action i costs prices[i] (all rows lead to the goal for sure)."""
    names = [f"for {prices[i]} ({i})" for i in order]
    actions = {name: {"cost": prices[i], "change": {"a": "yes"}} for i, name in zip(order, names, strict=True)}
    problem = ladder(actions, failure_cost=9)
    return sa.compile_mdp(problem, start=problem.default_person)


def first_choice(found: TargetSweep, column: int) -> int:
    choice = choices_of(found.policy, found.score.shape[1])[0][column]
    assert choice is not None
    return choice


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_ties_go_to_the_smaller_mean(order: tuple[int, ...]) -> None:
    """Prices 2, 3 and 5: for a target of 5 all three have no loss, and below 2 all are exceeded."""
    mdp = choice_between(2, 3, 5, order=order)
    assert mdp.quantum == 1
    for loss in (EXCESS, EXCEEDED, MISSED, CERTAIN):
        found = sweep_targets(mdp, loss, targets=(0.0, 8))
        for column in range(9):
            assert found.mean[mdp.locate(), column] == 2, (loss, column)
            assert first_choice(found, column) == order.index(0)
    # 3 and 5 are equally far from 4, and 2 further; then the smaller mean counts, wherever it stands.
    found = sweep_targets(mdp, SQUARE, targets=(-5.0, 10), last=1)
    assert loss_of(found)[mdp.locate(), 10] == 1
    assert found.mean[mdp.locate(), 10] == 3
    assert first_choice(found, 10) == order.index(1)
    # 5 is the nearest of all to 9; below the lowest target the mean counts, and nothing else.
    found = sweep_targets(mdp, SQUARE, targets=(4.0, 6))
    for column, (score, price) in {0: (math.inf, 2), 6: (16, 5)}.items():
        assert (found.score[mdp.locate(), column], found.mean[mdp.locate(), column]) == (score, price)
        assert first_choice(found, column) == order.index((2, 3, 5).index(price))


@pytest.mark.parametrize("price", [0, 3])
def test_what_is_equal_goes_to_the_first_row(price: int) -> None:
    mdp = choice_between(price, price, order=(0, 1))
    for loss in (EXCESS, EXCEEDED, MISSED, CERTAIN, SQUARE):
        found = sweep_targets(mdp, loss, targets=(0.0, 5))
        assert choices_of(found.policy, 6)[0] == [0] * 6


def test_the_weight_of_the_mean_decides() -> None:
    """Paying 4 for sure, or 1 or 6: E[max(C - 4, 0)] is 0 against 1, the mean 4 against 3.5."""
    risky = [{"chance": 0.5, "change": {"a": "yes"}}, {"chance": 0.5, "cost": 6, "change": {"a": "yes"}}]
    actions = {"sure": {"cost": 4, "change": {"a": "yes"}}, "risky": {"cost": 1, "outcomes": risky}}
    problem = ladder(actions, failure_cost=9)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    start = mdp.locate()
    loss_only = sweep_targets(mdp, EXCESS, targets=(0.0, 5))
    assert (loss_of(loss_only)[start, 5], loss_only.mean[start, 5]) == (0, 4)
    mean_too = sweep_targets(mdp, EXCESS, targets=(0.0, 5), weights=(0.1, 1.0))
    assert (mean_too.score[start, 5], mean_too.mean[start, 5]) == (close(Fraction(36, 10)), 3.5)


# ------------------------------------------------------------------------------------------------------ what can happen


@settings(max_examples=scaled(30))
@given(problems(), st.booleans(), st.sampled_from(["nominal", "worst"]))
def test_pieces_are_where_something_is_done(
    document: dict[str, Any], alone: bool, chances: Literal["nominal", "worst"]
) -> None:
    mdp = compiled(document, alone)
    for one in (mdp, replace(mdp, stops=False)):
        met = [
            (h, s) for h in range(one.horizon) for s in range(one.n_states) if rows_of(one)(s, h) and one.depth[s] <= h
        ]
        found = sweep_targets(one, EXCESS, targets=(0.0, 1), chances=chances)
        assert set(columns_of(found.policy)[0]) == {step * one.n_states + state for step, state in met}


# ----------------------------------------------------------------------------------------------------------------- room


def chain(costs: list[float], failure_cost: float, horizon: int) -> sa.Problem:
    actions = {f"action {i}": {"cost": cost, "chance": 0.5, "change": {"a": "+1"}} for i, cost in enumerate(costs)}
    return ladder(actions, levels=[f"level {i}" for i in range(10)], horizon=horizon, failure_cost=failure_cost)


COSTS = st.lists(st.integers(1, 700).map(lambda hundredths: hundredths / 100), min_size=1, max_size=3)


@settings(max_examples=scaled(150))
@given(
    costs=COSTS,
    failure_cost=st.sampled_from([0.0, 0.99, 7.0, 120.0]),
    horizon=st.integers(1, 24),
    tables=st.sampled_from([4, 6]),
    share=st.sampled_from([0.999, 0.9, 0.5, 0.2, 0.11, 0.1, 0.09, 0.02, 0.0101, 0.01, 0.001]),
)
def test_the_resolution_that_it_advises_fits(
    costs: list[float], failure_cost: float, horizon: int, tables: int, share: float
) -> None:
    problem = chain(costs, failure_cost, horizon)
    mdp = sa.compile_mdp(problem)
    columns = most_of(mdp) + 1
    need = (columns + 1 + min(mdp.edge_cost.max(), columns + 1)) * (mdp.n_states * (8 * tables + 3) + 48)
    need += mdp.n_states * 16 * (horizon + 1)
    room = int(share * need)
    require_columns(mdp, columns, tables=tables, max_bytes=need)
    with pytest.raises(TooLargeError, match=f"10 states with {columns:,} possible costs would need") as refused:
        require_columns(mdp, columns, tables=tables, max_bytes=room)
    advice = re.search(r"resolution: (\S+)\}' would fit", str(refused.value))
    assume(advice is not None)  # no resolution makes a table without columns
    assert advice is not None
    coarse = sa.compile_mdp(replace(problem, cost_resolution=Decimal(advice[1])))
    require_columns(coarse, most_of(coarse) + 1, tables=tables, max_bytes=room)


def test_the_finest_resolution_that_is_sure_to_fit_is_advised() -> None:
    """In tens of hundredths: each of 3 steps and the failure may be rounded up by half, and twice the columns kept."""
    mdp = sa.compile_mdp(chain([7.0, 3.01], 20.0, 3))
    columns = 3 * 700 + 2000 + 1
    per_place, bands = mdp.n_states * (8 * 4 + 3) + 48, 16 * (3 + 1) * mdp.n_states
    need = bands + 2 * per_place * (410 + 2 + 2)
    for room, advice in ((need, "resolution: 0.1}"), (need - 1, "resolution: 1}")):
        with pytest.raises(TooLargeError, match=advice):
            require_columns(mdp, columns, tables=4, max_bytes=room)
    with pytest.raises(TooLargeError, match="shorten the horizon"):  # room for what rounding adds, and no more
        require_columns(mdp, columns, tables=4, max_bytes=bands + 2 * per_place * 4)


def test_squares_need_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Score and mean of two steps, and for squares the variance, too."""
    mdp = sa.compile_mdp(chain([1, 2], 3, 4))
    places = 21 + int(mdp.edge_cost.max())
    for loss, tables in ((EXCESS, 4), (SQUARE, 6)):
        need = places * (mdp.n_states * (8 * tables + 3) + 48) + 16 * (mdp.horizon + 1) * mdp.n_states
        monkeypatch.setattr(targets, "require_columns", partial(require_columns, max_bytes=need))
        sweep_targets(mdp, loss, targets=(0.0, 20))
        assert fits(mdp, 20, tables=tables, max_bytes=need)
        monkeypatch.setattr(targets, "require_columns", partial(require_columns, max_bytes=need - 1))
        with pytest.raises(TooLargeError):
            sweep_targets(mdp, loss, targets=(0.0, 20))
        assert not fits(mdp, 20, tables=tables, max_bytes=need - 1)
    dear = replace(mdp, edge_cost=mdp.edge_cost * 100)  # then there are as many columns below as above
    need = 2 * 21 * (mdp.n_states * (8 * 4 + 3) + 48) + 16 * (mdp.horizon + 1) * mdp.n_states
    assert [fits(dear, 20, max_bytes=room) for room in (need - 1, need)] == [False, True]


def test_a_sweep_that_does_not_fit_is_refused_before_it_begins() -> None:
    problem = sa.load_example("loan")
    fine = replace(problem, goal=replace(problem.goal, failure_cost=Decimal("24.000000001")))
    mdp = sa.compile_mdp(fine)
    for objective in (sa.CVaR(0.95), sa.MeanStd(1), sa.VaR(0.9)):
        with pytest.raises(TooLargeError, match="possible costs would need about") as refused:
            sa.solve(mdp, objective)
        advice = re.search(r"resolution: (\S+)\}' would fit", str(refused.value))
        assert advice is not None
        coarse = sa.compile_mdp(replace(fine, cost_resolution=Decimal(advice[1])))
        require_columns(coarse, most_of(coarse) + 1, tables=6)
