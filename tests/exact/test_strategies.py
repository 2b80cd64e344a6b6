"""What is drawn (`strategies.py`): documents are sound, and conditions mean what they were made of."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanes import scaled
from oracle import (
    Feature,
    Oracle,
    condition,
    cvar,
    mean,
    value_at_risk,
)
from strategies import Drawn, Said, conditions, features_, problems

quick = settings(deadline=None, max_examples=scaled(100), suppress_health_check=[HealthCheck.too_slow])


def _as_oracle(feature: Drawn) -> Feature:
    edges = tuple(Fraction(str(edge)) for edge in feature.edges)
    values = tuple(map(str, feature.values))
    return Feature(feature.name, feature.kind, feature.levels, edges, feature.closed, True, True, True, values)


@st.composite
def _conditions(draw: st.DrawFn) -> tuple[tuple[Drawn, ...], Said]:
    drawn = draw(features_())
    return drawn, draw(conditions(drawn))


@given(_conditions())
@quick
def test_drawn_conditions_mean_what_they_were_made_of(pair: tuple[tuple[Drawn, ...], Said]) -> None:
    drawn, said = pair
    test = condition(said.text, {feature.name: _as_oracle(feature) for feature in drawn})
    for indices in itertools.product(*(range(len(feature.levels)) for feature in drawn)):
        levels = {feature.name: feature.levels[index] for feature, index in zip(drawn, indices, strict=True)}
        places = {feature.name: index for feature, index in zip(drawn, indices, strict=True)}
        assert test(levels) == said.holds(places), said.text


@given(problems())
@quick
def test_drawn_documents_are_sound(document: dict[str, Any]) -> None:
    oracle = Oracle(document)
    start = oracle.start()
    states = oracle.all_states()
    assert oracle.reachable(start) <= set(states)
    for state in states:
        for choice in oracle.offered(state):
            assert sum(edge.chance for edge in choice.edges) == 1
            assert all(edge.cost >= 0 and edge.next in states for edge in choice.edges)
            for edge in choice.edges:
                fixed = [index for index, feature in enumerate(oracle.features.values()) if not feature.mutable]
                assert all(edge.next[index] == state[index] for index in fixed)
    for aversion, lower in ((0, False), (0.5, False), (1, True)):
        policy, value = oracle.greedy(start, aversion, lower=lower)
        runs = oracle.distribution(policy, start)
        assert sum(runs.values()) == 1
        average = mean(runs)
        assert average is not None
        assert value >= float(average) - 1e-9  # a mean plus a deviation, at every step
        if aversion == 0:
            assert value == pytest.approx(float(average))
        worst, tail = value_at_risk(runs, 0.8), cvar(runs, 0.8)
        assert worst is not None
        assert tail is not None
        assert worst <= tail
