"""The levels in which two states differ, with what is promised of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from safear.recourse.promises import Promise, Promises

NOTHING: Promises = MappingProxyType({})


class LevelChange(NamedTuple):
    """A feature with its new level and, of a number, what is promised."""

    feature: str
    level: str
    promise: Promise | None = None


Changes = tuple[LevelChange, ...]


def find_changes(
    before: Mapping[str, str], after: Mapping[str, str], *, first: Iterable[str] = (), promises: Promises = NOTHING
) -> Changes:
    """The features whose level is another, with the level afterwards. `first` names what matters most."""
    names = [name for name in dict.fromkeys((*first, *after)) if name in after]
    changed = [(name, after[name]) for name in names if before[name] != after[name]]
    return tuple(LevelChange(*pair, promises.get(pair)) for pair in changed)
