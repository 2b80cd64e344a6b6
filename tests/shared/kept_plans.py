"""Plans that are kept in files, beside those that they were saved from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import safear as sa
from doors import digest, propagate
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
    policy, mdp, found = offer.policy, offer.policy.mdp, 0
    numbers = {tuple(sorted(person.items())): state for state, person in enumerate(kept.mdp.people)}
    layers = propagate(mdp, policy.choosing(int(policy.accounts[offer.start])), offer.start, possible=True)
    for layer in layers:
        there = np.array([numbers[tuple(sorted(mdp.person(state).items()))] for state in layer.state.tolist()])
        if layer.step < mdp.horizon:
            rows = kept.policy.rows(layer.step, there, kept.policy.accounts[kept.start] - layer.spent)
            for one, other in zip(layer.row.tolist(), rows.tolist(), strict=True):
                wanted = None if one < 0 else mdp.actions[mdp.row_action[one]]
                assert wanted == (None if other < 0 else kept.mdp.actions[kept.mdp.row_action[other]])
        assert (mdp.goal[layer.state] == kept.mdp.goal[there]).all()
        found += len(there)
    return found
