"""The catalogue of a language: texts by key, with named places for what is filled in, and with plural forms.

In the file keys are nested (`report: {title: ...}`) and here they have dots (`report.title`). A text with plural forms
is a mapping of the forms that the file's `plural` names; `count` chooses among them. What `plural.rule` says is the
formula of gettext (`n != 1`), which is published for every language. `plural.one`, if there is one, has the singular
of units that do not just end in s. `before`, if there is one, has other words for `format.and` and `format.or` where
what follows begins with something (Spanish: `agujas e hilos`).
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import yaml

from safear.errors import InputError, suggest
from safear.texts.language_files import languages, read_language
from safear.texts.numbers import (
    count_at_least,
    count_people,
    round_chance,
    round_exactly,
    round_number,
    singular,
    tell_times,
)

RULES = ("plural", "before")  # what a file has besides texts
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all scalars are texts: `no` is a word here, not false
_PART = re.compile(r"^(\w+):", re.MULTILINE)
Text = str | Mapping[str, str]  # a text, or its plural forms


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """All texts of a language. Call it with a key and what to fill in: `texts("steps", count=3)`."""

    language: str
    entries: Mapping[str, Text]
    forms: tuple[str, ...]
    rule: Callable[[int], int]
    singulars: Mapping[str, str]
    before: Mapping[str, Mapping[str, str]]

    def __repr__(self) -> str:
        return f"Texts('{self.language}': {len(self.entries)} texts)"

    def __call__(self, key: str, /, **values: object) -> str:
        """A text with its places filled in. `count`, a whole number, chooses the plural form and is written out."""
        text = self._find(key)
        if isinstance(text, str):
            return text.format(**values)
        count = values["count"]
        if not isinstance(count, int):
            raise TypeError(f"'{key}' counts {count!r}, which is no whole number")
        return text[self.forms[self.rule(count)]].format(**values | {"count": self.whole(count)})

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def part(self, prefix: str) -> Callable[..., str]:
        """The texts below a key: `texts.part("report")("title")` is `texts("report.title")`."""
        return lambda key, /, **values: self(f"{prefix}.{key}", **values)

    def _find(self, key: str) -> Text:
        if key not in self.entries:
            raise KeyError(f"'{self.language}' has no text '{key}'")
        return self.entries[key]

    # ------------------------------------------------------------------------------------------------------- numbers

    def number(self, value: float) -> str:
        """`3.5`, `12,000`: at most two decimals, none that are zero; two significant digits of what is smaller."""
        return self.localise(round_number(value))

    def whole(self, value: int) -> str:
        """A count: `1,000`."""
        return self.localise(str(value))

    def localise(self, digits: str, *, grouped_from: int = 5) -> str:
        """A number as Python writes it (`-12000.5`) as this language does, in groups if it has so many digits."""
        sign, digits = ("−", digits[1:]) if digits.startswith("-") else ("", digits)
        mantissa, letter, exponent = digits.partition("e")
        whole, _, decimals = mantissa.partition(".")
        if len(whole) >= grouped_from:  # years and other short numbers stay as they are
            first = len(whole) % 3
            groups = [whole[start : start + 3] for start in range(first, len(whole), 3)]
            whole = self("format.group").join([whole[:first], *groups] if first else groups)
        return sign + self("format.decimal").join([whole, decimals] if decimals else [whole]) + letter + exponent

    def read_number(self, text: str) -> str:
        """A number as people write it in this language (`12,000.5`) as Python does (`12000.5`); other texts unchanged.

        A decimal comma and a decimal point both count, but `5,000` is five thousand where a comma separates thousands.
        There `05,000` may be either, and is neither: it gets a space, with which it is a number in no language.
        """
        group, decimal = (re.escape(self(f"format.{mark}")) for mark in ("group", "decimal"))
        if re.fullmatch(rf"[-+−]?[1-9][0-9]{{0,2}}({group}[0-9]{{3}})+({decimal}[0-9]+)?", text):
            text = text.replace(self("format.group"), "")
        elif re.fullmatch(rf"[-+−]?0[0-9]{{1,2}}{group}[0-9]{{3}}", text):
            return text.replace(self("format.group"), " ")
        elif not re.fullmatch(r"[-+−]?[0-9]*[.,][0-9]+|[+−][0-9]+", text):
            return text
        return str(Decimal(text.replace("−", "-").replace(",", ".")))

    def echo_number(self, text: str) -> str:
        """How a number that somebody typed was read, in groups; empty if it stands there so, or is no number.

        What another language would read otherwise (`6.143`, `1,000`) is always told.
        """
        plain = self.read_number(text)
        if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", plain):
            return ""
        written = self.localise(f"{Decimal(plain).normalize():f}", grouped_from=4)
        is_plain = re.fullmatch(r"[-−]?[0-9]{1,3}[.,][0-9]{3}", text) is None
        return "" if is_plain and written == text.replace("-", "−") else written

    def write_number(self, digits: str) -> str:
        """A number as Python writes it as people type it in this language, without marks for thousands.

        Other texts are unchanged.
        """
        return digits.replace(".", self("format.decimal")) if re.fullmatch(r"-?[0-9]*\.[0-9]+", digits) else digits

    def exactly(self, value: object) -> str:
        """All digits, such that the same number can be read back: the same in every language."""
        if value is None:
            return self("format.none")
        return repr(float(value)) if isinstance(value, float) else str(value)

    def percent(self, chance: float) -> str:
        """`95%`, `0.7%`, `<0.1%`, `>99.9%`: never a rounded certainty."""
        sign, digits = round_chance(chance)
        key = {"": "format.percent", "<": "format.below", ">": "format.above"}[sign]
        return self(key, number=self.localise(digits))

    def exact_percent(self, chance: float) -> str:
        """As `percent`, but `72.5%` where that is the number: it is told as `725 times in 1000` elsewhere."""
        kind, count, base = tell_times(chance)
        if kind != "exactly" or base != 1000:
            return self.percent(chance)
        return self("format.percent", number=self.localise(round_exactly(count / 10)))

    def date(self, day: date) -> str:
        """A day as this language writes it: `17 November 2026`."""
        month = self("format.months").split("|")[day.month - 1]
        return self("format.date", day=str(day.day), month=month, year=str(day.year))

    def cost(self, value: float, unit: str) -> str:
        """`3.5 months`, `1 month`. Units are named as the problem names them, in whatever language."""
        return self._cost_of(round_number(value), unit)

    def exact_number(self, value: float) -> str:
        """As `number`, with as many decimals as it takes: a limit that was rounded would not be true."""
        return self.localise(round_exactly(value))

    def exact_cost(self, value: float, unit: str) -> str:
        """As `cost`, with as many decimals as it takes."""
        return self._cost_of(round_exactly(value), unit)

    def _cost_of(self, digits: str, unit: str) -> str:
        return self.name_unit(self.localise(digits), unit)

    def name_unit(self, number: str, unit: str) -> str:
        """A number as this language writes it with its unit, of which there may be one."""
        named = self.singulars.get(unit, singular(unit)) if number == "1" else unit
        return self("format.cost", number=number, unit=named)

    def times(self, chance: float) -> str:
        """How often something works, as a frequency: `95 times in 100`, `every time`."""
        kind, count, base = tell_times(chance)
        return self(f"format.times.{kind}", count=count, base=self.whole(base))

    def people(self, chance: float) -> str:
        """The same as so many people: `9 of 10 people`, `about 1 of 1000 people`, `everybody`."""
        kind, count, base = count_people(chance)
        return self(f"format.people.{kind}", count=count, base=self.whole(base))

    def people_at_least(self, share: float) -> str:
        """`at least 8 of 10 people`."""
        kind, count, base = count_at_least(share)
        return self(f"format.people.{kind}", count=count, base=self.whole(base))

    # --------------------------------------------------------------------------------------------------------- words

    def quote(self, name: str) -> str:
        """A name inside a sentence."""
        return self("format.quote", name=name)

    def join(self, words: Sequence[str], *, last: str = "and") -> str:
        """`a, b and c`, or with `last="or"` `a, b or c`."""
        if len(words) < 2:
            return "".join(words)
        first, other = ", ".join(words[:-1]), self.before.get(last)
        if other is not None and re.match(other["when"], words[-1], re.IGNORECASE):
            return other["text"].format(first=first, last=words[-1])
        return self(f"format.{last}", first=first, last=words[-1])


class _Entries(Mapping[str, Text]):
    """The texts of a file by their keys, read part by part: nobody needs all of them."""

    def __init__(self, parts: Mapping[str, str], forms: Sequence[str]) -> None:
        self._parts, self._forms = parts, forms
        self._read: dict[str, Mapping[str, Text]] = {}

    def __getitem__(self, key: str) -> Text:
        return self._open(key.partition(".")[0])[key]

    def __iter__(self) -> Iterator[str]:
        for name in self._parts:
            yield from self._open(name)

    def __len__(self) -> int:
        return sum(len(self._open(name)) for name in self._parts)

    def _open(self, name: str) -> Mapping[str, Text]:
        if name not in self._read:
            self._read[name] = dict(flatten(_parse(self._parts[name]), self._forms))
        return self._read[name]


def load_texts(language: str = "en") -> Texts:
    """The texts of a language, by the name of its file; an InputError if there is none."""
    return _load_texts(language)  # the same ones, whether the language is named or not


@cache
def _load_texts(language: str) -> Texts:
    if language not in languages():
        raise InputError.at(
            (),
            f"there are no texts in the language '{language}'",
            suggest(language, languages()),
            code="unknown_language",
        )
    return parse_texts(language, read_language(language))


def parse_texts(language: str, text: str) -> Texts:
    """Return the texts of a file."""
    parts = split_catalogue(text)
    rules = _parse("".join(parts.pop(name, "") for name in RULES))
    plural = rules["plural"]
    forms, rule = tuple(plural["forms"]), gettext.c2py(plural["rule"])
    return Texts(language, _Entries(parts, forms), forms, rule, plural.get("one", {}), rules.get("before", {}))


def split_catalogue(text: str) -> dict[str, str]:
    """The parts of a file by their names: a part begins with its name at the beginning of a line."""
    _, *parts = _PART.split(text)
    return {name: f"{name}:{rest}" for name, rest in zip(parts[::2], parts[1::2], strict=True)}


def _parse(text: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506  # it makes nothing but texts
    return document


def flatten(tree: Mapping[str, Any], forms: Sequence[str], prefix: str = "") -> Iterator[tuple[str, Text]]:
    """All texts of a nested mapping, by keys with dots; plural forms stay together."""
    for name, content in tree.items():
        if isinstance(content, str) or set(content) == set(forms):
            yield prefix + name, content
        else:
            yield from flatten(content, forms, f"{prefix}{name}.")
