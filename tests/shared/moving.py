"""Problems with one amount changed, made from the problem alone, and plans followed through both with fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import safear as sa
from doors import Quantity, amount_places, map_amounts
from oracle import Distribution, Oracle, State
from safear.errors import Path
from safear.problem import Amount

Decide = Callable[[int, State, Fraction], str | None]  # (step, state, spent) -> action


def _set(quantity: Quantity, at: Path, place: Path, value: Decimal) -> Quantity:
    """The quantity at a path with one of its amounts replaced."""
    places = iter([path for path, _ in amount_places(quantity, at)])
    return map_amounts(quantity, lambda amount: Amount.exactly(value) if next(places) == place else amount)


def with_amount(problem: sa.Problem, place: Path, value: Decimal) -> sa.Problem:
    """The problem with another amount at a place; other stated chances of the action are left as they are."""
    if place == ("goal", "failure_cost"):
        return replace(problem, goal=replace(problem.goal, failure_cost=value))
    actions = []
    for action in problem.actions:
        at: Path = ("actions", action.name)
        outcomes = tuple(
            replace(
                outcome,
                chance=None
                if outcome.chance is None
                else _set(outcome.chance, (*at, "outcomes", number, "chance"), place, value),
                cost=None
                if outcome.cost is None
                else _set(outcome.cost, (*at, "outcomes", number, "cost"), place, value),
            )
            for number, outcome in enumerate(action.outcomes)
        )
        actions.append(replace(action, cost=_set(action.cost, (*at, "cost"), place, value), outcomes=outcomes))
    return replace(problem, actions=tuple(actions))


def follow(
    base: Oracle, decide: Decide, edges: Callable[[str, State], list[tuple[Fraction, Fraction]]], failure_cost: Fraction
) -> Distribution:
    """What a plan may cost if `edges(action, state)` are the chances and costs of outcomes; decisions as in `base`."""
    found: Distribution = {}
    for cost, succeeded, chance in _runs(base, decide, edges, failure_cost, base.start(), 0, Fraction(0)):
        found[cost, succeeded] = found.get((cost, succeeded), Fraction(0)) + chance
    return found


def _runs(
    base: Oracle,
    decide: Decide,
    edges: Callable[[str, State], list[tuple[Fraction, Fraction]]],
    failure_cost: Fraction,
    state: State,
    step: int,
    spent: Fraction,
) -> Iterator[tuple[Fraction, bool, Fraction]]:
    if base.is_goal(state):
        yield Fraction(0), True, Fraction(1)
        return
    action = decide(step, state, spent) if step < base.horizon else None
    if action is None:
        yield failure_cost, False, Fraction(1)
        return
    for old, (chance, cost) in zip(base.edges(action, state), edges(action, state), strict=True):
        if chance:
            later = _runs(base, decide, edges, failure_cost, old.next, step + 1, spent + old.cost)
            yield from ((cost + total, succeeded, chance * share) for total, succeeded, share in later)


def deciding(solution: sa.Solution) -> Decide:
    """What a plan does, by state as the oracle writes it."""
    mdp = solution.mdp
    number = {tuple(mdp.person(state).values()): state for state in range(mdp.n_states)}

    def decide(step: int, state: State, spent: Fraction) -> str | None:
        return solution.policy.action(number[state], step=step, spent=float(spent), start=mdp.start)

    return decide
