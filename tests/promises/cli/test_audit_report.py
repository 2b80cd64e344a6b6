"""`safear audit --report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import safear as sa
from audit_examples import PROBLEM, audit_of, make_people
from hidden_packages import hide_package
from page_html import read_page, read_table
from promises.cli.conftest import Safear
from safear.reports import Sources, report_audit

OPTIONS = ["--group", "gender", "--group", "town"]


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """A problem file with people beside it."""
    (tmp_path / "job.yaml").write_text(json.dumps(sa.dump_problem(PROBLEM)), encoding="utf-8")
    (tmp_path / "parts").mkdir()
    for number in range(2):
        make_people()[number::2].to_csv(tmp_path / "parts" / f"{number}.csv", index=False)
    make_people().to_csv(tmp_path / "people.csv", index=False)
    return ["audit", "job.yaml", "people.csv", *OPTIONS]


def test_the_page_is_that_of_the_library(safear: Safear, job: list[str], tmp_path: Path) -> None:
    answer = safear(*job, "--report", "audit.html")
    assert (answer.code, answer.err) == (0, "")
    expected = report_audit(
        audit_of(make_people(), groups=["gender", "town"]),
        sources=Sources("job.yaml", "the rule of the problem", ["people.csv"]),
    )
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == expected.html
    assert answer.out.splitlines() == [*(f"- {text}" for text in expected.summary), "The report is in audit.html."]
    assert safear(*job, "--report", "audit.html").code == 0  # over itself


def test_all_files_are_named(safear: Safear, job: list[str], tmp_path: Path) -> None:
    answer = safear(*job[:2], "parts/*.csv", *OPTIONS, "--report", "audit.html", "--json", "--seed", 3)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["people"] == len(make_people())
    tree = read_page((tmp_path / "audit.html").read_text(encoding="utf-8"))
    told = tree.find("section", id="file")[0].text
    assert "parts/0.csv, parts/1.csv" in told
    assert "seed 3, 2000 resamples" in told
    assert len(read_table(tree, "People by gender")) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/audit.html", "nowhere/audit.html: cannot be written: there is no such folder\n    make the folder '"),
        ("audit.csv", "audit.csv: pages are written as .html, not as '.csv'\n    name it audit.html\n"),
        (
            "people.csv",
            "people.csv: --report would replace this file, which is read as [PEOPLE]\n    name another file",
        ),
        ("mine.html", "mine.html: already exists and is not a page of SafeAR\n    name a new file\n"),
    ],
)
def test_what_is_refused_before_anything_is_computed(
    safear: Safear, job: list[str], name: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.html").write_text("mine", encoding="utf-8")
    before = (tmp_path / "people.csv").read_bytes()
    (tmp_path / "bank.py").write_text("def decide(frame):\n    raise AssertionError('computed')\n")
    assert safear(*job, "--classifier", "bank.py:decide", "--report", name).refusal.startswith(message)
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "people.csv").read_bytes() == before


def test_without_jinja(safear: Safear, job: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hide_package("jinja2", monkeypatch)
    assert (
        safear(*job, "--report", "audit.html").refusal
        == "Jinja2 is not installed; install it with: pip install 'safear[report]'\n"
    )
    assert not (tmp_path / "audit.html").exists()
    assert safear(*job).code == 0
