"""Where gaps come from: the parts add up, and each is 0 where there is nothing of its kind."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import FIGURE_MEASURES as MEASURES
from doors import Gap, PeopleFigures, decompose_gap, read_either
from safear.errors import ObjectiveError

NAMES = ("a", "b")

STAIRS: dict[str, Any] = {
    "safear": 1,
    "title": "Stairs",
    "horizon": 2,
    "features": {
        "x": {"kind": "ordinal", "levels": ["lost", "low", "mid", "top"]},
        "group": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
        "birth": {"kind": "nominal", "levels": ["east", "west"], "mutable": False},
    },
    "goal": {"favourable": "yes", "failure_cost": 9},
    "classifier": {"rule": "x == top or (x == mid and group == b)"},
    "actions": {"climb": {"cost": 2, "when": "x > lost", "change": {"x": "+1"}}},
}
PROBLEM = sa.parse_problem(STAIRS)


def people(**counts: int) -> pd.DataFrame:
    """`low_a=3`: three people of group a at low, born in the east."""
    rows = [tuple(name.split("_")) for name, count in counts.items() for _ in range(count)]
    return pd.DataFrame({"x": [x for x, _ in rows], "group": [group for _, group in rows], "birth": "east"})


def decompose(frame: pd.DataFrame, problem: sa.Problem = PROBLEM, minimum: int = 1) -> dict[str, Gap]:
    parts = sa.audit(problem, None, frame, groups=["group"], minimum=minimum).decompose("group")
    assert len({part.measure for part in parts}) == len(parts)
    return {part.measure: part for part in parts}


# -------------------------------------------------------------------------------------------------------- the formula


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, Any]:
    """Counts of both groups, and figures in either with where they are known."""
    size = draw(st.integers(1, 6))
    counts = tuple(
        np.array(draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)), dtype=np.int64) for _ in NAMES
    )
    numbers = st.lists(st.floats(-9, 9, width=32), min_size=size, max_size=size)
    figures = tuple(np.array(draw(numbers)) for _ in NAMES)
    return counts, (*figures, np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))))


@given(cases())
def test_the_parts_add_up_to_the_gap(case: tuple[Any, Any]) -> None:
    counts, figures = case
    in_a, in_b, known = figures
    covered = [np.repeat(np.arange(len(known)), np.where(known, count, 0)) for count in counts]
    found = decompose_gap("mean", NAMES, counts, figures)
    assert (found is None) == (min(map(len, covered)) == 0)
    if found is None:
        return
    assert (found.measure, found.group, found.other) == ("mean", "a", "b")
    of_a, of_b = covered
    assert found.start + found.model == pytest.approx(found.gap, abs=1e-12)
    assert found.gap == pytest.approx(in_a[of_a].mean() - in_b[of_b].mean(), abs=1e-12)
    swapped = ((in_a[of_a] - in_b[of_a]).mean() + (in_a[of_b] - in_b[of_b]).mean()) / 2
    assert found.model == pytest.approx(swapped, abs=1e-12)
    assert found.covered == pytest.approx((len(of_a) + len(of_b)) / (counts[0].sum() + counts[1].sum()))


@given(cases())
def test_the_other_way_round_has_the_other_sign(case: tuple[Any, Any]) -> None:
    (of_a, of_b), (in_a, in_b, known) = case
    there = decompose_gap("mean", NAMES, (of_a, of_b), (in_a, in_b, known))
    back = decompose_gap("mean", ("b", "a"), (of_b, of_a), (in_b, in_a, known))
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert (back.gap, back.start, back.model) == pytest.approx((-there.gap, -there.start, -there.model), abs=1e-12)


@given(cases())
def test_equal_treatment_and_equal_people(case: tuple[Any, Any]) -> None:
    (of_a, of_b), (in_a, in_b, known) = case
    alike = decompose_gap("mean", NAMES, (of_a, of_b), (in_a, in_a, known))
    assert alike is None or alike.model == 0
    same = decompose_gap("mean", NAMES, (of_a, of_a * 3), (in_a, in_b, known))
    assert same is None or same.start == pytest.approx(0, abs=1e-12)


def test_what_is_not_known_weighs_nothing() -> None:
    counts = np.array([2, 5]), np.array([1, 7])
    found = decompose_gap(
        "mean", NAMES, counts, (np.array([1.0, 99.0]), np.array([4.0, -99.0]), np.array([True, False]))
    )
    assert found == Gap("mean", "a", "b", gap=-3.0, start=0.0, model=-3.0, covered=3 / 15)


def test_who_is_accepted_needs_nothing() -> None:
    """Somebody who is accepted, somebody rejected, and somebody whom nothing helps."""
    figures = np.ma.array(np.full((3, len(MEASURES)), 5.0), mask=True)
    figures[1] = np.arange(7.0)
    figures[2, 0] = 0.0
    everyone = PeopleFigures(MEASURES, np.array([0, 1, 2], dtype=np.uint8), np.full(3, -1, dtype=np.int16), figures)
    for number, measure in enumerate(MEASURES):
        values, known = read_either(everyone, measure)
        assert values[:2].tolist() == [1.0 if measure == "success" else 0.0, number]
        assert known.tolist() == [True, True, measure == "success"]
    assert read_either(everyone, "success")[0][2] == 0


# --------------------------------------------------------------------------------------------------------- a population


def test_by_hand() -> None:
    """From low to top costs a 4, b is there at mid for 2; from mid a pays 2, and b is accepted: 0.

    Rejected: of a three at low and one at mid, of b two at low. Of the costs: E_a[F_a] = 3.5 and E_b[F_b] = 2; swapped
    everybody pays 2 less; and at low, where all of b are, people pay 0.5 more than a does on average, in either group.
    """
    found = decompose(people(low_a=3, mid_a=1, low_b=2, mid_b=5, top_a=4))
    assert set(found) == set(MEASURES)
    for measure in ("mean", "var", "cvar"):
        assert found[measure] == Gap(measure, "a", "b", gap=1.5, start=-0.5, model=2.0, covered=1.0)
    # From low x changes in either group; from mid it changes in a, and nothing is needed in b.
    assert found["sparsity"] == Gap("sparsity", "a", "b", gap=0.0, start=-0.125, model=0.125, covered=1.0)
    # Two levels from low and one from mid in a; one and none in b.
    assert found["proximity"] == Gap("proximity", "a", "b", gap=0.75, start=-0.25, model=1.0, covered=1.0)
    assert found["success"] == Gap("success", "a", "b", gap=0.0, start=0.0, model=0.0, covered=1.0)


def test_whom_nothing_helps_counts_in_success_only() -> None:
    found = decompose(people(low_a=3, mid_a=1, low_b=2, lost_a=2, lost_b=4))
    # Successes: 4 of 6 in a and 2 of 6 in b, in either group.
    success = found["success"]
    assert (success.gap, success.start, success.model) == pytest.approx((1 / 3, 1 / 3, 0), abs=1e-12)
    assert success.covered == 1
    assert found["mean"] == Gap("mean", "a", "b", gap=1.5, start=-0.5, model=2.0, covered=0.5)


def test_accepted_in_the_other_group_counts_as_a_success() -> None:
    """With one step only, a cannot get from low to top; at mid b is accepted."""
    found = decompose(people(low_a=1, mid_a=1, low_b=1), PROBLEM.with_horizon(1))
    # F_a: low 0, mid 1; F_b: low 1, mid 1 (accepted). E_a[F_b - F_a] = 1/2, E_b[F_b - F_a] = 1.
    success = found["success"]
    assert (success.gap, success.model, success.start) == pytest.approx((-0.5, -0.75, 0.25), abs=1e-12)
    assert success.covered == 1
    assert "mean" not in found  # nobody of b has a cost in either group


def test_a_classifier_that_ignores_the_feature() -> None:
    fair = sa.parse_problem({**STAIRS, "classifier": {"rule": "x == top"}})
    found = decompose(people(low_a=3, mid_a=1, lost_a=1, low_b=1, mid_b=4), fair)
    for part in found.values():
        assert part.model == 0, part
        assert part.gap == pytest.approx(part.start, abs=1e-12)
    assert found["mean"].gap == pytest.approx(3.5 - 2.4)
    assert found["success"].gap == pytest.approx(-0.2)


@pytest.mark.parametrize("rule", ["x == top and (group == b or birth == west)", "x == top or group == b and x == mid"])
def test_groups_whose_people_are_alike(rule: str) -> None:
    frame = people(low_a=4, lost_a=2, low_b=8, lost_b=4)
    frame["birth"] = ["east", "west"] * (len(frame) // 2)
    found = decompose(frame, sa.parse_problem({**STAIRS, "classifier": {"rule": rule}}))
    assert any(part.gap for part in found.values())
    for part in found.values():
        assert part.start == pytest.approx(0, abs=1e-12)
        assert part.model == pytest.approx(part.gap, abs=1e-12)


def test_the_gap_is_that_of_the_table_if_all_are_covered() -> None:
    audit = sa.audit(PROBLEM, None, people(low_a=40, mid_a=31, low_b=50, top_b=7), groups=["group"])
    table: Any = audit.table("group")
    parts = audit.decompose("group")
    assert [part.measure for part in parts] == list(MEASURES)
    assert [part.gap for part in parts] == pytest.approx(list(audit.tests("group")["difference"]), abs=1e-9)
    for part in parts:
        assert part.covered == 1
        assert part.gap == pytest.approx(table.loc["a", part.measure] - table.loc["b", part.measure], abs=1e-12)


def test_as_a_table() -> None:
    found = sa.audit(PROBLEM, None, people(low_a=40, low_b=50), groups=["group"]).decompose("group")
    assert found.to_frame().to_dict("records") == [asdict(gap) for gap in found]
    assert len(found) == len(MEASURES)
    assert found[1].measure == "mean"
    assert "covered" in found._repr_html_()
    nothing = sa.audit(PROBLEM, None, people(low_a=40), groups=["group"]).decompose("group").to_frame()
    assert (len(nothing), list(nothing)[:3]) == (0, ["measure", "group", "other"])


def test_small_groups_are_left_out() -> None:
    frame = people(low_a=3, low_b=2, top_b=9)
    assert decompose(frame, minimum=3) == {}
    assert set(decompose(frame, minimum=2)) == set(MEASURES)


def test_a_person_who_could_not_be_of_the_other_group() -> None:
    """Nobody of b can be at low: the people of a who are there have no figure in b, and are not covered."""
    apart = sa.parse_problem(
        {**STAIRS, "classifier": {"rule": "x == top"}, "constraints": ["not (group == b and x == low)"]}
    )
    found = decompose(people(low_a=4, mid_a=2, mid_b=2), apart)
    assert {part.covered for part in found.values()} == {0.5}
    assert {(part.start, part.model) for part in found.values()} == {(0.0, 0.0)}


@pytest.mark.parametrize("name", ["x", "height"])
def test_only_immutable_features_are_swapped(name: str) -> None:
    audit = sa.audit(PROBLEM, None, people(low_a=3, low_b=2), groups=["group"])
    assert not audit.can_decompose(name)
    with pytest.raises(ObjectiveError) as refused:
        audit.decompose(name)
    cause = f"'{name}' is not an immutable feature of the problem"
    assert str(refused.value) == f"{cause}\n    the immutable ones are 'group', 'birth'"


def test_a_problem_without_immutable_features() -> None:
    features = {name: {**feature, "mutable": True} for name, feature in STAIRS["features"].items()}
    problem = sa.parse_problem({**STAIRS, "features": features})
    audit = sa.audit(problem, None, people(low_a=3, low_b=2), groups=["group"])
    with pytest.raises(ObjectiveError) as refused:
        audit.decompose("group")
    assert str(refused.value) == "'group' is not an immutable feature of the problem"


def test_a_feature_need_not_be_a_group_column() -> None:
    frame = people(low_a=4, mid_b=1, low_b=3)
    frame["birth"] = ["east", "west"] * 4
    audit = sa.audit(PROBLEM, None, frame, groups=["group"], minimum=1)
    assert {(part.group, part.other) for part in audit.decompose("birth")} == {("east", "west")}
    assert all(part.model == 0 for part in audit.decompose("birth"))
