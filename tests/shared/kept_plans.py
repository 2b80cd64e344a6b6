"""Plans that are kept in files, beside those that they were saved from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import safear as sa
from doors import digest, follow
from safear.plans import PlanForm


def sign(content: dict[str, Any]) -> str:
    """Write a made-up file with a checksum that fits, if it has the shape of a plan."""
    content = {name: part for name, part in content.items() if name != "checksum"}
    try:
        return PlanForm.model_validate_json(json.dumps(content)).text
    except ValueError:
        return json.dumps(content | {"checksum": digest("")})


def same_everywhere(offer: sa.Offer, kept: sa.SavedPlan) -> int:
    """In every state that may come up, at every step and with all that may be spent, the same is done; how many."""
    policy, mdp = offer.policy, offer.policy.mdp
    numbers = {tuple(sorted(person.items())): state for state, person in enumerate(kept.mdp.people)}
    cells = follow(mdp, policy.choosing(int(policy.accounts[offer.start])), offer.start, possible=True).cells
    there = np.array([numbers[tuple(sorted(mdp.person(int(state)).items()))] for state in cells.state])
    for step in range(mdp.horizon):
        here = np.asarray(cells.step) == step
        rows = kept.policy.rows(step, there[here], kept.policy.accounts[kept.start] - np.asarray(cells.spent)[here])
        for one, other in zip(np.asarray(cells.row)[here].tolist(), rows.tolist(), strict=True):
            wanted = None if one < 0 else mdp.actions[mdp.row_action[one]]
            assert wanted == (None if other < 0 else kept.mdp.actions[kept.mdp.row_action[other]])
    assert (mdp.goal[cells.state] == kept.mdp.goal[there]).all()
    return len(there)
