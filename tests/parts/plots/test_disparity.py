"""The picture of disparity, read back and held against the audit's own tables."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_examples import NASTY, audit_of, make_audit, make_nasty_audit, make_people
from doors import FIGURE_MEASURES as MEASURES
from doors import MOST_DRAWN, PAPER, WRONG, read_groups
from drawings import SVG, check_inside, get, of_class, overlap, read, shown_text, text_box
from safear.errors import ObjectiveError
from safear.plots import Picture, disparity

BY: list[Any] = ["gender", "town", ["gender", "town"], None]


@cache
def by_town() -> Picture:
    return disparity(make_audit(), "town")


def figures_of(svg: str, measure: str) -> dict[int, ET.Element]:
    """What is drawn of a measure, by the number of the group."""
    found: dict[int, ET.Element] = {}
    for row in of_class(read(svg), "row"):
        found |= {int(row.get("data-group", "")): node for node in row if node.get("data-measure") == measure}
    return found


# ------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("by", BY, ids=str)
def test_the_tables_are_those_of_the_audit(by: Any) -> None:
    audit: Any = make_audit()
    groups = read_groups(audit, by)
    table, intervals = audit.table(by), audit.intervals(by)
    assert [row.names for row in groups.groups] == [key if isinstance(key, tuple) else (key,) for key in table.index]
    assert [measure.name for measure in groups.measures] == ["no recourse", *MEASURES]
    ends = {(row["group"], row["measure"]): (row["low"], row["high"]) for row in intervals.to_dict("records")}
    for group, (_, row) in zip(groups.groups, table.iterrows(), strict=True):
        assert (group.people, group.rejected, group.small) == (row["n"], row["rejected"], row["small"])
        if group.rejected:
            assert group.without_recourse / group.rejected == row["no recourse"]
            assert group.gives_up / group.rejected == row["gives up"]
        for measure in ("no recourse", *MEASURES):
            figure = groups.figure(group.number, measure)
            assert (figure.group, figure.measure) == (group.group, measure)
            assert figure.value == row[measure]
            assert (figure.low, figure.high) == ends.get((group.group, measure), (None, None))
    assert [row.value for row in groups.overall] == [audit.overall[name] for name in ("no recourse", *MEASURES)]


def test_the_picture_has_its_tables() -> None:
    groups = read_groups(make_audit(), "town")
    assert by_town().tables["groups"] == [asdict(row) for row in groups.groups]
    assert by_town().tables["figures"] == [asdict(row) for row in groups.figures]
    assert len(groups.figures) == len(groups.groups) * 8
    people = {row.measure: row.people for row in groups.figures if row.group == "Elend"}
    assert people == {"no recourse": 40, "success": 40} | dict.fromkeys(MEASURES[1:], 0)


def test_groups_that_are_called_alike_keep_their_own_figures() -> None:
    """Without a town one is called (missing); so is somebody who comes from there."""
    people = make_people().replace({"town": {"Ulm": "", "Elend": "(missing)"}})
    groups = read_groups(audit_of(people, groups=["town"]), "town")
    alike = [row for row in groups.groups if row.group == "(missing)"]
    assert [row.names for row in alike] == [("",), ("(missing)",)]
    assert [groups.figure(row.number, "mean").low is None for row in alike] == [False, True]


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(ObjectiveError, match=r"^the audit has no group column 'twon'\n    did you mean 'town'\?$"):
        disparity(make_audit(), "twon")


# ------------------------------------------------------------------------------------------------------------ drawing


@pytest.mark.parametrize("measure", MEASURES)
def test_dots_and_intervals_are_on_one_scale(measure: str) -> None:
    groups, drawn = read_groups(make_audit(), None), figures_of(disparity(make_audit()).svg, measure)
    places, values = [], []
    for row in groups.groups:
        figure, dots = groups.figure(row.number, measure), of_class(drawn[row.number], "dot")
        assert len(dots) == (figure.value is not None)
        if figure.value is not None and figure.low is not None and figure.high is not None:
            (line,) = of_class(drawn[row.number], "interval")
            places += [get(dots[0], "cx"), get(line, "x1"), get(line, "x2")]
            values += [figure.value, figure.low, figure.high]
    assert len(values) > 9
    if measure == "sparsity":  # one feature can change
        assert np.allclose(values, 1)
        assert len(set(places)) == 1
        return
    (panel,) = [
        node for node in of_class(read(disparity(make_audit()).svg), "panel") if node.get("data-measure") == measure
    ]
    if measure != "success":  # costs begin at 0, at the left of the panel
        values, places = [0.0, *values], [get(panel.findall(f"{SVG}text")[0], "x"), *places]
    slope, start = np.polyfit(values, places, 1)
    assert slope > 0
    assert np.allclose(slope * np.array(values) + start, places, atol=0.02)
    (line,) = of_class(panel, "everybody")
    (overall,) = [row.value for row in groups.overall if row.measure == measure]
    assert get(line, "x1") == pytest.approx(slope * (overall or 0) + start, abs=0.02)


def test_small_groups_are_hollow() -> None:
    groups = read_groups(make_audit(), "town")
    drawn = figures_of(by_town().svg, "success")
    hollow = {number for number, node in drawn.items() if [d for d in of_class(node, "dot") if d.get("fill") == PAPER]}
    assert hollow == {row.number for row in groups.groups if row.small and row.rejected} != set()
    assert "fewer than 30 rejected" in by_town().svg
    assert "fewer than" not in disparity(make_audit(), "gender").svg


def test_orange_is_only_for_those_whom_nothing_helps() -> None:
    groups, drawn = read_groups(make_audit(), "town"), figures_of(by_town().svg, "no recourse")
    bars = {number: of_class(node, "helpless") for number, node in drawn.items()}
    assert {number for number, found in bars.items() if found} == {
        row.number for row in groups.groups if row.without_recourse
    }
    widths = {groups.groups[number - 1].group: get(found[0], "width") for number, found in bars.items() if found}
    shares = {row.group: row.without_recourse / row.rejected for row in groups.groups if row.without_recourse}
    assert shares["Elend"] == 1
    assert widths == {name: pytest.approx(widths["Elend"] * share, abs=0.02) for name, share in shares.items()}
    orange = [node for node in read(by_town().svg).iter() if WRONG in (node.get("fill"), node.get("stroke"))]
    rest = [node for node in orange if node.get("class") != "helpless"]
    assert {shown_text(node)[-1] for node in rest} == {"%"}
    assert len(orange) == 2 * len(shares) + 1  # a bar and a number each, and the key


def test_what_is_undefined_is_said() -> None:
    groups, drawn = read_groups(make_audit(), "town"), figures_of(by_town().svg, "mean")
    said = {row.group: shown_text(drawn[row.number].findall(f"{SVG}text")[0]) for row in groups.groups if row.number}
    assert said["Elend"] == "n/a"
    assert said["Goslar"] == ""
    assert "nobody rejected" in by_town().svg


@pytest.mark.parametrize("by", BY, ids=str)
def test_nothing_is_outside_and_no_texts_overlap(by: Any) -> None:
    svg = disparity(make_audit(), by).svg
    check_inside(svg)
    texts = [node for node in read(svg).iter(f"{SVG}text") if shown_text(node)]
    for one, other in combinations(texts, 2):
        assert not overlap(text_box(one), text_box(other)), (shown_text(one), shown_text(other))


def test_groups_stand_in_the_order_of_the_levels_of_their_features() -> None:
    """Not by the alphabet, and not by what is met first; whatever is no level comes last."""
    audit: Any = audit_of(make_people().assign(town="Ulm"), groups=["x", "town"])
    levels = [str(level) for level in audit.problem.features[0].levels]
    assert levels != sorted(levels)
    for by in ("x", ["x", "town"]):
        groups = read_groups(audit, by)
        rows = of_class(read(disparity(audit, by).svg), "row")
        numbers = [int(row.get("data-group", "")) for row in rows[: len(groups.drawn)]]
        assert [groups.groups[number - 1].names[0] for number in numbers] == levels
    shuffled = replace(groups, groups=groups.groups[::-1], levels=(tuple(levels[1:]), ()))
    assert [row.names[0] for row in shuffled.drawn] == [*levels[1:], levels[0]]


def test_many_groups() -> None:
    rng = np.random.default_rng(3)
    names = [f"town {number:02}" for number in range(40)]
    people = pd.DataFrame({"x": "low", "gender": "male", "town": np.repeat(names, rng.integers(1, 90, 40))})
    picture = disparity(audit_of(people, groups=["town"]))
    check_inside(picture.svg)
    groups = picture.tables["groups"]
    assert len(groups) == 40
    drawn = [row["rejected"] for row in groups if row["drawn"]]
    assert len(drawn) == MOST_DRAWN
    assert min(drawn) >= max(row["rejected"] for row in groups if not row["drawn"])
    assert "Shown are 24 of 40 groups" in picture.svg
    rows = of_class(read(picture.svg), "row")
    assert [int(row.get("data-group", "")) for row in rows[:MOST_DRAWN]] == [r["number"] for r in groups if r["drawn"]]


def test_names_that_would_break_a_picture() -> None:
    svg = disparity(make_nasty_audit()).svg
    check_inside(svg)
    assert "<script" not in svg
    told = " ".join(read(svg).itertext())
    assert "alert('1')" in told
    assert "(missing)" in told
    assert NASTY[-128:] in told  # all of it, to those who ask


def test_a_single_group() -> None:
    picture = disparity(audit_of(make_people()[:80].assign(town="Ulm"), groups=["town"]))
    check_inside(picture.svg)
    assert [row["group"] for row in picture.tables["groups"]] == ["Ulm"]


def test_all_in_words() -> None:
    (words,) = [node.text or "" for node in read(by_town().svg).iter(f"{SVG}desc")]
    lines = words.splitlines()
    assert lines[0].startswith("Everybody who is rejected: share without recourse ")
    groups = read_groups(make_audit(), "town")
    assert [line.split(":")[0] for line in lines[1:]] == [row.group for row in groups.groups]
    assert "Goslar: nobody is rejected." in lines
    assert "Dorf: 9 rejected, too few to compare;" in words
    assert f"average cost {groups.figure(5, 'mean').value:.2f} (" in lines[5]
