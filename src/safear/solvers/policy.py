"""Policies: what to do in each state at each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError
from safear.mdp.model import MDP
from safear.spec.model import Record

NOTHING = 255  # no action: a goal or a dead end


@dataclass(frozen=True, eq=False)
class Policy:
    """A time-dependent policy: `choices[step, state]` is which of the state's rows to take, counted from its first.

    One byte per state and step.
    """

    mdp: MDP
    choices: NDArray[np.uint8]

    def rows(self, step: int, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row taken in each of `states` at a step; -1 where there is nothing to do."""
        choice = self.choices[step, states].astype(np.int64)
        return np.where(choice == NOTHING, -1, self.mdp.row_start[states] + choice)

    def action(self, person: Record | int | None = None, *, step: int = 0, spent: float = 0) -> str | None:
        """The name of the action for a person at a step; None where there is nothing to do.

        `spent` is what the run has cost so far; the policies of this class do not depend on it.
        """
        del spent
        state = self.mdp.locate(person)
        if not 0 <= step < self.mdp.horizon:
            raise ObjectiveError.at((), f"step {step} is not between 0 and {self.mdp.horizon - 1}")
        if self.mdp.depth is not None and step < self.mdp.depth[state]:
            cause = f"this state cannot be reached before step {self.mdp.depth[state]}"
            raise ObjectiveError.at((), cause, "ask for a later step, or compile from this person")
        row = int(self.rows(step, np.array([state]))[0])
        return None if row < 0 else self.mdp.actions[self.mdp.row_action[row]]
