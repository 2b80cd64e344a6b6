"""What was fitted, in the words of a language: a table of before and after, and what the data cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from safear.errors import Path
from safear.problem.model import Problem
from safear.problem.quantity import Amount, ByCase, Quantity
from safear.recourse.teller import Teller
from safear.texts.names import show_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from safear.fitting.estimates import FitEntry, FitNotice
    from safear.fitting.fit import Fit

HEADINGS = ("action", "number", "before", "after", "n")


@dataclass(frozen=True, slots=True)
class FitTeller:
    """Tells what was fitted."""

    teller: Teller

    @staticmethod
    @cache
    def of(language: str = "en") -> FitTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return FitTeller(Teller.of(language))

    def say(self, key: str, /, **values: object) -> str:
        """A text of this part of the catalogue."""
        return self.teller(f"fit.{key}", **values)

    def whole(self, fit: Fit) -> str:
        """All of it, as plain text."""
        rows = [self.headings(), *self.rows(fit)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.head(fit), *lines, *self.notices(fit)])

    def head(self, fit: Fit) -> str:
        """How many attempts there were."""
        return self.say(
            "head_history" if fit.is_history else "head", count=fit.attempts, title=show_name(fit.problem.title)
        )

    def headings(self) -> tuple[str, ...]:
        """Of the table."""
        return tuple(self.say(name) for name in HEADINGS)

    def rows(self, fit: Fit) -> Iterator[tuple[str, ...]]:
        """Each amount before and after, and how many attempts tell of it."""
        for entry in fit.entries:
            before, after = (self.amount(fit.problem, entry, amount) for amount in (entry.before, entry.after))
            source = f" ({show_name(entry.before.source)})" if entry.before.source else ""
            n = self.teller.texts.whole(entry.n)
            where = self.place(fit.problem, entry.place)
            yield show_name(entry.action), where, before + source, after, self.say("pooled", n=n) if entry.pooled else n

    def amount(self, problem: Problem, entry: FitEntry, amount: Amount) -> str:
        """A cost, or a chance and how sure it is."""
        if not entry.is_chance:
            return self.teller.cost(float(amount.nominal), problem.cost_unit)
        nominal, low, high = (self.teller.percent(float(x)) for x in (amount.nominal, amount.low, amount.high))
        return self.say("interval", nominal=nominal, low=low, high=high) if amount.is_interval else nominal

    def place(self, problem: Problem, path: Path) -> str:
        """What an amount is of, in the words of the file: `chance, skill: skilled`, `cost, age == senior`."""
        at = next(i for i, part in enumerate(path) if i > 1 and part in {"chance", "cost"})
        inner, action = path[at + 1 :], problem.action_by_name[str(path[1])]
        key = str(path[at])
        if at > 2 and (key == "cost" or len(action.outcomes) > 2 or not action.works(int(path[3]))):
            key = f"{key}_worked" if action.works(int(path[3])) else f"{key}_failed"
        word = self.say(key)
        if not inner:
            return word
        if isinstance(inner[0], str):
            return f"{word}, {show_name(inner[0])}: {show_name(str(inner[1]))}"
        quantity = _quantity_at(problem, path[: at + 1])
        cases = quantity.cases if isinstance(quantity, ByCase) else ()
        return f"{word}, {cases[inner[0]][0] if inner[0] < len(cases) else self.say('otherwise')}"

    def notices(self, fit: Fit) -> Iterator[str]:
        """What the data cannot tell."""
        yield from (self.say("notice", notice=self.notice(fit.problem, notice)) for notice in fit.notices)

    def notice(self, problem: Problem, notice: FitNotice) -> str:
        """One thing that the data cannot tell, or what became of them."""
        parts = {"counts": notice.counts, "later": notice.later}
        values: dict[str, object] = {
            name: self.say("of", worked=self.teller.texts.whole(one.worked), tried=self.teller.texts.whole(one.tried))
            for name, one in parts.items()
            if one is not None
        }
        if notice.counts is not None:
            values["tried"] = self.teller.texts.whole(notice.counts.tried)
        if notice.count:
            values["count"] = notice.count
        if len(notice.place) > 2 and notice.place[-1] != "outcomes":
            values["place"] = self.place(problem, notice.place)
        return self.say(
            f"notices.{notice.code}",
            action=show_name(notice.action),
            feature=show_name(notice.feature),
            date=notice.date,
            **values,
        )


def _quantity_at(problem: Problem, path: Path) -> Quantity | None:
    action = problem.action_by_name[str(path[1])]
    if path[2] == "cost":
        return action.cost
    outcome = action.outcomes[int(path[3])]
    return outcome.chance if path[4] == "chance" else outcome.cost
