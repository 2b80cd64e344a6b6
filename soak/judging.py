"""The rule for whatever is read: it is read, or it is refused by an error of ours that somebody can act on."""

from __future__ import annotations

import re
import signal
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from safear.errors import InputError, SafearError

LONGEST = 2000  # characters of a mistake
PATIENCE = 60.0  # seconds of the processor for one input
_SHOWN = {"\n", "\t"}  # controls that make up the lines of a message


class Verdict(NamedTuple):
    """`read`, `refused`, or what must not happen: `tracebacks` or `wrong`."""

    what: str
    told: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether the rule holds."""
        return self.what in {"read", "refused"}


class WrongError(Exception):
    """Something was read, and what came of it cannot be."""


class _TooSlowError(BaseException):
    """Not an Exception, so that nobody takes it for one of a model."""


def require(holds: object, told: str) -> None:
    """What came of an input must be so."""
    if not holds:
        raise WrongError(told)


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `_TooSlowError` in the main thread once this process has computed for so long, or done nothing for longer.

    What counts is the time of the processor, since others may be using it.
    """

    def stop(*_: object) -> None:
        raise _TooSlowError

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, 10 * seconds))
    before = [signal.signal(number, stop) for number, _, _ in timers]
    for _, timer, allowed in timers:
        signal.setitimer(timer, allowed)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def judge(call: Callable[[], Any], seconds: float = PATIENCE) -> Verdict:
    """Run it, and say how it ended."""
    try:
        with limit(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except SafearError as error:
        return judge_error(error)
    except WrongError as error:
        return Verdict("wrong", str(error))
    except _TooSlowError:
        return Verdict("wrong", f"takes longer than {seconds:g} s")
    except (Exception, SystemExit, RecursionError) as error:  # noqa: BLE001  # whatever is not ours is what is looked for
        return Verdict("tracebacks", tell_traceback(error))
    return Verdict("read")


def judge_error(error: SafearError) -> Verdict:
    """Whether an error of ours has causes, is short, and holds nothing that a terminal obeys."""
    if isinstance(error, InputError):
        if not error.mistakes:
            return Verdict("wrong", "an error without a mistake")
        for item in error.mistakes:
            if not item.cause.strip():
                return Verdict("wrong", f"a mistake without a cause at {item.place}")
            told = judge_message(str(item))
            if told:
                return Verdict("wrong", told)
        return Verdict("refused")
    told = judge_message(str(error))
    return Verdict("wrong", told) if told else Verdict("refused")


def judge_message(text: str) -> str:
    """What is wrong with a message; empty if nothing is."""
    if not text.strip():
        return "an empty message"
    if len(text) > LONGEST:
        return f"a message of {len(text):,} characters: {text[:200]!r}"
    controls = sorted({c for c in text if c not in _SHOWN and unicodedata.category(c) in {"Cc", "Cs"}})
    return f"control characters {controls!r} in {text[:300]!r}" if controls else ""


def tell_traceback(error: BaseException) -> str:
    """The kind of the error, its words, and the innermost lines of ours."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "safear" in f.filename]
    places = " < ".join(f"{re.sub('.*/safear/', '', f.filename)}:{f.lineno}" for f in reversed(frames[-4:]))
    return f"{type(error).__name__}: {str(error)[:300]!r} at {places}"
