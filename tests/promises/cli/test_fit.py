"""`safear fit`: a table, notes, and a new file if one is wanted."""

from __future__ import annotations

from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from logs import TEXT, log_of
from promises.cli.conftest import Safear
from promises.fitting.test_fit import FITTED, LOG


def write(folder: Path) -> None:
    (folder / "loan.yaml").write_text(TEXT, encoding="utf-8")
    LOG.to_csv(folder / "log.csv", index=False)


def test_nothing_is_written_unless_it_is_asked_for(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path)
    answer = safear("fit", "loan.yaml", "log.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loan.yaml", "log.csv"]
    assert (tmp_path / "loan.yaml").read_text(encoding="utf-8") == TEXT


def test_the_new_file(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path)
    answer = safear("fit", "loan.yaml", "log.csv", "-o", "new.yaml", "--language", "de")
    assert answer.out == snapshot
    assert (tmp_path / "new.yaml").read_text(encoding="utf-8") == FITTED
    assert safear("check", "new.yaml").code == 0


def test_as_json(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    record = safear("fit", "loan.yaml", "log.csv", "--json", "--min-tries", "2").json
    assert [entry["pooled"] for entry in record["entries"]] == [False] * 5


def test_the_whole_record(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    record = safear("fit", "loan.yaml", "log.csv", "--json").json
    assert (record["problem"], record["attempts"], record["confidence"]) == ("Loan", 46, 0.95)
    assert record["entries"][1] == {
        "place": "actions.learn.outcomes[0].chance.skill.skilled",
        "action": "learn",
        "before": {"nominal": 0.8, "low": 0.8, "high": 0.8, "source": ""},
        "after": {"nominal": 0.775, "low": 0.6154883226, "high": 0.8916033611, "source": "data 31/40"},
        "n": 40,
        "pooled": False,
    }
    assert record["notices"][0]["code"] == "thin"


def test_a_bundled_problem(safear: Safear, tmp_path: Path) -> None:
    log_of(("change job", 3, 4))[["action", "worked"]].to_csv(tmp_path / "log.csv", index=False)
    assert safear("fit", "loan", "log.csv", "-o", "new.yaml").code == 0
    assert "tried: 4" in (tmp_path / "new.yaml").read_text(encoding="utf-8")


def test_mistakes(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path)
    LOG.assign(worked="perhaps").head(1).to_csv(tmp_path / "log.csv", index=False)
    assert safear("fit", "loan.yaml", "log.csv").refusal == snapshot
    assert "no.csv: no such file" in safear("fit", "loan.yaml", "no.csv").refusal
    assert "nothing.yaml" in safear("fit", "nothing.yaml", "log.csv").refusal
