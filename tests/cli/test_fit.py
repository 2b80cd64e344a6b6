"""`safear fit`: a table, notes, and a new file if one is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fitting.logs import TEXT, log_of
from fitting.test_fit import FITTED, LOG

if TYPE_CHECKING:
    from cli.conftest import Safear


def write(folder: Path) -> None:
    (folder / "loan.yaml").write_text(TEXT, encoding="utf-8")
    LOG.to_csv(folder / "log.csv", index=False)


def test_nothing_is_written_unless_it_is_asked_for(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    answer = safear("fit", "loan.yaml", "log.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Loan: 46 attempts\n")
    assert "learn   chance, skill: skilled  80%  " in answer.out
    assert "note: change job: never tried; left as it is\n" in answer.out
    assert answer.out.endswith("nothing was written; -o FILE writes the new problem\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loan.yaml", "log.csv"]
    assert (tmp_path / "loan.yaml").read_text(encoding="utf-8") == TEXT


def test_the_new_file(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    answer = safear("fit", "loan.yaml", "log.csv", "-o", "new.yaml", "--language", "de")
    assert answer.out.endswith("geschrieben: new.yaml\n")
    assert (tmp_path / "new.yaml").read_text(encoding="utf-8") == FITTED
    assert safear("check", "new.yaml").code == 0


def test_as_json(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    record = safear("fit", "loan.yaml", "log.csv", "--json", "--min-tries", "2").json
    assert [entry["pooled"] for entry in record["entries"]] == [False] * 5


def test_a_bundled_problem(safear: Safear, tmp_path: Path) -> None:
    log_of(("change job", 3, 4))[["action", "worked"]].to_csv(tmp_path / "log.csv", index=False)
    assert safear("fit", "loan", "log.csv", "-o", "new.yaml").code == 0
    assert "tried: 4" in (tmp_path / "new.yaml").read_text(encoding="utf-8")


def test_mistakes(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path)
    LOG.assign(worked="perhaps").head(1).to_csv(tmp_path / "log.csv", index=False)
    assert safear("fit", "loan.yaml", "log.csv").refusal == (
        "log.csv: row 1.worked: 'perhaps' is neither yes nor no\n    write yes or no\n"
    )
    assert "no.csv: no such file" in safear("fit", "loan.yaml", "no.csv").refusal
    assert "nothing.yaml" in safear("fit", "nothing.yaml", "log.csv").refusal
