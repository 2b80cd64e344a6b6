"""Audits: tables are what one gets by hand from everybody's own figures, and nobody is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import safear as sa
from safear.errors import ObjectiveError, PersonError
from small_problems import better_job

PROBLEM = better_job(
    more={"age": {"kind": "numeric", "edges": [30, 50]}},
    classifier={"rule": "x == goal or (gender == male and x == mid and age >= 30)"},
)
MEASURES = ("success", "mean", "variance", "var", "cvar", "sparsity", "proximity")
GROUPS = ["gender", "town"]
TABLES: list[str | list[str] | None] = ["gender", "town", ["gender", "town"], ["town", "gender"], None]


@cache
def make_people() -> Any:
    """In Dorf few are rejected, and worse off than all others; in Goslar nobody is; men are better off."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "x": rng.choice(["lost", "low", "mid", "goal"], 600, p=[0.05, 0.4, 0.35, 0.2]),
            "age": rng.integers(18, 70, 600),
            "gender": rng.choice(["male", "female"], 600),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 600),
        }
    )
    village = pd.DataFrame({"x": ["low"] * 9 + ["goal"] * 40, "age": 20, "gender": "female", "town": "Dorf"})
    winners = pd.DataFrame({"x": ["goal"] * 35, "age": 20, "gender": "male", "town": "Goslar"})
    return pd.concat([frame, village, winners], ignore_index=True)


def audit_of(people: Any, **options: Any) -> Any:
    """An audit; Any, as the cells of its tables are."""
    return sa.audit(PROBLEM, None, people, **options)


@cache
def make_audit() -> Any:
    return audit_of(make_people(), groups=GROUPS)


@cache
def figures_of(x: str, age: int, gender: str) -> tuple[float | None, ...] | None:
    """The MEASURES of one person alone; None if they are accepted."""
    menu = sa.recommend(PROBLEM, None, {"x": x, "age": age, "gender": gender}, objectives=[sa.Mean()])
    if menu.favourable:
        return None
    if not menu.offers:
        return (0.0, *[None] * 6)
    cost, runs = menu[0].cost, menu[0].runs
    return (cost.success, cost.mean, cost.variance, cost.var(0.95), cost.cvar(0.95), runs.sparsity, runs.proximity)


@cache
def expanded() -> Any:
    """A row per person with all that is to be known."""
    people = make_people().copy()
    found = [figures_of(*row) for row in people[["x", "age", "gender"]].itertuples(index=False, name=None)]
    people["rejected"] = [figures is not None for figures in found]
    for number, measure in enumerate(MEASURES):
        people[measure] = [None if figures is None else figures[number] for figures in found]
    return people.astype(dict.fromkeys(MEASURES, float))


def columns_of(by: str | Sequence[str] | None) -> list[str]:
    return GROUPS if by is None else [by] if isinstance(by, str) else list(by)


def groups_of(by: str | Sequence[str] | None) -> dict[Any, Any]:
    """The rejected people of each group, by the key of the table."""
    columns = columns_of(by)
    return dict(iter(expanded().groupby(columns[0] if len(columns) == 1 else columns)))


def figures(frame: Any, measure: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = frame[frame["rejected"]][measure].dropna().to_numpy(float)
    return values


def same(one: Any, other: Any) -> None:
    pd.testing.assert_frame_equal(one, other, check_exact=True)


# ------------------------------------------------------------------------------------------------------------- tables


def test_overall() -> None:
    overall, people = make_audit().overall, expanded()
    assert overall["n"] == len(people) == 684
    assert overall["rejected"] == people["rejected"].sum()
    assert overall["favourable"] == pytest.approx(1 - people["rejected"].mean())
    lost = (people["x"] == "lost").sum()
    assert lost > 10
    assert overall["no recourse"] == pytest.approx(lost / people["rejected"].sum())
    for measure in MEASURES:
        assert overall[measure] == pytest.approx(figures(people, measure).mean(), rel=1e-9)
    assert overall["small"] is False
    same(make_audit().to_frame(), make_audit().table(GROUPS))


@pytest.mark.parametrize("by", TABLES, ids=str)
def test_tables_by_hand(by: str | list[str] | None) -> None:
    table, groups = make_audit().table(by), groups_of(by)
    assert list(table.index) == sorted(groups)
    assert list(table.index.names) == columns_of(by)
    for key, people in groups.items():
        row = table.loc[key]
        rejected = int(people["rejected"].sum())
        assert (row["n"], row["rejected"]) == (len(people), rejected)
        assert row["favourable"] == pytest.approx(1 - rejected / len(people))
        assert row["small"] is (rejected < 30)
        if not rejected:
            assert all(row[name] is None for name in ("no recourse", *MEASURES))
            continue
        assert row["no recourse"] == pytest.approx((people["x"] == "lost").sum() / rejected)
        for measure in MEASURES:
            assert row[measure] == pytest.approx(figures(people, measure).mean(), rel=1e-9), (key, measure)


def test_people_without_recourse_are_counted_and_never_dropped() -> None:
    frame = pd.DataFrame({"x": ["lost"] * 6 + ["low"] * 2 + ["lost"] * 3, "age": 20, "gender": "male"})
    frame["town"] = ["Ulm"] * 8 + ["Bonn"] * 3
    audit = audit_of(frame, groups=["town"], minimum=1)
    table = audit.table("town")
    assert table["rejected"].to_dict() == {"Bonn": 3, "Ulm": 8}
    assert table["no recourse"].to_dict() == {"Bonn": 1.0, "Ulm": 0.75}
    alone = figures_of("low", 20, "male")
    assert alone is not None
    assert alone[0] is not None
    assert table.loc["Ulm", "success"] == pytest.approx(alone[0] / 4)
    assert table.loc["Ulm", "mean"] == pytest.approx(alone[1])
    assert table.loc["Bonn", "success"] == 0
    assert [table.loc["Bonn", measure] for measure in MEASURES[1:]] == [None] * 6
    tests = audit.tests("town").set_index("measure")
    assert tests.loc["success", "difference"] == pytest.approx(-alone[0] / 4)
    assert tests.loc["mean", ["difference", "low", "high", "effect", "p", "p (Holm)"]].tolist() == [None] * 6
    assert audit.difference("town")["success"] == pytest.approx(alone[0] / 4)
    assert audit.difference("town")["mean"] is None
    assert audit.ratio("town")["success"] == 0
    intervals = audit.intervals("town").set_index(["group", "measure"])
    assert intervals.loc[("Bonn", "mean")].tolist() == [None, None]
    assert intervals.loc[("Bonn", "success")].tolist() == [0, 0]


@pytest.mark.parametrize("by", TABLES, ids=str)
def test_difference_and_ratio(by: str | list[str] | None) -> None:
    audit = make_audit()
    difference, ratio = audit.difference(by), audit.ratio(by)
    groups = [people for people in groups_of(by).values() if people["rejected"].sum() >= 30]
    for measure in MEASURES:
        means = [figures(people, measure).mean() for people in groups]
        assert difference[measure] == pytest.approx(max(means) - min(means), rel=1e-9)
        assert ratio[measure] == pytest.approx(min(means) / max(means), rel=1e-9)


def test_small_groups_are_marked_but_not_ranked() -> None:
    audit, people = make_audit(), make_people()
    table = audit.table("town")
    assert table["small"].to_dict() == {"Bonn": False, "Dorf": True, "Goslar": True, "Kiel": False, "Ulm": False}
    assert table.loc["Dorf", "mean"] > max(table.loc[town, "mean"] for town in ("Bonn", "Kiel", "Ulm"))
    lower = audit_of(people, groups=["town"], minimum=9)
    assert lower.table("town")["small"].to_dict() == {**table["small"].to_dict(), "Dorf": False}
    assert lower.difference("town")["mean"] > audit.difference("town")["mean"]
    assert lower.ratio("town")["mean"] < audit.ratio("town")["mean"]
    named = set(audit.tests("town")["group"]) | set(audit.tests("town")["other"])
    assert named == {"Bonn", "Kiel", "Ulm"}
    assert "Dorf" in set(lower.tests("town")["other"])


def test_one_group_has_nothing_to_be_compared_with() -> None:
    audit = audit_of(make_people().assign(land="DE"), groups=["land"])
    assert set(audit.difference().tolist()) == set(audit.ratio().tolist()) == {None}
    assert len(audit.tests()) == 0
    assert audit.table().loc["DE"].drop("small").to_dict() == pytest.approx(
        audit.overall.drop("small").to_dict(), rel=1e-12
    )


# -------------------------------------------------------------------------------------------------- tests and intervals


@pytest.mark.parametrize("by", ["gender", "town", None], ids=str)
def test_mann_whitney_as_in_scipy(by: str | None) -> None:
    tests = make_audit().tests(by)
    groups = {
        key if isinstance(key, str) else " × ".join(key): people
        for key, people in groups_of(by).items()
        if people["rejected"].sum() >= 30
    }
    assert len(tests) == len(MEASURES) * len(groups) * (len(groups) - 1) // 2 > 0
    for _, row in tests.iterrows():
        # Rounding is no difference.
        one, other = (figures(groups[row[name]], row["measure"]).round(12) for name in ("group", "other"))
        if len({*one, *other}) == 1:
            assert (row["p"], row["effect"]) == (1, 0), row
        else:
            expected = stats.mannwhitneyu(one, other, method="asymptotic")
            assert row["p"] == pytest.approx(expected.pvalue, rel=1e-9), row
            effect = 2 * expected.statistic / (len(one) * len(other)) - 1
            assert row["effect"] == pytest.approx(effect, abs=1e-12), row
        assert row["difference"] == pytest.approx(one.mean() - other.mean(), abs=1e-9)
        assert row["low"] - 1e-9 <= row["difference"] <= row["high"] + 1e-9
    ranked = tests["p"].sort_values(kind="stable")
    adjusted = (ranked * np.arange(len(ranked), 0, -1)).cummax().clip(upper=1)
    assert tests["p (Holm)"].astype(float).tolist() == pytest.approx(adjusted.reindex(tests.index).tolist(), rel=1e-12)
    assert tests["p (Holm)"].tolist() != tests["p"].tolist()


@pytest.mark.parametrize("by", ["gender", "town", None], ids=str)
def test_intervals_contain_the_mean(by: str | None) -> None:
    audit = make_audit()
    table, intervals = audit.table(by), audit.intervals(by)
    with_rejected = [key for key in table.index if table.loc[key, "rejected"]]
    assert len(intervals) == len(MEASURES) * len(with_rejected) > 0
    wide = 0
    for number, key in enumerate(with_rejected):
        part = intervals.iloc[number * len(MEASURES) : (number + 1) * len(MEASURES)]
        assert set(part["group"]) == {key if isinstance(key, str) else " × ".join(key)}
        for _, row in part.iterrows():
            mean = table.loc[key, row["measure"]]
            assert row["low"] - 1e-9 <= mean <= row["high"] + 1e-9
            wide += row["low"] < row["high"] - 1e-6
    assert wide > len(intervals) / 3


def test_intervals_are_about_as_wide_as_they_should_be() -> None:
    people = expanded()
    intervals = make_audit().intervals("gender").set_index(["group", "measure"])
    for gender in ("female", "male"):
        values = figures(people[people["gender"] == gender], "mean")
        width = intervals.loc[(gender, "mean"), "high"] - intervals.loc[(gender, "mean"), "low"]
        assert width == pytest.approx(2 * 1.96 * values.std() / np.sqrt(len(values)), rel=0.1)


def test_intervals_are_those_of_the_seed() -> None:
    audit = make_audit()
    again, other = (audit_of(make_people(), groups=GROUPS, seed=seed) for seed in (0, 1))
    same(again.intervals("gender"), audit.intervals("gender"))
    same(again.tests("gender"), audit.tests("gender"))
    assert not other.intervals("gender").equals(audit.intervals("gender"))
    assert not other.tests("gender")["low"].equals(audit.tests("gender")["low"])
    assert other.tests("gender")["p"].equals(audit.tests("gender")["p"])


def test_intervals_do_not_depend_on_what_else_is_asked() -> None:
    fresh = audit_of(make_people(), groups=GROUPS)
    fresh.tests("town")
    fresh.intervals("town")
    same(fresh.intervals("gender"), make_audit().intervals("gender"))
    same(fresh.tests("gender"), make_audit().tests("gender"))


@pytest.mark.parametrize("groups", [["gender"], ["gender", "age"], ["town", "gender"]], ids=str)
def test_intervals_do_not_depend_on_the_other_groups(groups: list[str]) -> None:
    audit, other = make_audit(), audit_of(make_people(), groups=groups)
    assert other.intervals("gender")[["low", "high"]].astype(float).to_numpy() == pytest.approx(
        audit.intervals("gender")[["low", "high"]].astype(float).to_numpy(), rel=1e-12
    )
    assert other.tests("gender")[["low", "high"]].astype(float).to_numpy() == pytest.approx(
        audit.tests("gender")[["low", "high"]].astype(float).to_numpy(), rel=1e-12, abs=1e-12
    )


# ---------------------------------------------------------------------------------------------------------- the people


def assert_same_audit(one: Any, other: Any) -> None:
    same(one.to_frame(), other.to_frame())
    for by in GROUPS:
        same(one.table(by), other.table(by))
        same(one.tests(by), other.tests(by))
        same(one.intervals(by), other.intervals(by))
    assert one.overall.to_dict() == other.overall.to_dict()
    assert one.decompose("gender") == other.decompose("gender")


@pytest.mark.parametrize("form", ["csv", "parquet", "glob", "shuffled", "levels", "text"])
def test_the_same_people_in_another_form(form: str, tmp_path: Path) -> None:
    people = make_people()
    source: Any = tmp_path / f"people.{form}"
    if form == "csv":
        people.to_csv(source, index=False)
    elif form == "parquet":
        people.to_parquet(source, index=False)
    elif form == "glob":
        people[:100].to_csv(tmp_path / "1.csv", index=False)
        people[100:].to_parquet(tmp_path / "2.parquet", index=False)
        source = tmp_path / "[12].*"
    elif form == "shuffled":
        source = people.sample(frac=1, random_state=3)[["town", "gender", "x", "age"]]
    elif form == "levels":
        age = PROBLEM.feature_by_name["age"]
        source = people.assign(age=[age.levels[(years >= 30) + (years >= 50)] for years in people["age"]])
    else:
        source = people.astype(str)
    assert_same_audit(audit_of(source, groups=GROUPS), make_audit())


def test_a_group_column_may_be_a_feature_that_changes() -> None:
    table = audit_of(make_people(), groups=["age", "x"]).table("age")
    assert list(table.index) == sorted(PROBLEM.feature_by_name["age"].levels)
    young = expanded()[expanded()["age"] < 30]
    assert table.loc["<30", ["n", "rejected"]].tolist() == [len(young), young["rejected"].sum()]


def test_people_without_a_group_are_a_group_of_their_own() -> None:
    frame = make_people().assign(town=make_people()["town"].where(make_people()["town"] != "Ulm"))
    audit = audit_of(frame, groups=["town"])
    counts = ["n", "rejected"]
    assert audit.table("town")[counts].loc[""].tolist() == make_audit().table("town")[counts].loc["Ulm"].tolist()
    for found in (audit.tests("town"), audit.intervals("town")):
        assert "everybody" not in set(found["group"])


def test_bad_rows_are_refused_or_set_aside(tmp_path: Path) -> None:
    frame = make_people().copy()
    frame.loc[[3, 8], "x"] = "high"
    with pytest.raises(PersonError, match=r"row 4\.x: 'high' is not a level of 'x'"):
        audit_of(frame, groups=GROUPS)
    audit = audit_of(frame, groups=GROUPS, skip_bad=tmp_path / "bad.csv")
    assert (audit.population.skipped, audit.overall["n"]) == (2, len(frame) - 2)
    assert pd.read_csv(tmp_path / "bad.csv")["row"].tolist() == [4, 9]
    assert_same_audit(audit, audit_of(frame.drop([3, 8]), groups=GROUPS))


def test_objective_method_and_level_are_used() -> None:
    people = make_people()
    cautious = audit_of(people, groups=GROUPS, objective=sa.MeanStd(2.0), method="greedy", level=0.8)
    assert cautious.overall["var"] < make_audit().overall["var"]
    mdp = sa.compile_mdp(PROBLEM, start={"x": "low", "age": 20, "gender": "female"})
    cost = sa.evaluate(sa.solve(mdp, sa.MeanStd(2.0), method="greedy"))
    row = cautious.table("town").loc["Dorf"]
    assert row[["mean", "var", "cvar"]].tolist() == pytest.approx([cost.mean, cost.var(0.8), cost.cvar(0.8)])


# ------------------------------------------------------------------------------------------------------------ refusals


LISTED = "the columns are 'x', 'age', 'gender', 'town', 'income'"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"groups": []}, "an audit needs a group column\n    give groups="),
        ({"groups": ["twon"]}, f"twon: there is no column 'twon' for this group; {LISTED}\n    did you mean 'town'?"),
        ({"groups": ["income"]}, "'income' has 684 different values; at most 100 make groups"),
        ({"groups": GROUPS, "level": -0.1}, "level: -0.1 is not between 0 and 1"),
        ({"groups": GROUPS, "level": float("nan")}, "level: nan is not between 0 and 1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(sa.InputError) as refused:
        audit_of(make_people().assign(income=range(len(make_people()))), **options)
    assert str(refused.value).startswith(told)


def test_nobody_rejected() -> None:
    with pytest.raises(PersonError, match=r"^nobody is rejected, so there is nothing to audit$"):
        audit_of(make_people().query("x == 'goal'"), groups=GROUPS)


@pytest.mark.parametrize("table", ["table", "difference", "ratio", "intervals", "tests"])
def test_a_table_of_something_else(table: str) -> None:
    for by in ("twon", ["gender", "twon"]):
        with pytest.raises(ObjectiveError) as refused:
            getattr(make_audit(), table)(by)
        assert str(refused.value) == "the audit has no group column 'twon'\n    did you mean 'town'?"
    with pytest.raises(ObjectiveError, match="no group column 'x'\n    possible: 'gender', 'town'"):
        getattr(make_audit(), table)("x")
    with pytest.raises(ObjectiveError):
        getattr(make_audit(), table)([])


# ----------------------------------------------------------------------------------------------------------- the paper


def test_one_group_as_a_text() -> None:
    frame = make_people()
    assert sa.audit(PROBLEM, None, frame, groups=GROUPS[0]).population.groups == (GROUPS[0],)
