"""The person's form: what is filled in, read as a person, their terms, and what they want to see.

Fields are numbered (`feature2`, `given0`, `cost0`), so that names of features, of columns that the classifier sees as
filed and of actions need not be valid names of fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal
from urllib.parse import parse_qsl

from safear.classifier.adapters import ModelClassifier
from safear.errors import Mistake, PersonError, mistake
from safear.problem.model import Action, Feature, Problem, as_decimal
from safear.problem.person import read_person, read_texts_of
from safear.problem.quantity import Amount, Quantity, amounts
from safear.problem.terms import Terms
from safear.recourse.case import Desk
from safear.texts import Texts
from safear.web.schemas import DECIMALS, MOST_COST, MOST_STEPS

Wish = Literal[
    "begin", "draft", "menu", "slide", "choose", "outcome", "back", "restart", "fill", "here", "clear", "again", "speak"
]
UNFINISHED = frozenset({"begin", "draft", "again"})  # wishes of somebody who may still be filling in the form
MOST_CHOICES = 200  # of a field; who has more of them had better write
SEAL = "carried"  # the field that says to which person the bookkeeping belongs
EXAMPLE, UNTOUCHED = "example", "untouched"  # which example is filled in, and a digest of the form as it was then
_FIELDS = 2000  # of a form; more is no form of ours


@dataclass(frozen=True, slots=True)
class Asked:
    """A form as it was sent. `fields` are the texts in it, to be shown again; `detail` belongs to some wishes.

    Of these, `begin` is a page that is opened, `draft` one that is being filled in, `fill` one with an example, `again`
    one that is shown once more as it was, and `speak` the same in another language, which is its detail.
    """

    fields: Mapping[str, str] = field(repr=False)
    wish: Wish = "menu"
    detail: str = ""

    def text(self, name: str) -> str:
        """What was filled in."""
        return self.fields.get(name, "").strip()

    @property
    def number(self) -> int:
        """What a wish is about: which card, or which outcome."""
        return _whole(self.detail) or 0

    @property
    def position(self) -> int | None:
        """Where the slider stands; None if it is not to be looked at."""
        if self.wish == "choose":
            return self.number
        return _whole(self.text("position")) if self.wish not in {"menu", "draft", "fill"} else None

    @property
    def is_unfinished(self) -> bool:
        """Whether nobody has said yet that all is filled in: what is empty is then no mistake."""
        return self.wish in UNFINISHED

    @property
    def is_example(self) -> bool:
        """Whether it is filled in for somebody of the problem's, and not by a person."""
        return self.example is not None

    @property
    def ticket(self) -> str:
        """Under which what is solved for this page is kept; examples are the same for everybody."""
        return "" if self.is_example else self.text("ticket")

    @property
    def example(self) -> int | None:
        """Which of the problem's people is filled in; None if nobody is."""
        return _whole(self.text(EXAMPLE))

    @property
    def weight(self) -> float | None:
        """How much the worst cases weigh for this person: as in the plan they chose last; None if they chose none."""
        number = as_decimal(self.text("weight"))
        return None if number is None else min(max(float(number), 0.0), 1.0)

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How the steps so far have ended; none once another plan is looked at."""
        if self.wish not in {"outcome", "back", "here", "again"}:
            return ()
        numbers = [_whole(part) for part in self.text("history").split(",") if part.strip()]
        known = [number for number in numbers if number is not None][:MOST_STEPS]
        if self.wish == "back":
            return tuple(known[:-1])
        return (*known, self.number) if self.wish == "outcome" else tuple(known)


def read_form(body: bytes) -> Asked:
    """A form as browsers send it (`application/x-www-form-urlencoded`)."""
    pairs = parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True, max_num_fields=_FIELDS)
    fields = dict(pairs)
    word, _, detail = fields.pop("do", "menu").partition(":")
    wishes: dict[str, Wish] = {wish: wish for wish in Wish.__args__}  # type: ignore[attr-defined]  # a Literal has them
    return Asked(fields, wishes.get(word, "menu"), detail)


def name_fields(desk: Desk) -> dict[str, str]:
    """Which feature each field about a person is for, or which column that the classifier sees as filed."""
    fields = {f"feature{number}": feature.name for number, feature in enumerate(desk.problem.features)}
    return fields | {f"given{number}": name for number, name in enumerate(desk.sight.given)}


def name_form(desk: Desk) -> str:
    """A digest of what the numbered fields are for, so that nothing is put into those of another problem."""
    names = [*name_fields(desk).values(), *(action.name for action in desk.problem.actions)]
    return hashlib.sha256(repr((desk.problem.title, names)).encode()).hexdigest()[:16]


def translate(desk: Desk, asked: Asked, *, texts: Texts, into: Texts) -> Asked:
    """The form as it was, with its numbers as another language writes them."""
    free = [name for name, about in name_fields(desk).items() if not list_choices(desk, about)]
    numbers = {
        name: into.write_number(texts.read_number(asked.text(name))) for name in (*free, *name_terms(desk.problem))
    }
    kept = {name: text for name, text in numbers.items() if name in asked.fields}
    return Asked({**asked.fields, **kept, "language": into.language}, wish="again")


def hidden_fields(desk: Desk) -> frozenset[str]:
    """The fields that nobody fills in: bookkeeping, carried along by who asks again from where they are."""
    features = desk.problem.feature_by_name
    return frozenset(field for field, name in name_fields(desk).items() if name in features and features[name].hidden)


def seal_person(desk: Desk, asked: Asked) -> str:
    """A digest of what is filled in about the person: what is hidden belongs to that, and to nothing else."""
    return _digest(asked, [field for field in name_fields(desk) if field not in hidden_fields(desk)])


def seal_form(desk: Desk, asked: Asked) -> str:
    """A digest of all that somebody can fill in: it changes when anything is edited."""
    return _digest(asked, [*name_fields(desk), *name_terms(desk.problem)])


def _digest(asked: Asked, names: Sequence[str]) -> str:
    return hashlib.sha256(repr([asked.text(name) for name in names]).encode()).hexdigest()[:16]


def name_terms(problem: Problem) -> list[str]:
    """The fields for what the actions mean to the person."""
    return [f"{kind}{number}" for number in range(len(problem.actions)) for kind in ("cost", "chance", "cannot")]


def drop_stale(desk: Desk, asked: Asked) -> Asked:
    """The form without bookkeeping, if something else was filled in since: that person begins anew."""
    if asked.text(SEAL) in {"", seal_person(desk, asked)}:
        return asked
    hidden = hidden_fields(desk)
    return replace(asked, fields={name: text for name, text in asked.fields.items() if name not in hidden})


def read_record(desk: Desk, asked: Asked, *, texts: Texts) -> dict[str, object]:
    """The person as filed: numbers as they were filled in, in a language.

    What is left empty is left out; of a feature that may be `missing` it is an empty cell.
    """
    features = desk.problem.feature_by_name
    filled = {name: asked.text(field) for field, name in name_fields(desk).items() if asked.text(field)}
    plain = {name: text if list_choices(desk, name) else texts.read_number(text) for name, text in filled.items()}
    empty = {name: None for name, feature in features.items() if feature.missing and filled}
    return empty | read_texts_of(plain, features)


def list_choices(desk: Desk, name: str) -> tuple[str, ...]:
    """What can be chosen for a feature or a given column; empty where anything may be filled in."""
    feature = desk.problem.feature_by_name.get(name)
    if feature is not None:
        return () if is_number(feature) else feature.levels
    known = desk.classifier.columns.categories(name) if isinstance(desk.classifier, ModelClassifier) else ()
    return known if len(known) <= MOST_CHOICES else ()


def is_number(feature: Feature) -> bool:
    """Whether a number can be filled in for a feature."""
    return feature.kind == "numeric" and len(feature.levels) == len(feature.edges) + 1


def find_mistakes(desk: Desk, asked: Asked, *, texts: Texts) -> dict[str, Mistake]:
    """What is wrong with each field that cannot be read."""
    try:
        read_person(desk.problem, read_record(desk, asked, texts=texts), given=desk.sight.given)
        by_name = {}
    except PersonError as error:
        by_name = {item.place.path[0]: item for item in error.mistakes if item.place.path}
    found = {field: by_name[name] for field, name in name_fields(desk).items() if name in by_name}
    for number in range(len(desk.problem.actions)):
        for name, code, most in (
            (f"cost{number}", "not_a_cost", MOST_COST),
            (f"chance{number}", "not_a_percentage", 100),
        ):
            text = asked.text(name)
            if text and not _is_between(text, most):
                cause = f"'{text}' is not a number from 0 to {most}"
                found[name] = mistake((name,), cause, code=code, value=text, most=most)
    return found


def find_empty(mistakes: Mapping[str, Mistake]) -> frozenset[str]:
    """The fields that are only not filled in yet."""
    return frozenset(name for name, item in mistakes.items() if item.code in {"missing", "missing_given"})


def _is_between(text: str, most: int) -> bool:
    value = as_decimal(text.replace(",", "."))
    return value is not None and 0 <= value <= most and value == round(value, DECIMALS)


def has_terms(problem: Problem, asked: Asked) -> bool:
    """Whether somebody has said what actions mean to them, readable or not."""
    return any(
        asked.text(name) not in {"", typical}
        for number, action in enumerate(problem.actions)
        for name, typical in (
            (f"cost{number}", typical_cost(action)),
            (f"chance{number}", typical_chance(action)),
            (f"cannot{number}", ""),
        )
    )


def read_terms(problem: Problem, asked: Asked) -> Terms:
    """Their terms, of a form without mistakes: only what differs from the problem."""
    own: dict[str, dict[str, Decimal]] = {"cost": {}, "chance": {}}
    for number, action in enumerate(problem.actions):
        for kind, typical, scale in (("cost", typical_cost(action), 1), ("chance", typical_chance(action), 100)):
            text = asked.text(f"{kind}{number}").replace(",", ".")
            value = as_decimal(text)
            if value is not None and text != typical:
                own[kind][action.name] = value / scale
    forbidden = [action.name for number, action in enumerate(problem.actions) if asked.text(f"cannot{number}")]
    return Terms.of(cost=own["cost"], chance=own["chance"], forbid=forbidden)


def fill_in(desk: Desk, record: Mapping[str, object], *, texts: Texts) -> dict[str, str]:
    """The fields of a person's form for a record, in a language, with the typical terms."""
    fields = {field: write_value(record.get(name, ""), texts) for field, name in name_fields(desk).items()}
    for number, action in enumerate(desk.problem.actions):
        fields |= {f"cost{number}": typical_cost(action), f"chance{number}": typical_chance(action)}
    return fields


def write_value(value: object, texts: Texts) -> str:
    """What is filled in for a value: numbers as the language writes them, without marks for thousands."""
    text = "" if value is None else str(value)
    return texts.write_number(text) if isinstance(value, float | Decimal) else text


def typical_cost(action: Action) -> str:
    """What an action costs, as it is filled in beforehand; empty if that depends."""
    return _typical(action.cost, 1)


def typical_chance(action: Action) -> str:
    """How often of 100 times an action works, as it is filled in beforehand; empty if that depends."""
    chance = action.outcomes[0].chance
    return "" if chance is None or not has_one_chance(action) else _typical(chance, 100)


def has_one_chance(action: Action) -> bool:
    """Whether one number says how often an action works."""
    return len(action.outcomes) <= 2


def span(quantity: Quantity | None, scale: int) -> tuple[float, float] | None:
    """The least and the most that a quantity may be."""
    if quantity is None:
        return None
    values = [float(amount.nominal * scale) for amount in amounts(quantity)]
    return min(values), max(values)


def _typical(quantity: Quantity, scale: int) -> str:
    """The number as it can be filled in; left as it is, it means the exact one (2 of 3 tries are shown as 66.67)."""
    if not isinstance(quantity, Amount):
        return ""
    exact = quantity.nominal * scale
    return f"{(exact if exact == round(exact, DECIMALS) else round(exact, 2)).normalize():f}"


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None
