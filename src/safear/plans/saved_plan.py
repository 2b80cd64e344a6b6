"""`SavedPlan`: a plan that is saved in a file, and loaded without the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from safear.arguments import FILE, FLAG, WHOLE, ArgumentKind, takes
from safear.errors import InputError, Place, PlanError, quote_list
from safear.evaluation.forward import find_possible_ends, run_exactly
from safear.evaluation.policy import Policy
from safear.files import read_text, write_text
from safear.plans.plan_file import AS_SAVED, BeforeForm, FiguresForm, PlanForm
from safear.plans.plan_reading import read_policy, read_promises
from safear.plans.plan_writing import hash_problem, write_plan
from safear.problem.model import PROBLEM, Problem, Record
from safear.recourse.offer import OFFER, Offer
from safear.recourse.plan import Plan
from safear.recourse.plan_making import make_plan
from safear.recourse.promises import Promises
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Objective, parse_objective
from safear.texts.notebook import show_lines

if TYPE_CHECKING:
    from safear.plans.plan_reading import PlanMDP


@dataclass(frozen=True, eq=False, repr=False)
class SavedPlan:
    """A plan that was saved, or is to be: what its file says (`form`), and the policy, which can be followed.

    It needs neither the problem nor the model. States are those that the plan can reach, with what is done there.
    """

    form: PlanForm
    policy: Policy

    @classmethod
    def of(
        cls,
        offer: Offer,
        *,
        personal_data: bool = True,
        seed: int | None = None,
        before: BeforeForm | None = None,
    ) -> SavedPlan:
        """What is saved of an offer; see `save_plan`."""
        return cls.read(write_plan(offer, personal_data=personal_data, seed=seed, before=before).text)

    @classmethod
    def read(cls, text: str, place: Place | None = None) -> SavedPlan:
        """From the text of a file. Raises a PlanError if it is damaged, was edited, or is of a later version."""
        place = Place() if place is None else place
        form = PlanForm.read(text, place)
        policy = read_policy(form, place)
        try:
            [parse_objective(objective) for objective in form.objectives]
        except InputError as error:
            raise PlanError.at(place, f"is damaged: {error}", AS_SAVED, code="damaged") from None
        return cls(form, policy)

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all."""
        write_text(Path(path), self.text)

    @property
    def text(self) -> str:
        """What the file holds: the same question gives the same bytes."""
        return self.form.text

    def __repr__(self) -> str:
        return f"SavedPlan('{self.form.problem.title}': {self.form.plan}, {len(self.form.states)} states)"

    def __str__(self) -> str:
        return str(self.plan)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return show_lines(str(self))

    @property
    def mdp(self) -> PlanMDP:
        """The states of the plan as arrays."""
        found: PlanMDP = self.policy.mdp  # type: ignore[assignment]  # `read_policy` made it
        return found

    @property
    def start(self) -> int:
        """The state in which it begins."""
        return self.form.start

    @property
    def level(self) -> float:
        """Which runs count as the worst."""
        return self.form.level

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What the plan was computed for."""
        return tuple(parse_objective(text) for text in self.form.objectives)

    @property
    def figures(self) -> FiguresForm:
        """The exact figures as they were when it was saved."""
        return self.form.figures

    @property
    def record(self) -> Record | None:
        """The person as filed; None if the file has no personal data."""
        return self.form.person.record

    @property
    def spent_before(self) -> float:
        """What was spent before this plan, if it goes on with an earlier one."""
        return 0.0 if self.form.before is None else self.form.before.spent

    @property
    def person_hash(self) -> str | None:
        """The hash of the record that the person filed first; None if the file has no personal data."""
        before, person = self.form.before, self.form.person
        return person.hash if before is None or person.hash is None else before.hash

    @property
    def first_action(self) -> str | None:
        """What to do first."""
        return self.policy.action(self.start)

    @cached_property
    def promises(self) -> Promises:
        """What the plan brings numbers to, by feature and level."""
        return read_promises(self.form)

    @cached_property
    def cost(self) -> CostDistribution:
        """The exact distribution of the total cost."""
        return run_exactly(self.policy, self.start).distribution

    @cached_property
    def plan(self) -> Plan:
        """The contingent plan: its likely steps."""
        return make_plan(self.policy, self.start, promises=self.promises)

    @property
    def ends(self) -> tuple[tuple[dict[str, str], float], ...]:
        """Every goal at which a run may end: its levels, and how probable that is at the nominal chances."""
        found = find_possible_ends(self.policy, self.start)
        return tuple(
            (self.mdp.person(state), chance)
            for state, chance in zip(found.state.tolist(), found.chance.tolist(), strict=True)
        )

    def find_differences(self, problem: Problem) -> list[str]:
        """In which parts a problem differs from the one that the plan is for."""
        parts, known = hash_problem(problem)[1], self.form.problem.parts
        return sorted(name for name in parts.keys() | known if parts.get(name) != known.get(name))

    def require_problem(self, problem: Problem) -> None:
        """Raise a PlanError if this is not the problem that the plan is for, and say in what it differs."""
        known, names = self.form.problem, self.find_differences(problem)
        if not names:
            return
        cause = f"the plan is for '{known.title}', and this problem differs in {quote_list(names)}"
        remedy = (
            "give the problem as it was then, with the person's own terms; a new menu may be made for another one: "
            "changed=True, --changed on the command line"
        )
        raise PlanError.at((), cause, remedy, code="other_problem", title=known.title, parts=names)


SAVED_PLAN = ArgumentKind("a plan that was saved", "load_plan reads one from its file", (SavedPlan,), error=PlanError)


BEFORE = ArgumentKind("what came before a plan", "give restart.before (find_restart)", (BeforeForm,), error=PlanError)


@takes(offer=OFFER, path=FILE, personal_data=FLAG, seed=WHOLE.or_none, before=BEFORE.or_none)
def save_plan(
    offer: Offer,
    path: str | Path,
    *,
    personal_data: bool = True,
    seed: int | None = None,
    before: BeforeForm | None = None,
) -> SavedPlan:
    """Save a plan in a file: what to do in every situation that can come up, its figures, and what it promises.

    The file has the record as filed and the person's levels. `personal_data=False` leaves out the record, all hashes
    of it, and the levels that the plan does not change. What the plan changes stays, with its level at the start, and
    so do costs and chances, which may be the person's own. `seed` belongs to plans of a method that draws at random,
    `before` to those that go on with an earlier one (`Restart.before`). A checksum tells damage and edits; it is no
    signature.
    """
    plan = SavedPlan.of(offer, personal_data=personal_data, seed=seed, before=before)
    plan.save(path)
    return plan


@takes(path=FILE, problem=PROBLEM.or_none)
def load_plan(path: str | Path, problem: Problem | None = None) -> SavedPlan:
    """Read a plan that was saved; neither the model nor the problem is needed.

    With a problem, it must be the one that the plan is for. Raises a PlanError if it is not, or if the file is damaged,
    was edited, or is of a later version.
    """
    place = Place(file=str(path))
    plan = SavedPlan.read(read_text(Path(path), PlanError), place)
    if problem is not None:
        plan.require_problem(problem)
    return plan
