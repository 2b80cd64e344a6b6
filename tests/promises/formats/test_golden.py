"""Files that an earlier version has written are opened by this one, and say the same (`golden/README.md`)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import safear as sa
from page_html import Node, read_page
from promises.cli.conftest import Answer, Safear
from promises.formats.reading import GOLDEN, PLANS, SUMS, classifier_options, find_best, read_file, sum_files
from promises.web.conftest import Site
from safear.errors import PlanError

FIRST, EARLY, NEWEST = "2026-11-15-4cf530f", "2026-11-16-8e2fad3", "2026-11-18-21d7ac0"
EXPECTED = {
    f"{file.parent.name}/{name}": content
    for file in sorted(GOLDEN.glob("*/expected.json"))
    if file.parent.name != FIRST
    for name, content in json.loads(file.read_text(encoding="utf-8")).items()
}
OPENED = [name for name in EXPECTED if not name.endswith("/batch")]
BATCHES = [name for name in EXPECTED if name.endswith("/batch")]
ActAs = Callable[[str], None]
ANSWERS = sorted(str(file.relative_to(GOLDEN)) for file in GOLDEN.glob("*/*/answers.json"))


def assert_same(found: Any, expected: Any) -> None:
    """The same names and whole numbers, and floats that differ in the last digits at most."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == (pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else expected)


def copy_folder(name: str) -> None:
    """Take a batch, with what it was made from, into the current folder."""
    shutil.copytree((GOLDEN / name).parent, ".", dirs_exist_ok=True)


def test_every_golden_file_is_there_as_it_was_made() -> None:
    """As `sha256sum --check SHA256SUMS` says; and nothing else is."""
    assert sorted(sum_files(GOLDEN)) == sorted(SUMS.read_text(encoding="utf-8").splitlines(keepends=True))


def test_each_format_has_three_golden_files() -> None:
    for name in ("problem.yaml", "written.json", "terms.yaml", "answers.json", "batch", *PLANS):
        assert len(list((GOLDEN / NEWEST).glob(f"*/{name}"))) == 3, name
    people = [*(GOLDEN / NEWEST).glob("*/person.yaml"), *(GOLDEN / NEWEST).glob("*/walked.json")]
    assert len(people) > 3


@pytest.mark.parametrize("name", OPENED)
def test_a_file_says_what_it_said_when_it_was_made(name: str) -> None:
    """Problems, terms, people and answers have the same optima; plans have the same figures, and lead the same way."""
    assert_same(read_file(GOLDEN / name, lambda *_: ""), EXPECTED[name])


@pytest.mark.parametrize("name", [name for name in OPENED if name.endswith(PLANS[:2])])
def test_a_plan_belongs_to_its_problem(name: str) -> None:
    """The hashes of a problem stay, so that somebody can ask again years later."""
    file = GOLDEN / name
    problem = sa.load_problem(file.with_name("problem.yaml"))
    assert sa.load_plan(file, problem).first_action == EXPECTED[name]["first"]
    with pytest.raises(PlanError, match="differs in 'horizon'"):
        sa.load_plan(file, problem.with_horizon(problem.horizon + 1))


@pytest.mark.parametrize("name", [name for name in OPENED if name.endswith("/plan.json")])
def test_the_command_line_makes_a_new_menu_from_a_plan(name: str, safear: Safear) -> None:
    folder = (GOLDEN / name).parent
    arguments = ["--outcome", "failed", "--menu", "--problem", folder / "problem.yaml", *classifier_options(folder)]
    said = safear("resume", folder / "plan.json", *arguments, "--objective", "mean", "--json").json
    here = EXPECTED[name]["walks"][2]
    assert (said["steps_left"], said["spent"]) == (here[2], pytest.approx(here[3], rel=1e-9))


@pytest.mark.parametrize("version", ["2026-11-16-2720bc7", "2026-11-17-f896346", NEWEST])
def test_a_log_of_attempts_gives_the_numbers_that_it_gave(version: str, safear: Safear) -> None:
    folder = GOLDEN / version / "simple"
    safear("fit", folder / "problem.yaml", folder / "attempts.csv", "--min-tries", 2, "-o", "fitted.yaml")
    found, expected = (sa.dump_problem(sa.load_problem(path)) for path in ("fitted.yaml", folder / "fitted.yaml"))
    assert_same(found["actions"], expected["actions"])


@pytest.mark.parametrize("name", BATCHES)
def test_the_plans_of_a_batch_are_opened(name: str, safear: Safear) -> None:
    copy_folder(name)
    assert_same(read_file(GOLDEN / name, lambda *arguments: safear(*arguments).out), EXPECTED[name])


@pytest.fixture
def act_as(monkeypatch: pytest.MonkeyPatch) -> ActAs:
    """Continue a batch as some version: what one begins must be continued after a release, too."""
    return partial(monkeypatch.setattr, sys.modules[sa.batch.__module__], "__version__")


def continue_batch(name: str, safear: Safear) -> Answer:
    """Run the command again that began it."""
    options = ["--plans", "--part-size", "2", "--keep", "customer", *classifier_options((GOLDEN / name).parent)]
    return safear("batch", "problem.yaml", "people.csv", *options, "--out", "batch", "--json")


@pytest.mark.parametrize("name", [name for name in BATCHES if NEWEST in name])
def test_a_batch_is_continued_by_the_version_that_began_it(name: str, safear: Safear, act_as: ActAs) -> None:
    """The parts that are there stay as they are."""
    copy_folder(name)
    Path("batch/part-00001.parquet").unlink()
    before, began = Path("batch/part-00000.parquet").read_bytes(), Path("batch/_batch.json").read_bytes()
    act_as(json.loads(began)["safear"])
    done = continue_batch(name, safear)
    assert (done.json["parts"], done.json["resumed"], done.json["people"]) == (2, 1, 3)
    assert Path("batch/part-00001.parquet").exists()
    assert Path("batch/part-00000.parquet").read_bytes() == before
    assert Path("batch/_batch.json").read_bytes() == began
    old, new = (pq.read_schema(f"batch/part-0000{number}.parquet").names for number in range(2))
    assert old == new  # parts of one folder can be read together


@pytest.mark.parametrize(("version", "part"), [(NEWEST, "safear"), ("2026-11-16-2720bc7", "exact")])
def test_a_batch_of_another_version_is_refused_and_stays_as_it_is(
    version: str, part: str, safear: Safear, act_as: ActAs
) -> None:
    """Batches of 2720bc7 do not say whether plans are simple ones, which came later."""
    copy_folder(f"{version}/simple/batch")
    act_as("0.0.1" if part == "safear" else json.loads(Path("batch/_batch.json").read_bytes())["safear"])
    before = {file: file.read_bytes() for file in Path("batch").iterdir()}
    said = continue_batch(f"{version}/simple/batch", safear).refusal
    assert "holds another batch: not the same" in said
    assert f"'{part}'" in said
    assert "name a new folder, or repeat the same batch" in said
    assert {file: file.read_bytes() for file in Path("batch").iterdir()} == before


def test_a_batch_without_checksums_is_solved_again(
    safear: Safear, act_as: ActAs, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody knows whether its parts are whole; its plans can still be opened."""
    name = "2026-11-17-f896346/simple/batch"
    copy_folder(name)
    act_as(json.loads(Path("batch/_batch.json").read_bytes())["safear"])
    done = continue_batch(name, safear)
    assert (done.json["parts"], done.json["resumed"]) == (2, 0)
    assert "part-00000.parquet: is damaged, or not from this batch; it is solved again" in caplog.text
    found = read_file(GOLDEN / name, lambda *arguments: safear(*arguments).out)
    assert_same(found["first"], EXPECTED[name]["first"])


def fields_of(page: Node) -> dict[str, str]:
    """What a browser sends of the page's form."""
    found: dict[str, str] = {}
    for node in page.walk():
        name, kind = node.attributes.get("name"), node.attributes.get("type")
        if node.tag == "input" and name and (kind not in {"radio", "checkbox"} or "checked" in node.attributes):
            found[name] = node.attributes.get("value") or ""
        if node.tag == "select" and name:
            chosen = [one for one in node.find("option") if "selected" in one.attributes]
            found[name] = (chosen[0].attributes.get("value", chosen[0].text) or "") if chosen else ""
    return found


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("name", ANSWERS)
def test_the_page_opens_answers(name: str, language: str, open_site: Callable[[Path], Site]) -> None:
    """Whoever saves them again gets the same file, in whatever language."""
    file = GOLDEN / name
    with open_site(file.parent).client() as client:
        sent = {"do": "open", "language": language}
        page = client.post("/open", data=sent, files={"file": ("mine.json", file.read_bytes())})
        assert page.status_code == 200
        fields = {key: text for key, text in fields_of(read_page(page.text)).items() if key not in {"file", "do"}}
        again = client.post("/answers", data={**fields, "do": "again"})
    assert again.json() == json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in OPENED if name.endswith(PLANS)])
def test_the_page_opens_plans(name: str, open_site: Callable[[Path], Site]) -> None:
    file = GOLDEN / name
    with open_site(file.parent).client() as client:
        page = client.post("/open", data={"do": "open"}, files={"file": ("mine.json", file.read_bytes())})
    assert page.status_code == 200
    said = read_page(page.text).text
    assert "Your saved plan" in said
    assert f"Now: {EXPECTED[name]['first']}" in said


@pytest.mark.parametrize("kind", ["health-insurance", "loan", "manual"])
def test_problems_of_the_first_day_are_read(kind: str) -> None:
    """Plans did not stop then where the goal was lost: with that said, figures are what they were."""
    action, success, mean = json.loads((GOLDEN / FIRST / "expected.json").read_text())[f"{kind}/problem.yaml"]
    written = sa.dump_problem(sa.load_problem(GOLDEN / FIRST / kind / "problem.yaml"))
    problem = sa.parse_problem({**written, "goal": {**written["goal"], "stop": False}})
    (offer,) = sa.recommend(problem, objectives="mean")
    assert offer.first_action == action
    assert [offer.cost.success, offer.cost.all_runs.mean] == pytest.approx([success, mean], rel=1e-9)


def test_plans_of_the_first_hour_are_refused(safear: Safear) -> None:
    """They did not say when to stop, which nobody can add: their checksum would not fit. Their problem is read."""
    folder = GOLDEN / EARLY / "simple"
    with pytest.raises(PlanError, match=r"plan\.json: problem\.stop: .*Field required"):
        sa.load_plan(folder / "plan.json")
    assert "save the plan again" in safear("resume", folder / "plan.json").refusal
    problem = sa.load_problem(folder / "problem.yaml")
    assert_same(find_best(folder, problem), EXPECTED[f"{NEWEST}/simple/problem.yaml"]["best"])


def test_a_plan_of_a_later_version_is_refused_as_such(tmp_path: Path) -> None:
    text = (GOLDEN / NEWEST / "simple" / "plan.json").read_text(encoding="utf-8")
    (tmp_path / "plan.json").write_text(text.replace('"safear_plan": 1', '"safear_plan": 2'))
    with pytest.raises(PlanError, match="install a later version"):
        sa.load_plan(tmp_path / "plan.json")
