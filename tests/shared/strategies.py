"""Hypothesis strategies that draw small valid problem documents, as plain dicts in the vocabulary of the problem file.

The documents stay clear of what the format leaves open: nothing hangs on the order of two opposed changes of one
feature, on a table by the level of a feature that a side effect moves too, or on how a cost just between two multiples
of the resolution is rounded.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from lanes import scaled
from oracle import Oracle

Document: TypeAlias = dict[str, Any]
Draw: TypeAlias = st.DrawFn
Number: TypeAlias = int | float
T = TypeVar("T")

FEWER = settings(max_examples=scaled(40))  # where each example takes long
FEATURE_NAMES = ("skill", "savings", "resting heart rate", "job-status", "b.m.i", "pay ($)", "time in job", "sex")
ACTION_NAMES = ("learn", "work more", "move (again)")
LEVEL_NAMES = (
    ("low", "mid", "high"),
    ("none", "little", "very rich"),
    ("no", "maybe", "yes"),
    ("low", "high", "top"),
    ("1", "2", "3"),
    ("a/b", "<5k", "it's"),
    ("+1", "-1", "null"),
)
EDGES: dict[int, tuple[tuple[Number, ...], ...]] = {2: ((10,), (0.5,)), 3: ((20, 25), (0.5, 1), (18, 60.5))}
MOST_TINY_POLICIES = 400
UNIT = "EUR"


@dataclass(frozen=True)
class Drawn:
    """A feature as drawn, before it is written down."""

    name: str
    kind: str
    levels: tuple[str, ...]
    edges: tuple[Number, ...] = ()
    closed: str = "left"
    mutable: bool = True
    actionable: bool = True
    seen: bool = True
    values: tuple[Number, ...] = ()
    unit: str = ""
    step: Number | None = None  # of a range
    hidden: bool = False
    at_most: int | str = 0

    @property
    def ordered(self) -> bool:
        return self.kind != "nominal"


@dataclass(frozen=True)
class Said:
    """A condition as text, and what it means on {feature: index of its level}; made without any parser.

    `binding`: 0 is an `or`, 1 an `and`, 2 a `not`, 3 a comparison or something in parentheses.
    """

    text: str
    holds: Callable[[Mapping[str, int]], bool]
    binding: int

    def inside(self, binding: int) -> str:
        """The text for a place that needs at least this binding."""
        return self.text if self.binding >= binding else f"({self.text})"


@dataclass(frozen=True)
class Changed:
    """One outcome's change as written, and the levels that it may lead to for each feature."""

    written: dict[str, Any]
    reached: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scene:
    """What the parts of a document need to know of each other while they are drawn."""

    features: tuple[Drawn, ...]
    start: dict[str, int]
    signs: dict[str, int]  # feature moved by side effects: +1 or -1 if it is moved up or down, 0 if it is set

    def named(self, name: str) -> Drawn:
        return next(feature for feature in self.features if feature.name == name)


# Made once: to make a strategy takes longer than to draw from it, and a document takes some hundred draws.
_between = cache(st.integers)


def pick(draw: Draw, options: Sequence[T]) -> T:
    """One of these; shrinks to the first."""
    return options[draw(_between(0, len(options) - 1))]


def rarely(draw: Draw, one_in: int) -> bool:
    """True about once in so many times; shrinks to False."""
    return draw(_between(0, one_in - 1)) == one_in - 1


def decimal(hundredths: int) -> Number:
    """The number with at most two places."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


# -------------------------------------------------------------------------------------------------------- conditions


def _written(draw: Draw, name: str) -> str:
    """A name as it may stand in a condition: quoted where it must be, and sometimes where it need not."""
    words = name.split(" ")
    plain = all(re.fullmatch(r"[\w.\-]+", word) for word in words)
    plain = plain and not set(words) & {"and", "or", "not", "in", "true", "false"}
    if plain and not rarely(draw, 5):
        return name
    mark = pick(draw, [mark for mark in "'\"" if mark not in name])
    return f"{mark}{name}{mark}"


def _atom(draw: Draw, features: Sequence[Drawn]) -> Said:
    """One comparison."""
    feature = pick(draw, features)
    name, left, levels = feature.name, _written(draw, feature.name), feature.levels
    forms = ["equal", "several"]
    if feature.ordered:
        forms += ["order", "order"]
    if feature.kind == "numeric":
        forms += ["edge", "edge"]
    others = [other for other in features if other is not feature and _comparable(feature, other)]
    if others:
        forms += ["pair", "pair"]
    form = pick(draw, forms)
    if form == "pair":
        return _pair(draw, feature, pick(draw, others))
    gap = " " if not rarely(draw, 4) else ""
    trivial = rarely(draw, 12)  # true or false in every state
    if form == "several":
        most = len(levels) if trivial else len(levels) - 1
        chosen = draw(st.sets(st.sampled_from(range(len(levels))), min_size=1, max_size=most))
        inside = not rarely(draw, 2)
        listed = ", ".join(_written(draw, levels[index]) for index in sorted(chosen))
        return Said(f"{left} {'in' if inside else 'not in'} [{listed}]", lambda at: (at[name] in chosen) == inside, 3)
    if form == "edge":
        edge = pick(draw, range(len(feature.edges)))
        signs = ("<", ">=") if feature.closed == "left" else ("<=", ">")
        below = rarely(draw, 2)
        text = f"{left}{gap}{signs[0] if below else signs[1]}{gap}{feature.edges[edge]}"
        return Said(text, lambda at: (at[name] <= edge) == below, 3)
    sign = pick(draw, ["==", "!="] if form == "equal" else ["<", "<=", ">", ">="])
    low = 1 if sign in ("<", ">=") and not trivial else 0
    high = len(levels) - 2 if sign in ("<=", ">") and not trivial else len(levels) - 1
    right = draw(_between(low, high))
    compare: dict[str, Callable[[int], bool]] = {
        "==": lambda index: index == right,
        "!=": lambda index: index != right,
        "<": lambda index: index < right,
        "<=": lambda index: index <= right,
        ">": lambda index: index > right,
        ">=": lambda index: index >= right,
    }
    test = compare[sign]
    return Said(f"{left}{gap}{sign}{gap}{_written(draw, levels[right])}", lambda at: test(at[name]), 3)


SIGNS: dict[str, Callable[[Number, Number], bool]] = {
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _comparable(one: Drawn, other: Drawn) -> bool:
    return other.name not in one.levels and bool((one.values and other.values) or one.levels == other.levels)


def _pair(draw: Draw, one: Drawn, other: Drawn) -> Said:
    """Two features compared."""
    ordered = one.ordered and other.ordered
    sign = pick(draw, ["<=", "<", ">", ">=", "==", "!="] if ordered else ["==", "!="])
    numbers = [list(feature.values) if one.values and other.values else list(range(9)) for feature in (one, other)]
    test = SIGNS[sign]
    return Said(
        f"{_written(draw, one.name)} {sign} {_written(draw, other.name)}",
        lambda at: test(numbers[0][at[one.name]], numbers[1][at[other.name]]),
        3,
    )


def _not(said: Said) -> Said:
    return Said(f"not {said.inside(3)}", lambda at: not said.holds(at), 2)


def _and(left: Said, right: Said) -> Said:
    return Said(f"{left.inside(1)} and {right.inside(1)}", lambda at: left.holds(at) and right.holds(at), 1)


def _or(left: Said, right: Said) -> Said:
    return Said(f"{left.inside(0)} or {right.inside(0)}", lambda at: left.holds(at) or right.holds(at), 0)


def _condition(draw: Draw, features: Sequence[Drawn], depth: int = 2) -> Said:
    """A condition with at most so many operators below each other."""
    form = pick(draw, ["atom", "atom", "and", "or", "not", "group", "constant"]) if depth else "atom"
    if form == "constant" and rarely(draw, 4):
        always = rarely(draw, 2)
        return Said("true" if always else "false", lambda _: always, 3)
    if form == "and":
        return _and(_condition(draw, features, depth - 1), _condition(draw, features, depth - 1))
    if form == "or":
        return _or(_condition(draw, features, depth - 1), _condition(draw, features, depth - 1))
    if form == "not":
        return _not(_condition(draw, features, depth - 1))
    if form == "group":
        inner = _condition(draw, features, depth - 1)
        return Said(f"({inner.text})", inner.holds, 3)
    return _atom(draw, features)


@st.composite
def conditions(draw: Draw, features: Sequence[Drawn], depth: int = 3) -> Said:
    """Conditions on these features, with their meaning."""
    return _condition(draw, features, depth)


# ---------------------------------------------------------------------------------------------------------- features


def _feature(draw: Draw, name: str, lead: bool) -> Drawn:
    kind = pick(draw, ["ordinal", "ordinal", "nominal", "numeric"])
    count = draw(_between(2, 3))
    edges: tuple[Number, ...] = ()
    closed = "left"
    levels = pick(draw, LEVEL_NAMES)[:count]
    if kind == "numeric" and rarely(draw, 3):
        return replace(_range(draw, name, count), **({} if lead else _limits(draw)))
    values: tuple[Number, ...] = ()
    if kind == "numeric":
        edges = pick(draw, EDGES[count])
        closed = pick(draw, ["left", "right"])
        if rarely(draw, 4):  # inside the levels
            inner = [(float(a) + float(b)) / 2 for a, b in pairwise(edges)]
            values = (float(edges[0]) - 1, *inner, float(edges[-1]) + 1)
        levels = LEVEL_NAMES[0][:count] if rarely(draw, 3) else ()
        if not levels:
            middle = [f"{low}-{high}" for low, high in itertools.pairwise(edges)]
            first, last = ("<", ">=") if closed == "left" else ("<=", ">")
            levels = (f"{first}{edges[0]}", *middle, f"{last}{edges[-1]}")
    drawn = Drawn(name, kind, levels, edges, closed, values=values, unit=UNIT if values else "")
    return drawn if lead else replace(drawn, **_limits(draw))


def _limits(draw: Draw) -> dict[str, Any]:
    hidden = rarely(draw, 8)
    seen = not rarely(draw, 4) and not hidden
    return {"mutable": not rarely(draw, 6), "actionable": not rarely(draw, 3), "seen": seen, "hidden": hidden}


def _range(draw: Draw, name: str, count: int) -> Drawn:
    """A numeric feature with a level for each of a few multiples of a step."""
    step, first, closed = pick(draw, [1, 0.5, 5]), pick(draw, [2, 0, -1]), pick(draw, ["left", "right"])
    values = tuple(decimal(round(100 * step * (first + i))) for i in range(count))
    edges = values[1:] if closed == "left" else values[:-1]
    return Drawn(name, "numeric", tuple(map(str, values)), edges, closed, values=values, unit=UNIT, step=step)


@st.composite
def features_(draw: Draw, most: int = 3) -> tuple[Drawn, ...]:
    """Two or more features; one of them at least can be acted on and is seen by the classifier."""
    count = draw(_between(2, most))
    names = draw(st.permutations(FEATURE_NAMES))[:count]
    lead = draw(_between(0, count - 1))
    return tuple(_held(draw, _feature(draw, name, index == lead)) for index, name in enumerate(names))


def _held(draw: Draw, feature: Drawn) -> Drawn:
    """The feature, sometimes with a limit to how far it may go in all."""
    if not feature.mutable or not feature.ordered or not rarely(draw, 6):
        return feature
    if feature.step is None or rarely(draw, 2):  # in its unit only if each level is a single number
        return replace(feature, at_most=1)
    gap = min(Fraction(str(high)) - Fraction(str(low)) for low, high in pairwise(feature.values))
    return replace(feature, at_most=f"{decimal(round(100 * gap))} {feature.unit}")


def feature_entry(draw: Draw, feature: Drawn) -> Document:
    """The feature as it stands in the file."""
    entry: Document = {"kind": feature.kind}
    if feature.step is not None:
        entry = {"range": [feature.values[0], feature.values[-1]], "unit": feature.unit}
        if feature.step != 1 or rarely(draw, 4):
            entry["step"] = feature.step
        if feature.closed == "right" or rarely(draw, 4):
            entry["closed"] = feature.closed
        if rarely(draw, 4):
            entry["kind"] = "numeric"
    elif feature.kind == "numeric":
        entry["edges"] = list(feature.edges)
        if feature.closed == "right" or rarely(draw, 3):
            entry["closed"] = feature.closed
        if feature.levels[0] == LEVEL_NAMES[0][0] or rarely(draw, 4):
            entry["levels"] = list(feature.levels)
        if feature.values:
            entry |= {"values": list(feature.values), "unit": feature.unit}
    else:
        entry["levels"] = list(feature.levels)
        if rarely(draw, 6):
            entry["values"] = [10 * index for index in range(len(feature.levels))]
    for key, value in (
        ("mutable", feature.mutable),
        ("actionable", feature.actionable),
        ("seen_by_classifier", feature.seen),
    ):
        if not value or rarely(draw, 8):
            entry[key] = value
    entry |= {"hidden": True} if feature.hidden else {}
    return entry | ({"at_most": feature.at_most} if feature.at_most else {})


def _given(draw: Draw, feature: Drawn, index: int) -> str | Number:
    """The level of a person: its name, or a raw number inside it, sometimes just on the edge."""
    if feature.kind != "numeric" or rarely(draw, 2):
        return feature.levels[index]
    if feature.step is not None:  # a range has limits
        inside = feature.values[index] + feature.step / 4 * (1 if feature.closed == "left" else -1)
        return inside if feature.values[0] <= inside <= feature.values[-1] else feature.values[index]
    low = feature.edges[index - 1] if index > 0 else feature.edges[0] - 3
    high = feature.edges[index] if index < len(feature.edges) else feature.edges[-1] + 3
    edge = low if feature.closed == "left" else high
    return edge if rarely(draw, 2) else (low + high) / 2


# ----------------------------------------------------------------------------------------------------------- changes


def _part(draw: Draw, scene: Scene, feature: Drawn) -> tuple[Any, tuple[str, ...]]:
    """A change of one feature as written, and the levels that it may lead to; usually away from the start.

    It does not move against the way in which side effects move the feature.
    """
    count, start = len(feature.levels), scene.start[feature.name]
    sign = scene.signs.get(feature.name)
    if not feature.ordered or rarely(draw, 4):
        away = [level for level in feature.levels if level != feature.levels[start]]
        level = pick(draw, feature.levels if rarely(draw, 4) else away)
        unclear = re.fullmatch(r"[+-][0-9]+", level) is not None
        return ({"to": level} if unclear or rarely(draw, 6) else level), (level,)
    size = draw(_between(1, count - 1))
    up = sign > 0 if sign else (start < count - 1) != rarely(draw, 4)
    if feature.unit and rarely(draw, 2):
        return _amount(draw, feature, up)
    move = f"{'+' if up else '-'}{size}"
    reached = feature.levels[size:] if up else feature.levels[: count - size]
    unclear = move in feature.levels
    return ({"by": size if up else -size} if unclear or rarely(draw, 6) else move), reached


def _amount(draw: Draw, feature: Drawn, up: bool) -> tuple[Any, tuple[str, ...]]:
    """A move in the feature's unit that leaves at least one level, and the levels that it may lead to."""
    gap = min(Fraction(str(high)) - Fraction(str(low)) for low, high in pairwise(feature.values))
    by = gap * pick(draw, [Fraction(1), Fraction(2), Fraction(3, 2), Fraction(7)]) * (1 if up else -1)
    edges = [Fraction(str(edge)) for edge in feature.edges]
    landed = [Fraction(str(value)) + by for value in feature.values]
    codes = sorted({sum(edge < x or (edge == x and feature.closed == "left") for edge in edges) for x in landed})
    written = f"{decimal(round(100 * by))} {feature.unit}"
    written = f"+{written}" if up and rarely(draw, 2) else written
    return {"by": written} if written[0] not in "+-" or rarely(draw, 2) else written, tuple(
        feature.levels[code] for code in codes
    )


def _change(draw: Draw, scene: Scene, *, aim: bool) -> Changed:
    """A change of one or two features; `aim`: one of them can be acted on."""
    mutable = [feature for feature in scene.features if feature.mutable]
    firsts = [feature for feature in mutable if (feature.actionable and not feature.hidden) or not aim]
    firsts += [feature for feature in firsts if feature.seen and feature.actionable]
    targets = [pick(draw, firsts)]
    others = [feature for feature in mutable if feature not in targets]
    if others and rarely(draw, 3):
        targets.append(pick(draw, others))
    written, reached = {}, {}
    for feature in targets:
        written[feature.name], reached[feature.name] = _part(draw, scene, feature)
    return Changed(written, reached)


def _proportion(draw: Draw, cause: Drawn, target: Drawn) -> Document:
    """So many levels, or so much, of a feature for each so many levels, or so much, of its cause."""

    def size(feature: Drawn, numbers: Sequence[int]) -> int | str:
        factor = pick(draw, numbers)
        if not feature.unit or rarely(draw, 2):
            return factor
        gap = min(Fraction(str(high)) - Fraction(str(low)) for low, high in pairwise(feature.values))
        return f"{decimal(round(100 * gap * factor))} {feature.unit}"

    return {"by": size(target, [1, -1]), "per": size(cause, [1, 1, len(cause.levels) - 1])}


def _side_effects(draw: Draw, scene: Scene) -> list[Document]:
    """At most two side effects that never go round in a circle; fills in `scene.signs`."""
    effects: list[Document] = []
    order = draw(st.permutations([feature for feature in scene.features if feature.mutable]))
    if len(order) < 2 or not rarely(draw, 2):
        return effects
    for _ in range(draw(_between(1, 2))):
        place = draw(_between(1, len(order) - 1))
        cause, target = pick(draw, order[:place]), order[place]
        if scene.signs.get(target.name) == 0:
            continue
        if target.name not in scene.signs and cause.ordered and target.ordered and rarely(draw, 3):
            scene.signs[target.name] = 0
            effects.append({"cause": cause.name, "change": {target.name: _proportion(draw, cause, target)}})
            continue
        written, _ = _part(draw, scene, target)
        moved = isinstance(written, str) and written not in target.levels
        moved = moved or (isinstance(written, dict) and "by" in written)
        if target.name in scene.signs and not moved:
            continue
        size = str(written["by"] if isinstance(written, dict) and "by" in written else written)
        scene.signs[target.name] = (-1 if size.startswith("-") else 1) if moved else 0
        effect: Document = {"cause": cause.name, "change": {target.name: written}}
        if cause.ordered and rarely(draw, 2):
            effect["direction"] = pick(draw, ["up", "down"])
        elif rarely(draw, 4):
            effect["direction"] = "any"
        if rarely(draw, 4):
            effect["when"] = _condition(draw, scene.features, 1).text
        effects.append(effect)
    return effects


# ------------------------------------------------------------------------------------------------- chances and costs


def _hundredths(draw: Draw, most: int) -> int:
    """A chance of at most so much, often a round one."""
    if rarely(draw, 3):
        return draw(_between(0, most))
    return 10 * draw(_between(0, most // 10))


def _price(draw: Draw) -> Number:
    """A cost: usually a decimal with one place, sometimes with two, sometimes 0."""
    form = pick(draw, ["whole", "one", "one", "two", "zero"])
    if form == "zero":
        return 0
    return decimal({"whole": 100, "one": 10, "two": 1}[form] * draw(_between(1, 40)))


def _interval(draw: Draw, most: int) -> list[int]:
    """[low, high] or [low, nominal, high] in hundredths; the nominal value may be at an end, also 0 or all of it."""
    low = draw(_between(0, most - 1))
    high = draw(_between(low + 1, most))
    return [low, draw(_between(low, high)), high] if rarely(draw, 2) else [low, high]


SOURCES = ["guess", "expert", "data 3/4", "0.5"]


def _sourced(draw: Draw, value: Any) -> Any:
    """What was drawn, sometimes with where it comes from."""
    return {"value": value, "source": pick(draw, SOURCES)} if rarely(draw, 6) else value


def _counts(draw: Draw, most: int) -> Document:
    """A chance as counts, never above `most` hundredths."""
    tried = draw(_between(1, 50))
    counts: Document = {"worked": draw(_between(0, tried * most // 100)), "tried": tried}
    return counts | {"source": pick(draw, SOURCES)} if rarely(draw, 3) else counts


def _table(draw: Draw, scene: Scene, changed: Changed, make: Callable[[], Any]) -> Document | None:
    """A table by the level that the change leads to, flat or naming the feature; None if none fits."""
    names = [name for name in changed.reached if name not in scene.signs]
    if not names:
        return None
    name = pick(draw, names)
    table = {level: make() for level in changed.reached[name]}
    levels = set(scene.named(name).levels)
    shared = any(levels & set(scene.named(other).levels) for other in changed.reached if other != name)
    return {name: table} if shared or rarely(draw, 3) else table


def _cases(draw: Draw, scene: Scene, key: str, make: Callable[[], Any]) -> list[Any]:
    """One or two cases and what counts otherwise."""
    count = draw(_between(1, 2))
    cases: list[Any] = []
    for _ in range(count):
        amount, when = make(), {"when": _condition(draw, scene.features, 1).text}
        fields = amount if isinstance(amount, dict) else {key: amount}
        cases.append(when | {key if name == "value" else name: part for name, part in fields.items()})
    return [*cases, make()]


def _chance(draw: Draw, scene: Scene, changed: Changed, most: int = 100) -> Any:
    """A chance in any form, never above `most` hundredths."""

    def make() -> Any:
        return _counts(draw, most) if rarely(draw, 8) else _sourced(draw, decimal(_hundredths(draw, most)))

    form = pick(draw, ["number", "number", "table", "cases", "interval"])
    if form == "table":
        table = _table(draw, scene, changed, make)
        return make() if table is None else _sourced(draw, table)
    if form == "cases":
        return _sourced(draw, _cases(draw, scene, "chance", make))
    if form == "interval":
        return _sourced(draw, [decimal(point) for point in _interval(draw, most)])
    return make()


def _cost(draw: Draw, scene: Scene, changed: Changed) -> Any:
    """A cost in any form; a table looks at `changed`."""

    def make() -> Any:
        return _sourced(draw, _price(draw))

    form = pick(draw, ["number", "number", "number", "table", "cases"])
    if form == "table":
        table = _table(draw, scene, changed, make)
        return make() if table is None else _sourced(draw, table)
    if form == "cases":
        return _sourced(draw, _cases(draw, scene, "cost", make))
    return make()


# ----------------------------------------------------------------------------------------------------------- actions


def _fixed_chances(draw: Draw, count: int) -> list[Any]:
    """Numbers that add up to exactly 1; sometimes one is left out, also where it would be 0."""
    cuts = sorted(_hundredths(draw, 100) for _ in range(count - 1))
    parts = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
    chances: list[Any] = [decimal(part) for part in parts]
    if rarely(draw, 3):
        chances[draw(_between(0, count - 1))] = None
    return chances


def _opposite_chances(draw: Draw, scene: Scene) -> list[Any]:
    """Two chances that depend on the same cases, or one or two intervals, and add up to 1 in every state."""
    if rarely(draw, 2):
        points = _interval(draw, 100)
        if len(points) == 3 and rarely(draw, 2):  # the exact one takes the rest
            return [[decimal(point) for point in points], decimal(100 - points[1])]
        return [[decimal(point) for point in points], [decimal(100 - point) for point in reversed(points)]]
    case = _condition(draw, scene.features, 1).text
    here, there = _hundredths(draw, 100), _hundredths(draw, 100)
    return [
        [{"when": case, "chance": decimal(here)}, decimal(there)],
        [{"when": case, "chance": decimal(100 - here)}, decimal(100 - there)],
    ]


def _outcomes(draw: Draw, scene: Scene) -> tuple[list[Document], Changed]:
    """One to three outcomes, and the change of the first."""
    count = draw(_between(1, 3))
    aiming = 0 if count == 1 or not rarely(draw, 6) else draw(_between(0, count - 1))
    nothing = Changed({}, {})
    changes = [
        _change(draw, scene, aim=index == aiming) if index == aiming or rarely(draw, 2) else nothing
        for index in range(count)
    ]
    form = pick(draw, ["fixed", "rest", "rest", "opposite"])
    if count == 1 or form == "fixed" or (form == "opposite" and count != 2):
        chances = _fixed_chances(draw, count)
    elif form == "opposite":
        chances = _opposite_chances(draw, scene)
    else:
        rest = draw(_between(0, count - 1))
        most = 100 // (count - 1)
        chances = [None if index == rest else _chance(draw, scene, changes[index], most) for index in range(count)]
    outcomes = []
    for index in range(count):
        outcome: Document = {}
        if chances[index] is not None:
            outcome["chance"] = chances[index]
        if changes[index].written:
            outcome["change"] = changes[index].written
        if rarely(draw, 4):
            outcome["cost"] = _cost(draw, scene, changes[index])
        if rarely(draw, 8):
            outcome["label"] = "so it went"
        if rarely(draw, 8):
            outcome["works"] = rarely(draw, 2)
        outcomes.append(outcome)
    return outcomes, changes[0]


def _action(draw: Draw, scene: Scene) -> Document:
    """One action in the short or the long form."""
    action: Document = {}
    if rarely(draw, 2):
        outcomes, first = _outcomes(draw, scene)
        action["cost"] = _cost(draw, scene, first)
        action["outcomes"] = outcomes
    else:
        changed = _change(draw, scene, aim=True)
        action["cost"] = _cost(draw, scene, changed)
        if not rarely(draw, 5):
            action["chance"] = _chance(draw, scene, changed)
        action["change"] = changed.written
    if rarely(draw, 5):
        action |= pick(draw, [{"at_most": 1}, {"at_most": 2}, {"once": True}, {"once": False}])
    if rarely(draw, 3):
        when = _condition(draw, scene.features, 1)
        action["when"] = (when if when.holds(scene.start) or rarely(draw, 3) else _not(when)).text
    return action


def _targets(action: Mapping[str, Any]) -> set[str]:
    """The features that some outcome changes."""
    return {name for outcome in action.get("outcomes", [action]) for name in outcome.get("change", {})}


# ---------------------------------------------------------------------------------------------------------- problems


def _rule(draw: Draw, scene: Scene, targets: set[str]) -> Said:
    """A rule on the seen features that usually rejects the start and often lets an action change that."""
    seen = [feature for feature in scene.features if feature.seen]
    moved = [feature for feature in seen if feature.name in targets] or seen
    rule = _atom(draw, moved)
    if rule.holds(scene.start):
        rule = _not(rule)
    simple = rule
    form = pick(draw, ["atom", "atom", "and", "or", "or", "free"])
    if form != "atom":
        more = _condition(draw, seen)
        rule = {"and": _and(rule, more), "or": _or(rule, more), "free": more}[form]
    rule = _not(rule) if rule.holds(scene.start) and not rarely(draw, 8) else rule
    return next(said for said in (rule, simple, _not(simple)) if _possible(said, seen))


def _possible(said: Said, features: Sequence[Drawn]) -> bool:
    """Whether a condition holds for some combination of levels."""
    ranges = [range(len(feature.levels)) for feature in features]
    names = [feature.name for feature in features]
    return any(said.holds(dict(zip(names, levels, strict=True))) for levels in itertools.product(*ranges))


@st.composite
def _documents(draw: Draw, max_horizon: int, tiny: bool) -> Document:
    features = draw(features_(2 if tiny else 3))
    start = {feature.name: draw(_between(0, len(feature.levels) - 1)) for feature in features}
    scene = Scene(features, start, {})
    effects = _side_effects(draw, scene)
    count = pick(draw, [1, 2, 2] if tiny else [1, 2, 2, 3, 3])
    names = draw(st.permutations(ACTION_NAMES))[:count]
    actions = {name: _action(draw, scene) for name in names}
    rule = _rule(draw, scene, {target for action in actions.values() for target in _targets(action)})
    document: Document = {"safear": 1, "title": "Drawn", "horizon": draw(_between(1, max_horizon))}
    cost: Document = {"unit": "months"} if rarely(draw, 3) else {}
    if rarely(draw, 6):
        cost["resolution"] = pick(draw, [0.25, 0.05])  # no cost with two places lies half-way
    if cost:
        document["cost"] = cost
    document["features"] = {feature.name: feature_entry(draw, feature) for feature in features}
    document["goal"] = {"favourable": "yes"}
    if not rarely(draw, 3):
        document["goal"]["failure_cost"] = decimal(10 * draw(_between(0, 300)))
    if rarely(draw, 3):
        document["goal"]["stop"] = False
    document["classifier"] = {"rule": rule.text}
    document["actions"] = actions
    if effects:
        document["side_effects"] = effects
    if rarely(draw, 4):
        drawn = [_condition(draw, features, 2) for _ in range(draw(_between(1, 2)))]
        document["constraints"] = [(said if said.holds(start) else _not(said)).text for said in drawn]
    told = [feature for feature in features if not feature.hidden or start[feature.name] or rarely(draw, 2)]
    document["people"] = {"someone": {feature.name: _given(draw, feature, start[feature.name]) for feature in told}}
    return document


def _enumerable(document: Document) -> bool:
    oracle = Oracle(document)
    return oracle.policy_count(oracle.start()) <= MOST_TINY_POLICIES


def problems(max_horizon: int = 4, tiny: bool = False) -> st.SearchStrategy[Document]:
    """Small valid problem documents with one person, `someone`, and a rule as the classifier.

    `tiny`: at most two features, two actions, three steps, and few enough policies for `Oracle.best_by_enumeration`.
    """
    if tiny:
        return _documents(min(max_horizon, 3), True).filter(_enumerable)
    return _documents(max_horizon, False)
