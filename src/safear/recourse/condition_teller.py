"""Conditions in the words of a language: `skill is below manager and (job is not unemployed or savings is rich)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from safear.problem.condition import And, Condition, Constant, FeatureTest, LevelTest, Membership, Not, Or, Within
from safear.problem.model import Move

if TYPE_CHECKING:
    from safear.recourse.wording import Wording

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
