"""Each kind of argument refuses whatever it is not."""

from __future__ import annotations

import pytest

from doors import (
    ARGUMENT_NUMBER as NUMBER,
)
from doors import (
    FILE,
    FLAG,
    FOLLOWED,
    NAMES,
    OBJECTIVES,
    OUTCOMES,
    PROGRESS,
    TEXT,
    WHOLE,
    ArgumentKind,
)
from promises.test_arguments import Nameless
from safear.errors import InputError


@pytest.mark.parametrize(
    "kind",
    [FILE, TEXT, WHOLE, NUMBER, FLAG, NAMES, OUTCOMES, PROGRESS, FOLLOWED, OBJECTIVES],
    ids=lambda kind: kind.noun,
)
def test_what_cannot_be_shown_is_refused_all_the_same(kind: ArgumentKind) -> None:
    with pytest.raises(InputError, match=rf"Nameless object at 0x\w+> is not {kind.noun}"):
        kind.require(Nameless())
    with pytest.raises(InputError, match=f"None is not {kind.noun}"):
        kind.require(None)
    assert kind.or_none.fits(None)


def test_what_a_plan_has_is_not_worked_out_to_see_that_it_is_one() -> None:
    class Plan:
        @property
        def policy(self) -> object:
            raise ZeroDivisionError

        start = policy

    FOLLOWED.require(Plan())
    with pytest.raises(InputError, match="is not a plan to follow"):
        FOLLOWED.require(Plan)
