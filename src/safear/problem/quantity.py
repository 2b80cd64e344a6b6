"""Chances and costs: a number, or one that depends on the level reached or on a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from safear.errors import Path
from safear.problem.condition import Condition, condition_features
from safear.problem.tries import Counts, count_interval

CONFIDENCE = 0.95  # of the intervals that counts give, where a problem states no other
GUESS = "guess"  # the one source that means something: nobody has looked yet
_WIDE = Context(Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # whatever somebody writes, its middle is no crash


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or an interval that holds it. `nominal` is what solvers use.

    `source` says where it comes from (`""`: nobody said). A chance that was counted has its `counts`.
    """

    nominal: Decimal
    low: Decimal
    high: Decimal
    source: str = ""
    counts: Counts | None = None

    @classmethod
    def exactly(cls, value: Decimal | float | str) -> Amount:
        """A single number; a float is taken as it prints (0.1 is one tenth)."""
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        return cls(number, number, number)

    @classmethod
    def between(cls, low: Decimal, high: Decimal, nominal: Decimal | None = None) -> Amount:
        """An interval; its middle is the nominal value unless another is given."""
        return cls(_WIDE.divide(_WIDE.add(low, high), Decimal(2)) if nominal is None else nominal, low, high)

    @classmethod
    def counted(cls, counts: Counts, *, confidence: float = CONFIDENCE, source: str = "") -> Amount:
        """The chance of something that was tried: the share that worked, and what the counts leave open."""
        low, high = count_interval(counts, confidence)
        nominal = Decimal(counts.worked) / Decimal(counts.tried)
        return cls(nominal, low, high, source or f"data {counts}", counts)

    @property
    def is_interval(self) -> bool:
        """Whether this is more than a single number."""
        return self.low != self.high

    @property
    def is_certain(self) -> bool:
        """Whether this is 1, as a chance."""
        return self.low == self.nominal == self.high == 1


@dataclass(frozen=True, slots=True)
class ByLevel:
    """An amount for each level of `feature` that the outcome may lead to."""

    feature: str
    amounts: Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class ByCase:
    """The amount of the first case whose condition holds before the step, else `otherwise`."""

    cases: tuple[tuple[Condition, Amount], ...]
    otherwise: Amount


Quantity = Amount | ByLevel | ByCase


def quantity_features(quantity: Quantity) -> frozenset[str]:
    """The features that a quantity looks at."""
    match quantity:
        case ByLevel(name, _):
            return frozenset({name})
        case ByCase(cases, _):
            return frozenset().union(*(condition_features(condition) for condition, _ in cases))
    return frozenset()


def amounts(quantity: Quantity) -> Iterator[Amount]:
    """All amounts that a quantity may take."""
    match quantity:
        case Amount():
            yield quantity
        case ByLevel(_, table):
            yield from table.values()
        case ByCase(cases, otherwise):
            yield from (amount for _, amount in cases)
            yield otherwise


def amount_places(quantity: Quantity, path: Path) -> Iterator[tuple[Path, Amount]]:
    """All amounts of the quantity at `path`, each with its place."""
    match quantity:
        case Amount():
            yield path, quantity
        case ByLevel(name, table):
            yield from (((*path, name, level), amount) for level, amount in table.items())
        case ByCase(cases, otherwise):
            yield from (((*path, number, path[-1]), amount) for number, (_, amount) in enumerate(cases))
            yield (*path, len(cases)), otherwise


def map_amounts(quantity: Quantity, change: Callable[[Amount], Amount]) -> Quantity:
    """The quantity with each of its amounts changed, in the order of `amounts`."""
    match quantity:
        case Amount():
            return change(quantity)
        case ByLevel(name, table):
            return ByLevel(name, {level: change(amount) for level, amount in table.items()})
        case ByCase(cases, otherwise):
            return ByCase(tuple((when, change(amount)) for when, amount in cases), change(otherwise))


def with_source(quantity: Quantity, source: str) -> Quantity:
    """The quantity with this source for all its amounts that have none of their own."""
    return map_amounts(quantity, lambda amount: amount if amount.source else replace(amount, source=source))
