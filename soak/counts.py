"""What a part of `make soak` counts: inputs, kills, and everything that must not happen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SHOWN = 20  # failures that are told of each part; all are counted


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that must not happen: what, the words of it, and how to see it again."""

    what: str
    told: str
    again: str


@dataclass(frozen=True, slots=True)
class Count:
    """What one part has tried and found.

    An `input` is counted once, and only if it differs from what it was made of. It was `read`, or `refused` with an
    error of ours. `kills` are processes that were ended while they worked, `compared` outputs that must have the same
    bytes. All else must be 0: `tracebacks` (errors that are not ours, or crashes), `lost` (files that are half-written,
    missing or left over), `differing` (outputs with other bytes), `wrong` (whatever else breaks the rule).
    """

    part: str
    inputs: int = 0
    read: int = 0
    refused: int = 0
    kills: int = 0
    compared: int = 0
    tracebacks: int = 0
    lost: int = 0
    differing: int = 0
    wrong: int = 0
    seconds: float = 0.0
    note: str = ""
    failures: tuple[Failure, ...] = ()

    @property
    def broken(self) -> int:
        """How many promises were broken."""
        return self.tracebacks + self.lost + self.differing + self.wrong

    def as_dict(self) -> dict[str, Any]:
        """For a JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Count:
        """From a JSON file."""
        failures = tuple(Failure(**failure) for failure in written["failures"])
        return cls(**{**written, "failures": failures})


NUMBERS = ("inputs", "read", "refused", "kills", "compared", "tracebacks", "lost", "differing", "wrong")


@dataclass
class Tally:
    """Counts while a part runs."""

    part: str
    numbers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NUMBERS, 0))
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def add(self, what: str, count: int = 1) -> None:
        """Count something."""
        self.numbers[what] += count

    def fail(self, what: str, told: str, again: str) -> None:
        """Count something that must not happen, and keep the first ones."""
        self.add(what)
        if len(self.failures) < SHOWN:
            self.failures.append(Failure(what, _show(told[-2000:]), _show(again)))

    def done(self) -> Count:
        """The record."""
        seconds = round(time.monotonic() - self.began, 1)
        return Count(
            self.part, **self.numbers, seconds=seconds, note="; ".join(self.notes), failures=tuple(self.failures)
        )


def _show(text: str) -> str:
    """A text that neither a terminal nor a JSON file minds."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def join_counts(counts: Iterable[Count]) -> Count:
    """The same part, done by several processes at a time."""
    found = list(counts)
    sums = {name: sum(getattr(count, name) for count in found) for name in NUMBERS}
    return Count(
        found[0].part,
        **sums,
        seconds=max(count.seconds for count in found),
        note="; ".join(dict.fromkeys(count.note for count in found if count.note)),
        failures=tuple(failure for count in found for failure in count.failures)[:SHOWN],
    )
