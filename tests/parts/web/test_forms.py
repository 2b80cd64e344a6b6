"""What a browser sends, read as a wish, a person and their terms."""

from __future__ import annotations

import safear as sa
from doors import read_form, read_record, read_terms
from safear.recourse import Desk
from safear.texts import load_texts

LOAN = sa.load_example("loan")


def test_reading_a_form() -> None:
    asked = read_form(b"feature0=young&cost0=1%2C5&chance0=30&cannot1=1&do=outcome:1&history=0,2&weight=7&language=de")
    assert (asked.wish, asked.number, asked.outcomes, asked.weight) == ("outcome", 1, (0, 2, 1), 1.0)
    assert read_record(Desk.of(LOAN), asked, texts=load_texts("en")) == {"age": "young"}
    assert read_terms(LOAN, asked, texts=load_texts("en")) == sa.Terms.of(
        cost={"own a house": 1.5}, forbid=["change job"]
    )
    assert "young" not in repr(asked)
