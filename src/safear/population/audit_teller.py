"""The voice for auditors: differences, tests, comparisons, agreements and batches in the words of a language.

Results for many people carry codes and values; the page, the command line and the analyst's page ask an
`AuditTeller`, which words figures as the `Teller` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from safear.problem.glossary import NO_LABELS, Glossary
from safear.recourse.offer import TAIL
from safear.recourse.teller import Teller
from safear.texts import Texts
from safear.texts.numbers import round_number

if TYPE_CHECKING:
    from safear.population.agreement import Agreement, LevelAgreement, NumberAgreement
    from safear.population.batch import BatchSummary
    from safear.population.comparison import Averages, Comparison
    from safear.population.group_figures import Measure

TINY = 1e-300
ROUNDING = 1e-9  # smaller differences are none
MINUS = "−"
MOST_LEVELS = 10  # that are called too coarse one by one; records have all of them


@dataclass(frozen=True, slots=True)
class AuditTeller:
    """Says what was found about many people. Any text is `teller("audit.title")`; whole numbers are written out."""

    teller: Teller

    @staticmethod
    def of(language: str = "en", glossary: Glossary = NO_LABELS) -> AuditTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return AuditTeller(Teller.of(language, glossary))

    @property
    def texts(self) -> Texts:
        """The catalogue."""
        return self.teller.texts

    def __call__(self, key: str, /, **values: object) -> str:
        """A text of the catalogue."""
        told = {
            name: self.texts.whole(value) if isinstance(value, int) and name != "count" else value
            for name, value in values.items()
        }
        return self.texts(key, **told)

    def part(self, prefix: str) -> Callable[..., str]:
        """The texts below a key."""
        return lambda key, /, **values: self(f"{prefix}.{key}", **values)

    def headings(self, key: str) -> list[str]:
        """Several short texts, which the catalogue has in one line."""
        return self(key).split("|")

    # ------------------------------------------------------------------------------------------------------- figures

    def percent(self, share: float) -> str:
        """`95%`, `<0.1%`."""
        return self.teller.percent(share)

    def quote(self, name: str) -> str:
        """A name inside a sentence."""
        return self.teller.quote(name)

    def join(self, words: list[str]) -> str:
        """`a, b and c`."""
        return self.texts.join(words)

    def fixed(self, value: float | None, digits: int, *, signed: bool = False) -> str:
        """With so many decimals: `0.320`, `+0.32`, or with a real minus; `n/a` if undefined."""
        if value is None:
            return self.texts("format.none")
        sign = "+" if signed and value >= 0 else ""
        return sign + self.texts.localise(f"{value:.{digits}f}")

    def with_unit(self, value: float | None, measure: Measure, unit: str) -> str:
        """`2.04 months`, `99.2%`."""
        text = measure.format(value)
        return text if value is None or not measure.has_unit else f"{text} {self.teller.text(unit)}"

    def difference(self, value: float | None, measure: Measure, *, signed: bool = True) -> str:
        """`+0.37`, or with a real minus; shares in points: `0.45 points`; `n/a` if undefined."""
        if value is None:
            return self.texts("format.none")
        text = self._size(value, measure, signed=signed)
        return self.texts("format.points", number=text) if measure.is_share else text

    def span(self, low: float | None, high: float | None, measure: Measure) -> str:
        """`0.17 to 0.58`, of a difference."""
        if low is None or high is None:
            return self.texts("format.none")
        ends = self._size(low, measure, signed=False), self.difference(high, measure, signed=False)
        return self.texts("format.span", low=ends[0], high=ends[1])

    def _size(self, value: float, measure: Measure, *, signed: bool) -> str:
        size = 100 * abs(value) if measure.is_share else abs(value)
        digits = "0" if size < ROUNDING else f"{size:.2f}" if size >= 0.1 else round_number(size)
        sign = "" if digits == "0" else MINUS if value < 0 else "+" if signed else ""
        return sign + self.texts.localise(digits)

    def p_value(self, p: float | None) -> str:
        """`0.011`, `3.1e-07`, `< 1e-300`; `n/a` if undefined."""
        if p is None:
            return self.texts("format.none")
        return f"< {TINY:g}" if p < TINY else self.texts.localise(f"{p:.2g}")

    # --------------------------------------------------------------------------------------- comparisons and batches

    def compared(self, found: Comparison) -> str:
        """How many people are compared, and who is not."""
        counts = {"rejected": found.rejected, "helpless": found.without_recourse, "compared": found.compared}
        return self("comparison.people", count=found.people, **counts)

    def comparison_headings(self) -> list[str]:
        """The headings of `comparison_row`."""
        return [*self.headings("comparison.headings"), self.teller.worst_name(TAIL)]

    def comparison_row(self, method: str, figures: Averages) -> list[str]:
        """A method in figures, without the objective before it."""
        success = self.texts("format.percent", number=self.fixed(100 * figures.success, 1))
        value, mean, tail = map(self.teller.number, (figures.value, figures.mean, figures.cvar))
        return [self(f"audit.method.{method}"), value, success, mean, tail]

    def comparison(self, found: Comparison) -> str:
        """How greedy and optimal plans differ, in sentences."""
        say = self.part("comparison")
        told = [say("never")]
        if found.worse:
            excess = {"average": self._excess(found.excess_of_worse), "most": self._excess(found.largest_excess)}
            told = [say("worse", share=self.percent(found.worse), **excess)]
        if found.other_first_step:
            told.append(say("first", share=self.percent(found.other_first_step)))
        told.append(say("bound", share=self._excess(max(found.largest_gap, 1e-12))))
        if found.gives_up:
            told.append(say("gives_up", share=self.percent(found.gives_up)))
        return " ".join(told)

    def _excess(self, share: float) -> str:
        """In percent with two digits; it may be above 100%."""
        digits = f"{100 * share:.2g}" if share < 0.995 else f"{100 * share:.0f}"
        return self.texts("format.percent", number=self.texts.localise(digits))

    def batch(self, summary: BatchSummary) -> str:
        """A batch in one line."""
        return self(
            "batch.people",
            people=summary.people,
            accepted=summary.favourable,
            planned=summary.planned,
            helpless=summary.without_recourse,
        )

    def unanimous(self, *, accepted: bool) -> str:
        """A warning: a model that looks at its input seldom says the same of everybody."""
        return self("check.population.all_accepted" if accepted else "check.population.all_rejected")

    def agreement(self, found: Agreement) -> Iterator[str]:
        """How decisions on levels agree with those on records, a line each."""
        say = self.part("check.population")
        yield say("decided", count=found.people, rejected=found.rejected)
        if found.skipped:
            yield say("skipped", count=found.skipped)
        if found.is_unanimous:
            yield self.unanimous(accepted=not found.rejected)
        if not found.numbers:
            yield say("levels_only")
            return
        if found.agree == found.people:
            yield say("agree")
        else:
            counts = {"agree": found.agree, "accepted": found.accepted_only, "rejected": found.rejected_only}
            yield say("differ", **counts, people=found.people, share=self.percent(found.agree / found.people))
        for number in found.numbers:
            if number.changed:
                yield say("number", feature=self.teller.feature(number.feature), count=number.changed)
        if found.together:
            yield say("together", count=found.together)
        coarse = found.coarse
        yield from (self._coarse(number, level) for number, level in coarse[:MOST_LEVELS])
        if len(coarse) > MOST_LEVELS:
            yield say("more", count=len(coarse) - MOST_LEVELS)

    def _coarse(self, number: NumberAgreement, level: LevelAgreement) -> str:
        """That a level is too coarse, and what to do about it."""
        values = {
            "feature": self.teller.feature(number.feature),
            "level": self.teller.level(number.feature, level.level),
            "value": self.teller.measure(level.value, number.unit),
            "changed": level.changed,
            "count": level.people,
        }
        if level.cut is None:
            return self("check.population.other_value", **values)
        return self("check.population.cut", **values, cut=self.texts.exact_number(level.cut))
