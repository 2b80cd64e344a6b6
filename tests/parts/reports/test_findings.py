"""Sentences claim what the tests support, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from audit_examples import audit_of, make_audit, make_even_audit, make_people
from doors import AuditTeller, Division, FindingTeller, GroupRow, GroupTest, Verdict, divide, name_measures
from safear.datasets import load

TELL = FindingTeller(AuditTeller.of())
ONE, OTHER = (GroupRow(n, name, (name,), 90, 60, 0, 0, small=False, drawn=True) for n, name in ((1, "a"), (2, "b")))


@cache
def divisions() -> list[Division]:
    return divide(make_audit())


@cache
def german() -> tuple[sa.Audit, Division]:
    data = load("german")
    audit = sa.audit(data.problem, data.classifier(0), data.levels, groups=["gender"])
    return audit, divide(audit)[0]


def compare(**figures: float | None) -> GroupTest:
    measure = name_measures(make_audit())[2]
    known: dict[str, Any] = {
        "difference": 1,
        "low": 0.5,
        "high": 1.5,
        "effect": 0.2,
        "test": "approximation",
        "p": 0.001,
        "p_holm": 0.01,
    }
    return GroupTest(measure, ONE, OTHER, **(known | figures))


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({}, Verdict.CLEAR),
        ({"low": -1.5, "high": -0.5, "effect": -0.2}, Verdict.CLEAR),
        ({"p_holm": 0.05, "low": -0.1}, Verdict.CHANCE),
        ({"p_holm": 0.05}, Verdict.MEANS),
        ({"p_holm": 1.0, "low": -3e-16, "high": -3e-16}, Verdict.CHANCE),
        ({"p_holm": 0.9, "low": -1}, Verdict.CHANCE),
        ({"low": -0.1}, Verdict.RANKS),
        ({"low": 0.0}, Verdict.RANKS),
        ({"effect": -0.2}, Verdict.RANKS),  # the ranks say the contrary of the means
        ({"p": None, "p_holm": None, "effect": None, "low": None, "high": None}, Verdict.UNKNOWN),
    ],
)
def test_verdicts(figures: dict[str, float | None], verdict: Verdict) -> None:
    assert compare(**figures).verdict is verdict


def test_comparisons_are_the_tests_of_the_audit() -> None:
    audit = make_audit()
    for division in divisions():
        rows = audit.tests(division.groups.by).to_dict("records")
        assert len(rows) == len(division.comparisons or ())
        for row, item in zip(rows, division.comparisons or (), strict=True):
            assert (row["measure"], row["group"], row["other"]) == (
                item.measure.name,
                item.group.group,
                item.other.group,
            )
            found = (item.difference, item.low, item.high, item.effect, item.p, item.p_holm)
            assert found == tuple(row[name] for name in ("difference", "low", "high", "effect", "p", "p (Holm)"))
        assert division.difference == audit.difference(division.groups.by).to_dict()
        assert division.ratio == audit.ratio(division.groups.by).to_dict()


# ---------------------------------------------------------------------------------------------------- who carries more


def test_two_groups_that_differ(snapshot: SnapshotAssertion) -> None:
    """Nothing helps the men of Elend; other men need one step less, of the riskier kind."""
    finding = TELL.conclude(divisions()[0])
    assert finding.mark == "clear"
    told = TELL.explain(divisions()[0], "months")[-1]
    assert told.mark == "unsure"
    assert f"{finding.text}\n{told.text}" == snapshot


def test_german_success_differs_in_ranks_only(snapshot: SnapshotAssertion) -> None:
    """The rank test finds a difference; the interval of the averages holds 0."""
    audit, division = german()
    assert TELL.conclude(division).text == snapshot
    told = {finding.text.split(":")[0]: finding for finding in TELL.explain(division, "units")}
    success, mean = told["Chance of success"], told["Average cost"]
    test: Any = audit.tests("gender").set_index("measure").loc["success"]
    assert success.mark == "unsure"
    assert success.text == (
        "Chance of success: 99.0% for “female”, 99.5% for “male”. People in one group tend to have the larger figure "
        f"(rank test, p = {test['p (Holm)']:.2g}), but the averages do not show it: they differ by "
        f"{-100 * test['difference']:.2f} points (95% interval −{100 * test['high']:.2f} to {-100 * test['low']:.2f} "
        "points)."
    )
    assert mean.mark == "clear"
    assert mean.text == (
        "Average cost: 2.04 units for “female”, 1.67 units for “male”. The difference of 0.37 (95% interval 0.17 to "
        "0.58) is more than chance (p = 0.011)."
    )


def test_the_same_people_twice() -> None:
    (division,) = divide(make_even_audit())
    finding = TELL.conclude(division)
    assert finding.mark == "chance"
    assert finding.text == "No difference in average risk is more than chance. That does not prove there is none."
    told = TELL.explain(division, "months")
    assert len(told) == 7
    assert all("is within chance (p = 1)." in item.text and item.mark == "chance" for item in told)


def test_who_is_worse_off_may_depend_on_the_measure(snapshot: SnapshotAssertion) -> None:
    by_gender = divisions()[0]
    turned = [
        replace(item, difference=-1.0, low=-2.0, high=-0.5, effect=-0.5, p_holm=0.001)
        if item.measure.name == "mean"
        else replace(item, difference=1.0, low=0.5, high=2.0, effect=0.5, p_holm=0.001)
        for item in by_gender.comparisons or ()
    ]
    assert TELL.conclude(replace(by_gender, comparisons=tuple(turned))).text == snapshot


def test_of_many_groups_the_widest_sure_gap_is_told(snapshot: SnapshotAssertion) -> None:
    """Though worst and best differ by chance only, others may not."""
    people = make_people()
    people = people[people["x"] != "lost"].assign(
        town=[f"T{number % 3}" for number in range(sum(people["x"] != "lost"))]
    )
    (division,) = divide(audit_of(people, groups=["town"]))
    sure = (division.comparisons or ())[1]
    assert sure.measure.name == "mean"
    comparisons = [
        replace(item, difference=0.3, low=0.1, high=0.5, effect=0.2, p_holm=0.01) if item is sure else item
        for item in division.comparisons or ()
    ]
    assert TELL.conclude(replace(division, comparisons=tuple(comparisons))).text == snapshot
    told = [item.text for item in TELL.explain(replace(division, comparisons=tuple(comparisons)), "months")]
    assert told[1].endswith(" 1 of 3 pairs of groups differ by more than chance.")


def test_what_cannot_be_compared(snapshot: SnapshotAssertion) -> None:
    (single,) = divide(audit_of(make_people()[:80].assign(town="Ulm"), groups=["town"]))
    assert TELL.explain(single, "months") == []
    (small,) = divide(audit_of(make_people(), groups=["town"], minimum=1000))
    people = make_people()[:600].assign(town=[f"T{number % 60:02}" for number in range(600)])
    (many,) = divide(audit_of(people, groups=["town"], minimum=1))
    assert many.comparisons is None
    assert "\n".join(TELL.conclude(division).text for division in (single, small, many)) == snapshot
    assert TELL.explain(many, "months") == []


# ----------------------------------------------------------------------------------------------- who is not in figures


def test_small_groups_are_named(snapshot: SnapshotAssertion) -> None:
    by_town = divisions()[1]
    (finding,) = TELL.small(by_town)
    assert finding.text == snapshot
    assert TELL.small(divisions()[0]) == []
    assert TELL.explain(by_town, "months")[-1] == finding


def test_people_without_recourse_are_told_by_group() -> None:
    audit = make_audit()
    finding = TELL.without_recourse(audit, divisions())
    people: Any = make_people()
    lost = people[people["x"] == "lost"]
    assert finding.mark == "wrong"
    assert finding.text.startswith(f"Nothing helps {len(lost)} of the {audit.overall['rejected']} rejected (")
    for gender, count in lost["gender"].value_counts().items():
        rejected = audit.table("gender").loc[gender, "rejected"]
        assert f"{count} of {rejected} (" in finding.text
    assert "most of all" not in finding.text.split("by town")[0]
    assert "They count with a success of 0" in finding.text
    hopeful = audit_of(people[people["x"] != "lost"], groups=["gender"])
    assert TELL.without_recourse(hopeful, divide(hopeful)).text == "Everybody who is rejected has a way to the goal."


def test_plans_that_give_up() -> None:
    assert TELL.giving_up(make_audit()) == []
    problem = replace(make_audit().problem, goal=replace(make_audit().problem.goal, failure_cost=Decimal(0)))
    audit = sa.audit(problem, None, make_people(), groups=["gender"])
    (finding,) = TELL.giving_up(audit)
    assert finding.mark == "wrong"
    assert finding.text.startswith(
        f"The plans of {100 * audit.overall['gives up']:.0f}% of the rejected succeed far less"
    )


def test_acceptance() -> None:
    assert TELL.acceptance(divisions()[0]).text.startswith("The model accepts ")
    table: Any = make_audit().table("gender")
    told = TELL.acceptance(divisions()[0]).text
    assert [f"{100 * table.loc[name, 'favourable']:.0f}% of “{name}”" in told for name in ("female", "male")] == [
        True
    ] * 2
    assert "the groups with the smallest and the largest share" in TELL.acceptance(divisions()[2]).text


def test_where_a_gap_comes_from() -> None:
    audit, division = german()
    parts = audit.decompose("gender")
    (part,) = [part for part in parts if part.measure == "cvar"]
    (finding,) = TELL.origin("gender", division, parts, unit="units")
    sign = 1 if part.group == "female" else -1
    assert finding.text == (
        f"By gender: of the gap of {sign * part.gap:.2f} units in average cost in the worst 5 of 100 cases between "
        f"“female” and “male”, +{sign * part.start:.2f} comes from where people start and "
        f"+{sign * part.model:.2f} from how the model treats people who differ only in gender."
    )
    (even,) = divide(make_even_audit())
    assert TELL.origin("town", even, [], unit="months") == []
