"""Policies: what to do in each state at each step, and, for some, depending on what has been spent.

Whoever follows a policy keeps an *account*: it opens with `policy.accounts[start]`, and what a step costs is taken
from it. `StatePolicy` does not look at it. `SpentPolicy` was computed for a target of the total cost, which is what the
account opens with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from safear.arguments import ArgumentKind
from safear.core.arrays import PolicyArrays, choose_all, find_fault
from safear.errors import ObjectiveError
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.risk.distribution import units_within

Choose = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]  # (step, states, spent) -> rows
NOTHING = 255  # no action: a goal or a dead end


_NO_TABLE: NDArray[np.uint8] = np.empty((0, 0), dtype=np.uint8)
_NO_PIECES: NDArray[np.int64] = np.empty(0, dtype=np.int64)
NO_ARRAYS = PolicyArrays(_NO_TABLE, _NO_PIECES, _NO_PIECES, _NO_TABLE.reshape(-1))  # the core looks at none


class Policy(ABC):
    """A policy for an MDP: which row to take at a step, in a state, with so much left on the account."""

    mdp: MDP

    @property
    @abstractmethod
    def accounts(self) -> NDArray[np.int64]:
        """What the account opens with, in quanta, for a run from each state."""

    @abstractmethod
    def choose(self, step: int, states: NDArray[np.int64], accounts: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Which of its rows each of `states` takes, counted from its first; `NOTHING` where there is none."""

    @property
    @abstractmethod
    def looks_at_spent(self) -> bool:
        """Whether anything depends on what has been spent."""

    @property
    def arrays(self) -> PolicyArrays | None:
        """The policy as one argument of compiled loops; None if these do not know its kind."""
        return None

    def rows(self, step: int, states: NDArray[np.int64], accounts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row taken in each of `states` at a step; -1 where there is nothing to do."""
        choice = self.choose(step, states, accounts).astype(np.int64)
        if self.arrays is None:  # nobody has looked yet
            wrong = (choice != NOTHING) & ((choice < 0) | (choice >= np.diff(self.mdp.row_start)[states]))
            for i in np.flatnonzero(wrong)[:1]:
                raise _unsound(self.mdp, "choose", step * self.mdp.n_states + int(states[i]))
        return np.where(choice == NOTHING, -1, self.mdp.row_start[states] + choice)

    def steady(self, step: int, state: int, account: int) -> tuple[int | None, int | None]:
        """From which account to which, both included, the same is done as at this one; None: however little or much."""
        del step, state
        return (account, account) if self.looks_at_spent else (None, None)

    def choosing(self, account: int) -> Opened:
        """The rows taken by runs whose account opens with so much."""
        return Opened(self, account)

    def action(
        self,
        person: Record | int | None = None,
        *,
        step: int = 0,
        spent: float = 0,
        start: Record | int | None = None,
    ) -> str | None:
        """The name of the action for a person at a step; None where there is nothing to do.

        `spent` is what the run has cost so far, and `start` where it began (the person that the MDP was compiled from,
        if None; else, at step 0, the person).
        """
        mdp, state = self.mdp, self.mdp.locate(person)
        if not 0 <= step < mdp.horizon:
            raise ObjectiveError.at((), f"step {step} is not between 0 and {mdp.horizon - 1}", code="out_of_range")
        if step < mdp.depth[state]:
            cause = f"this state cannot be reached before step {mdp.depth[state]}"
            raise ObjectiveError.at((), cause, "ask for a later step, or compile from this person", code="not_reached")
        if not (np.isfinite(spent) and spent >= 0):
            raise ObjectiveError.at(
                (), f"{spent} cannot have been spent", "give a cost of 0 or more", code="out_of_range"
            )
        origin = state
        if self.looks_at_spent:
            origin = state if start is None and step == 0 else mdp.locate_start(start)
        account = self.accounts[origin] - units_within(spent, mdp.quantum)
        row = int(self.rows(step, np.array([state]), np.array([account]))[0])
        return None if row < 0 else mdp.actions[mdp.row_action[row]]


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A policy with what the account of a run opens with: called with a step, states and amounts, it names rows."""

    policy: Policy
    account: int

    def __call__(self, step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row taken in each state after spending so much."""
        return self.policy.rows(step, states, self.account - spent)


class _Known(Policy):
    """A policy that the core looks up."""

    def choose(self, step: int, states: NDArray[np.int64], accounts: NDArray[np.int64]) -> NDArray[np.uint8]:
        """What its arrays say."""
        known = (np.ascontiguousarray(each, np.int64) for each in (states, accounts))
        chosen: NDArray[np.uint8] = choose_all(require_arrays(self), self.mdp.n_states, step, *known)
        return chosen

    def __getstate__(self) -> dict[str, object]:
        """What is sent to another process: without what the core looks up, which is made of the rest."""
        return {name: value for name, value in vars(self).items() if name != "arrays"}

    def _read(self, name: str, kind: type[Any], shape: tuple[int, ...], per: str) -> NDArray[Any]:
        """Return one of its arrays, an entry for each of something, as the core takes it."""
        given = np.asarray(getattr(self, name))
        column = np.ascontiguousarray(given, kind)
        if given.shape != shape:
            cause = f"has the shape {given.shape}, not {shape}"
            raise ObjectiveError.at((name,), cause, f"give one for each {per}", code="wrong_length")
        if column is not given and not np.array_equal(column, given):
            raise ObjectiveError.at((name,), f"holds what is no {kind.__name__}", code="wrong_type")
        return column

    def _checked(self, name: str, *arrays: NDArray[Any]) -> PolicyArrays:
        """Return arrays for the core, of which `name` says most."""
        found = PolicyArrays(*arrays)
        place = find_fault(self.mdp.arrays, found)
        if place >= 0:
            raise _unsound(self.mdp, name, place)
        return found


def _unsound(mdp: MDP, name: str, place: int) -> ObjectiveError:
    """Return the error of a choice that is none, at step * n_states + state."""
    step, state = divmod(place, mdp.n_states)
    rows = int(mdp.row_start[state + 1] - mdp.row_start[state])
    cause = f"names none of the {rows} rows of state {state} at step {step}"
    remedy = f"count rows from 0, say {NOTHING} where nothing is done, and let accounts rise"
    return ObjectiveError.at((name,), cause, remedy, code="out_of_range")


@dataclass(frozen=True, eq=False)
class StatePolicy(_Known):
    """A policy that looks at state and step: `choices[step, state]`, one byte each."""

    mdp: MDP
    choices: NDArray[np.uint8]

    @property
    def accounts(self) -> NDArray[np.int64]:
        """Nothing is kept in mind."""
        return np.zeros(self.mdp.n_states, dtype=np.int64)

    @property
    def looks_at_spent(self) -> bool:
        """It does not."""
        return False

    @cached_property
    def arrays(self) -> PolicyArrays:
        """Its table."""
        table = self._read("choices", np.uint8, (self.mdp.horizon, self.mdp.n_states), "step and state of the MDP")
        return self._checked("choices", table, _NO_PIECES, _NO_PIECES, _NO_TABLE.reshape(-1))


@dataclass(frozen=True, eq=False)
class SpentPolicy(_Known):
    """A policy that looks at state, step and account.

    Along the account a choice seldom changes, so only the changes are kept: `first[piece_start[i] : piece_start[i+1]]`
    are the accounts, rising, from which on each of `choice` holds, with i = step * n_states + state. The first of them
    also holds for all that is below it.
    """

    mdp: MDP
    opening: NDArray[np.int64]
    piece_start: NDArray[np.int64]
    first: NDArray[np.int64]
    choice: NDArray[np.uint8]

    @classmethod
    def from_pieces(
        cls, mdp: MDP, opening: NDArray[np.int64], place: NDArray[np.int64], first: NDArray[Any], choice: NDArray[Any]
    ) -> SpentPolicy:
        """From pieces in any order, each with its place, step * n_states + state."""
        order = np.lexsort((first, place))
        start = np.searchsorted(place[order], np.arange(mdp.horizon * mdp.n_states + 1))
        return cls(mdp, opening, start, first[order], choice[order])

    @classmethod
    def of(cls, mdp: MDP, opening: NDArray[np.int64], arrays: PolicyArrays) -> SpentPolicy:
        """As the core has made it, which need not be checked."""
        policy = cls(mdp, opening, *map(np.asarray, (arrays.piece_start, arrays.first, arrays.choice)))
        vars(policy)["arrays"] = arrays
        return policy

    @property
    def accounts(self) -> NDArray[np.int64]:
        """The target of the total cost."""
        return self._read("opening", np.int64, (self.mdp.n_states,), "state of the MDP")

    @cached_property
    def _is_split(self) -> bool:
        return bool((np.diff(self.piece_start) > 1).any())

    @property
    def looks_at_spent(self) -> bool:
        """Unless there is one piece everywhere."""
        return self._is_split

    @cached_property
    def arrays(self) -> PolicyArrays:
        """Its pieces."""
        places, count = (self.mdp.horizon * self.mdp.n_states + 1,), (len(self.choice),)
        start = self._read("piece_start", np.int64, places, "step and state of the MDP, and one more")
        first, choice = self._read("first", np.int64, count, "piece"), self._read("choice", np.uint8, count, "piece")
        return self._checked("choice", _NO_TABLE, start, first, choice)

    def steady(self, step: int, state: int, account: int) -> tuple[int | None, int | None]:
        """As far as pieces that follow each other choose the same."""
        begin, end = self.piece_start[step * self.mdp.n_states + state :][:2].tolist()
        first, choice = self.first[begin:end], self.choice[begin:end]
        here = max(int(np.searchsorted(first, account, side="right")) - 1, 0)
        others = np.flatnonzero(choice != choice[here])
        below, above = others[others < here], others[others > here]
        low = int(first[below[-1] + 1]) if len(below) else None
        return low, int(first[above[0]]) - 1 if len(above) else None


_POLICY = ArgumentKind("a plan", "give a solution (solve), a plan of a menu (recommend) or a policy", (Policy,))


class Planned(Protocol):
    """Whatever has a policy: a solution, say."""

    @property
    def policy(self) -> Policy:
        """What to do."""


def policy_of(plan: Planned | Policy) -> Policy:
    """The policy of a solution, or the policy itself: whatever looks at plans takes both."""
    found = getattr(plan, "policy", plan)
    _POLICY.require(found)
    return cast("Policy", found)


def require_arrays(policy: Policy) -> PolicyArrays:
    """Return a policy as one argument of the core, which must know its kind."""
    arrays = policy.arrays
    if arrays is None:
        raise TypeError(f"the core does not know policies like {policy!r}")
    return arrays
