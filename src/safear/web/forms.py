"""The person's form: what is filled in about them, read as a person.

Fields are numbered (`feature2`, `given0`, `cost0`), so that names of features, of columns that the classifier sees as
filed and of actions need not be valid names of fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from safear.classifier.adapters import ModelClassifier
from safear.errors import Mistake, PersonError
from safear.problem.model import Feature
from safear.problem.person import read_person, read_texts_of
from safear.recourse.case import Desk
from safear.texts import Texts
from safear.web.asked import Asked
from safear.web.terms_form import find_term_mistakes, name_terms

MOST_CHOICES = 200  # of a field; who has more of them had better write
SEAL = "carried"  # the field that says to which person the bookkeeping belongs


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
    plain = {name: read_entry(desk, name, text, texts=texts) for name, text in filled.items()}
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
    """What is wrong with each field that cannot be read. It names a number as it was typed, not as it was read."""
    try:
        read_person(desk.problem, read_record(desk, asked, texts=texts), given=desk.sight.given)
        by_name = {}
    except PersonError as error:
        by_name = {item.place.path[0]: item for item in error.mistakes if item.place.path}
    wrong = {field: by_name[name] for field, name in name_fields(desk).items() if name in by_name}
    found = {
        field: replace(item, values={**item.values, "value": asked.text(field)}) if "value" in item.values else item
        for field, item in wrong.items()
    }
    return found | find_term_mistakes(desk.problem, asked, texts=texts)


def find_empty(mistakes: Mapping[str, Mistake]) -> frozenset[str]:
    """The fields that are only not filled in yet."""
    return frozenset(name for name, item in mistakes.items() if item.code in {"missing", "missing_given"})


def fill_in(desk: Desk, record: Mapping[str, object], *, texts: Texts) -> dict[str, str]:
    """The fields of a person's form for a record, in a language; the terms are left as they are."""
    return {
        field: write_value(desk, name, record.get(name, ""), texts=texts) for field, name in name_fields(desk).items()
    }


def read_entry(desk: Desk, name: str, text: str, *, texts: Texts) -> str:
    """What is filled in for a feature or a given column, with a number as Python writes it; choices are no numbers."""
    return text if list_choices(desk, name) else texts.read_number(text)


def write_value(desk: Desk, name: str, value: object, *, texts: Texts) -> str:
    """What is filled in for a value: numbers as the language writes them, without marks for thousands."""
    text = "" if value is None else str(value)
    return text if list_choices(desk, name) else texts.write_number(text)
