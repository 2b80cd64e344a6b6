"""The shape of a well-formed problem file, read without pydantic, which takes longer to load than a menu takes.

What is read here is what `Document` makes of it, field by field. It knows the plain forms alone: whatever else stands
in a file (counts, sources, cases, ranges, numbers such as 1e3, and every mistake) is left to `document`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from safear.problem.model import JSON_NUMBER
from safear.problem.quantity import CONFIDENCE
from safear.problem.scales import IN_UNIT

if TYPE_CHECKING:
    from safear.problem.document import Document

Form = Callable[[Any], Any]  # reads a value of a tree, or raises _Unusual
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_COUNT = re.compile(r"[1-9][0-9]{0,8}")
_DISTANCE = re.compile(r"[+-]?[0-9]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")
_OTHER_FORMS = {"value", "source", "worked", "tried", "when"}  # fields of amounts that are no plain numbers


class _Unusual(Exception):  # noqa: N818  # leaves this module as None
    pass


class PlainPart:
    """A part of a document: its fields as attributes and, as in pydantic, as pairs."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self.__dict__.items()


def read_plainly(data: object) -> Document | None:
    """The document, or what has its fields; None if anything in it is more than plain, or wrong."""
    try:
        return cast("Document", _DOCUMENT(data))
    except _Unusual:
        return None


def _require(is_plain: object) -> None:
    if not is_plain:
        raise _Unusual


def _name(value: Any) -> str:
    _require(isinstance(value, str) and value.strip())
    return cast("str", value)


def _text_like(pattern: re.Pattern[str], value: Any) -> str:
    _require(isinstance(value, str) and pattern.fullmatch(value))
    return cast("str", value)


def _language(value: Any) -> str:
    return _text_like(_LANGUAGE, value)


def _number(value: Any) -> Decimal:
    return Decimal(_text_like(_NUMBER, value))


def _at_least_zero(value: Any) -> Decimal:
    number = _number(value)
    _require(number >= 0)
    return number


def _above_zero(value: Any) -> Decimal:
    number = _number(value)
    _require(number > 0)
    return number


def _share(value: Any) -> float:
    share = float(_text_like(_NUMBER, value))
    _require(0 <= share <= 1)
    return share


def _inner_share(value: Any) -> float:
    share = _share(value)
    _require(0 < share < 1)
    return share


def _agreement(value: Any) -> float | str:
    if value == "all":
        return "all"
    share = _share(value)
    _require(share > 0)
    return share


def _count(value: Any) -> int:
    return int(_text_like(_COUNT, value))


def _horizon(value: Any) -> int:
    count = _count(value)
    _require(count <= 1000)
    return count


def _version(value: Any) -> int:
    _require(value == "1")
    return 1


def _truth(value: Any) -> bool:
    _require(isinstance(value, str) and value in {"true", "false"})
    return bool(value == "true")


def _distance(value: Any) -> int | str:
    text = _name(value).strip()
    return text if IN_UNIT.fullmatch(text) else int(Decimal(_text_like(_DISTANCE, text)))


def _value(value: Any) -> float | str:
    _require(isinstance(value, str))
    return float(value) if JSON_NUMBER.fullmatch(value) else cast("str", value)


def _refuse(_: Any) -> None:
    raise _Unusual


def _one_of(*words: str) -> Form:
    def read(value: Any) -> str:
        _require(isinstance(value, str) and value in words)
        return cast("str", value)

    return read


def _list_of(form: Form) -> Form:
    def read(value: Any) -> list[Any]:
        _require(isinstance(value, list))
        return [form(item) for item in value]

    return read


def _mapping(form: Form, *, key: Form = _name, least: int = 0) -> Form:
    def read(value: Any) -> dict[str, Any]:
        _require(isinstance(value, dict) and len(value) >= least)
        return {key(name): form(item) for name, item in value.items()}

    return read


def _label(value: Any) -> str | dict[str, str]:
    return _LABELS(value) if isinstance(value, dict) else _name(value)


def _maybe_label(value: Any) -> str | dict[str, str] | None:
    return None if isinstance(value, str) and not value else _label(value)


def _chance_amount(value: Any) -> Decimal | list[Decimal]:
    if not isinstance(value, list):
        return _number(value)
    _require(2 <= len(value) <= 3)
    return [_number(item) for item in value]


def _varying(amount: Form) -> Form:
    """An amount, or a table of them: by level, or by the levels of a feature that is named."""

    def read(value: Any, depth: int = 2) -> Any:
        if not isinstance(value, dict):
            return amount(value)
        _require(depth and not _OTHER_FORMS & value.keys() and (value or depth == 1))
        return {_name(level): read(item, depth - 1) for level, item in value.items()}

    return read


def _effect(value: Any) -> str | PlainPart:
    return cast("PlainPart", _LONG_EFFECT(value)) if isinstance(value, dict) else _name(value)


def _part(**fields: Form | tuple[Form, Any]) -> Form:
    """The fields of a part in order: how each is read and, unless it must be there, what it is otherwise."""
    required = {name for name, field in fields.items() if not isinstance(field, tuple)}

    def read(value: Any) -> PlainPart:
        _require(isinstance(value, dict) and required <= value.keys() <= fields.keys())
        found = {}
        for name, field in fields.items():
            form, other = field if isinstance(field, tuple) else (field, None)
            found[name] = form(value[name]) if name in value else other
        return PlainPart(found)

    return read


_LABELS = _mapping(_name, key=_language, least=1)
_LONG_EFFECT = _part(to=(_name, None), by=(_distance, None), per=(_distance, None))
_COST, _CHANCE = _varying(_number), _varying(_chance_amount)
_FEATURE = _part(
    kind=_one_of("ordinal", "nominal", "numeric"),
    range=(_refuse, None),
    levels=(_list_of(_name), None),
    edges=(_list_of(_number), None),
    closed=(_one_of("left", "right"), "left"),
    values=(_list_of(_value), None),
    step=(_above_zero, None),
    min=(_number, None),
    max=(_number, None),
    unit=(_maybe_label, None),
    missing=(_name, None),
    mutable=(_truth, True),
    actionable=(_truth, True),
    seen_by_classifier=(_truth, True),
    hidden=(_truth, False),
    at_most=(_distance, None),
    label=(_label, None),
    labels=(_mapping(_label), {}),
    help=(_label, None),
)
_OUTCOME = _part(
    chance=(_CHANCE, None),
    change=(_mapping(_effect), {}),
    cost=(_COST, None),
    label=(_label, None),
    works=(_truth, None),
)
_ACTION = _part(
    cost=_COST,
    when=(_name, None),
    at_most=(_count, None),
    once=(_truth, False),
    duration=(_name, None),
    chance=(_CHANCE, None),
    change=(_mapping(_effect), None),
    outcomes=(_list_of(_OUTCOME), None),
    label=(_label, None),
    help=(_label, None),
)
_SIDE_EFFECT = _part(
    cause=_name,
    change=_mapping(_effect, least=1),
    direction=(_one_of("up", "down", "any"), "any"),
    when=(_name, None),
)
_DECISION = _part(accepted=(_label, None), rejected=(_label, None))
_GOAL = _part(
    favourable=(_name, None),
    threshold=(_share, None),
    aim=(_share, None),
    agree=(_agreement, "all"),
    failure_cost=(_at_least_zero, Decimal(0)),
    promise=(_one_of("value", "range", "narrow"), "narrow"),
    stop=(_truth, True),
    label=(_label, None),
    decision=(_DECISION, _DECISION({})),
)
_COST_UNIT = _part(unit=(_label, "units"), resolution=(_above_zero, None))
_PROVIDER = _part(name=(_label, None), contact=(_label, None), appeal=(_label, None))
_DOCUMENT = _part(
    safear=_version,
    title=_label,
    description=(_maybe_label, None),
    horizon=_horizon,
    cost=(_COST_UNIT, _COST_UNIT({})),
    confidence=(_inner_share, CONFIDENCE),
    features=_mapping(_FEATURE, least=1),
    given=(_list_of(_name), []),
    goal=(_GOAL, _GOAL({})),
    classifier=(_part(rule=_name), None),
    actions=_mapping(_ACTION, least=1),
    side_effects=(_list_of(_SIDE_EFFECT), []),
    constraints=(_list_of(_name), []),
    people=(_mapping(_mapping(_name)), {}),
    provider=(_PROVIDER, _PROVIDER({})),
)
