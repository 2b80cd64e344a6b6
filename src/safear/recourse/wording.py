"""Names, numbers and conditions in the words of a language: what all tellers share.

Names of features, levels and actions are told by their labels (`Glossary`), where the problem has any.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from safear.problem.condition import And, Condition, Constant, FeatureTest, LevelTest, Membership, Not, Or, Within
from safear.problem.glossary import NO_LABELS, Glossary, choose
from safear.problem.model import Move, Problem
from safear.texts import Texts
from safear.texts.names import show_name
from safear.texts.numbers import ALWAYS, count_in_hundred, tell_times

if TYPE_CHECKING:
    from safear.evaluation.extremes import Range


_EDGE = re.compile(r"(<=?|>=?)(-?\d+(?:\.\d+)?)")  # how a level beyond an edge is called unless its file names it
_SIDES = {"<": "below", "<=": "at_most", ">=": "at_least", ">": "above"}


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of a language and the labels of the problem that is spoken of."""

    texts: Texts
    glossary: Glossary = NO_LABELS

    def __call__(self, key: str, /, **values: object) -> str:
        """A text of the catalogue."""
        return self.texts(key, **values)

    # ------------------------------------------------------------------------------------------------------- figures

    def cost(self, value: float | None, unit: str) -> str:
        """`3.5 months`; `n/a` if there is none."""
        return self.texts("format.none") if value is None else self.texts.cost(value, self.text(unit))

    def exact_cost(self, value: float, unit: str) -> str:
        """As `cost`, with as many decimals as it takes: a limit that was rounded would not be true."""
        return self.texts.exact_cost(value, self.text(unit))

    def number(self, value: float) -> str:
        """`3.5`, `12,000`."""
        return self.texts.number(value)

    def measure(self, value: float, unit: str) -> str:
        """A number as it was filed or is promised: `12 months`, or `12` if it has no unit."""
        return self.exact_cost(value, unit) if unit else self.texts.exact_number(value)

    def percent(self, chance: float) -> str:
        """`95%`, `<0.1%`."""
        return self.texts.percent(chance)

    def times(self, chance: float) -> str:
        """`95 times in 100`."""
        return self.texts.times(chance)

    def times_within(self, chance: float, within: Range) -> str:
        """The same of a chance that may be another: `80 times in 100, 50 to 90 if our estimates are off`.

        What nominally always or never happens, but need not, is never told as certain.
        """
        low, high = (self.texts.whole(count_in_hundred(end)) for end in (within.low, within.high))
        if chance > ALWAYS > within.low:
            return self.texts("ranges.times.every", low=low)
        if chance < 1 - ALWAYS < within.high:
            return self.texts("ranges.times.never", high=high)
        if low == high:
            return self.times(chance)
        _, _, base = tell_times(chance)
        about = self.texts("format.times.about", count=count_in_hundred(chance), base=self.texts.whole(100))
        times = self.times(chance) if base == 100 else about  # low and high are of 100
        return self.texts("ranges.times.about", times=times, low=low, high=high)

    def steps(self, count: int) -> str:
        """`12 steps`."""
        return self.texts("steps", count=count)

    def worst(self, level: float) -> str:
        """`in the worst 5 of 100 cases` for the level 0.95."""
        if level >= 1:
            return self.texts("worst.case")
        kind, count, base = tell_times(round(1 - level, 12))  # 1 - 0.95 is not 0.05 in binary
        if kind != "exactly":
            return self.texts("worst.percent", share=self.percent(1 - level))
        return self.texts("worst.share", count=count, base=self.texts.whole(base))

    def worst_name(self, level: float) -> str:
        """What a column or a mark is called: `worst 5%`."""
        return self.texts("worst.name", share=self.percent(1 - level)) if level < 1 else self.texts("worst.name_of_one")

    # --------------------------------------------------------------------------------------------------------- names

    @property
    def language(self) -> str:
        """The code of the language: `de`."""
        return self.texts.language

    def action(self, name: str | None) -> str:
        """What an action is called; empty if there is none."""
        return show_name(self.glossary.action(name or "", self.language))

    def quote_action(self, name: str | None) -> str:
        """The same inside a sentence."""
        return self.texts.quote(self.action(name))

    def quote_feature(self, name: str) -> str:
        """What a feature is called, inside a sentence."""
        return self.texts.quote(self.feature(name))

    def feature(self, name: str) -> str:
        """What a feature, or a column that is given, is called."""
        return show_name(self.glossary.feature(name, self.language))

    def level(self, feature: str, level: str) -> str:
        """What a level of a feature is called; a name that was made of an edge is told in words: `below 20`."""
        name = show_name(self.glossary.level(feature, level, self.language))
        edge = _EDGE.fullmatch(name)
        if edge is None:
            return name
        return self.texts(f"levels.{_SIDES[edge[1]]}", number=self.texts.localise(edge[2]))

    def condition(self, condition: Condition) -> str:
        """A condition in words: `skill is below manager`."""
        return tell_condition(condition, self)

    def text(self, main: str) -> str:
        """A text of the problem that is no name, such as its title, or the unit of its costs."""
        return show_name(self.glossary.text(main, self.language))

    def goal(self, named: str | None) -> str:
        """What the person wants, as the problem calls it, if it does: `approved`."""
        return show_name(choose(self.glossary.goal, self.language) or named or self.texts("goal"))

    def quoted_goal(self, problem: Problem) -> str:
        """The goal inside a sentence."""
        return self.texts.quote(self.goal(problem.goal.favourable))

    def quote(self, name: str) -> str:
        """A name inside a sentence."""
        return self.texts.quote(show_name(name))

    def decision(self, problem: Problem, *, favourable: bool) -> str:
        """What was decided."""
        said = choose(self.glossary.accepted if favourable else self.glossary.rejected, self.language)
        if said is not None:
            return show_name(said)
        key = ("accepted" if favourable else "rejected") + ("" if problem.goal.favourable else "_unnamed")
        return self.texts(f"decision.{key}", goal=self.quoted_goal(problem))

    def provider(self, problem: Problem) -> list[str]:
        """Who decides, how to reach them, and where to appeal; nothing where the problem does not say."""
        name, contact, appeal = (self.text(part) for part in astuple(problem.provider))
        told = [part for part in (name, contact) if part]
        return [*told, self.texts("provider.appeal", where=appeal)] if appeal else told

    def within(self, problem: Problem) -> str:
        """`within 12 steps`."""
        return self.texts("within", count=problem.horizon)


# ----------------------------------------------------------------------------------------------------------- conditions


WORDS = {"==": "is", "!=": "is_not", "<": "below", "<=": "at_most", ">": "above", ">=": "at_least"}


def tell_condition(condition: Condition, tell: Wording) -> str:
    """A condition with the labels of features and levels."""
    say, join = tell.texts.part("condition"), tell.texts.join
    match condition:
        case Constant(value):
            return say("always" if value else "never")
        case LevelTest(feature, operator, level):
            return say(WORDS[operator], feature=tell.feature(feature), level=tell.level(feature, level))
        case FeatureTest(feature, operator, other):
            return say(WORDS[operator], feature=tell.feature(feature), level=tell.feature(other))
        case Membership(feature, levels):
            named = [tell.level(feature, level) for level in levels]
            return say("is", feature=tell.feature(feature), level=join(named, last="or"))
        case Within(feature, _, most):
            amount = say("levels", count=most.by) if isinstance(most, Move) else tell.measure(float(most.by), most.unit)
            return say("within", feature=tell.feature(feature), most=amount)
        case Not(part):
            return say("not", condition=tell_condition(part, tell))
        case And(parts):
            return join([_in_brackets(part, tell) for part in parts])
        case Or(parts):
            return join([_in_brackets(part, tell) for part in parts], last="or")


def _in_brackets(part: Condition, tell: Wording) -> str:
    """A part of a condition, in brackets if it has parts itself."""
    told = tell_condition(part, tell)
    return f"({told})" if isinstance(part, And | Or) else told
