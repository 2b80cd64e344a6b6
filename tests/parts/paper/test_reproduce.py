"""`reproduce`: cells beside the paper's, claims, and what is written."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from doors import TABLES, Entry, EntryKey, Workshop, draw, format_cell, published, reproduce, to_csv, to_markdown
from safear.cli.main import cli
from safear.errors import ObjectiveError

QUICK = ["synthetic", "loan", "insurance"]


@pytest.fixture
def workshop() -> Workshop:
    return Workshop(seeds=(0,), simulate=False)


def test_what_the_paper_prints() -> None:
    figures = published()
    assert len(figures) == 943
    assert figures[EntryKey("risk", "adult", "all", "mean-std:0", 12, "mean")] == (3.49, "")
    assert figures[EntryKey("horizon", "german", "all", "mean-std:2", 4, "success")] == (0.925, "")
    assert figures[EntryKey("gender-tests", "adult", "female-male", "mean-std:0", 12, "p_mean")] == (0.0001, "<")
    assert figures[EntryKey("synthetic", "health-insurance", "all", "mean-std:1", 8, "tail_mean95")] == (None, "n/a")
    tables = {key.table for key in figures}
    assert tables <= set(TABLES)


@pytest.mark.parametrize("name", ["synthetic", "insurance"])
def test_every_published_cell_of_a_table_has_one_of_ours(name: str, workshop: Workshop) -> None:
    (table,) = reproduce([name], workshop=workshop)
    ours = {cell.key for cell in table.entries}
    theirs = {key for key in published() if key.table == table.name}
    assert theirs <= ours
    assert len(ours) == len(table.entries)


def test_synthetic_and_loan_agree(workshop: Workshop) -> None:
    synthetic, loan = reproduce(["synthetic", "loan"], workshop=workshop)
    assert (synthetic.close, synthetic.compared) == (13, 14)
    assert (loan.close, loan.compared) == (4, 4)


def test_what_is_learnt_in_episodes(workshop: Workshop) -> None:
    (episodic,) = reproduce(["episodic"], workshop=workshop)
    adult, german = episodic.claims
    assert len(adult.holds) == len(german.holds) == 5
    assert german.holds_mostly


def test_people_of_the_paper(workshop: Workshop) -> None:
    (cases,) = reproduce(["cases"], workshop=workshop)
    means = {(c.key.group, c.key.policy): c.ours for c in cases.entries if c.key.measure == "mean"}
    assert means["row 44", "mean-std:0"] == pytest.approx(2.48, rel=0.02)
    assert means["row 44", "mean-std:0.5"] == pytest.approx(2.81, rel=0.02)


def test_cells_are_compared() -> None:
    key = EntryKey("risk", "adult", "all", "mean-std:0", 12, "mean")
    assert Entry(key, 2.0, 2.19).is_close is True
    assert Entry(key, 2.0, 2.21).is_close is False
    assert Entry(key, None, 2.21).is_close is None
    assert Entry(key, 2.0, None).is_close is None
    assert format_cell(Entry(key, 3.49, 3.727)) == "3.73 (3.49)"
    assert format_cell(Entry(key, None, None)) == "n/a"
    assert format_cell(Entry(key, 3.49, 3.727, 3.741, 3.5, 3.73)) == "3.73 / 3.74 (3.49) [3.50, 3.73]"
    assert format_cell(Entry(EntryKey("t", "d", "g", "p", 1, "p_mean"), 0.0001, 1e-9, note="<")) == "0.0000 (<0.0001)"


def test_text_forms(workshop: Workshop) -> None:
    tables = list(reproduce(QUICK, workshop=workshop))
    rows = list(csv.DictReader(to_csv(tables).splitlines()))
    assert len(rows) == sum(len(table.entries) for table in tables)
    wanted = ["table", "dataset", "group", "policy", "horizon", "measure", "paper", "ours", "simulated"]
    assert list(rows[0])[:9] == wanted
    (simulated,) = reproduce(["synthetic"], workshop=Workshop(seeds=(0,)))
    text = to_markdown(simulated)
    assert "| health-insurance | all | mean-std:0 | 8 | 0.996 / 0." in text
    assert "13 of 14 cells are within 10% of the paper." in text


def test_progress_reaches_the_end(workshop: Workshop) -> None:
    seen: list[tuple[str, int, int]] = []
    list(reproduce(["insurance", "loan"], workshop=workshop, progress=lambda *step: seen.append(step)))
    assert seen == [*(("insurance", done, 4) for done in range(1, 5)), ("loan", 1, 1)]


def test_an_unknown_table_lists_the_names() -> None:
    with pytest.raises(ObjectiveError) as caught:
        list(reproduce(["rsik"]))
    assert str(caught.value).startswith("there is no table 'rsik'\n    did you mean 'risk'? (tables: models, risk, ")


def test_pictures(workshop: Workshop) -> None:
    names = [name for table in ("cases", "episodic", "loan", "risk") for name, _ in draw(table, workshop)]
    assert names == [
        "cases-adult-row-16.svg",
        "cases-adult-row-734.svg",
        "cases-german-row-44.svg",
        "cases-german-row-972.svg",
        "episodic-adult-row-16.svg",
        "episodic-german-row-44.svg",
        "loan.svg",
    ]
    [(_, picture)] = draw("loan", workshop)
    assert [plan["name"] for plan in picture.tables["plans"]] == ["policy C", "policy B", "policy A"]


def test_an_interrupted_run_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setitem(TABLES, "insurance", (stop, 1))
    with pytest.raises(SystemExit) as caught:
        cli(["reproduce", "loan", "insurance", "--output", str(tmp_path)])
    assert caught.value.code == 130
    assert (tmp_path / "loan.md").exists()
    assert not (tmp_path / "insurance.md").exists()
