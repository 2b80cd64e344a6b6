"""How a plan may go, in lines and words: they are those of its traces."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from doors import find_longest, tell_rest, tell_ways
from letter_menus import make_hopeless, make_loan, make_long
from safear.recourse import Teller

TELL = Teller.of("en")


def spans_of(line: str) -> list[float]:
    return [float(number) for number in re.findall(r'x[12]="([\d.]+)%"', line)]


def test_ways_have_the_chances_and_costs_of_the_traces() -> None:
    menu = make_loan()
    ends = []
    for offer in menu:
        traces, ways = offer.traces, tell_ways(offer, find_longest(menu), TELL)
        assert any(map(traces.is_worst, traces.shown))
        for way, trace in zip(ways, traces.shown, strict=True):
            assert way.chance == TELL.percent(trace.chance)
            assert ("worst 5%" in way.end) == traces.is_worst(trace)
            assert TELL.cost(trace.cost, "months") in way.end
            spans = spans_of(way.line)
            assert spans == sorted(spans)
            ends.append(spans[-1])
        rest = tell_rest(offer, TELL)
        assert traces.rest is not None
        assert rest is not None
        assert rest[0] == TELL.percent(traces.rest.chance)
    assert max(ends) == pytest.approx(100)


def test_ways_that_are_all_unlikely_are_left_out() -> None:
    (offer,) = make_long()
    assert tell_ways(offer, 1.0, TELL) == []


def test_ways_in_words(snapshot: SnapshotAssertion) -> None:
    safest = make_loan()[0]
    rest = tell_rest(safest, TELL)
    assert rest is not None
    assert "\n".join([*(way.words for way in tell_ways(safest, 1.0, TELL)), rest[1]]) == snapshot
    hopeless = [way for offer in make_hopeless() for way in tell_ways(offer, 1.0, TELL)]
    assert "not in time; 0.2 units spent" in [way.end for way in hopeless if not way.success]
    words = " ".join(way.words for way in hopeless)
    assert "work 2 times" in words
    assert "dither fails 2 times" in words
