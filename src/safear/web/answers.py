"""What somebody has entered as a file; and such files, and saved plans, opened again.

The file has names and plain numbers, so that it can be opened in any language. Its `person` and `terms` have the form
of the files that the command line takes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from safear.errors import InputError, PlanError
from safear.evaluation.forward import require_few_moves
from safear.plans.plan_file import Scalar
from safear.plans.saved_plan import SavedPlan
from safear.problem.load import parse_terms
from safear.problem.quantity import Amount, Quantity
from safear.recourse.case import Desk
from safear.recourse.teller import Teller
from safear.texts import Texts
from safear.web.asked import PLAN, Asked
from safear.web.forms import fill_in, name_fields, read_entry
from safear.web.json_texts import read_json
from safear.web.onward import carry_on, read_onward
from safear.web.terms_form import find_simplified, name_terms, read_terms, write_terms

FILE = "file"  # the field with a file that is to be opened
LONGEST = 1000  # text of a field
MOST_MOVES = 200_000  # of a saved plan's runs; plans made here have some thousands


class AnswersFile(BaseModel):
    """All that somebody has entered.

    Who has asked again on the way has so many `steps_left`, and has `spent` so much.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    safear_answers: Literal[1]
    problem: str
    person: dict[str, Scalar]
    terms: dict[str, Any] = {}
    steps_left: Annotated[int, Field(ge=1)] | None = None
    spent: Annotated[float, Field(ge=0)] = 0.0


@dataclass(frozen=True, slots=True)
class Opened:
    """The form with what a file has, and what is to be told about that."""

    asked: Asked
    notices: tuple[str, ...] = ()


def write_answers(desk: Desk, asked: Asked, *, texts: Texts) -> str:
    """The file of what was entered; terms that cannot be read are left out."""
    person = {
        name: read_entry(desk, name, asked.text(field), texts=texts)[:LONGEST]
        for field, name in name_fields(desk).items()
    }
    terms, onward = read_terms(desk.problem, asked, texts=texts), read_onward(desk, asked)
    own = {
        name: {kind: number for kind, number in (("cost", _plain(one.cost)), ("chance", _plain(one.chance))) if number}
        for name, one in terms.actions.items()
    }
    parts = {"actions": own, "forbid": list(terms.forbid), "rank": [list(tier) for tier in terms.rank]}
    answers = AnswersFile(
        safear_answers=1,
        problem=desk.problem.title,
        person={name: text for name, text in person.items() if text},
        terms={name: part for name, part in parts.items() if part},
        steps_left=None if onward is None else onward.left,
        spent=0.0 if onward is None else onward.before.spent,
    )
    return json.dumps(answers.model_dump(exclude_defaults=True), ensure_ascii=False, indent=2) + "\n"


def _plain(quantity: Quantity | None) -> str | None:
    return str(quantity.nominal) if isinstance(quantity, Amount) else None


def open_saved(desk: Desk, asked: Asked, text: str, *, texts: Texts) -> Opened:
    """The form with what a file has: answers take the place of what is there, a plan is followed.

    Raises an InputError if it is neither, or belongs to another problem.
    """
    if not text.strip():
        raise PlanError.at((), "no file was chosen", "choose one first", code="no_file")
    try:
        content = read_json(text)
    except (InputError, ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and "safear_plan" in content:
        return Opened(_open_plan(desk, asked, text, texts))
    try:
        answers = AnswersFile.model_validate(content)
    except ValidationError:
        cause = "these are neither answers nor a plan that was saved here, or not all of it"
        raise PlanError.at((), cause, "choose another file", code="damaged") from None
    return _open_answers(desk, asked, answers, texts)


def _open_answers(desk: Desk, asked: Asked, answers: AnswersFile, texts: Texts) -> Opened:
    unknown = [name for name in answers.person if name not in name_fields(desk).values()]
    if unknown or answers.problem != desk.problem.title:
        raise _other_problem(answers.problem)
    fields = fill_in(desk, answers.person, texts=texts)
    terms = parse_terms(answers.terms, desk.problem)
    fields |= write_terms(desk.problem, terms, texts=texts)
    kept = {name: text for name in ("language", "ticket") if (text := asked.text(name))}
    onward = {} if answers.steps_left is None else carry_on(answers.steps_left, answers.spent)
    tell = Teller(texts).about(desk.problem)
    less = [tell.quote_action(name) for name in find_simplified(terms)]
    notices = (texts("web.files.simplified", actions=texts.join(less)),) if less else ()
    return Opened(Asked({**kept, **fields, **onward}, wish="again"), notices)


def _open_plan(desk: Desk, asked: Asked, text: str, texts: Texts) -> Asked:
    """Terms stay as they are: the plan has its own, and they are for who asks again."""
    plan = read_saved(f"{text.strip()}\n")
    if "features" in plan.find_differences(desk.problem):
        raise _other_problem(plan.form.problem.title)
    kept = {name: asked.text(name) for name in ("language", "ticket", *name_terms(desk.problem)) if asked.text(name)}
    filled = fill_in(desk, plan.record, texts=texts) if plan.record is not None else dict(asked.fields)
    return Asked({**kept, **filled, PLAN: text}, wish="again")


def read_saved(text: str) -> SavedPlan:
    """A saved plan that anybody may have sent: one that takes too much to follow is a TooLargeError."""
    plan = SavedPlan.read(text)
    require_few_moves(plan.policy, plan.start, most=MOST_MOVES)
    return plan


def _other_problem(title: str) -> PlanError:
    return PlanError.at((), f"this is for '{title}'", "choose another file", code="other_title", title=title)
