"""The table beyond the paper: greedy and optimal plans side by side, for a few people."""

from __future__ import annotations

import numpy as np
import pytest

import safear as sa
from doors import (
    DEAR,
    FREE,
    Crowd,
    Entry,
    EntryKey,
    PaperTable,
    Workshop,
    describe_claim,
    optimum_succeeds,
    reproduce,
    to_markdown,
)
from doors import GAP_ENOUGH as ENOUGH
from doors import gap as table_of

PEOPLE = 40
AVERSIONS = (0.25, 0.5, 1.0, 2.0)
Rows = dict[tuple[str, str, float, str], dict[str, float]]


@pytest.fixture(scope="module")
def finished() -> tuple[PaperTable, Workshop, list[tuple[str, int, int]]]:
    workshop, seen = Workshop(), list[tuple[str, int, int]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_of, "PEOPLE", PEOPLE)
        (table,) = reproduce(["optimal"], workshop=workshop, progress=lambda *step: seen.append(step))
    return table, workshop, seen


@pytest.fixture
def table(finished: tuple[PaperTable, Workshop, list[tuple[str, int, int]]]) -> PaperTable:
    return finished[0]


@pytest.fixture
def rows(table: PaperTable) -> Rows:
    found: Rows = {}
    for cell in table.entries:
        objective, method = cell.key.policy.split(" ")
        parsed = sa.parse_objective(objective)
        assert isinstance(parsed, sa.MeanStd)
        assert cell.ours is not None
        key = (cell.key.dataset, cell.key.group, parsed.risk_aversion, method)
        assert cell.key.measure not in found.setdefault(key, {})
        found[key][cell.key.measure] = cell.ours
    return found


def test_every_row_is_there(table: PaperTable, rows: Rows) -> None:
    assert table.name == "optimal"
    assert all(cell.key.table == "optimal" and cell.key.horizon == 12 and cell.paper is None for cell in table.entries)
    assert set(rows) == {
        (dataset, group, aversion, method)
        for dataset in ("adult", "german")
        for group in (FREE, DEAR)
        for aversion in AVERSIONS
        for method in ("greedy", "optimal")
    }
    common = {"n", "value", "success", "average", "worst 5%"}
    for (*_, method), measures in rows.items():
        extra = {"greedy worse", "by", "at most by", "other first step", "gives up"} if method == "optimal" else set()
        assert set(measures) == common | extra
        assert 0 < measures["n"] <= PEOPLE


def test_the_same_people_at_every_aversion_and_failure_cost(rows: Rows) -> None:
    for dataset in ("adult", "german"):
        assert len({figures["n"] for (name, *_), figures in rows.items() if name == dataset}) == 1
        for group in (FREE, DEAR):
            values = [rows[dataset, group, aversion, "optimal"]["value"] for aversion in AVERSIONS]
            assert values == sorted(values)
        for aversion in AVERSIONS:
            free, dear = (rows[dataset, group, aversion, "optimal"] for group in (FREE, DEAR))
            assert free["value"] != dear["value"]


def test_the_claims_are_read_off_the_cells(table: PaperTable, rows: Rows) -> None:
    expected = {
        (dataset, f"at aversion 2 the optimum succeeds in {ENOUGH} of the runs ({group})"): {
            0: rows[dataset, group, 2.0, "optimal"]["success"] >= ENOUGH
        }
        for dataset in ("adult", "german")
        for group in (FREE, DEAR)
    }
    assert {(claim.dataset, claim.text): dict(claim.holds) for claim in table.claims} == expected
    text = to_markdown(table)
    for claim in table.claims:
        assert describe_claim(claim) in text
        assert ("does NOT hold" in describe_claim(claim)) != claim.holds_mostly


def test_whether_the_optimum_succeeds() -> None:
    def cell(dataset: str, group: str, policy: str, measure: str, value: float | None) -> Entry:
        return Entry(EntryKey("optimal", dataset, group, policy, 12, measure), None, value)

    cells = [
        cell("adult", FREE, "mean-std:2 optimal", "success", 0.5),
        cell("adult", DEAR, "mean-std:2 optimal", "success", ENOUGH),
        cell("german", FREE, "mean-std:2 optimal", "success", None),
        cell("german", FREE, "mean-std:2 optimal", "value", 1.0),
        cell("german", FREE, "mean-std:2 greedy", "success", 1.0),
        cell("german", FREE, "mean-std:1 optimal", "success", 1.0),
    ]
    assert optimum_succeeds(cells, FREE) == {"adult": False, "german": False}
    assert optimum_succeeds(cells, DEAR) == {"adult": True}


def test_progress_and_one_study_for_all(finished: tuple[PaperTable, Workshop, list[tuple[str, int, int]]]) -> None:
    _, workshop, seen = finished
    assert seen == [("optimal", done, 16) for done in range(1, 17)]
    assert workshop.study("german").seed == 0


@pytest.mark.parametrize("failure_cost", [False, True])
def test_the_people_that_are_drawn(failure_cost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Workshop().study("german")
    monkeypatch.setattr(table_of, "PEOPLE", PEOPLE)
    engine, codes = table_of.draw_people(study, failure_cost=failure_cost)
    assert len(codes) == PEOPLE
    assert np.array_equal(codes, table_of.draw_people(study, failure_cost=not failure_cost)[1])
    assert engine.problem.goal.failure_cost == int(failure_cost)
    for mdp, *_ in engine.blocks(Crowd.of(study.problem, codes)):
        assert mdp.failure_cost * mdp.quantum == int(failure_cost)
    rejected = {row.tobytes() for row in study.crowd.codes}
    assert all(row.tobytes() in rejected for row in codes)
    monkeypatch.setattr(table_of, "PEOPLE", 10**6)
    assert len(table_of.draw_people(study, failure_cost=failure_cost)[1]) == len(study.rejected)
