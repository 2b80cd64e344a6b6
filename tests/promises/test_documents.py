"""The README, the docs and the examples do what they say."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import safear as sa
from safear.cli.main import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


COMMANDS = [line[2:].split("#")[0].strip() for block in blocks(README, "console") for line in block.splitlines()]


def run_safear(*arguments: str) -> str:
    found = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert (found.exit_code, found.stderr) == (0, "")
    return found.stdout


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("safear ")])
def test_readme_commands(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_safear(*shlex.split(command)[1:])


def test_readme_make_targets() -> None:
    targets = [command.split()[1] for command in COMMANDS if command.startswith("make ")]
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_readme_shows_what_the_demo_prints() -> None:
    printed = [line.rstrip() for line in run_safear("demo").splitlines()]
    (shown,) = blocks(README, "text")
    assert shown
    for line in shown.splitlines():
        assert line in printed


def test_readme_python(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(README, "python"):
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "study part-time: costs 1 month, works 90 times in 100"
    assert (tmp_path / "plans.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_picture_of_the_readme_is_what_is_drawn() -> None:
    drawn = sa.plots.traces(sa.recommend(sa.load_example("loan"))).svg
    assert (ROOT / "docs" / "plans.svg").read_text(encoding="utf-8") == drawn


def test_problem_in_documents() -> None:
    text = blocks((ROOT / "docs" / "problem-file.md").read_text(encoding="utf-8"), "yaml")[0]
    menu = sa.recommend(sa.parse_problem(text))
    assert len(menu) > 0


def test_methods_table_is_what_the_command_prints() -> None:
    menu = sa.recommend(
        sa.load_example("health-insurance"), objectives=[sa.MeanStd(0), sa.MeanStd(0.5), sa.MeanStd(1)], method="greedy"
    )
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    rows = [re.sub(r" \([^)]*\)", "", line) for line in text.splitlines() if re.match(r"\| (0|0\.5|1) \| [01]", line)]
    rows = [row for row in rows if "times" not in row]  # of cards
    assert len(rows) == 3
    for offer, row in zip(menu, rows, strict=True):
        cost = offer.cost
        tail = cost.tail_mean(0.95)
        figures = [f"{cost.success:.7g}", f"{cost.mean:.7g}", f"{cost.variance:.6f}", f"{cost.var(0.95):g}"]
        figures.append("n/a" if tail is None else f"{tail:.4f}")
        shown = [cell.strip() for cell in row.strip("|").split("|")][1:]
        for figure, cell in zip(figures, shown, strict=True):
            assert cell == figure or float(cell) == pytest.approx(float(figure), abs=6e-7), (figure, cell)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_changelog_and_version() -> None:
    assert f"## {sa.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_figures_of_scale_are_those_that_were_measured() -> None:
    command = [sys.executable, "-m", "benchmarks.scale"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8", cwd=ROOT).stdout
    assert printed.strip() in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


NAMED = re.compile(r"`((?:[\w.*-]+/)+(?:[\w.*-]+\.\w+)?|[\w-]+\.(?:md|toml))`")


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md"])
def test_every_file_that_a_document_names_is_there(document: str) -> None:
    """By its path from the root or, in the map of the code, from the package."""
    text = (ROOT / document).read_text(encoding="utf-8")
    named = {
        *NAMED.findall(text),
        *(f"{(ROOT / document).parent / link}" for link in re.findall(r"\]\(([^)#]+)", text)),
    }
    roots = [ROOT, ROOT / "src" / "safear"]
    assert named
    assert [name for name in sorted(named) if not any((root / name).exists() for root in roots)] == []


def test_the_make_targets_that_are_told() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make ([\w-]+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert {"check", "test"} < targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == sa.__version__
    assert citation["preferred-citation"]["title"] == "SafeAR: Safe Algorithmic Recourse by Risk-Aware Policies"


def test_the_map_of_the_code_lists_every_module() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = [path for path in (ROOT / "src" / "safear").rglob("*.py") if path.parent.name != "cli"]
    names = {path.stem for path in modules if not path.stem.startswith("_")}
    assert sorted(name for name in names if f"`{name}`" not in text) == []


GUIDE = (ROOT / "docs" / "your-own-model.md").read_text(encoding="utf-8")


def test_the_guide_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every block in its order, in an empty folder. Figures of the model may differ with the version of LightGBM."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    shutil.copy(ROOT / "examples" / "german_credit" / "applications.csv.gz", tmp_path)
    printed, names = "", dict[str, object]()
    for language, block in re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL):
        match language:
            case "console":
                commands = [line.removeprefix("$ safear ") for line in block.splitlines() if "$ safear " in line]
                run = [shlex.split(command) for command in commands if not command.startswith("serve")]
                printed = "".join(run_safear(*arguments) for arguments in run)
            case "python":
                exec(compile(block, "your-own-model.md", "exec"), names)
            case "csv":
                Path("attempts.csv").write_text(block, encoding="utf-8")
            case "text":
                lines = {mask_numbers(line) for line in printed.splitlines()}
                assert {mask_numbers(line) for line in block.splitlines()} <= lines
            case "yaml":
                problem = yaml.safe_load(Path("problem.yaml").read_text(encoding="utf-8"))
                (action,) = sa.parse_problem(problem | {"actions": yaml.safe_load(block)}).actions
                assert action.name == "shorten the term"
    assert "<h1" in Path("letter.html").read_text(encoding="utf-8")
    assert "cheapest" in capsys.readouterr().out


def test_the_guide_to_guesses_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block in its order; what is shown is printed, to the last digit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    text, printed = (ROOT / "docs" / "guesses.md").read_text(encoding="utf-8"), list[str]()
    shown = 0
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        match language:
            case "yaml":
                Path("shop.yaml").write_text(block, encoding="utf-8")
            case "console":
                found = [
                    CliRunner().invoke(cli, shlex.split(line.removeprefix("$ safear ")), catch_exceptions=False)
                    for line in block.splitlines()
                ]
                assert {answer.exit_code for answer in found} <= {0, 3}
                printed = [line.rstrip() for answer in found for line in answer.output.splitlines()]
            case "text":
                assert [line for line in block.splitlines() if line not in printed] == []
                shown += 1
    assert shown == 5
    assert Path("tornado.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_table_on_retraining_is_the_one_that_is_printed() -> None:
    """Its headings, and a row per setting; the figures take half an hour."""
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    table = text.split("german_credit.retraining` prints this table:\n\n")[1].split("\n\n")[0]
    source = (ROOT / "examples" / "german_credit" / "retraining.py").read_text(encoding="utf-8")
    headings = re.findall(r'"(.+)"', re.search(r"^HEADINGS = \((.*?)^\)", source, re.DOTALL | re.MULTILINE)[1])  # type: ignore[index]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == headings
    assert [row[0] for row in rows[2:]] == re.findall(r'    Setting\("(.+?)"', source)


def mask_numbers(line: str) -> str:
    return " ".join(re.sub(r"[\d.,]+", "0", line).split())
