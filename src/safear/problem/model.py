"""A recourse problem as data: what the problem file says, in names, with nothing computed yet.

`Problem` is compiled to an `MDP` (arrays) by `safear.compile_mdp`. Everything here is frozen; `with_horizon` and
`apply_terms` give changed copies.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import Literal

from safear.arguments import ArgumentKind
from safear.errors import Path, ProblemError
from safear.numerals import reads_as_number
from safear.problem.condition import ALWAYS, Condition, FeatureTest, LevelTest, condition_features, replace_tests
from safear.problem.durations import Duration
from safear.problem.glossary import NO_LABELS, NOBODY, Glossary, Provider
from safear.problem.limits import spell_out
from safear.problem.quantity import CONFIDENCE, GUESS, Quantity, amounts, quantity_features

Kind = Literal["ordinal", "nominal", "numeric"]
Direction = Literal["up", "down", "any"]
PromiseKind = Literal["value", "range", "narrow"]
Person = Mapping[str, str]  # feature -> level name
Record = Mapping[str, object]  # a person as filed: levels, raw numbers, given columns, and whatever else is there
JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # 07 is a text
MAX_ACTIONS = 254  # a policy stores a choice in one byte
MAX_OUTCOMES = 255  # and an edge its outcome
MAX_COST = Decimal("1e15")  # so that sums of squares stay finite


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that is known about a person, at one of finitely many levels.

    `values` are what the classifier sees for each level (the level's name if empty). A numeric feature's levels are the
    intervals between `edges`; with `closed="left"` an edge belongs to the interval above it. Its numbers lie between
    `least` and `most` (None: no limit), and only multiples of `step` exist (None: all numbers do). An empty cell means
    the level `missing` ("": it is a mistake); the classifier sees it as empty until the level changes. What is `hidden`
    is bookkeeping: nobody is told of it, and a record need not have it. It then begins at the first level, or at that
    of the feature that it is a `copy_of`. `at_most`: how far it may go in all from what was filed. Copies and features
    that `counts` the tries of an action are made by `limits`, and nobody writes them down.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...]
    mutable: bool = True
    actionable: bool = True
    seen_by_classifier: bool = True
    values: tuple[float | str, ...] = ()
    edges: tuple[Decimal, ...] = ()
    closed: Literal["left", "right"] = "left"
    step: Decimal | None = None
    least: Decimal | None = None
    most: Decimal | None = None
    unit: str = ""
    missing: str = ""
    hidden: bool = False
    at_most: Move | Shift | None = None
    copy_of: str = ""
    counts: str = ""

    @property
    def is_raw(self) -> bool:
        """Whether the classifier sees a number as it was filed, and not only its level."""
        return self.kind == "numeric" and bool(self.values) and self.seen_by_classifier

    @property
    def is_derived(self) -> bool:
        """Whether it is bookkeeping that follows from limits."""
        return bool(self.copy_of or self.counts)

    @property
    def is_ordered(self) -> bool:
        """Whether `<` and moves by a number of levels make sense."""
        return self.kind != "nominal"

    def level_of(self, number: Decimal) -> str:
        """The level of a numeric feature that a raw number falls into."""
        find = bisect_right if self.closed == "left" else bisect_left
        return self.levels[find(self.edges, number)]

    def level_at(self, number: Decimal) -> str | None:
        """The same; None if the feature has no such intervals."""
        is_cut = self.kind == "numeric" and len(self.levels) == len(self.edges) + 1
        return self.level_of(number) if is_cut else None

    def admits(self, number: Decimal) -> bool:
        """Whether a number is within the limits of the feature."""
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def knows(self, text: str, operator: str) -> bool:
        """Whether a condition can compare the feature with this: a level, or an edge where that makes sense."""
        return text in self.levels or self.edge_position(text, operator) is not None

    def edge_position(self, text: str, operator: str) -> int | None:
        """The k for which `feature operator text` means 'at level k or above' or its opposite; None if neither.

        `bmi < 25` can be said of levels only if 25 is an edge that belongs to the level above it.
        """
        if self.kind != "numeric" or operator not in ({"<", ">="} if self.closed == "left" else {"<=", ">"}):
            return None
        number = as_decimal(text)
        return self.edges.index(number) + 1 if number in self.edges else None


def name_features(condition: Condition, features: Mapping[str, Feature]) -> Condition:
    """The condition as it is meant: a name on the right that is no level of the feature on the left is a feature."""

    def change(item: LevelTest) -> LevelTest | FeatureTest:
        feature = features.get(item.feature)
        if feature is None or item.level not in features or feature.knows(item.level, item.operator):
            return item
        return FeatureTest(item.feature, item.operator, item.level, item.column)

    return replace_tests(condition, change)


def as_decimal(text: object) -> Decimal | None:
    """A finite decimal number, or None."""
    written = str(text)
    if not reads_as_number(written):
        return None
    try:
        return Decimal(written.strip())
    except ArithmeticError:  # an exponent without end
        return None


# Truth values whatever is asked: in tables, in records and in settings. `yes` may be a name, and 1 a number.
TRUTHS = {"true": True, "false": False}
# What a label of a model says of yes or no; a single letter may be short for anything.
_LABELS = TRUTHS | {"yes": True, "1": True, "1.0": True, "no": False, "0": False, "0.0": False}
# All words for yes and no, besides the numbers 1 and 0, where nothing else can be meant.
YES_AND_NO = _LABELS | dict.fromkeys(("y", "on", "t"), True) | dict.fromkeys(("n", "off", "f"), False)


def as_truth(label: object) -> bool | None:
    """What a model's label says of yes or no, or None."""
    return _LABELS.get(str(label).strip().lower())


def read_flag(value: object) -> bool | None:
    """The answer to a question of yes or no in a log, a table or a problem file, or None if it is neither."""
    number = as_decimal(value)
    return bool(number) if number in {0, 1} else YES_AND_NO.get(str(value).strip().lower())


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN (of any type), an empty text, or what pandas calls NA and NaT."""
    if isinstance(value, str):
        return not value
    return value is None or str(value) in {"nan", "NaN", "<NA>", "NaT"}


@dataclass(frozen=True, slots=True)
class Move:
    """Go up (or, below zero, down) by so many levels, and stop at the last."""

    by: int

    def __str__(self) -> str:
        return f"{self.by} level" if self.by == 1 else f"{self.by} levels"


@dataclass(frozen=True, slots=True)
class Shift:
    """Go up (or, below zero, down) by so much in the feature's own unit: to the level of the value plus `by`."""

    by: Decimal
    unit: str

    def __str__(self) -> str:
        return f"{self.by:f} {self.unit}"


@dataclass(frozen=True, slots=True)
class SetTo:
    """Go to this level."""

    level: str


@dataclass(frozen=True, slots=True)
class Follow:
    """Of a side effect: go by `by` for each whole `per` that the cause has gone, in levels or units; never clipped."""

    by: Move | Shift
    per: Move | Shift

    def __str__(self) -> str:
        return f"{self.by.by:+f}".rstrip("0").rstrip(".") + f" per {self.per}"


Effect = Move | Shift | SetTo | Follow
Change = Mapping[str, Effect]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which an action may end.

    `chance=None` is the rest that the other outcomes leave. `cost=None` is the action's cost. `works=None` is true for
    the first outcome of an action only.
    """

    chance: Quantity | None = None
    change: Change = field(default_factory=dict)
    cost: Quantity | None = None
    label: str | None = None
    works: bool | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do, at a cost, with an uncertain end; `at_most` so often (None: no limit).

    `counted_by` is the hidden feature that each try moves up by one, whatever its end (see `limits`). `duration` is how
    long a try takes, where that is said: letters tell dates by it, and no plan depends on it.
    """

    name: str
    cost: Quantity
    outcomes: tuple[Outcome, ...]
    when: Condition = ALWAYS
    at_most: int | None = None
    counted_by: str = ""
    duration: Duration | None = None

    def works(self, outcome: int) -> bool:
        """Whether this outcome counts as the action having worked."""
        stated = self.outcomes[outcome].works
        return outcome == 0 if stated is None else stated

    @property
    def prices_outcomes(self) -> bool:
        """Whether some outcome has a cost of its own, so that the action's is not what every try costs."""
        return any(outcome.cost is not None for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class SideEffect:
    """A change that follows in the same step whenever the level of `cause` changes."""

    cause: str
    change: Change
    direction: Direction = "any"
    when: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class Goal:
    """What the person wants from the classifier, what it costs not to get it, and what is promised of numbers.

    A number that changes is promised to become its level's *value*, or to land anywhere in the level's *range*, or in
    the part of the range around the value in which the plan holds (*narrow*). Plans `stop`, and spend nothing more,
    where no goal can be reached any more.

    Who scores below `threshold` is rejected; plans are made for scores of at least `aim`, if there is one. Where there
    are several models, the first decides, and plans are made for what a share `agree` of them accept.
    """

    favourable: str | None = None
    threshold: float | None = None
    failure_cost: Decimal = Decimal(0)
    promise: PromiseKind = "narrow"
    aim: float | None = None
    agree: float = 1.0
    stop: bool = True

    @property
    def aimed(self) -> Goal:
        """The goal of plans, as if it were what decides."""
        return self if self.aim is None else replace(self, threshold=self.aim)

    @property
    def unaimed(self) -> Goal:
        """The same without a margin."""
        return replace(self, aim=None)


@dataclass(frozen=True, repr=False)
class Problem:
    """A recourse problem: features, what can be done about them, and what counts as success.

    `given` are columns that the classifier sees as filed, without levels; a model that knows its columns need not be
    told. `confidence` is that of the intervals of chances that are given as counts. `glossary` is what people read
    instead of names, and `provider` whom they may turn to.
    """

    title: str
    horizon: int
    features: tuple[Feature, ...]
    actions: tuple[Action, ...]
    goal: Goal = field(default_factory=Goal)
    rule: Condition | None = None
    side_effects: tuple[SideEffect, ...] = ()
    constraints: tuple[Condition, ...] = ()
    people: Mapping[str, Record] = field(default_factory=lambda: MappingProxyType({}))
    given: tuple[str, ...] = ()
    cost_unit: str = "units"
    cost_resolution: Decimal | None = None
    confidence: float = CONFIDENCE
    description: str = ""
    glossary: Glossary = NO_LABELS
    provider: Provider = NOBODY

    def __post_init__(self) -> None:
        spelled = spell_out(self.features, self.actions, self.constraints)
        for name, parts in zip(("features", "actions", "constraints"), spelled, strict=True):
            object.__setattr__(self, name, parts)

    @cached_property
    def feature_by_name(self) -> Mapping[str, Feature]:
        """The features by name, in order."""
        return MappingProxyType({feature.name: feature for feature in self.features})

    @cached_property
    def shown_features(self) -> tuple[Feature, ...]:
        """The features that people are told of, in order."""
        return tuple(feature for feature in self.features if not feature.hidden)

    def shown(self, person: Person) -> dict[str, str]:
        """A person without what is hidden."""
        return {feature.name: person[feature.name] for feature in self.shown_features}

    @cached_property
    def action_by_name(self) -> Mapping[str, Action]:
        """The actions by name, in order."""
        return MappingProxyType({action.name: action for action in self.actions})

    @cached_property
    def changed_features(self) -> frozenset[str]:
        """The features that some action or side effect can change."""
        changes = [outcome.change for action in self.actions for outcome in action.outcomes]
        changes += [effect.change for effect in self.side_effects]
        counters = {action.counted_by for action in self.actions if action.counted_by}
        return frozenset(name for change in changes for name in change) | counters

    @cached_property
    def decisive_features(self) -> frozenset[str]:
        """The features on which it depends what an action does: all others matter to the classifier only."""
        conditions = [action.when for action in self.actions] + [effect.when for effect in self.side_effects]
        looked_at = [condition_features(condition) for condition in (*conditions, *self.constraints)]
        looked_at += [quantity_features(quantity) for _, quantity in self.quantities()]
        return frozenset().union(*looked_at) | self.changed_features | {effect.cause for effect in self.side_effects}

    @property
    def default_person(self) -> Record | None:
        """The first of `people`."""
        return next(iter(self.people.values()), None)

    @property
    def has_intervals(self) -> bool:
        """Whether any chance is an interval (solvers use its nominal value)."""
        return any(amount.is_interval for _, quantity in self.quantities() for amount in amounts(quantity))

    @property
    def guesses(self) -> tuple[Path, ...]:
        """Where costs and chances stand that are guesses, in whole or in part."""
        return tuple(at for at, what in self.quantities() if any(one.source == GUESS for one in amounts(what)))

    def quantities(self) -> Iterator[tuple[Path, Quantity]]:
        """All costs and chances, each with its place."""
        for action in self.actions:
            path: Path = ("actions", action.name)
            yield (*path, "cost"), action.cost
            for number, outcome in enumerate(action.outcomes):
                parts = {"chance": outcome.chance, "cost": outcome.cost}
                yield from (((*path, "outcomes", number, name), q) for name, q in parts.items() if q is not None)

    def __getstate__(self) -> dict[str, object]:
        """What is sent to another process: the fields alone, without what was worked out from them."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"people": dict(self.people)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        parts = f"{len(self.features)} features, {len(self.actions)} actions, horizon {self.horizon}"
        return f"Problem('{self.title}': {parts})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        names = "".join(f"<li>{escape(action.name)}</li>" for action in self.actions)
        return f"<p>{escape(repr(self))}</p><ul>{names}</ul>"

    def without_labels(self) -> Problem:
        """The same problem with nothing but names and numbers: what plans depend on."""
        actions = tuple(replace(action, duration=None) for action in self.actions)
        return replace(self, actions=actions, glossary=NO_LABELS, provider=NOBODY)

    def with_horizon(self, horizon: int) -> Problem:
        """The same problem with another number of steps."""
        return replace(self, horizon=horizon)


PROBLEM = ArgumentKind(
    "a problem",
    "use load_problem, parse_problem or load_example",
    (Problem,),
    error=ProblemError,
    code="not_a_problem",
)
