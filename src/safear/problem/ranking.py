"""Costs from a ranking: somebody says which actions are easy and which are hard for them, and gives no numbers.

An action at place k of n (1 is the easiest) costs

    total * k / (1 + 2 + ... + n)

where the total is what the ranked actions cost together in the problem; one that is forbidden has no place. So the
second costs twice as much as the first, the third three times, and all of them together as much as is typical: unit and
scale stay. Actions that are as hard as each other share the mean of their places. These are the rank-sum weights of
decision analysis (Stillwell, Seaver and Edwards 1981). Costs dealt out anew in the person's order would change nothing
where an author gave all actions the same cost, though that is where an order says most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Context, Decimal

from safear.errors import Mistake, mistake
from safear.problem.model import Problem
from safear.problem.quantity import amounts
from safear.problem.wrong_names import unknown_action

Ranking = tuple[tuple[str, ...], ...]  # from easy to hard; actions that stand together are as hard as each other
_DIGITS = Context(prec=4)  # of the step from place to place: all costs are multiples of half of it


def make_ranking(rank: Sequence[str | Sequence[str]]) -> Ranking:
    """A ranking from names and lists of names: `["save", ["learn", "move"]]`."""
    return tuple((tier,) if isinstance(tier, str) else tuple(tier) for tier in rank)


def check_ranking(problem: Problem, rank: Ranking) -> Iterator[Mistake]:
    """Names that no action has, and actions that stand in two places."""
    seen: set[str] = set()
    for number, tier in enumerate(rank):
        for name in tier:
            if name not in problem.action_by_name:
                yield unknown_action(("rank", number), name, problem)
            elif name in seen:
                yield mistake(("rank", number), f"'{name}' is ranked twice", "name it once", code="twice", name=name)
            seen.add(name)


def price_ranking(problem: Problem, rank: Ranking, *, forbid: Collection[str] = ()) -> dict[str, Decimal]:
    """What each action costs that is ranked and not forbidden; see above. The step is rounded to four digits."""
    rank = tuple(tuple(name for name in tier if name not in forbid) for tier in rank)
    names = [name for tier in rank for name in tier]
    total = sum((_typical_cost(problem, name) for name in names), Decimal(0))
    step = _DIGITS.divide(total, Decimal(len(names) * (len(names) + 1) // 2 or 1))
    costs: dict[str, Decimal] = {}
    for tier in rank:
        place = Decimal(2 * len(costs) + len(tier) + 1) / 2  # the mean of those that the tier takes up
        costs |= dict.fromkeys(tier, place * step)
    return costs


def _typical_cost(problem: Problem, name: str) -> Decimal:
    """What an action costs in the problem; the mean of what it may cost where that depends."""
    found = [amount.nominal for amount in amounts(problem.action_by_name[name].cost)]
    return sum(found, Decimal(0)) / len(found)
