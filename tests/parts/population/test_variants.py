"""Variants of actions: each is what somebody's terms make of the action, and everybody is offered the right one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from crowds import JOB
from doors import Variant, find_priced, make_variants
from lanes import scaled
from safear.problem import apply_terms, parse_problem
from strategies import problems

CHANCE_OF = {Variant.UNCERTAIN: 0.5, Variant.CERTAIN: 1, Variant.NEVER: 0}


def one_chance(problem: sa.Problem) -> list[int]:
    """The numbers of the actions for which one chance says enough."""
    return [number for number, action in enumerate(problem.actions) if len(action.outcomes) <= 2]


@settings(max_examples=scaled(40))
@given(document=problems(), data=st.data())
def test_a_variant_is_what_terms_make_of_the_action(document: dict[str, Any], data: st.DataObject) -> None:
    problem = parse_problem(document)
    personal = data.draw(st.sets(st.sampled_from(one_chance(problem)))) if one_chance(problem) else set()
    variants = make_variants(problem, personal)
    assert len(variants.problem.actions) == len(problem.actions) + 3 * len(personal)
    assert sorted(variants.action.tolist()) == variants.action.tolist()  # ties go to the first action
    for made, number, kind in zip(variants.problem.actions, variants.action.tolist(), variants.kind, strict=True):
        action = problem.actions[number]
        if kind is Variant.OWN:
            assert made == action
        else:
            terms = sa.Terms.of(chance={action.name: CHANCE_OF[kind]})
            expected = apply_terms(problem, terms).action_by_name[action.name]
            assert replace(made, name=action.name) == expected
    assert len({action.name for action in variants.problem.actions}) == len(variants.problem.actions)
    assert replace(variants.problem, actions=problem.actions) == problem


@settings(max_examples=scaled(40))
@given(document=problems(), data=st.data())
def test_everybody_is_offered_one_variant_of_what_they_do_not_forbid(
    document: dict[str, Any], data: st.DataObject
) -> None:
    problem = parse_problem(document)
    count, personal = len(problem.actions), one_chance(problem)
    variants = make_variants(problem, personal)
    chance = st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1 - 2**-53, float("nan")])
    people = data.draw(st.integers(1, 4))
    chances = np.array([[data.draw(chance) if i in personal else np.nan for i in range(count)] for _ in range(people)])
    forbidden = np.array([[data.draw(st.booleans()) for _ in range(count)] for _ in range(people)])
    offered = variants.offered(chances, forbidden)
    own = variants.chances(chances)
    assert offered.shape == own.shape == (people, len(variants.kind))
    for person in range(people):
        for number in range(count):
            mine = np.flatnonzero((variants.action == number) & offered[person])
            assert len(mine) == (not forbidden[person, number])
            for variant in mine:
                given_chance = chances[person, number]
                kind = variants.kind[variant]
                assert {None: np.isnan(given_chance), 1: given_chance == 1, 0: given_chance == 0}.get(
                    kind.value, 0 < given_chance < 1
                )
                assert np.array_equal(
                    own[person, variant], given_chance if kind is Variant.UNCERTAIN else np.nan, equal_nan=True
                )


def test_outcomes_with_costs_of_their_own() -> None:
    problem = sa.parse_problem(JOB)
    variants = make_variants(problem, [0, 1])
    assert [problem.actions[i].name for i in variants.action] == ["learn"] * 4 + ["study"] * 4 + ["gamble"]
    assert variants.kind == (*Variant, *Variant, Variant.OWN)
    whole = sa.compile_mdp(variants.problem)
    learning = np.isin(whole.row_action[whole.edge_row], range(4))
    priced = find_priced(variants.problem)[whole.row_action[whole.edge_row], whole.edge_outcome]
    assert np.array_equal(priced, learning & np.equal(whole.edge_outcome, 1))
    assert learning.any()


@pytest.mark.parametrize("personal", [[], [1]])
def test_nobody_brings_chances_and_one_action_has_them(personal: list[int]) -> None:
    problem = sa.parse_problem(JOB)
    variants = make_variants(problem, personal)
    chances = np.full((2, 3), np.nan)
    chances[1, personal] = 0.25
    offered = variants.offered(chances, np.zeros((2, 3), dtype=bool))
    names = [[variants.problem.actions[i].name for i in np.flatnonzero(row)] for row in offered]
    assert names[0] == ["learn", "study", "gamble"]
    assert names[1] == (["learn", "study (UNCERTAIN)", "gamble"] if personal else names[0])
