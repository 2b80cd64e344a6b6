"""A new menu from where somebody is along a plan, as a record: the only JSON there is of it."""

from __future__ import annotations

from typing import Self

from safear.plans.resume import Restart
from safear.recourse.figure_records import ResultRecord
from safear.recourse.menu import Menu
from safear.recourse.records import MenuRecord


class RestartRecord(ResultRecord):
    """What was spent so far, which the figures of the menu do not count, how many steps are left, and the menu."""

    spent: float
    steps_left: int
    menu: MenuRecord

    @classmethod
    def of(cls, start: Restart, menu: Menu) -> Self:
        """The menu was made from there."""
        return cls(spent=start.spent, steps_left=start.steps_left, menu=MenuRecord.of(menu))
