"""Words that have an order: bands of numbers, months, low to high. Only where the words themselves leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

SCALES = (
    "very low, low, medium, high, very high",
    "very low, low, moderate, high, very high",
    "very low, low, mid, high, very high",
    "very poor, poor, fair, good, very good, excellent",
    "very bad, bad, fair, good, very good",
    "none, little, moderate, rich",
    "small, medium, large",
    "never, rarely, sometimes, often, always",
    "january, february, march, april, may, june, july, august, september, october, november, december",
    "jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec",
    "monday, tuesday, wednesday, thursday, friday, saturday, sunday",
    "mon, tue, wed, thu, fri, sat, sun",
)
NOTHING = frozenset({"none", "no", "nothing", "zero", "never", "unemployed"})  # comes before every band
_NUMBER = re.compile(r"\d+(?:[.,]\d{3})*(?:\.\d+)?")
_BELOW = re.compile(r"^(?:under|below|less than|up to|at most)\b|\b(?:or|and) (?:less|under|fewer|below)\b|^<")
_ABOVE = re.compile(r"^(?:over|above|more than|at least|from)\b|\b(?:or|and) (?:more|over|above)\b|plus$|^>|\d\s*\+")
_BETWEEN = re.compile(r"\b(?:to|and|under|below|less than|up to)\b|-|–|\.\.|<")
Band = tuple[Decimal, Decimal]
_ENDLESS = Decimal("Infinity")


def find_order(words: Sequence[str]) -> tuple[str, ...] | None:
    """The words in ascending order, or None if they have none that is beyond doubt."""
    plain = {word: " ".join(word.lower().replace("_", " ").split()) for word in words}
    if len(words) < 2 or len(set(plain.values())) < len(words):
        return None
    return _by_scale(plain) or _by_band(plain)


def _by_scale(plain: Mapping[str, str]) -> tuple[str, ...] | None:
    for scale in (text.split(", ") for text in SCALES):
        if len(plain) > 2 and set(plain.values()) <= set(scale):
            return tuple(sorted(plain, key=lambda word: scale.index(plain[word])))
    return None


def _by_band(plain: Mapping[str, str]) -> tuple[str, ...] | None:
    """Bands that follow each other; one word may say that there is nothing at all."""
    first = [word for word, text in plain.items() if text in NOTHING]
    bands = {word: _read_band(text) for word, text in plain.items() if word not in first}
    known = {word: band for word, band in bands.items() if band is not None}
    if len(first) > 1 or len(known) < max(len(bands), 2):
        return None
    ordered = sorted(known, key=lambda word: (known[word][1], known[word][0]))
    is_open = any(_ENDLESS in map(abs, band) for band in known.values())
    if not is_open or not all(_follow(known[a], known[b]) for a, b in pairwise(ordered)):
        return None
    return (*first, *ordered)


def _read_band(text: str) -> Band | None:
    """From where to where the numbers of a text go; None if it has none, or too many."""
    numbers = [Decimal(found.replace(",", "")) for found in _NUMBER.findall(text)]
    match numbers:
        case [number] if _ABOVE.search(text):
            return number, _ENDLESS
        case [number] if _BELOW.search(text):
            return -_ENDLESS, number
        case [low, high] if low < high and _BETWEEN.search(text):
            return low, high
    return None


def _follow(one: Band, other: Band) -> bool:
    """Whether a band comes after another; those that begin nowhere (`under 100`, `under 500`) go by their ends."""
    begins = other[0] if other[0].is_finite() else one[1]
    return one[1] <= begins and one[1] < other[1]
