"""A table of people beside a model: which of its columns the model wants, whom it accepts, what people could change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property

import pandas as pd

from safear.classifier.adapters import ModelClassifier, TableClassifier, as_classifier
from safear.classifier.column_types import ANY, ColumnType
from safear.classifier.protocol import Classifier
from safear.classifier.several import SeveralClassifiers, members_of
from safear.drafts.panel import BATCH, Flags, decide
from safear.drafts.table import TRUTHS, Column, study_column
from safear.errors import ClassifierError, InputError, Mistake, PersonError, mistake, quote_list, suggest
from safear.people.whole_table import SPELLED
from safear.problem.model import Goal, Problem

DIRECTIONS = ("up", "down")
LIKE_ANSWERS = (
    0.8  # by which the shares of a value differ between those accepted and those rejected, if it is an answer
)
UNSTEADY = 0.001  # of the decisions may change: threads add up in any order, which can part ties
_USELESS = {
    "date": ("holds dates", "give the model a number of days, and name that"),
    "empty": ("is empty", "leave it out"),
    "constant": ("is the same for everybody in the table", "leave it out, or give a table in which it differs"),
    "identifier": ("tells people apart, and says nothing else about them", "leave it out"),
    "many": ("has too many different words to be levels", "group them before the model sees them, or leave it out"),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A column that people can change, and in which ways: `up`, `down`, a level; none: whatever helps."""

    name: str
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a model wants of a table, in the table's words, and the columns that it does not want."""

    classifier: Classifier
    table: pd.DataFrame
    unwanted: tuple[str, ...]
    types: Mapping[str, ColumnType]
    spelled: Mapping[str, tuple[str, ...]]  # how false and true are written in the file of the table
    is_told: bool  # whether the model says which columns it wants
    names_given: bool  # whether the file must name what is given: the model does not, or has other names for it

    @classmethod
    def of(cls, table: pd.DataFrame, classifier: Classifier, *, target: str | None = None) -> Sheet:
        """For a table whose columns have texts for names. `target` is what the model was trained to say."""
        if target is not None and target not in table:
            cause = f"there is no column '{target}'"
            raise InputError.at(("target",), cause, suggest(target, table.columns), code="unknown_name", name=target)
        if isinstance(classifier, TableClassifier) or getattr(classifier, "sees_levels", False):
            cause = "a rule or a table of decisions has levels already; a draft is made from a model that sees records"
            raise ClassifierError.at(("classifier",), cause, "give the model itself", code="sees_levels")
        seen = [name for name in table.columns if name != target]
        wanted = getattr(classifier, "wanted", None)
        missing = [name for name in wanted or () if name not in table]
        if missing:
            raise PersonError([_missing_column(name, table.columns) for name in missing])
        chosen = list(wanted or seen)
        types: dict[str, ColumnType] = {}
        for member in reversed(members_of(classifier)):
            if isinstance(member, ModelClassifier) and member.columns.types is not None:
                # Says whether a model without names got as many as it wants.
                types |= dict(zip(member.columns.sources(chosen), member.columns.types, strict=True))
        unwanted = tuple(name for name in table.columns if name not in chosen)
        named = wanted is None or not set(_own_names(classifier)) <= set(chosen)
        spelled = table.attrs.get(SPELLED, {})
        return cls(classifier, table[chosen], unwanted, types, spelled, wanted is not None, named)

    @cached_property
    def accepted(self) -> Flags:
        """Whom the model accepts. An error if that is everybody or nobody, or others when it is asked again."""
        found = decide(self.classifier, self.table)
        again = decide(self.classifier, self.table.iloc[:BATCH])  # the very same question
        others = int((found[:BATCH] != again).sum())
        if others > UNSTEADY * len(again):
            cause = (
                f"the model does not answer the same twice: {others} of {len(again)} decisions change when asked again"
            )
            remedy = "fix what it draws at random; no plan can count on answers that change"
            raise ClassifierError.at(("classifier",), cause, remedy, code="unsteady", differ=others, people=len(again))
        if found.all() or not found.any():
            who = "accepts" if found.all() else "rejects"
            goal = getattr(self.classifier, "goal", Goal())
            name = f" ('{goal.favourable}')" if goal.favourable else ""
            cause = f"the model {who} all {len(found)} people of the table{name}"
            remedy = "check which class is favourable, the threshold, and that the columns are as in training"
            raise ClassifierError.at(("classifier",), cause, remedy, code="unanimous", accepts=bool(found.all()))
        return found

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """All columns that the model wants."""
        return {
            name: study_column(self.table[name], self.type_of(name), truths=self.spelled.get(name, TRUTHS))
            for name in map(str, self.table)
        }

    @property
    def candidates(self) -> list[str]:
        """The columns that people could change, as far as the table tells."""
        return [column.name for column in self.columns.values() if column.is_changeable]

    def find_target(self, names: Iterable[str]) -> str | None:
        """Which of these columns looks like the answers of the model: two values, which part whom it accepts."""
        for name in names:
            column, accepted = self.columns[name], self.accepted
            if column.distinct == 2 and not column.missing:
                first = (self.table[name] == self.table[name].iloc[0]).to_numpy(dtype=bool)
                apart = abs(first[accepted].mean() - first[~accepted].mean())
                if apart >= LIKE_ANSWERS:
                    return name
        return None

    def type_of(self, name: str) -> ColumnType:
        """What the model was trained on in a column."""
        return self.types.get(name, ANY)

    def read_wishes(self, change: Iterable[str], fixed: Iterable[str] = ()) -> list[Wish]:
        """The columns that can change, by name or as `name:up`, `name:down` or `name:level`. Mistakes come together."""
        wishes: dict[str, tuple[str, ...]] = {}
        mistakes: list[Mistake] = []
        held = list(dict.fromkeys(fixed))
        for text in change:
            name, way = self._split(text)
            found = list(self._complain(name, way, held))
            mistakes += found
            if not found:
                wishes[name] = wishes.get(name, ()) + ((way,) if way else ())
        known = [*self.table.columns, *self.unwanted]
        for name in held:
            if name not in known:
                mistakes.append(_unknown(("fixed",), name, known))
        if not wishes and not mistakes:
            names = [name for name in self.candidates if name not in held]
            cause, remedy = "no column is named that people can change", f"name some of {quote_list(names, limit=40)}"
            mistakes.append(mistake(("change",), cause, remedy, code="nothing_changes", columns=names))
        if mistakes:
            raise InputError(mistakes)
        return [Wish(name, ways) for name, ways in wishes.items()]

    def _split(self, text: str) -> tuple[str, str]:
        if text in self.table or ":" not in text:
            return text, ""
        name, _, way = text.rpartition(":")
        return name.strip(), way.strip()

    def _complain(self, name: str, way: str, fixed: Sequence[str]) -> Iterator[Mistake]:
        at = ("change",)
        if name in fixed:
            cause, remedy = f"'{name}' is both to change and fixed", "name it once"
            yield mistake(at, cause, remedy, code="both", name=name)
        elif name in self.unwanted:
            cause = f"the model does not look at '{name}': changing it changes no decision"
            yield mistake(at, cause, f"name some of {quote_list(list(self.columns))}", code="unused_column", name=name)
        elif name not in self.table:
            yield _unknown(at, name, list(self.columns))
        elif not self.columns[name].is_changeable:
            cause, remedy = _USELESS[self.columns[name].kind]
            yield mistake(at, f"'{name}' {cause}", remedy, code="no_levels", name=name)
        elif way:
            column = self.columns[name]
            ways = (*(DIRECTIONS if column.is_ordered else ()), *column.levels)
            if way not in ways and way in DIRECTIONS:
                cause = f"'{name}' has words without an order that we know"
                remedy = f"name the level to reach, {name}:{column.levels[0]}, or leave out ':{way}'"
                yield mistake(at, cause, remedy, code="no_order", name=name)
            elif way not in ways:
                yield mistake(at, f"'{name}' cannot go '{way}'", suggest(way, ways), code="unknown_way", name=name)


def as_table(table: object) -> pd.DataFrame:
    """A data frame with texts for column names. An error if it is none, is empty, or has a name twice."""
    if not isinstance(table, pd.DataFrame):
        remedy = "give a pandas DataFrame, one row per person"
        raise PersonError.at((), f"an object of type {type(table).__name__} is no table", remedy, code="wrong_type")
    names = [str(name) for name in table.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        cause = f"there are two columns '{twice[0]}'"
        raise PersonError.at((twice[0],), cause, "rename one of the two", code="twice", name=twice[0])
    if table.empty:
        raise PersonError.at((), "the table has no people", "give a table with rows", code="nobody")
    result = table.set_axis(names, axis=1).reset_index(drop=True)
    result.attrs = dict(table.attrs)
    return result


def bare_problem(table: pd.DataFrame, goal: Goal) -> Problem:
    """A problem with nothing but given columns, for which a model can be read before there are features."""
    return Problem("", 1, (), (), goal, given=tuple(table.columns))


def _own_names(classifier: Classifier) -> Iterator[str]:
    """What a model itself calls the columns that it wants: LightGBM has underscores for the spaces in them."""
    for member in members_of(classifier):
        names = member.columns.names if isinstance(member, ModelClassifier) else getattr(member, "wanted", None)
        yield from names or ()


def read_model(model: object, table: pd.DataFrame, goal: Goal) -> Classifier:
    """A model as a classifier of the records of a table. One that is a classifier already gets the goal, too."""
    return _with_goal(as_classifier(model, bare_problem(table, goal)), goal)


def _with_goal(classifier: Classifier, goal: Goal) -> Classifier:
    if isinstance(classifier, SeveralClassifiers):
        return replace(classifier, members=tuple(_with_goal(member, goal) for member in classifier.members))
    is_given = is_dataclass(classifier) and not isinstance(classifier, type) and hasattr(classifier, "goal")
    return replace(classifier, goal=goal) if is_given else classifier  # type: ignore[type-var]  # it is one


def _missing_column(name: str, known: Iterable[str]) -> Mistake:
    cause = f"the model needs a column '{name}', which the table has not"
    return mistake((name,), cause, suggest(name, known), code="missing_column", column=name)


def _unknown(path: tuple[str, ...], name: str, known: Sequence[str]) -> Mistake:
    return mistake(path, f"there is no column '{name}'", suggest(name, known), code="unknown_name", name=name)
