"""A plan in a few sentences."""

from __future__ import annotations

from reports.menus import make_guessed, make_loan
from safear.recourse.teller import Teller
from safear.reports.summary import tell_summary


def test_sentences() -> None:
    menu = make_loan()
    tell = Teller.of("en", menu.problem.glossary)
    assert tell_summary(menu[0], menu, tell) == (
        "At least 8 of 10 people: done in 2 months.",
        "Of people in your place who follow it, >99.9% reach “approved” within 24 steps.",
        (
            "On average it costs 2.19 months. "
            "If things go badly (in the worst 5 of 100 cases), it costs 3.38 months on average."
        ),
        (
            "What can go wrong: “study part-time” fails at least once (1 of 10 people); "
            "you lose your job (1 of 1000 people)."
        ),
    )


def test_how_far_they_can_be_off() -> None:
    menu = make_guessed()
    tell = Teller.of("en", menu.problem.glossary)
    spans = tell.spans(menu[0])
    assert spans.mean
    assert f"({spans.mean} if our estimates are off)." in tell_summary(menu[0], menu, tell)[2]
