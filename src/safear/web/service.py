"""What the pages and the API ask: decisions, menus, single plans. It keeps what is the same for everybody warm.

Nothing that a person sends is kept but the menu of a page, for a while (`kept`). What the classifier says is remembered
only where all of it is asked beforehand,
so that what is remembered tells nothing about who came.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier
from safear.errors import PersonError
from safear.mdp.goals import BATCH, Goals
from safear.problem.model import Problem, Record
from safear.problem.terms import Terms
from safear.recourse.case import Decision, Desk
from safear.recourse.menu import Menu, Request, make_menu
from safear.recourse.offer import TAIL
from safear.web.kept import KeptMenus, make_key
from safear.web.logbook import ModelWatch
from safear.web.work import Deadline

if TYPE_CHECKING:
    import pandas as pd

ASKED_BEFOREHAND = 1_000_000  # inputs up to which the classifier is asked about all of them at the start
MAX_STATES = 200_000  # that one person may reach; more would take longer than anybody waits for a page
MAX_BYTES = 2**30
MAX_SECONDS = 3.0  # to try what would help somebody without recourse


@dataclass(frozen=True, eq=False)
class Service:
    """Answers for one problem and one classifier; `people` are those whom the analyst looks at, if there are any."""

    desk: Desk
    people: str | pd.DataFrame | None = None
    watch: ModelWatch = field(default_factory=ModelWatch)
    kept: KeptMenus = field(default_factory=KeptMenus)

    @classmethod
    def of(cls, problem: Problem, classifier: object = None, *, people: str | pd.DataFrame | None = None) -> Service:
        """For a problem and whatever `as_classifier` takes. Mistakes in the problem are raised."""
        desk = replace(
            Desk.of(problem, classifier), max_states=MAX_STATES, max_bytes=MAX_BYTES, max_seconds=MAX_SECONDS
        )
        sizes = [len(feature.levels) for feature in problem.features if feature.seen_by_classifier]
        if desk.sight or math.prod(sizes) > ASKED_BEFOREHAND:  # of records there is no end
            return cls(replace(desk, forgetful=True), people)
        for goals in {desk.goals, desk.goals.in_force}:
            deque(_ask_everything(problem, goals), maxlen=0)
        return cls(desk, people)

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.desk.problem

    @property
    def classifier(self) -> Classifier:
        """Who decides."""
        return self.desk.classifier

    def answer(
        self,
        record: Record,
        terms: Terms | None = None,
        *,
        deadline: Deadline,
        level: float = TAIL,
        objective: str | None = None,
        robust: bool = False,
        exact: bool | None = None,
        steps: int | None = None,
    ) -> Menu:
        """The menu of a person; with an objective, its plan alone. `steps` are those that are left to them."""
        request = Request.of(objective, level=level, robust=robust, exact=exact)
        desk = self.desk if steps is None else self.desk.with_horizon(steps)
        case = desk.open(record, terms=terms)
        deadline.check()
        menu = make_menu(case, request, progress=deadline.check_progress)
        self.watch.note_answer()
        return menu

    def answer_again(
        self, ticket: str, record: Record, terms: Terms, *, deadline: Deadline, steps: int | None = None
    ) -> Menu:
        """The menu that was solved under a ticket for the same question, if it is still kept; or else solved now."""
        key = make_key(ticket, record, terms, steps=steps)
        menu = self.kept.find(key)
        if menu is None:
            menu = self.answer(record, terms, deadline=deadline, steps=steps)
            self.kept.keep(key, menu)
        return menu

    def decide(self, record: Record) -> Decision:
        """The decision on a person."""
        decision = self.desk.decide(record)
        self.watch.note_answer()
        return decision

    def share_accepted(self) -> float | None:
        """Which share of all inputs the classifier accepts; None if there are too many, or if it sees records."""
        if self.desk.forgetful:
            return None
        return float(np.mean(np.concatenate(list(_ask_everything(self.problem, self.desk.goals.in_force)))))

    def warm_up(self) -> None:
        """Answer once for each named person, so that the first who comes does not wait for what is loaded lazily."""
        for record in self.problem.people.values():
            with suppress(PersonError):  # who lacks a column that the model wants is told so on the page
                for offer in self.answer(record, deadline=Deadline.never()):
                    offer.plan, offer.traces, offer.gist, offer.verification  # noqa: B018  # worked out when first asked for


def _ask_everything(problem: Problem, goals: Goals) -> Iterator[NDArray[np.bool_]]:
    """What the classifier says of every input that there is, batch by batch."""
    seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
    sizes = [len(problem.features[i].levels) for i in seen]
    count = math.prod(sizes)
    for first in range(0, count, BATCH):
        numbers = np.arange(first, min(first + BATCH, count))
        codes = np.zeros((len(numbers), len(problem.features)), dtype=np.int16)
        codes[:, seen] = np.stack(np.unravel_index(numbers, sizes), axis=-1)
        yield goals.among(codes)
