"""Chances and costs: a number, or one that depends on the level reached or on a condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from safear.problem.condition import Condition, condition_features

_WIDE = Context(Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # whatever somebody writes, its middle is no crash


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or an interval that holds it. `nominal` is what solvers use."""

    nominal: Decimal
    low: Decimal
    high: Decimal

    @classmethod
    def exactly(cls, value: Decimal | float | str) -> Amount:
        """A single number; a float is taken as it prints (0.1 is one tenth)."""
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        return cls(number, number, number)

    @classmethod
    def between(cls, low: Decimal, high: Decimal, nominal: Decimal | None = None) -> Amount:
        """An interval; its middle is the nominal value unless another is given."""
        return cls(_WIDE.divide(_WIDE.add(low, high), Decimal(2)) if nominal is None else nominal, low, high)

    @property
    def is_interval(self) -> bool:
        """Whether this is more than a single number."""
        return self.low != self.high


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
