"""Going on from where somebody is: the form from there on, with the steps that are left and what was spent so far."""

from __future__ import annotations

import re
from dataclasses import dataclass

from safear.plans.plan_file import BeforeForm
from safear.plans.resume import find_restart
from safear.plans.saved_plan import SavedPlan
from safear.problem.model import as_decimal
from safear.recourse.case import Desk
from safear.recourse.teller import Teller
from safear.texts import Texts
from safear.web.asked import PLAN, Asked
from safear.web.forms import name_fields, read_record, write_value
from safear.web.schemas import MOST_COST, MOST_STEPS

LEFT, SPENT, FIRST = "left", "spent", "first"
MOST_SPENT = MOST_STEPS * MOST_COST
_OVER = {"history", "position", PLAN, LEFT, SPENT, FIRST}  # fields that belong to the plan that is left


@dataclass(frozen=True, slots=True)
class Onward:
    """How many steps are `left`, and what came `before`."""

    left: int
    before: BeforeForm

    @property
    def fields(self) -> dict[str, str]:
        """The hidden fields that carry it along."""
        return {LEFT: str(self.left), SPENT: repr(self.before.spent), FIRST: self.before.hash or ""}

    def tell(self, teller: Teller, unit: str) -> str:
        """In words."""
        spent = teller.cost(self.before.spent, unit)
        return f"{teller('walk.restart', spent=spent)} {teller('walk.steps_left', count=self.left)}"


def read_onward(desk: Desk, asked: Asked) -> Onward | None:
    """What a form carries along; None if it begins at the beginning."""
    left, spent, first = as_decimal(asked.text(LEFT)), as_decimal(asked.text(SPENT)), asked.text(FIRST)
    if left is None or spent is None or not 1 <= left <= desk.problem.horizon or not 0 <= spent <= MOST_SPENT:
        return None
    known = first if re.fullmatch("[0-9a-f]{64}", first) else None
    return Onward(int(left), BeforeForm(spent=float(spent), hash=known))


def go_on_from(desk: Desk, plan: SavedPlan, asked: Asked, *, texts: Texts) -> Asked:
    """The form of somebody who asks again from where a plan has brought them, as `safear resume --menu` does.

    All that has not changed stays as it was filled in. Once no step is left, the full time begins again.
    """
    record = read_record(desk, asked, texts=texts)
    has_time = len(asked.outcomes) < plan.mdp.horizon
    start = find_restart(
        plan,
        desk.problem,
        outcomes=asked.outcomes,
        person=record,
        changed=True,  # terms may be others by now, and so may the model; the new plans are for these
        horizon=None if has_time else desk.problem.horizon,
    )
    changed = {name: value for name, value in start.record.items() if name not in record or value != record[name]}
    fields = dict(begin_anew(asked).fields)
    fields |= {
        field: write_value(desk, name, changed[name], texts=texts)
        for field, name in name_fields(desk).items()
        if name in changed
    }
    return Asked(fields | Onward(start.steps_left, start.before).fields, wish="again")


def begin_anew(asked: Asked) -> Asked:
    """The form with the full time, and nothing spent."""
    return Asked({name: text for name, text in asked.fields.items() if name not in _OVER})


def carry_on(left: int, spent: float) -> dict[str, str]:
    """The fields of who has so many steps left and has spent so much."""
    return Onward(left, BeforeForm(spent=spent)).fields
