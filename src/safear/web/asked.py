"""A form as a browser sends it: the texts in it, and what somebody wants to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl

from safear.problem.model import as_decimal
from safear.web.schemas import MOST_STEPS

Wish = Literal[
    "begin",
    "draft",
    "menu",
    "slide",
    "choose",
    "outcome",
    "back",
    "restart",
    "fill",
    "here",
    "keep",
    "clear",
    "again",
    "speak",
    "reset",
    "fresh",
]
UNFINISHED = frozenset({"begin", "draft", "again", "reset"})  # wishes of somebody who may still be filling in the form
PLAN = "plan"  # the field with a saved plan that was opened
FOLLOWING = frozenset({"again", "outcome", "back", "restart", "here"})  # wishes of somebody who follows a plan
EXAMPLE, UNTOUCHED = "example", "untouched"  # which example is filled in, and a digest of the form as it was then
MOST_FIELDS = 2000  # of a form; more is no form of ours


@dataclass(frozen=True, slots=True)
class Asked:
    """A form as it was sent. `fields` are the texts in it, to be shown again; `detail` belongs to some wishes.

    Of these, `begin` is a page that is opened, `draft` one that is being filled in, `fill` one with an example, `again`
    one that is shown once more as it was, `speak` the same in another language, which is its detail, and `reset` one
    with the typical values of an action, or of all.
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
        return read_whole_number(self.detail) or 0

    @property
    def position(self) -> int | None:
        """Where the slider stands; None if it is not to be looked at."""
        if self.wish == "choose":
            return self.number
        return read_whole_number(self.text("position")) if self.wish not in {"menu", "draft", "fill", "reset"} else None

    @property
    def is_unfinished(self) -> bool:
        """Whether nobody has said yet that all is filled in: what is empty is then no mistake."""
        return self.wish in UNFINISHED

    @property
    def saved_plan(self) -> str:
        """The text of a saved plan that they follow; empty if they ask for other plans, or have none."""
        return f"{self.text(PLAN)}\n" if self.text(PLAN) and self.wish in FOLLOWING else ""

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
        return read_whole_number(self.text(EXAMPLE))

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
        numbers = [read_whole_number(part) for part in self.text("history").split(",") if part.strip()]
        known = [number for number in numbers if number is not None][:MOST_STEPS]
        if self.wish == "back":
            return tuple(known[:-1])
        return (*known, self.number) if self.wish == "outcome" else tuple(known)


def read_form(body: bytes) -> Asked:
    """A form as browsers send it (`application/x-www-form-urlencoded`)."""
    pairs = parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    return make_asked(dict(pairs))


def make_asked(sent: Mapping[str, str]) -> Asked:
    """A form of these fields, of which one says what is wanted."""
    fields = dict(sent)
    word, _, detail = fields.pop("do", "menu").partition(":")
    wishes: dict[str, Wish] = {wish: wish for wish in Wish.__args__}  # type: ignore[attr-defined]  # a Literal has them
    return Asked(fields, wishes.get(word, "menu"), detail)


def read_whole_number(text: str) -> int | None:
    """A whole number of a form, of at most four digits; None if it is none. Python fails at thousands of digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None
