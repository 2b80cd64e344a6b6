"""A plan in a few sentences."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from doors import tell_summary
from letter_menus import make_guessed, make_loan
from safear.recourse import Teller


def test_sentences(snapshot: SnapshotAssertion) -> None:
    menu = make_loan()
    tell = Teller.of("en", menu.problem.glossary)
    assert "\n".join(tell_summary(menu[0], menu, tell)) == snapshot


def test_how_far_they_can_be_off() -> None:
    menu = make_guessed()
    tell = Teller.of("en", menu.problem.glossary)
    spans = tell.spans(menu[0])
    assert spans.mean
    assert f"({spans.mean} if our estimates are off)." in tell_summary(menu[0], menu, tell)[2]
