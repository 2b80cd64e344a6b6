"""What a model without a list of classes calls its answers, as far as they have been heard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from safear.classifier.raw_answers import show_label, show_labels
from safear.errors import ClassifierError, Mistake, closest
from safear.problem.model import as_decimal, as_truth

MOST_KEPT = 100  # labels
MOST_CODES = 32  # whole numbers that may be labels; more are scores or amounts


@dataclass(eq=False)
class Vocabulary:
    """The labels that have been heard, whether the favourable one was among them, and in how many answers.

    Others may add to the labels while somebody looks through them: `heard` has those of the moment.
    """

    labels: dict[str, None] = field(default_factory=dict)
    has_favourable: bool = False
    answers: int = 0  # that could be read, besides truth values, which cannot be mistaken for anything else
    is_vouched: bool = False  # whether it is known to fit the problem
    misfit: Sequence[Mistake] = ()  # or what is known to be wrong with all of its answers
    is_sampled: bool = False  # whether it has answered to inputs from all over the problem
    failures: int = 0  # of questions that should have found that out
    pause: int = 0  # how many times nobody asks after the last of them

    @property
    def heard(self) -> tuple[str, ...]:
        """The labels so far."""
        return tuple(self.labels)

    def note(self, names: Iterable[str], wanted: str) -> None:
        """Remember labels."""
        for name in sorted(set(names)):
            self.has_favourable |= is_same(name, wanted)
            if len(self.labels) < MOST_KEPT:
                self.labels[name] = None

    def require_one_spelling(self, wanted: str, source: str) -> None:
        """Refuse a label that is the favourable one but for its spelling: it would count as another."""
        folded = _fold(wanted)
        for name in self.heard if folded else ():
            if _fold(name) == folded and not is_same(name, wanted):
                if not self.has_favourable:
                    raise unheard(self.heard, wanted, source, meant=name)
                cause = (
                    f"{source} answers with {show_label(wanted)} and with {show_label(name)}, which is another label"
                )
                remedy = "have it spell them alike"
                raise ClassifierError.at(("classifier",), cause, remedy, code="unknown_class")

    def require_one_yes(self, wanted: str, source: str) -> None:
        """Refuse another word for the favourable label beside it: until that was heard, it meant the same."""
        meaning = as_truth(wanted) is not False
        for name in self.heard if self.has_favourable and speaks_of_truth(wanted) else ():
            if as_truth(name) is meaning and not is_same(name, wanted):
                both = f"{show_label(wanted)} and with {show_label(name)}"
                cause, remedy = f"{source} answers with {both}, which may mean the same", "have it give one of them"
                raise ClassifierError.at(("classifier",), cause, remedy, code="mixed_answers")

    def require_favourable(self, wanted: str, source: str, *, may_list: bool = False) -> None:
        """Refuse labels among which the favourable one never was; `may_list`: the model can say that it has it."""
        if self.lacks(wanted):
            raise unheard(self.heard, wanted, source, meant=closest(wanted, self.heard), may_list=may_list)

    def lacks(self, wanted: str) -> bool:
        """Whether labels were heard, and never the favourable one."""
        heard = self.heard
        says_yes_and_no = all(as_truth(name) is not None for name in heard)
        return bool(heard) and not self.has_favourable and not (says_yes_and_no and speaks_of_truth(wanted))


def unheard(
    labels: Iterable[str], wanted: str, source: str, *, meant: str | None, may_list: bool = False
) -> ClassifierError:
    """The error about labels of which none is the favourable one."""
    names, is_number = sorted(labels, key=_rank), as_decimal(wanted) is not None
    cause = f"{source} answers with {show_labels(names)}, and none of that is {show_label(wanted)}"
    if meant is not None and not is_number:
        written = meant if re.fullmatch(r"\w+", meant) else json.dumps(meant, ensure_ascii=False)
        remedy = f"did you mean {show_label(meant)}? write 'goal: {{favourable: {written}}}'"
    else:
        remedy = "name the one that people want: 'goal: {favourable: ...}'"
        remedy += ", or have it give scores between 0 and 1" if is_number else ""
    if may_list:
        remedy += f"; if it can say {show_label(wanted)}, list all its labels as its 'classes_', or have it give truth "
        remedy += "values or scores"
    values = {"labels": names, "expected": wanted}
    return ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class", **values)


def _rank(name: str) -> tuple[bool, Decimal, str]:
    """Numbers in their order, before texts."""
    number = as_decimal(name)
    return number is None, number or Decimal(0), name


def speaks_of_truth(wanted: str) -> bool:
    """Whether a favourable class may be what a yes or a no stands for: any but a number that is neither 0 nor 1."""
    return as_truth(wanted) is not None or as_decimal(wanted) is None


def is_same(name: str, other: str) -> bool:
    """Whether two labels are the same: by name, or as numbers (2.0 is 2)."""
    return name == other or (as_decimal(name) is not None and as_decimal(name) == as_decimal(other))


def _fold(name: str) -> str:
    """What is left of a label without case, spaces, quotes, and the type that Python writes before it."""
    if as_decimal(name) is not None:
        return ""
    bare = re.sub(r"^b(['\"])(.*)\1$", r"\2", name.strip(), flags=re.DOTALL)
    bare = re.sub(r"^[A-Za-z_][A-Za-z_0-9]*\.(?=\w+$)", "", bare)  # Decision.APPROVED
    return re.sub(r"[\W_]+", "", bare).casefold()
