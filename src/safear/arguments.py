"""What public functions take: the kind of each argument, looked at where it comes in and refused with a remedy.

A function says so above its head, `@takes(path=FILE, problem=PROBLEM)`; kinds stand where their types do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import getattr_static, signature
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from safear.errors import InputError, ObjectiveError

P = ParamSpec("P")
R = TypeVar("R")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """What an argument may be: any of `types`, but none of `others`; what that is called, and what else to give.

    It has all that is named in `has`, of which nothing is worked out here, and it passes the `test`.
    """

    noun: str
    remedy: str
    types: tuple[type, ...]
    others: tuple[type, ...] = ()
    error: type[InputError] = InputError
    code: str = "wrong_type"
    has: tuple[str, ...] = ()
    test: Callable[[Any], bool] | None = None  # if that raises, a value has not passed

    @property
    def or_none(self) -> ArgumentKind:
        """The same of an argument that may be left out."""
        return replace(self, types=(*self.types, type(None)))

    def fits(self, value: object) -> bool:
        """Whether a value is of this kind."""
        if value is None:
            return type(None) in self.types
        if not isinstance(value, self.types) or isinstance(value, self.others):
            return False
        if any(getattr_static(value, name, _MISSING) is _MISSING for name in self.has):
            return False
        try:
            return self.test is None or self.test(value)
        except Exception:  # noqa: BLE001  # whatever somebody's own class does
            return False

    def require(self, value: object, *path: str) -> None:
        """Refuse a value of another kind."""
        if not self.fits(value):
            raise self.error.at(path, f"{show(value)} is not {self.noun}", self.remedy, code=self.code)


def show(value: object) -> str:
    """What a value looks like in a message, or of which type it is, if it cannot say."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # as above; or a whole number has too many digits
        return object.__repr__(value)


def opens(value: object) -> bool:
    """Whether what claims to have items gives them: an array without dimensions does not, and raises."""
    if isinstance(value, Iterable):
        iter(value)
    return True


FILE = ArgumentKind(
    "the name of a file",
    "give a text or a pathlib.Path",
    (str, os.PathLike),
    test=lambda value: isinstance(os.fspath(value), str),
)
TEXT = ArgumentKind("a text", "put it in quotes", (str,))
WHOLE = ArgumentKind("a whole number", "give one, such as 3", (Integral,), (bool,))
NUMBER = ArgumentKind(
    "a float or a whole number",
    "give one, such as 0.5, that a float can hold",
    (Real,),
    (bool,),
    error=ObjectiveError,
    test=lambda value: isinstance(float(value), float),  # 10**400 raises
)
FLAG = ArgumentKind("True or False", "give one of them", (object,), test=lambda value: value in {True, False})
NAMES = ArgumentKind("a list of names", "give ['name', ...]", (Iterable,), (bytes,), test=opens)
OUTCOMES = ArgumentKind(
    "a list of outcomes",
    "give ['worked', 'failed', ...], one for each step",
    (Iterable,),
    (str, bytes, set, Mapping),
    test=opens,
)
PROGRESS = ArgumentKind(
    "a function", "give one that takes two numbers: progress(done, total)", (object,), test=callable
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
