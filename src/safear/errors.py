"""All errors that SafeAR raises on purpose.

::

    SafearError                     anything below; has an exit code for the command line
    ├── InputError (exit 2)         somebody can fix what they gave us; holds every mistake that was found
    │   ├── ProblemError            a problem, in a file or built in Python
    │   ├── TermsError              personal terms
    │   ├── PersonError             a person
    │   ├── AttemptsError           a log of attempts, or a history
    │   ├── ClassifierError         a classifier that cannot be read, called or understood
    │   ├── ObjectiveError          an objective, a level, a method or its options
    │   ├── PlanError               a plan that was saved
    │   ├── MDPError                arrays that are not an MDP (see `check_mdp`)
    │   └── TooLargeError           more states than can be handled this way
    └── MissingExtraError (exit 2)  an optional dependency is not installed

Every mistake says where it is, what is wrong and, where we know, what would be right. Code looks at its `code` and
`values`, never at its words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

Path = tuple[str | int, ...]
MOST_SHOWN = 100  # mistakes that an error words; it holds all of them
MOST_LETTERS = 480  # of a cause or a remedy: a cell may be a megabyte
MOST_OF_PLACE = 300  # letters
# What a terminal obeys (C0 and C1 controls, ESC among them), what turns the text around it or ends a line unseen, and
# what is no character at all.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)


def visible(text: str, *, keep: str = "") -> str:
    r"""Text that may be shown anywhere: what cannot be seen is written out, as `\u001b`, which JSON reads back."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


def cut_middle(text: str, most: int = MOST_LETTERS) -> str:
    """Text without the middle of it, if it is longer than `most`: what a message says stands at its ends."""
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]} … ({len(text) - most:,} characters) … {text[-(most // 3) :]}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mistake is: a path into the document and, if it came from a file, the position there."""

    path: Path = ()
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source: str | None = None  # the line itself
    offset: int = 0  # how far into a text (a condition) the mistake is
    on_key: bool = False  # the name itself is wrong, not what it is given

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return ": ".join(part for part in (position, format_path(self.path)) if part)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong: where, what, and what would be right.

    `code` names the kind of mistake and `values` what it is about (`feature`, `level` ...), for programs and for
    other languages; `cause` and `remedy` are the English words.
    """

    place: Place
    cause: str
    remedy: str | None = None
    code: str = "invalid"
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        place = _on_one_line(str(self.place), MOST_OF_PLACE)
        lines = [": ".join(part for part in (place, _on_one_line(self.cause)) if part)]
        if self.place.source is not None and self.place.column is not None:
            source, column = _window(self.place.source, self.place.column)
            # Tabs are kept, so that the caret stands under its character in any terminal.
            before, after = (visible(part, keep="\t") for part in (source[: column - 1], source[column - 1 :]))
            margin = "".join("\t" if c == "\t" else " " for c in before)
            lines += [f"    {before}{after}", f"    {margin}^"]
        if self.remedy:
            lines.append(f"    {_on_one_line(self.remedy)}")
        return "\n".join(lines)

    def inside(self, *prefix: str | int) -> Mistake:
        """The same mistake, seen from the document that holds this part at `prefix`."""
        return replace(self, place=replace(self.place, path=(*prefix, *self.place.path)))


def _on_one_line(text: str, most: int = MOST_LETTERS) -> str:
    """A part of a message, however long the names and cells in it are and whatever they hold."""
    return cut_middle(visible(cut_middle(text, most)), most + 50)


def _window(source: str, column: int, width: int = 240) -> tuple[str, int]:
    """The part of a long line (a file may be one) around a column, and the column in it."""
    start = max(0, column - 1 - width // 2) if len(source) > width else 0
    before, after = "…" if start else "", "…" if start + width < len(source) else ""
    return f"{before}{source[start : start + width]}{after}", column - start + len(before)


def mistake(
    place: Place | Iterable[str | int],
    cause: str,
    remedy: str | None = None,
    *,
    code: str = "invalid",
    **values: object,
) -> Mistake:
    """A mistake at a place, or at a path whose file is not yet known."""
    return Mistake(place if isinstance(place, Place) else Place(tuple(place)), cause, remedy, code, values)


def on_key(path: Iterable[str | int]) -> Place:
    """The name at the end of `path`, rather than what stands there."""
    return Place(tuple(path), on_key=True)


def format_path(path: Path) -> str:
    """`("actions", "improve skill", "outcomes", 0)` as `actions.improve skill.outcomes[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that this one was probably meant to be."""
    folded = {choice.casefold(): choice for choice in known}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def suggest(word: str, known: Iterable[str]) -> str | None:
    """`did you mean 'outcomes'?`, or else what could stand there."""
    choices = list(dict.fromkeys(known))
    close = closest(word, choices)
    if close is not None:
        return f"did you mean '{close}'?"
    return f"possible: {quote_list(choices)}" if choices else None


def quote_list(words: Sequence[str], limit: int = 12) -> str:
    """`'a', 'b' and 3 more`."""
    shown = ", ".join(f"'{word}'" for word in words[:limit])
    return f"{shown} and {len(words) - limit} more" if len(words) > limit else shown


class SafearError(Exception):
    """Anything that SafeAR raises on purpose."""

    exit_code: ClassVar[int] = 1


@dataclass(eq=False)
class InputError(SafearError):
    """Somebody can fix what they gave us. `mistakes` holds all that was found."""

    mistakes: Sequence[Mistake] = field(default_factory=tuple)
    exit_code: ClassVar[int] = 2
    code: ClassVar[str] = "invalid"  # of its mistakes, where nothing better is known

    def __str__(self) -> str:
        told = [str(item) for item in self.mistakes[:MOST_SHOWN]]
        more = len(self.mistakes) - len(told)
        return "\n".join([*told, *([f"and {more:,} more mistakes"] if more else [])])

    def __reduce__(self) -> tuple[type[InputError], tuple[Sequence[Mistake]]]:
        return type(self), (self.mistakes,)

    @classmethod
    def at(
        cls,
        place: Place | Iterable[str | int],
        cause: str,
        remedy: str | None = None,
        *,
        code: str | None = None,
        **values: object,
    ) -> Self:
        """An error with a single mistake."""
        return cls([mistake(place, cause, remedy, code=code or cls.code, **values)])


class ProblemError(InputError):
    """A problem, in a file or built in Python."""


class TermsError(InputError):
    """Personal terms."""


class PersonError(InputError):
    """A person."""


class AttemptsError(InputError):
    """A log of attempts, or a history."""


class ClassifierError(InputError):
    """A classifier that cannot be read, called or understood."""

    code = "classifier"


class ObjectiveError(InputError):
    """An objective, a level, a method or its options."""


class PlanError(InputError):
    """A plan that was saved."""


class MDPError(InputError):
    """Arrays that are not an MDP."""


class TooLargeError(InputError):
    """More states than can be handled this way."""

    code = "too_large"


class MissingExtraError(SafearError):
    """An optional dependency is not installed."""

    exit_code: ClassVar[int] = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)

    def __str__(self) -> str:
        package, extra = self.args
        return f"{package} is not installed; install it with: pip install 'safear[{extra}]'"
