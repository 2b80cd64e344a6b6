"""A naive engine for problem files: exact fractions, dictionaries and recursion, slow and meant to be obviously right.

It shares no code with the package and is written from ``docs/problem-file.md`` and the paper alone, so that the tests
can hold the package against it. Every number is a ``Fraction`` made from the decimal as written, but for the values of
`Oracle.greedy` at an aversion above 0, `mean_std` and `entropic`, where a root, an exponential or a logarithm is taken.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import yaml

State: TypeAlias = tuple[str, ...]
Policy: TypeAlias = Mapping[tuple[int, State], str]
Distribution: TypeAlias = dict[tuple[Fraction, bool], Fraction]
Frozen: TypeAlias = frozenset[tuple[tuple[Fraction, bool], Fraction]]
Number: TypeAlias = Fraction | float
Steps: TypeAlias = list[tuple[str, int]]
History: TypeAlias = tuple[Steps, Fraction, bool, Fraction, State]
Condition: TypeAlias = Callable[[Mapping[str, str]], bool]

TIE = Fraction(1, 10**12)
MOST_POLICIES = 200_000
MOST_DISTRIBUTIONS = 20_000


class TooManyError(ValueError):
    """There are more distributions than it makes sense to enumerate."""


def read(text: str) -> dict[str, Any]:
    """The YAML text with every scalar as the string that was written."""
    document: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)
    return document


def as_text(thing: Any) -> Any:
    """The same document with every key and scalar as a string (``True`` becomes ``true``, ``0.8`` becomes ``0.8``)."""
    if isinstance(thing, Mapping):
        return {as_text(key): as_text(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [as_text(value) for value in thing]
    if isinstance(thing, bool):
        return "true" if thing else "false"
    return "" if thing is None else str(thing)


def number(text: Any) -> Fraction:
    """The number as written, exactly."""
    if not isinstance(text, str) or "/" in text:
        raise ValueError(f"not a number: {text!r}")
    return Fraction(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"neither true nor false: {text!r}")
    return text.lower() == "true"


# ---------------------------------------------------------------------------------------------------------- features


@dataclass(frozen=True)
class Feature:
    """One feature: its levels from the lowest to the highest, and where a number is cut if it is numeric."""

    name: str
    kind: str
    levels: tuple[str, ...]
    edges: tuple[Fraction, ...]
    closed: str
    mutable: bool
    actionable: bool
    seen: bool
    values: tuple[str, ...] = ()
    unit: str = ""
    hidden: bool = False
    at_most: str = ""
    limits: tuple[Fraction, ...] = ()

    def far(self, one: str, other: str) -> bool:
        """Whether two levels are further apart than the feature may go: in levels, or in its unit by their values."""
        places = [self.levels.index(level) for level in (one, other)]
        if not self.at_most.endswith(f" {self.unit}") or not self.unit:
            return abs(places[0] - places[1]) > int(self.at_most)
        values = [number(self.values[place]) for place in places]
        return abs(values[0] - values[1]) > number(self.at_most.removesuffix(f" {self.unit}"))

    def level(self, given: str) -> str:
        """The level called so, or the level that a raw number falls into.

        With edges e_0 < e_1 < ... level i holds the x with e_(i-1) <= x < e_i (closed left) or
        e_(i-1) < x <= e_i (closed right).
        """
        if given in self.levels:
            return given
        if self.kind != "numeric":
            raise ValueError(f"{self.name} has no level {given!r}")
        return self.level_of(number(given))

    def level_of(self, x: Fraction) -> str:
        """The level that a number falls into."""
        if self.closed == "left":
            return self.levels[sum(1 for edge in self.edges if edge <= x)]
        return self.levels[sum(1 for edge in self.edges if edge < x)]


def _feature(name: str, entry: Mapping[str, Any]) -> Feature:
    kind = entry.get("kind", "numeric" if "range" in entry else None)
    if kind not in ("ordinal", "nominal", "numeric"):
        raise ValueError(f"{name}: no such kind: {kind}")
    closed = entry.get("closed", "left")
    if closed not in ("left", "right"):
        raise ValueError(f"{name}: closed is left or right, not {closed}")
    if "range" in entry:
        entry = {**entry, **_spread(entry, closed)}
    written = list(entry["edges"]) if kind == "numeric" else []
    edges = tuple(number(edge) for edge in written)
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"{name}: the edges do not rise")
    if "levels" in entry:
        levels = tuple(entry["levels"])
    else:
        first, last = ("<", ">=") if closed == "left" else ("<=", ">")
        middle = [f"{low}-{high}" for low, high in itertools.pairwise(written)]
        levels = (first + written[0], *middle, last + written[-1])
    if len(set(levels)) != len(levels) or not levels:
        raise ValueError(f"{name}: levels are missing or named twice")
    if kind == "numeric" and len(levels) != len(edges) + 1:
        raise ValueError(f"{name}: n edges make n + 1 levels")
    return Feature(
        name,
        kind,
        levels,
        edges,
        closed,
        _flag(entry.get("mutable", "true")),
        _flag(entry.get("actionable", "true")),
        _flag(entry.get("seen_by_classifier", "true")) and not _flag(entry.get("hidden", "false")),
        tuple(entry.get("values", ())),
        entry.get("unit", ""),
        _flag(entry.get("hidden", "false")),
        entry.get("at_most", ""),
        tuple(map(number, entry.get("range", ()))),
    )


def _spread(entry: Mapping[str, Any], closed: str) -> dict[str, list[str]]:
    """Levels, values and edges of `range: [first, last]`: each multiple of the step begins or ends its own level."""
    first, last = map(number, entry["range"])
    step = number(entry.get("step", "1"))
    found = []
    while first <= last:
        found.append(str(int(first)) if first == int(first) else str(float(first)))
        first += step
    return {"levels": found, "values": found, "edges": found[1:] if closed == "left" else found[:-1]}


# -------------------------------------------------------------------------------------------------------- conditions

_TOKEN = re.compile(
    r"\s*(?:(?P<op>==|!=|<=|>=|<|>)|(?P<mark>[()\[\],])|'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\""
    r"|(?P<word>[\w.\-]+|\+\.?\d[\w.\-]*))"
)
_KEYWORDS = ("and", "or", "not", "in")


def _tokens(text: str) -> list[tuple[str, str]]:
    """The text cut into (kind, text) with the kinds op, mark, quoted and word."""
    tokens = []
    text = text.rstrip()
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read {text[at:]!r}")
        kind = str(match.lastgroup)
        quoted = kind in ("single", "double")
        tokens.append(("quoted", re.sub(r"\\(.)", r"\1", match.group(kind))) if quoted else (kind, match.group(kind)))
        at = match.end()
    return tokens


class _Parser:
    """Recursive descent: any = all {or all}; all = negation {and negation}; negation = [not] negation | primary."""

    def __init__(self, text: str, features: Mapping[str, Feature]) -> None:
        self.tokens = _tokens(text)
        self.features = features
        self.at = 0

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        here = self.at + ahead
        return self.tokens[here] if here < len(self.tokens) else ("end", "")

    def take(self, kind: str, text: str) -> bool:
        if self.peek() == (kind, text):
            self.at += 1
            return True
        return False

    def need(self, kind: str, text: str) -> None:
        if not self.take(kind, text):
            raise ValueError(f"expected {text!r}, found {self.peek()[1]!r}")

    def whole(self) -> Condition:
        condition = self.any()
        if self.peek()[0] != "end":
            raise ValueError(f"unexpected {self.peek()[1]!r}")
        return condition

    def any(self) -> Condition:
        left = self.all()
        while self.take("word", "or"):
            left = _either(left, self.all())
        return left

    def all(self) -> Condition:
        left = self.negation()
        while self.take("word", "and"):
            left = _both(left, self.negation())
        return left

    def negation(self) -> Condition:
        if self.take("word", "not"):
            inner = self.negation()
            return lambda state: not inner(state)
        return self.primary()

    def primary(self) -> Condition:
        if self.take("mark", "("):
            inner = self.any()
            self.need("mark", ")")
            return inner
        ends = self.peek(1) in (("end", ""), ("mark", ")"), ("word", "and"), ("word", "or"))
        if ends and (self.take("word", "true") or self.take("word", "false")):
            constant = self.tokens[self.at - 1][1] == "true"
            return lambda _: constant
        feature = self.feature()
        if self.peek() == ("word", "not") and self.peek(1) == ("word", "in"):
            self.at += 2
            levels = self.levels(feature)
            return lambda state: state[feature.name] not in levels
        if self.take("word", "in"):
            levels = self.levels(feature)
            return lambda state: state[feature.name] in levels
        kind, sign = self.peek()
        if kind != "op":
            raise ValueError(f"expected a comparison, found {sign!r}")
        self.at += 1
        right = self.name()
        is_edge = feature.kind == "numeric" and right in [str(float(edge)) for edge in feature.edges]
        if right in self.features and right not in feature.levels and not is_edge:
            return _pair(feature, sign, self.features[right])
        return _comparison(feature, sign, right)

    def name(self) -> str:
        """One quoted text, or the words up to the next keyword or mark, with a space between them."""
        kind, text = self.peek()
        if kind == "quoted":
            self.at += 1
            return text
        words = []
        while self.peek()[0] == "word" and self.peek()[1] not in _KEYWORDS:
            words.append(self.peek()[1])
            self.at += 1
        if not words:
            raise ValueError(f"expected a name, found {text!r}")
        return " ".join(words)

    def feature(self) -> Feature:
        name = self.name()
        if name not in self.features:
            raise ValueError(f"no feature {name!r} here")
        return self.features[name]

    def levels(self, feature: Feature) -> set[str]:
        self.need("mark", "[")
        levels = {self.name()}
        while self.take("mark", ","):
            levels.add(self.name())
        self.need("mark", "]")
        if not levels <= set(feature.levels):
            raise ValueError(f"{feature.name} has no levels {levels - set(feature.levels)}")
        return levels


def _either(left: Condition, right: Condition) -> Condition:
    return lambda state: left(state) or right(state)


def _both(left: Condition, right: Condition) -> Condition:
    return lambda state: left(state) and right(state)


def _comparison(feature: Feature, sign: str, name: str) -> Condition:
    """`feature sign level`, or `feature sign edge` where the edge separates the levels as the sign says."""
    position = {level: index for index, level in enumerate(feature.levels)}
    if sign in ("==", "!="):
        if name not in position:
            raise ValueError(f"{feature.name} has no level {name!r}")
        return lambda state: (state[feature.name] == name) == (sign == "==")
    if feature.kind == "nominal":
        raise ValueError(f"{feature.name} has no order")
    if name in position:
        right = position[name]
        compare: dict[str, Callable[[int], bool]] = {
            "<": lambda left: left < right,
            "<=": lambda left: left <= right,
            ">": lambda left: left > right,
            ">=": lambda left: left >= right,
        }
        return lambda state: compare[sign](position[state[feature.name]])
    if feature.kind != "numeric" or number(name) not in feature.edges:
        raise ValueError(f"{feature.name} has neither a level nor an edge {name!r}")
    edge = feature.edges.index(number(name))  # the levels 0..edge are below this edge
    below, above = ("<", ">=") if feature.closed == "left" else ("<=", ">")
    if sign not in (below, above):
        raise ValueError(f"{feature.name} {sign} {name} cuts through a level")
    return lambda state: (position[state[feature.name]] <= edge) == (sign == below)


def _pair(left: Feature, sign: str, right: Feature) -> Condition:
    """Two features: by the values of their levels if both are numbers with values, else by the levels' places."""
    if sign not in ("==", "!=") and "nominal" in (left.kind, right.kind):
        raise ValueError(f"{left.name} or {right.name} has no order")
    by_value = left.kind == right.kind == "numeric" and bool(left.values and right.values)
    if not by_value and left.levels != right.levels:
        raise ValueError(f"{left.name} and {right.name} cannot be compared")

    def measure(feature: Feature, level: str) -> Fraction:
        place = feature.levels.index(level)
        return number(feature.values[place]) if by_value else Fraction(place)

    def holds(state: Mapping[str, str]) -> bool:
        gap = measure(left, state[left.name]) - measure(right, state[right.name])
        signs = {"==": gap == 0, "!=": gap != 0, "<": gap < 0, "<=": gap <= 0, ">": gap > 0, ">=": gap >= 0}
        return signs[sign]

    return holds


def condition(text: str, features: Mapping[str, Feature]) -> Condition:
    """What the text says, as a function of {feature: level}."""
    return _Parser(text, features).whole()


# ------------------------------------------------------------------------------------------------------------ counts


@functools.cache
def counted(worked: int, tried: int, confidence: Fraction) -> tuple[Fraction, Fraction]:
    """Clopper and Pearson, rounded outwards to ten decimals.

    The largest p with P(X >= worked | p) <= tail, and the least with P(X <= worked | p) <= tail: X is binomial, and the
    tail is half of what the confidence leaves.
    """
    tail, fine = (1 - confidence) / 2, 10**10

    def at_least(successes: int, p: Fraction) -> Fraction:
        terms = (math.comb(tried, k) * p**k * (1 - p) ** (tried - k) for k in range(successes, tried + 1))
        return sum(terms, Fraction(0))

    def largest(holds: Callable[[Fraction], bool]) -> int:
        low, high = 0, fine
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(Fraction(middle, fine)) else (low, middle)
        return low

    least = largest(lambda p: at_least(worked, p) <= tail) if worked else 0
    most = largest(lambda p: 1 - at_least(worked + 1, p) > tail) + 1 if worked < tried else fine
    return Fraction(least, fine), Fraction(most, fine)


# ----------------------------------------------------------------------------------------------------------- problem


@dataclass(frozen=True)
class Edge:
    """One way in which a step may end; `outcome` is the place in the action's list of outcomes."""

    chance: Fraction
    next: State
    cost: Fraction
    outcome: int
    fits: bool = True  # no side effect in proportion goes beyond its scale
    low: Fraction = Fraction(0)  # the least and the largest chance that it may have
    high: Fraction = Fraction(0)


@dataclass(frozen=True)
class Choice:
    """An action offered in a state, with its outcomes of a chance above 0; `possible` are all that may have one.

    `vertices` are the corners of what the chances of `possible` may be together.
    """

    action: str
    edges: list[Edge]
    possible: list[Edge]
    vertices: list[tuple[Fraction, ...]]


Event: TypeAlias = Callable[[int, State, str, Edge], bool]  # of a move: the step, the state, what is done, how it ends


@dataclass(frozen=True)
class _Shift:
    by: int


@dataclass(frozen=True)
class _More:
    """So much more, in the feature's unit."""

    amount: Fraction


@dataclass(frozen=True)
class _Set:
    to: str


@dataclass(frozen=True)
class _Follow:
    """So much for each whole so much of the cause."""

    by: _Shift | _More
    per: _Shift | _More


_Part: TypeAlias = _Shift | _More | _Set | _Follow
_Change: TypeAlias = dict[str, _Part]


@dataclass(frozen=True)
class _SideEffect:
    cause: str
    direction: str
    change: _Change
    when: Condition


class Oracle:
    """A problem and everything that can be asked about it, the slow way.

    `accepts` is the classifier on {seen feature: level name}; without it the document's rule decides.
    """

    def __init__(self, document: Mapping[str, Any], accepts: Callable[[dict[str, str]], bool] | None = None) -> None:
        self.document: dict[str, Any] = as_text(document)
        self.features: dict[str, Feature] = {
            name: _feature(name, entry) for name, entry in self.document["features"].items()
        }
        self.horizon = int(self.document["horizon"])
        cost = self.document.get("cost") or {}
        self.resolution = number(cost["resolution"]) if "resolution" in cost else None
        goal = self.document.get("goal") or {}
        self.failure_cost = self._rounded(number(goal.get("failure_cost", "0")))
        self.stop = _flag(goal.get("stop", "true"))
        self._hopes: dict[tuple[State, int], bool] = {}
        self._best: dict[tuple[State, int], Fraction] = {}
        if accepts is None:
            seen = {name: feature for name, feature in self.features.items() if feature.seen}
            accepts = condition(self.document["classifier"]["rule"], seen)
        self.accepts: Callable[[dict[str, str]], bool] = accepts
        self.constraints = [self._condition(text) for text in self.document.get("constraints") or []]
        self.side_effects = [
            _SideEffect(
                entry["cause"],
                entry.get("direction", "any"),
                self._change(entry["change"], entry["cause"]),
                self._condition(entry.get("when", "true")),
            )
            for entry in self.document.get("side_effects") or []
        ]
        self.order = self._causes_first()
        self.actions: dict[str, dict[str, Any]] = dict(self.document["actions"])
        for name, action in self.actions.items():
            aims = {target for _, change in self._outcomes(action) for target in change}
            if not any(self.features[target].actionable for target in aims):
                raise ValueError(f"{name} aims at no actionable feature")
        self.most = {  # how often actions may be tried
            name: 1 if _flag(action.get("once", "false")) else int(action["at_most"])
            for name, action in self.actions.items()
            if "at_most" in action or _flag(action.get("once", "false"))
        }
        self.held = [name for name, feature in self.features.items() if feature.at_most]  # near what was filed
        self._offered: dict[State, list[Choice]] = {}

    # -- reading

    def _condition(self, text: str) -> Condition:
        return condition(text, self.features)

    def _rounded(self, cost: Fraction) -> Fraction:
        """The nearest multiple of the resolution, halves up."""
        if self.resolution is None:
            return cost
        return math.floor(cost / self.resolution + Fraction(1, 2)) * self.resolution

    def _size(self, written: str, feature: Feature) -> _Shift | _More:
        """So many levels, or so much in the unit."""
        if feature.unit and written.endswith(f" {feature.unit}"):
            return _More(number(written.removesuffix(f" {feature.unit}")))
        return _Shift(int(written))

    def _change(self, entry: Any, cause: str = "") -> _Change:
        """`{feature: +1 | -2 | level | {to: level} | {by: 1} | {by: 1, per: 2}}`, read."""
        change: _Change = {}
        for name, written in (entry or {}).items():
            feature = self.features[name]
            if isinstance(written, dict) and "per" in written:
                change[name] = _Follow(
                    self._size(written["by"], feature), self._size(written["per"], self.features[cause])
                )
                continue
            if not feature.mutable:
                raise ValueError(f"{name} never changes")
            told = written["by"] if isinstance(written, dict) and set(written) == {"by"} else written
            if isinstance(told, str) and feature.unit and told.endswith(f" {feature.unit}"):
                change[name] = _More(number(told.removesuffix(f" {feature.unit}")))
            elif isinstance(written, dict) and set(written) == {"by"}:
                change[name] = _Shift(int(written["by"]))
            elif isinstance(written, dict) and set(written) == {"to"}:
                change[name] = _Set(written["to"])
            elif isinstance(written, str) and re.fullmatch(r"[+-][0-9]+", written):
                if written in feature.levels:
                    raise ValueError(f"{name}: {written} may be a level or a move; write to or by")
                change[name] = _Shift(int(written))
            else:
                change[name] = _Set(written)
            made = change[name]
            if isinstance(made, _Shift) and (feature.kind == "nominal" or abs(made.by) >= len(feature.levels)):
                raise ValueError(f"{name} has no order to move along, or fewer levels than that")
            if isinstance(made, _More) and all(self._moved(name, level, made) == level for level in feature.levels):
                raise ValueError(f"{name} would never change")
            if isinstance(made, _Set) and made.to not in feature.levels:
                raise ValueError(f"{name} has no level {made.to!r}")
        return change

    def _causes_first(self) -> list[str]:
        """The features in such an order that every cause stands before its consequences."""
        causes = {
            name: {effect.cause for effect in self.side_effects if name in effect.change} for name in self.features
        }
        order: list[str] = []
        while len(order) < len(self.features):
            free = [name for name in self.features if name not in order and causes[name] <= set(order)]
            if not free:
                raise ValueError("side effects go round in a circle")
            order.append(free[0])
        return order

    def _outcomes(self, action: Mapping[str, Any]) -> list[tuple[dict[str, Any], _Change]]:
        """The outcomes in order, with what each changes; the short form's failure is the second."""
        if "outcomes" in action:
            return [(outcome, self._change(outcome.get("change"))) for outcome in action["outcomes"]]
        works = {"chance": action.get("chance", "1"), "change": action.get("change")}
        return [(works, self._change(action.get("change"))), ({}, {})]

    # -- states

    def named(self, state: State) -> dict[str, str]:
        """{feature: level} of a state: its first part. Then come tries of limited actions, and filed levels."""
        return dict(zip(self.features, state[: len(self.features)], strict=True))

    def tries(self, state: State) -> dict[str, int]:
        """How often the limited actions have been tried."""
        return dict(zip(self.most, map(int, state[len(self.features) :]), strict=False))

    def filed(self, state: State) -> dict[str, str]:
        """The filed levels of features that may not go far from them."""
        return dict(zip(self.held, state[len(self.features) + len(self.most) :], strict=True))

    def index(self, name: str, level: str) -> int:
        """The place of a level, 0 for the lowest."""
        return self.features[name].levels.index(level)

    def allowed(self, state: State) -> bool:
        """Whether the state fulfils every constraint."""
        named = self.named(state)
        if any(self.features[name].far(named[name], level) for name, level in self.filed(state).items()):
            return False
        return all(constraint(named) for constraint in self.constraints)

    def state(self, person: Mapping[str, Any]) -> State:
        """The state of a person who is given by level names or raw numbers."""
        hidden = {name: feature.levels[0] for name, feature in self.features.items() if feature.hidden}
        given = hidden | as_text(person)
        if set(given) != set(self.features):
            raise ValueError("the features of a person must be complete")
        levels = {name: feature.level(given[name]) for name, feature in self.features.items()}
        state = (*levels.values(), *("0" for _ in self.most), *(levels[name] for name in self.held))
        if not self.allowed(state):
            raise ValueError("the person breaks a constraint")
        return state

    def start(self, name: str | None = None) -> State:
        """The state of a person in the document, by default the first."""
        people = self.document["people"]
        return self.state(people[next(iter(people)) if name is None else name])

    def all_states(self) -> list[State]:
        """Every combination of levels that fulfils the constraints."""
        tries = [[str(count) for count in range(most + 1)] for most in self.most.values()]
        filed = [self.features[name].levels for name in self.held]
        every = itertools.product(*(feature.levels for feature in self.features.values()), *tries, *filed)
        return [state for state in every if self.allowed(state)]

    def is_goal(self, state: State) -> bool:
        """Whether the classifier is favourable on what it sees of the state."""
        named = self.named(state)
        return bool(self.accepts({name: named[name] for name, feature in self.features.items() if feature.seen}))

    # -- steps

    def _moved(self, name: str, level: str, change: _Part) -> str:
        """min(max(i + by, 0), n - 1) for a move; the level of value + amount; else the level that is set."""
        if isinstance(change, _Set):
            return change.to
        if isinstance(change, _Follow):
            raise TypeError(change)
        feature = self.features[name]
        levels = feature.levels
        if isinstance(change, _More):
            return feature.level_of(number(feature.values[levels.index(level)]) + change.amount)
        return levels[min(max(self.index(name, level) + change.by, 0), len(levels) - 1)]

    def _followed(self, name: str, level: str, part: _Follow, cause: tuple[str, str, str]) -> str | None:
        """The level after so much for each whole so much of the cause (name, before, after); None beyond the end."""
        feature, source = self.features[name], self.features[cause[0]]

        def place(of: Feature, at: str, size: _Shift | _More) -> Fraction:
            index = of.levels.index(at)
            return number(of.values[index]) if isinstance(size, _More) else Fraction(index)

        per = part.per.amount if isinstance(part.per, _More) else Fraction(part.per.by)
        times = int((place(source, cause[2], part.per) - place(source, cause[1], part.per)) / per)
        if isinstance(part.by, _More):
            reached = place(feature, level, part.by) + times * part.by.amount
            if feature.limits and not feature.limits[0] <= reached <= feature.limits[1]:
                return None
            return feature.level_of(reached)
        index = feature.levels.index(level) + times * part.by.by
        return feature.levels[index] if 0 <= index < len(feature.levels) else None

    def _after(self, before: State, change: _Change, action: str) -> State | None:
        """The state after an outcome: its own change, then the side effects, every cause before its consequences.

        None if a side effect in proportion would go beyond the end of its scale.
        """
        old = self.named(before)
        new = dict(old)
        for name, part in change.items():
            new[name] = self._moved(name, new[name], part)
        for cause in self.order:
            up = self.index(cause, new[cause]) - self.index(cause, old[cause])
            for effect in self.side_effects:
                if effect.cause != cause or not effect.when(old):
                    continue
                if {"any": up != 0, "up": up > 0, "down": up < 0}[effect.direction]:
                    for name, part in effect.change.items():
                        if isinstance(part, _Follow):
                            level = self._followed(name, new[name], part, (cause, old[cause], new[cause]))
                            if level is None:
                                return None
                            new[name] = level
                        else:
                            new[name] = self._moved(name, new[name], part)
        tries = [str(count + (name == action)) for name, count in self.tries(before).items()]
        return (*(new[name] for name in self.features), *tries, *self.filed(before).values())

    def _value(self, written: Any, key: str, before: State, change: _Change) -> Fraction:
        """A chance or a cost; of an interval, the nominal value."""
        return self._points(written, key, before, change)[1]

    def _points(self, written: Any, key: str, before: State, change: _Change) -> tuple[Fraction, Fraction, Fraction]:
        """A chance or a cost: a number, an interval, a table by the level that `change` leads to, or cases.

        With a source or without; a chance also as counts. As low, nominal, high.
        """
        if isinstance(written, str):
            return number(written), number(written), number(written)
        if isinstance(written, dict) and {"value", "source"} == set(written):
            return self._points(written["value"], key, before, change)
        if isinstance(written, dict) and {"worked", "tried"} <= set(written) <= {"worked", "tried", "source"}:
            worked, tried = int(written["worked"]), int(written["tried"])
            low, high = counted(worked, tried, number(self.document.get("confidence", "0.95")))
            return low, Fraction(worked, tried), high
        if isinstance(written, dict):
            return self._points(self._entry(written, before, change), key, before, change)
        if any(isinstance(item, dict) for item in written):
            for item in written:
                if not isinstance(item, dict) or "when" not in item:
                    return self._points(item, key, before, change)
                if self._condition(item["when"])(self.named(before)):
                    counts = {name: item[name] for name in ("worked", "tried") if name in item}
                    return self._points(counts or item[key], key, before, change)
            raise ValueError("no case holds")
        if key != "chance":
            raise ValueError("a cost has no interval")
        points = [number(item) for item in written]
        if len(points) not in (2, 3) or points != sorted(points):
            raise ValueError(f"no interval: {written}")
        return points[0], (points[0] + points[1]) / 2 if len(points) == 2 else points[1], points[-1]

    def _entry(self, table: Mapping[str, Any], before: State, change: _Change) -> Any:
        """The entry of a table by level, looked up with the level that the change itself leads to."""
        is_amount = [{"value", "source"}, {"worked", "tried"}, {"worked", "tried", "source"}]
        named = [key for key, value in table.items() if isinstance(value, dict) and set(value) not in is_amount]
        if named:
            (feature,) = table
            table = table[feature]
        else:
            fitting = [name for name in change if set(table) <= set(self.features[name].levels)]
            if len(fitting) != 1:
                raise ValueError(f"which feature is meant? {sorted(table)}")
            (feature,) = fitting
        if feature not in change:
            raise ValueError(f"{feature} is not changed")
        level = self._moved(feature, self.named(before)[feature], change[feature])
        if level not in table:
            raise ValueError(f"{feature}: nothing is said about {level}")
        return table[level]

    def edges(self, name: str, state: State) -> list[Edge]:
        """All outcomes of an action in a state, also those of chance 0, whether it is offered or not.

        The outcome without a chance gets 1 - (the sum of the others). The cost is the outcome's own, else the action's,
        which looks at the first outcome's change.
        """
        action = self.actions[name]
        outcomes = self._outcomes(action)
        chances: list[Fraction | None] = []
        for outcome, change in outcomes:
            given = "chance" in outcome
            chances.append(self._value(outcome["chance"], "chance", state, change) if given else None)
        told = sum((chance for chance in chances if chance is not None), Fraction(0))
        if chances.count(None) > 1:
            raise ValueError(f"{name}: more than one outcome without a chance")
        sure = [1 - told if chance is None else chance for chance in chances]
        if sum(sure) != 1 or min(sure) < 0:
            raise ValueError(f"{name}: chances {sure}")
        corners = self.vertices(name, state)
        edges = []
        for index, (outcome, change) in enumerate(outcomes):
            if "cost" in outcome:
                cost = self._value(outcome["cost"], "cost", state, change)
            else:
                cost = self._value(action["cost"], "cost", state, outcomes[0][1])
            after = self._after(state, change, name)
            fits = after is not None
            ends = [corner[index] for corner in corners]
            where = state if after is None else after
            edges.append(Edge(sure[index], where, self._rounded(cost), index, fits, min(ends), max(ends)))
        return edges

    def vertices(self, name: str, state: State) -> list[tuple[Fraction, ...]]:
        """The corners of all chances that the outcomes of an action may have in a state.

        Those are the p with low <= p <= high, of the outcome that takes the rest 0 <= p <= 1, that add up to 1: in a
        corner all but one are at an end. The rest goes to the outcome without a chance. If every outcome has one, it
        goes to the only one whose chance is no interval; if there are several of those, to nobody.
        """
        ends = []
        for outcome, change in self._outcomes(self.actions[name]):
            if "chance" in outcome:
                low, _, high = self._points(outcome["chance"], "chance", state, change)
                ends.append((low, high))
            else:
                ends.append((Fraction(0), Fraction(1)))
        exact = [place for place, (low, high) in enumerate(ends) if low == high]
        outcomes = self._outcomes(self.actions[name])
        if len(exact) == 1 and len(ends) > 1 and all("chance" in outcome for outcome, _ in outcomes):
            ends[exact[0]] = (Fraction(0), Fraction(1))
        found: dict[tuple[Fraction, ...], None] = {}
        for free in range(len(ends)):
            for others in itertools.product(*(sorted(set(pair)) for pair in ends[:free] + ends[free + 1 :])):
                rest = 1 - sum(others, Fraction(0))
                if ends[free][0] <= rest <= ends[free][1]:
                    found[(*others[:free], rest, *others[free:])] = None
        return list(found)

    def offered(self, state: State) -> list[Choice]:
        """The actions whose `when` holds, that can change the state and that cannot break a constraint, in file order.

        Only outcomes that may have a chance above 0 count. Nothing is said about goals: a run does not ask there.
        """
        if state not in self._offered:
            choices = []
            for name, action in self.actions.items():
                if not self._condition(action.get("when", "true"))(self.named(state)):
                    continue
                if name in self.most and self.tries(state)[name] >= self.most[name]:
                    continue
                possible = [edge for edge in self.edges(name, state) if edge.high > 0]
                changes = any(self.changed(state, edge.next) for edge in possible)
                if changes and all(edge.fits and self.allowed(edge.next) for edge in possible):
                    corners = [
                        tuple(corner[edge.outcome] for edge in possible) for corner in self.vertices(name, state)
                    ]
                    likely = [edge for edge in possible if edge.chance > 0]
                    choices.append(Choice(name, likely, possible, corners))
            self._offered[state] = choices
        return self._offered[state]

    def reachable(self, start: State) -> set[State]:
        """Every state that some sequence of offered actions may lead to, the start included; goals are not left."""
        found = {start}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if self.is_goal(state):
                continue
            for choice in self.offered(state):
                for edge in choice.possible:
                    if edge.next not in found:
                        found.add(edge.next)
                        waiting.append(edge.next)
        return found

    # -- plans

    def reaches(self, state: State, steps: int) -> bool:
        """Whether a goal can be reached within so many steps, if all goes well."""
        if self.is_goal(state) or steps == 0:
            return self.is_goal(state)
        if (state, steps) not in self._hopes:
            ways = (edge.next for choice in self.offered(state) for edge in choice.possible)
            self._hopes[state, steps] = any(self.reaches(state, steps - 1) for state in ways)
        return self._hopes[state, steps]

    def choices(self, state: State, steps: int) -> list[Choice]:
        """What a plan may do with so many steps left: nothing at a goal, at the end or, if plans stop, once lost."""
        if steps == 0 or self.is_goal(state) or (self.stop and not self.reaches(state, steps)):
            return []
        return self.offered(state)

    def greedy(
        self,
        start: State,
        aversion: Fraction | float,
        *,
        lower: bool = False,
        horizon: int | None = None,
    ) -> tuple[dict[tuple[int, State], str], float]:
        """Algorithm 1 on costs, for every step 0..H-1 and every state reachable from the start.

        V_H(s) = 0 in a goal, else the failure cost; for a goal V_h = 0; without an offer V_h = the failure cost; else
        V_h(s) = min_a Q_h(s, a) with Q_h(s, a) = mu + aversion * sigma, mu = sum p x, sigma^2 = sum p (x - mu)^2 and
        x = cost + V_(h+1)(s'). `lower` leaves the x <= mu out of the sum in sigma^2 (and does not rescale it).
        The plan takes the first action with Q <= min Q + 1e-12 |min Q|. With aversion 0 everything is exact.
        """
        steps = self.horizon if horizon is None else horizon
        exact = aversion == 0
        states = self.reachable(start)
        failure: Any = self.failure_cost if exact else float(self.failure_cost)
        policy: dict[tuple[int, State], str] = {}
        value: dict[State, Any] = {state: 0 if self.is_goal(state) else failure for state in states}
        for step in reversed(range(steps)):
            later, value = value, {}
            for state in states:
                if self.is_goal(state):
                    value[state] = 0
                    continue
                choices = self.choices(state, steps - step)
                if not choices:
                    value[state] = failure
                    continue
                scores = []
                for choice in choices:
                    if exact:
                        scores.append(sum(edge.chance * (edge.cost + later[edge.next]) for edge in choice.edges))
                    else:
                        pairs = [(float(edge.chance), float(edge.cost) + later[edge.next]) for edge in choice.edges]
                        scores.append(_score(pairs, float(aversion), lower))
                least: Any = min(scores)
                slack = abs(least) * (TIE if exact else float(TIE))
                first = next(place for place, score in enumerate(scores) if score <= least + slack)
                policy[step, state] = choices[first].action
                value[state] = least
        return policy, float(value[start])

    def histories(self, policy: Policy, start: State, horizon: int | None = None) -> Iterator[History]:
        """Every run that may happen: (steps as (action, outcome), total cost, success, probability, last state)."""
        steps = self.horizon if horizon is None else horizon
        yield from self._runs(policy, start, 0, steps, [], Fraction(0), Fraction(1))

    def _runs(
        self, policy: Policy, state: State, step: int, horizon: int, past: Steps, cost: Fraction, chance: Fraction
    ) -> Iterator[History]:
        if self.is_goal(state):
            yield past, cost, True, chance, state
            return
        choices = {choice.action: choice for choice in self.choices(state, horizon - step)}
        if not choices:
            yield past, cost + self.failure_cost, False, chance, state
            return
        action = policy[step, state]
        if action not in choices:
            raise ValueError(f"{action} is not offered in {state}")
        for edge in choices[action].edges:
            longer = [*past, (action, edge.outcome)]
            yield from self._runs(policy, edge.next, step + 1, horizon, longer, cost + edge.cost, chance * edge.chance)

    def distribution(self, policy: Policy, start: State, horizon: int | None = None) -> Distribution:
        """{(total cost, success): probability}, the sum over all histories; failures include the failure cost."""
        result: Distribution = {}
        for _, cost, succeeded, chance, _ in self.histories(policy, start, horizon):
            result[cost, succeeded] = result.get((cost, succeeded), Fraction(0)) + chance
        return result

    def _decisions(self, start: State, horizon: int | None) -> list[tuple[tuple[int, State], list[str]]]:
        """Every (step, state) that may be met and asks for a choice, with what may be chosen."""
        decisions = []
        layer = [start]
        steps = self.horizon if horizon is None else horizon
        for step in range(steps):
            following: dict[State, None] = {}
            for state in layer:
                choices = self.choices(state, steps - step)
                if choices:
                    decisions.append(((step, state), [choice.action for choice in choices]))
                following.update({edge.next: None for choice in choices for edge in choice.edges})
            layer = list(following)
        return decisions

    def policy_count(self, start: State, horizon: int | None = None) -> int:
        """How many deterministic time-dependent policies there are on the states that may be met at each step."""
        return math.prod(len(actions) for _, actions in self._decisions(start, horizon))

    def policies(self, start: State, horizon: int | None = None) -> Iterator[dict[tuple[int, State], str]]:
        """All those policies, one after the other."""
        decisions = self._decisions(start, horizon)
        for chosen in itertools.product(*(actions for _, actions in decisions)):
            yield {where: action for (where, _), action in zip(decisions, chosen, strict=True)}

    def steady_policies(self, start: State) -> Iterator[dict[tuple[int, State], str]]:
        """All policies that do one thing in a state, whenever they come there (see `choices` for where they stop)."""
        decisions = self._decisions(start, None)
        offered: dict[State, list[str]] = {}
        for (_, state), actions in decisions:
            offered.setdefault(state, actions)
        for chosen in itertools.product(*offered.values()):
            what = dict(zip(offered, chosen, strict=True))
            yield {(step, state): what[state] for (step, state), _ in decisions}

    def visits(self, policy: Policy, start: State) -> dict[State, Fraction]:
        """How often a run is, on average, in each state in which something is done."""
        found: dict[State, Fraction] = {}
        layer = {start: Fraction(1)}
        for step in range(self.horizon):
            following: dict[State, Fraction] = {}
            for state, chance in layer.items():
                choices = {choice.action: choice for choice in self.choices(state, self.horizon - step)}
                if self.is_goal(state) or not choices:
                    continue
                found[state] = found.get(state, Fraction(0)) + chance
                for edge in choices[policy[step, state]].edges:
                    following[edge.next] = following.get(edge.next, Fraction(0)) + chance * edge.chance
            layer = following
        return found

    def best_by_enumeration(self, start: State, horizon: int | None = None) -> Fraction:
        """min over all policies of the sum over all histories of probability * total cost."""
        if self.policy_count(start, horizon) > MOST_POLICIES:
            raise ValueError("too many policies to enumerate")
        return min(
            sum((cost * chance for _, cost, _, chance, _ in self.histories(policy, start, horizon)), Fraction(0))
            for policy in self.policies(start, horizon)
        )

    def all_distributions(
        self, start: State, horizon: int | None = None, most: int = MOST_DISTRIBUTIONS, *, first: str | None = None
    ) -> list[Distribution]:
        """Every distribution that some history-dependent deterministic policy has, each of them once.

        With `first`, of those policies only that begin with this action.

        Such a policy may do something else after every history. So, with D_h(s) the distributions from s at step h:
        D_h(s) = {0 with success} in a goal; {the failure cost} where there is no choice (see `choices`); else, for each
        offered action, all sums over its outcomes of p * (a distribution of D_(h+1)(s') + cost), where each outcome has
        its pick of D_(h+1)(s') to itself, also if another leads to the same state. `TooManyError` beyond `most`.
        """
        known: dict[tuple[int, State], set[Frozen]] = {}
        steps = self.horizon if horizon is None else horizon
        return [dict(found) for found in self._achievable(start, 0, steps, most, known, first)]

    def _achievable(
        self,
        state: State,
        step: int,
        horizon: int,
        most: int,
        known: dict[tuple[int, State], set[Frozen]],
        first: str | None = None,
    ) -> set[Frozen]:
        if self.is_goal(state):
            return {frozenset({((Fraction(0), True), Fraction(1))})}
        choices = self.choices(state, horizon - step)
        if not choices:
            return {frozenset({((self.failure_cost, False), Fraction(1))})}
        if (step, state) not in known:
            found: set[Frozen] = set()
            for choice in choices:
                if first not in (None, choice.action):
                    continue
                sums: set[Frozen] = {frozenset()}
                for edge in choice.edges:
                    later = self._achievable(edge.next, step + 1, horizon, most, known)
                    if len(sums) * len(later) > most:
                        raise TooManyError(f"more than {most} distributions at step {step} in {state}")
                    sums = {_plus(part, edge, rest) for part in sums for rest in later}
                found |= sums
            if len(found) > most:
                raise TooManyError(f"more than {most} distributions at step {step} in {state}")
            known[step, state] = found
        return known[step, state]

    # -- against an adversary

    def all_laws(
        self, start: State, *, success_first: bool = False, most: int = MOST_DISTRIBUTIONS
    ) -> list[list[Distribution]]:
        """For every history-dependent plan, the distributions that an adversary can bring about at the corners.

        He may choose another corner (see `vertices`) after every history, knowing the plan. So, with L_h(s) the sets of
        distributions from s at step h, one per plan: for each offered action and each pick of a plan from L_(h+1)(s')
        per outcome, all sums over the outcomes of p * (one of the plan's distributions + cost), p any corner. With
        `success_first`, only actions with the highest worst success at every step count.
        """
        known: dict[tuple[int, State], list[frozenset[Frozen]]] = {}
        return [[dict(law) for law in laws] for laws in self._laws(start, 0, success_first, most, known)]

    def _laws(
        self,
        state: State,
        step: int,
        success_first: bool,
        most: int,
        known: dict[tuple[int, State], list[frozenset[Frozen]]],
    ) -> list[frozenset[Frozen]]:
        if self.is_goal(state):
            return [frozenset({frozenset({((Fraction(0), True), Fraction(1))})})]
        choices = self.choices(state, self.horizon - step)
        if not choices:
            return [frozenset({frozenset({((self.failure_cost, False), Fraction(1))})})]
        if (step, state) not in known:
            if success_first:
                highest = self.worst_success(state, step)
                choices = [choice for choice in choices if self._worst_success_of(choice, step) == highest]
            found: dict[frozenset[Frozen], None] = {}
            for choice in choices:
                later = [self._laws(edge.next, step + 1, success_first, most, known) for edge in choice.possible]
                if math.prod(len(plans) for plans in later) > most:
                    raise TooManyError(f"more than {most} plans at step {step} in {state}")
                for picks in itertools.product(*later):
                    if math.prod(len(laws) for laws in picks) * len(choice.vertices) > most:
                        raise TooManyError(f"more than {most} laws at step {step} in {state}")
                    found[frozenset(_mix(choice, corner, parts) for corner, parts in _pairs(choice, picks))] = None
            known[step, state] = list(found)
        return known[step, state]

    def worst_success(self, state: State, step: int = 0) -> Fraction:
        """The highest success that can be had whatever the chances are: max over a of min over corners."""
        if self.is_goal(state):
            return Fraction(1)
        choices = self.choices(state, self.horizon - step)
        return max((self._worst_success_of(choice, step) for choice in choices), default=Fraction(0))

    def _worst_success_of(self, choice: Choice, step: int) -> Fraction:
        ahead = [self.worst_success(edge.next, step + 1) for edge in choice.possible]
        return min(
            sum((chance * value for chance, value in zip(corner, ahead, strict=True)), Fraction(0))
            for corner in choice.vertices
        )

    # -- what happens at least once

    def chance_of_once(self, policy: Policy, state: State, event: Event, step: int = 0) -> Fraction:
        """The probability that a run makes a move of which the event says yes: over all histories."""
        return self._once(policy, state, event, step, lambda choice, ahead: [_expect(choice, ahead)])

    def range_of_once(self, policy: Policy, state: State, event: Event) -> tuple[Fraction, Fraction]:
        """The least and the most that it may be, with the chances chosen anew, in a corner, after every history."""
        ends = [sign * self._once(policy, state, event, 0, _corners, sign) for sign in (-1, 1)]
        return ends[0], ends[1]

    def _once(
        self,
        policy: Policy,
        state: State,
        event: Event,
        step: int,
        values: Callable[[Choice, dict[int, Fraction]], list[Fraction]],
        sign: int = 1,
    ) -> Fraction:
        choices = {choice.action: choice for choice in self.choices(state, self.horizon - step)}
        if not choices:
            return Fraction(0)
        choice = choices[policy[step, state]]
        ahead = {
            edge.outcome: Fraction(sign)
            if event(step, state, choice.action, edge)
            else self._once(policy, edge.next, event, step + 1, values, sign)
            for edge in choice.possible
        }
        return max(values(choice, ahead))

    def best_success(self, state: State, steps: int) -> Fraction:
        """The highest probability to reach a goal within so many steps."""
        if (state, steps) not in self._best:
            parts = [
                sum((edge.chance * self.best_success(edge.next, steps - 1) for edge in choice.edges), Fraction(0))
                for choice in self.choices(state, steps)
            ]
            self._best[state, steps] = Fraction(1) if self.is_goal(state) else max(parts, default=Fraction(0))
        return self._best[state, steps]

    def works(self, action: str, outcome: int) -> bool:
        """Whether an outcome counts as the action having worked: as it is stated, else the first."""
        stated = self._outcomes(self.actions[action])[outcome][0].get("works")
        return outcome == 0 if stated is None else _flag(stated)

    # -- how far a plan goes

    def changed(self, start: State, end: State) -> int:
        """The number of features whose level differs, but for hidden ones."""
        pairs = zip(self.features.values(), start, end, strict=False)
        return sum(1 for feature, before, after in pairs if before != after and not feature.hidden)

    def distance(self, start: State, end: State) -> int:
        """The sum of |level index difference| (ordinal, numeric) and of 1 per changed nominal one, not hidden ones."""
        total = 0
        for (name, feature), before, after in zip(self.features.items(), start, end, strict=False):
            if feature.hidden:
                continue
            if feature.kind == "nominal":
                total += before != after
            else:
                total += abs(self.index(name, after) - self.index(name, before))
        return total

    def _expected_at_success(
        self, measure: Callable[[State, State], int], policy: Policy, start: State, horizon: int | None
    ) -> Fraction | None:
        ends = [(chance, end) for _, _, won, chance, end in self.histories(policy, start, horizon) if won]
        mass = sum((chance for chance, _ in ends), Fraction(0))
        if mass == 0:
            return None
        return sum((chance * measure(start, end) for chance, end in ends), Fraction(0)) / mass

    def sparsity(self, policy: Policy, start: State, horizon: int | None = None) -> Fraction | None:
        """E[number of changed features | success]; None without a successful run."""
        return self._expected_at_success(self.changed, policy, start, horizon)

    def proximity(self, policy: Policy, start: State, horizon: int | None = None) -> Fraction | None:
        """E[sum of level differences, 1 per changed nominal | success]; None without a successful run."""
        return self._expected_at_success(self.distance, policy, start, horizon)


def _expect(choice: Choice, ahead: Mapping[int, Fraction]) -> Fraction:
    return sum((edge.chance * ahead[edge.outcome] for edge in choice.edges), Fraction(0))


def _corners(choice: Choice, ahead: Mapping[int, Fraction]) -> list[Fraction]:
    values = [ahead[edge.outcome] for edge in choice.possible]
    pairs = [zip(corner, values, strict=True) for corner in choice.vertices]
    return [sum((chance * value for chance, value in pair), Fraction(0)) for pair in pairs]


def _pairs(
    choice: Choice, picks: Sequence[frozenset[Frozen]]
) -> Iterator[tuple[tuple[Fraction, ...], tuple[Frozen, ...]]]:
    """All corners with all ways to take one law per outcome."""
    return itertools.product(choice.vertices, itertools.product(*picks))


def _mix(choice: Choice, corner: tuple[Fraction, ...], parts: tuple[Frozen, ...]) -> Frozen:
    """The law of an action at these chances, with these laws after its outcomes."""
    law: Frozen = frozenset()
    for edge, chance, part in zip(choice.possible, corner, parts, strict=True):
        law = _plus(law, replace(edge, chance=chance), part)
    return frozenset((end, chance) for end, chance in law if chance > 0)


def _plus(part: Frozen, edge: Edge, rest: Frozen) -> Frozen:
    """What has been added up so far, and what follows an outcome: p * (rest + cost)."""
    result = dict(part)
    for (cost, succeeded), chance in rest:
        key = cost + edge.cost, succeeded
        result[key] = result.get(key, Fraction(0)) + edge.chance * chance
    return frozenset(result.items())


def _score(pairs: Sequence[tuple[float, float]], aversion: float, lower: bool) -> float:
    """mu + aversion * sqrt(sum p (x - mu)^2) over pairs (p, x); with `lower` only over the x above mu."""
    mu = math.fsum(p * x for p, x in pairs)
    counted = [(p, x) for p, x in pairs if x > mu or not lower]
    return mu + aversion * math.sqrt(math.fsum(p * (x - mu) ** 2 for p, x in counted))


# ------------------------------------------------------------------------------------------------------ distributions


def _masses(distribution: Distribution, given_success: bool) -> list[tuple[Fraction, Fraction]]:
    """(cost, probability) by rising cost, of all or of the successful runs, scaled to 1; empty if there is none."""
    masses: dict[Fraction, Fraction] = {}
    for (cost, succeeded), chance in distribution.items():
        if succeeded or not given_success:
            masses[cost] = masses.get(cost, Fraction(0)) + chance
    whole = sum(masses.values(), Fraction(0))
    return [(cost, chance / whole) for cost, chance in sorted(masses.items()) if chance > 0]


def _level(level: Fraction | float | str) -> Fraction:
    exact = Fraction(str(level))
    if not 0 <= exact <= 1:
        raise ValueError(f"no level: {level}")
    return exact


def success(distribution: Distribution) -> Fraction:
    """P(success)."""
    return sum((chance for (_, succeeded), chance in distribution.items() if succeeded), Fraction(0))


def mean(distribution: Distribution, *, given_success: bool = False) -> Fraction | None:
    """sum p x."""
    masses = _masses(distribution, given_success)
    return sum((cost * chance for cost, chance in masses), Fraction(0)) if masses else None


def variance(distribution: Distribution, *, given_success: bool = False) -> Fraction | None:
    """sum p (x - mean)^2."""
    masses = _masses(distribution, given_success)
    middle = mean(distribution, given_success=given_success)
    if middle is None:
        return None
    return sum((chance * (cost - middle) ** 2 for cost, chance in masses), Fraction(0))


def value_at_risk(
    distribution: Distribution, level: Fraction | float | str, *, given_success: bool = False
) -> Fraction | None:
    """The smallest cost x that occurs with P(X <= x) >= level."""
    masses = _masses(distribution, given_success)
    below = Fraction(0)
    for cost, chance in masses:
        below += chance
        if below >= _level(level):
            return cost
    return None


def cvar(distribution: Distribution, level: Fraction | float | str, *, given_success: bool = False) -> Fraction | None:
    """Rockafellar and Uryasev: the mean of the worst 1 - level of the mass; the greatest cost at level 1."""
    masses = _masses(distribution, given_success)
    wanted = 1 - _level(level)
    if not masses:
        return None
    if wanted == 0:
        return masses[-1][0]
    left, total = wanted, Fraction(0)
    for cost, chance in reversed(masses):
        part = min(left, chance)
        total += part * cost
        left -= part
    return total / wanted


def tail_mean(
    distribution: Distribution, level: Fraction | float | str, *, given_success: bool = False
) -> Fraction | None:
    """E[X | X > VaR], the paper's CVaR; None if nothing exceeds VaR."""
    masses = _masses(distribution, given_success)
    limit = value_at_risk(distribution, level, given_success=given_success)
    tail = [(cost, chance) for cost, chance in masses if limit is not None and cost > limit]
    if not tail:
        return None
    return sum((cost * chance for cost, chance in tail), Fraction(0)) / sum((chance for _, chance in tail), Fraction(0))


# --------------------------------------------------------------------------------- objectives: of all runs, to be small


def _known(value: Fraction | None) -> Fraction:
    if value is None:
        raise ValueError("no distribution: nothing can happen")
    return value


def mean_of_all(distribution: Distribution) -> Fraction:
    """E[C]."""
    return _known(mean(distribution))


def var_of_all(level: float | str) -> Callable[[Distribution], Fraction]:
    """The smallest cost x that occurs with P(C <= x) >= level."""
    return lambda distribution: _known(value_at_risk(distribution, level))


def cvar_of_all(level: float | str) -> Callable[[Distribution], Fraction]:
    """The mean of the worst 1 - level of the mass; the greatest cost at level 1."""
    return lambda distribution: _known(cvar(distribution, level))


def mean_cvar(weight: float | str, level: float | str) -> Callable[[Distribution], Fraction]:
    """(1 - weight) E[C] + weight CVaR."""
    part, tail = _level(weight), cvar_of_all(level)
    return lambda distribution: (1 - part) * mean_of_all(distribution) + part * tail(distribution)


def mean_std(aversion: float) -> Callable[[Distribution], float]:
    """E[C] + aversion * the root of the variance."""
    return lambda distribution: float(mean_of_all(distribution)) + aversion * math.sqrt(_known(variance(distribution)))


def mean_variance(aversion: float) -> Callable[[Distribution], Fraction]:
    """E[C] + aversion * the variance."""
    exact = Fraction(str(aversion))
    return lambda distribution: mean_of_all(distribution) + exact * _known(variance(distribution))


def entropic(aversion: float) -> Callable[[Distribution], float]:
    """(1 / b) log E[exp(b C)], as m + (1 / b) log E[exp(b (C - m))] with m the greatest cost; E[C] at b = 0."""

    def measure(distribution: Distribution) -> float:
        if aversion == 0:
            return float(mean_of_all(distribution))
        masses = _masses(distribution, given_success=False)
        top = masses[-1][0]
        parts = [float(chance) * math.exp(aversion * float(cost - top)) for cost, chance in masses]
        return float(top) + math.log(math.fsum(parts)) / aversion

    return measure


def budget_miss(limit: float | str) -> Callable[[Distribution], Fraction]:
    """1 - P(success for at most the limit)."""
    most = Fraction(str(limit))
    return lambda distribution: (
        1
        - sum(
            (chance for (cost, succeeded), chance in distribution.items() if succeeded and cost <= most),
            Fraction(0),
        )
    )


def best(distributions: Sequence[Distribution], measure: Callable[[Distribution], Number]) -> Number:
    """The least value of all."""
    return min(measure(distribution) for distribution in distributions)


def most_successful(distributions: Sequence[Distribution]) -> list[Distribution]:
    """Those with exactly the highest probability of success."""
    highest = max(success(distribution) for distribution in distributions)
    return [distribution for distribution in distributions if success(distribution) == highest]


# ------------------------------------------------------------------------------------------- the worst of several laws


def worst_of(measure: Callable[[Distribution], Number]) -> Callable[[Sequence[Distribution]], Number]:
    """The worst law, for measures that no mixture of laws makes worse than the worst of them."""
    return lambda laws: max(measure(law) for law in laws)


def worst_mean_cvar(weight: float | str, level: float | str) -> Callable[[Sequence[Distribution]], Fraction]:
    """The highest (1 - weight) E[C] + weight CVaR of all mixtures of laws.

    That is concave in the law, so a mixture may be worse than all its parts: the least over t of the highest of all
    laws' (1 - weight) E[C] + weight (t + E[max(C - t, 0)] / (1 - level)), convex in t and linear but where t is a cost
    that occurs or where two laws are equally bad. So of the costs the best one is found, and beside it all crossings.
    """
    part, tail = _level(weight), 1 - _level(level)

    def worst(laws: Sequence[Distribution]) -> Fraction:
        means = [mean_of_all(law) for law in laws]
        costs = sorted({cost for law in laws for cost, _ in law})
        if tail == 0:  # a mixture with ever so little of the law with the highest cost
            return (1 - part) * max(means) + part * costs[-1]

        def value(number: int, t: Fraction) -> Fraction:
            excess = (chance * max(cost - t, Fraction(0)) for (cost, _), chance in laws[number].items())
            return (1 - part) * means[number] + part * (t + sum(excess, Fraction(0)) / tail)

        def highest(t: Fraction) -> Fraction:
            return max(value(number, t) for number in range(len(laws)))

        place = min(range(len(costs)), key=lambda i: highest(costs[i]))
        found = highest(costs[place])
        for low, high in itertools.pairwise(costs[max(place - 1, 0) : place + 2]):
            ends = [(value(number, low), value(number, high)) for number in range(len(laws))]
            lines = {(at_low, (at_high - at_low) / (high - low)) for at_low, at_high in ends}
            for (one, rise), (other, other_rise) in itertools.combinations(sorted(lines), 2):
                if rise != other_rise and 0 < (t := (other - one) / (rise - other_rise)) < high - low:
                    found = min(found, max(at_low + slope * t for at_low, slope in lines))
        return found

    return worst
