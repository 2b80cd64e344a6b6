"""What public functions take: the kind of each argument, looked at where it comes in and refused with a remedy.

A function says so above its head, `@takes(path=FILE, problem=PROBLEM)`; kinds stand where their types do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import getattr_static, signature
from numbers import Integral
from typing import ParamSpec, TypeVar

from safear.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """What an argument may be: any of `types`, but none of `others`; what that is called, and what else to give.

    It has all that is named in `has`, of which nothing is worked out here.
    """

    noun: str
    remedy: str
    types: tuple[type, ...]
    others: tuple[type, ...] = ()
    error: type[InputError] = InputError
    code: str = "wrong_type"
    has: tuple[str, ...] = ()

    @property
    def or_none(self) -> ArgumentKind:
        """The same of an argument that may be left out."""
        return replace(self, types=(*self.types, type(None)))

    def fits(self, value: object) -> bool:
        """Whether a value is of this kind."""
        if not isinstance(value, self.types) or isinstance(value, self.others):
            return False
        return all(getattr_static(value, name, _MISSING) is not _MISSING for name in self.has)

    def require(self, value: object, *path: str) -> None:
        """Refuse a value of another kind."""
        if not self.fits(value):
            raise self.error.at(path, f"{value!r} is not {self.noun}", self.remedy, code=self.code)


FILE = ArgumentKind("the name of a file", "give a text or a pathlib.Path", (str, os.PathLike))
TEXT = ArgumentKind("a text", "put it in quotes", (str,))
WHOLE = ArgumentKind("a whole number", "give one, such as 3", (Integral,), (bool,))
NAMES = ArgumentKind("a list of names", "give ['name', ...]", (Iterable,), (bytes,))
OUTCOMES = ArgumentKind(
    "a list of outcomes", "give ['worked', 'failed', ...], one for each step", (Iterable,), (str, bytes, set, Mapping)
)


def takes(**kinds: ArgumentKind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function whose arguments of these names are of these kinds."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = list(signature(function).parameters)
        wanted = [(names.index(name), name, kind) for name, kind in kinds.items()]

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for place, name, kind in wanted:
                if name in kwargs:
                    kind.require(kwargs[name], name)
                elif place < len(args):
                    kind.require(args[place], name)
            return function(*args, **kwargs)

        return checked

    return decorate
