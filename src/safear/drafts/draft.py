"""From a table and a model to a problem that can be worked on: `draft_problem`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from safear._version import __version__
from safear.arguments import NAMES, NUMBER, TEXT, takes
from safear.classifier.adapters import knows_names
from safear.classifier.decisions import AnswerKind
from safear.drafts.draft_text import write_draft
from safear.drafts.ladder import Ladder, make_ladder
from safear.drafts.outlook import Hopeful, Outlook, decide_filed, draw_rejected, find_ways, read_filed
from safear.drafts.own_words import OTHER_WAY, find_taken
from safear.drafts.panel import Panel
from safear.drafts.sheet import DIRECTIONS, Sheet, Wish, as_table, read_model
from safear.errors import ClassifierError, InputError, mistake, quote_list
from safear.files import write_text
from safear.problem.checks import check_problem
from safear.problem.condition import ALWAYS, Condition, LevelTest
from safear.problem.load import parse_problem
from safear.problem.model import Action, Change, Feature, Goal, Move, Outcome, Problem, SetTo
from safear.problem.quantity import GUESS, Amount
from safear.recourse.case import Desk
from safear.texts.catalogue import Texts, load_texts
from safear.texts.names import show_name

if TYPE_CHECKING:
    import pandas as pd

COST = replace(Amount.exactly(1), source=GUESS)
CHANCE = replace(Amount.between(Decimal("0.5"), Decimal("0.95")), source=GUESS)
FEWEST, MOST = 4, 8  # steps of a plan
ALL = 10  # steps that are searched, if that is everything
MOST_USEFUL = 0.9  # of the people who have a way are done in half the steps if all goes well
WORTH = 0.25  # a way of changing something that helps less often, beside the best, is left out


@dataclass(frozen=True, eq=False, repr=False)
class Draft:
    """A first problem for a table and a model, what it was made from, and what it does to the people of the table.

    `ladders` are the features with where their levels come from; `idle` are columns that were to change and change no
    decision. `is_told`: whether the model says which columns it wants. If not, it gets all, and `likely_target` is one
    that looks like its answers. `taken`: of what kind its answers are, if nobody named the favourable one.
    """

    problem: Problem
    text: str
    ladders: tuple[Ladder, ...]
    idle: tuple[str, ...]
    outlook: Outlook
    row: int  # of the person who is named in the problem
    is_told: bool
    likely_target: str | None
    taken: AnswerKind | None

    def save(self, path: str | Path) -> None:
        """Write the file."""
        write_text(Path(path), self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        found = self.outlook
        return f"Draft({self.problem!r}: {found.with_way} of {found.tried} rejected people have a plan)"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<p>{escape(repr(self))}</p><pre>{escape(self.text)}</pre>"


@takes(
    change=NAMES,
    fixed=NAMES,
    threshold=NUMBER.or_none,
    target=TEXT.or_none,
    title=TEXT.or_none,
    language=TEXT,
)
def draft_problem(  # noqa: PLR0913  # each is a flag of `safear init`
    table: pd.DataFrame,
    model: object,
    *,
    change: Iterable[str] = (),
    fixed: Iterable[str] = (),
    favourable: str | None = None,
    threshold: float | None = None,
    target: str | None = None,
    title: str | None = None,
    language: str = "en",
) -> Draft:
    """Draft a problem for the people of a table and a model, with a guess for every cost and chance.

    Args:
        table: a row per person, with the columns that the model wants, as they were filed.
        model: whatever `recommend` takes that sees records: a model with `predict`, a function, a classifier.
        change: the columns that people can change, each as `name`, `name:up`, `name:down` or `name:level`.
        fixed: columns that must never change; naming one of them in `change` is a mistake.
        favourable: the class that people want; needed if the model has classes.
        threshold: the score that earns it; without one the model's own decision counts.
        target: the column with what the model was trained to say, if a function does not tell which it wants.
        title: what the problem is called.
        language: of level names and comments.
    """
    change, fixed = tuple(change), tuple(fixed)
    for argument, names in (("change", change), ("fixed", fixed)):
        for name in names:
            TEXT.require(name, argument)
    goal = Goal(None if favourable is None else str(favourable), threshold)
    people = as_table(table)
    classifier = read_model(model, people, goal)
    sheet = Sheet.of(people, classifier, target=target)
    taken = find_taken(classifier, sheet.table) if goal.favourable is None else None
    fixed = tuple(dict.fromkeys(fixed))
    wishes = sheet.read_wishes(change, fixed)
    return _Drafter(sheet, goal, load_texts(language), taken).draft(wishes, title, fixed)


class _Drafter:
    """Makes a draft of a sheet."""

    def __init__(self, sheet: Sheet, goal: Goal, texts: Texts, taken: AnswerKind | None) -> None:
        self.sheet, self.goal, self.texts, self.taken = sheet, goal, texts, taken
        self.say = texts.part("draft")

    def draft(self, wishes: Sequence[Wish], title: str | None, fixed: Sequence[str]) -> Draft:
        names = [wish.name for wish in wishes]
        ladders = self._ladders(wishes)
        idle = tuple(name for name in names if name not in {ladder.feature.name for ladder in ladders})
        if not ladders:
            raise self._nothing_helps(names)
        problem = self._problem(ladders, wishes, title or self.say("title"))
        self._require_order(problem)
        problem, way, outlook = self._look_ahead(problem)
        problem = self._with_person(problem, way)
        text = write_draft(problem, ladders, self.texts, row=way.row, about=self._about(outlook, fixed))
        is_told = self.sheet.is_told
        target = None if is_told else self.sheet.find_target(problem.given)
        return Draft(parse_problem(text), text, tuple(ladders), idle, outlook, way.row, is_told, target, self.taken)

    def _about(self, outlook: Outlook, fixed: Sequence[str]) -> dict[str, str]:
        """What the file was made from and what must never change, why columns are given, and what is decided by."""
        say = self.texts.part("draft.comment")
        head = say("head", version=__version__, count=outlook.people, rejected=self.texts.whole(outlook.rejected))
        if fixed:
            head += " " + say("fixed", names=", ".join(map(show_name, fixed)))
        given = say("given_otherwise" if self.sheet.is_told else "given")
        goal = say("goal" if self.goal.threshold is not None else "goal_predict")
        if self.taken is not None:
            taken = tell_taken(self.texts, self.taken, self.goal)
            goal = say("taken", taken=taken, other=OTHER_WAY[self.taken]) + " " + goal
        return {"head": head, "given": given, "goal": goal}

    def _ladders(self, wishes: Sequence[Wish]) -> list[Ladder]:
        """The features of all columns that can change, as far as they ever change a decision."""
        sheet, names = self.sheet, [wish.name for wish in wishes]
        panel = Panel.draw(sheet.classifier, sheet.table, sheet.accepted, change=names)
        find = getattr(sheet.classifier, "splits", None)
        splits = {} if find is None else dict(find(self._complete()) or {})
        found = []
        for wish in wishes:
            column, wanted = sheet.columns[wish.name], sheet.type_of(wish.name)
            ladder = make_ladder(panel, column, wanted=wanted, splits=splits.get(wish.name), say=self.say)
            if ladder is not None and _ways(ladder, wish):
                found.append(ladder)
        return found

    def _problem(self, ladders: Sequence[Ladder], wishes: Sequence[Wish], title: str) -> Problem:
        by_name = {wish.name: wish for wish in wishes}
        features = tuple(ladder.feature for ladder in ladders)
        actions = [
            _action(self.say, ladder, way) for ladder in ladders for way in _ways(ladder, by_name[ladder.feature.name])
        ]
        known = {feature.name for feature in features}
        given = tuple(name for name in self.sheet.columns if name not in known) if self.sheet.names_given else ()
        steps = _count_steps(features)
        return Problem(
            title,
            steps if steps <= ALL else MOST,
            features,
            tuple(actions),
            self.goal,
            given=given,
            cost_unit=self.say("unit"),
        )

    def _require_order(self, problem: Problem) -> None:
        """Refuse a model that knows its columns by their places alone, if they would reach it in another order."""
        if not knows_names(self.sheet.classifier):
            shown = [*problem.feature_by_name, *problem.given]
            if shown != list(self.sheet.columns):
                cause = "the model knows no names of its columns, and what can change would reach it first"
                remedy = "train it on a DataFrame, or give a function that takes one and asks it"
                raise ClassifierError.at(("classifier",), cause, remedy, code="no_names")

    def _complete(self) -> pd.DataFrame:
        """A row of the table with as few gaps as there are, to ask where the model may change its mind."""
        table = self.sheet.table
        return table.iloc[[int(table.isna().sum(axis=1).to_numpy().argmin())]]

    def _look_ahead(self, problem: Problem) -> tuple[Problem, Hopeful, Outlook]:
        """The problem with as many steps as people need, somebody who has a way, and what becomes of all."""
        desk = Desk.of(problem, self.sheet.classifier)
        filed, accepted = read_filed(desk, self.sheet.table), self.sheet.accepted
        agree = int((decide_filed(desk, filed) == accepted).sum())
        tried = draw_rejected(accepted)
        ways, reasons = find_ways(desk, filed, tried)
        if not ways:
            raise self._nothing_helps([feature.name for feature in problem.features])
        needed = int(np.quantile([way.steps for way in ways], MOST_USEFUL, method="higher"))
        horizon = min(max(2 * needed, FEWEST, *(way.steps for way in ways)), problem.horizon)
        outlook = Outlook(len(accepted), int((~accepted).sum()), agree, len(tried), len(ways), reasons, problem.horizon)
        goal = replace(problem.goal, failure_cost=Decimal(2 * horizon))
        first = min(ways, key=lambda way: (abs(way.steps - 2), way.row))
        return replace(problem, horizon=horizon, goal=goal), first, outlook

    def _with_person(self, problem: Problem, way: Hopeful) -> Problem:
        record = {name: _cell(self.sheet.table[name].iloc[way.row]) for name in self.sheet.columns}
        named = replace(problem, people={self.say("applicant"): record})
        found = check_problem(named)
        if found:
            raise InputError(found)
        return named

    def _nothing_helps(self, names: Sequence[str]) -> InputError:
        cause = f"no change of {quote_list(names)} gets anybody accepted whom the model rejects"
        others = [name for name in self.sheet.candidates if name not in names]
        remedy = f"let more columns change: {quote_list(others)}" if others else None
        return InputError([mistake(("change",), cause, remedy, code="nothing_helps", columns=list(names))])


def tell_taken(texts: Texts, taken: AnswerKind, goal: Goal) -> str:
    """What was taken as favourable, as nobody named it."""
    least = texts.number(0.5 if goal.threshold is None else goal.threshold)
    return texts(f"draft.taken_kinds.{taken}", least=least)


def _ways(ladder: Ladder, wish: Wish) -> list[str]:
    """The ways of changing a feature that are drafted: those wished for, else those that help often enough."""
    if wish.ways:
        return list(dict.fromkeys(wish.ways))
    most = max(ladder.helped.values(), default=0)
    return [way for way in ladder.ways if ladder.helped[way] >= WORTH * most]


def _count_steps(features: Sequence[Feature]) -> int:
    """One more than it takes to change everything, by a level at a time or to a word at once: nothing is beyond."""
    return 1 + sum(len(feature.levels) - 1 if feature.is_ordered else 1 for feature in features)


def _action(say: Any, ladder: Ladder, way: str) -> Action:
    name = ladder.feature.name
    change: Change = {name: SetTo(way)}
    when: Condition = ALWAYS
    title = say("action.to", feature=name, level=way)
    if ladder.is_ordered and way in DIRECTIONS:
        change, title = {name: Move(1 if way == "up" else -1)}, say(f"action.{way}", feature=name)
        lowest = ladder.column.levels[:1]
        if way == "down" and lowest and ladder.feature.missing:  # nobody is asked to leave something out
            when = LevelTest(name, ">", lowest[0])
    return Action(title, COST, (Outcome(CHANCE, change), Outcome()), when)


def _cell(value: Any) -> object:
    """A cell as a record has it: numbers, truth values and texts of Python, None for what is missing."""
    import pandas as pd  # noqa: PLC0415  # as where tables are read

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
