"""`safear demo`, `examples`, `schema`, `completion`."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import safear as sa
from promises.cli.conftest import Safear

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "safear")


# ---------------------------------------------------------------------------------------------------------------- demo


def test_what_the_demo_says_to_try_next_works(safear: Safear) -> None:
    last = safear("demo").out.splitlines()[-1]
    assert last.startswith("Try next:  ")
    calls = [call.split() for call in last.removeprefix("Try next:  ").split("safear ") if call]
    assert len(calls) == 3
    for call in calls:
        assert safear(*call).code == 0


# ------------------------------------------------------------------------------------------------------------ examples


def test_the_list_of_bundled_problems(safear: Safear) -> None:
    answer = safear("examples")
    assert (answer.code, answer.err) == (0, "")
    assert dict(line.split(maxsplit=1) for line in answer.out.splitlines()) == {
        "health-insurance": "A lower health insurance premium",
        "loan": "Loan approval",
    }


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_a_bundled_problem_can_be_printed_written_and_used(name: str, safear: Safear, tmp_path: Path) -> None:
    printed = safear("examples", name)
    assert (printed.code, printed.err) == (0, "")
    assert sa.parse_problem(printed.out) == sa.load_example(name)
    (tmp_path / "mine.yaml").write_text("something else that is here already\n" * 1000)
    written = safear("examples", name, "--output", "mine.yaml")
    assert (written.code, written.out, written.err) == (0, "", "")
    assert (tmp_path / "mine.yaml").read_text(encoding="utf-8") == printed.out
    assert [file.name for file in tmp_path.iterdir()] == ["mine.yaml"]
    assert safear("recommend", "mine.yaml", "--json").json == safear("recommend", name, "--json").json
    assert safear("check", "mine.yaml").code == 0


def test_a_bundled_problem_that_does_not_exist(safear: Safear) -> None:
    assert safear("examples", "lone").refusal == "there is no bundled problem 'lone'\n    did you mean 'loan'?\n"


@pytest.mark.parametrize("arguments", [["examples", "loan"], ["schema"]], ids=["examples", "schema"])
def test_a_file_that_cannot_be_written(arguments: list[str], safear: Safear) -> None:
    told = safear(*arguments, "--output", "no/such/folder/file").refusal
    assert told.startswith("no/such/folder/file: cannot be written: there is no such folder\n    make the folder '")


# -------------------------------------------------------------------------------------------------------------- schema


@pytest.fixture
def schema(safear: Safear) -> dict[str, Any]:
    answer = safear("schema")
    assert (answer.code, answer.err) == (0, "")
    return answer.json


def test_the_schema_is_one(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("what", "command"),
    [
        ("menu", ["recommend", "loan"]),
        ("situation", ["walk", "loan"]),
        ("sensitivity", ["sensitivity", "loan", "--objective", "mean", "--tolerance", "0.1"]),
        ("comparisons", ["compare", "loan"]),
    ],
)
def test_what_commands_give_has_a_schema(safear: Safear, what: str, command: list[str]) -> None:
    jsonschema.validate(safear(*command, "--json").json, safear("schema", what).json)


def test_the_schema_uses_only_words_of_json_schema(schema: dict[str, Any]) -> None:
    """`ge` is not one: an editor would not see a limit. And a default fits what it is a default of."""

    def parts(node: object, *, names: bool = False) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if not names:
                yield node
            for key, value in node.items():
                yield from parts(value, names=key in {"properties", "$defs"} and not names)
        elif isinstance(node, list):
            for item in node:
                yield from parts(item)

    found = list(parts(schema))
    assert len(found) > 50
    assert {"ge", "gt", "le", "lt"} & {key for part in found for key in part} == set()
    for part in found:
        if "default" in part:
            whole = {"$defs": schema["$defs"], **part}
            jsonschema.Draft202012Validator(whole).validate(part["default"])


def test_the_schema_can_be_written(safear: Safear, tmp_path: Path) -> None:
    printed = safear("schema").out
    assert safear("schema", "--output", "safear.schema.json").out == ""
    assert (tmp_path / "safear.schema.json").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_the_bundled_problems_fit_the_schema(name: str, schema: dict[str, Any], safear: Safear) -> None:
    document = yaml.safe_load(safear("examples", name).out)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_the_problem_file_of_the_documentation_fits_the_schema(schema: dict[str, Any]) -> None:
    text = (Path(__file__).parents[3] / "docs" / "problem-file.md").read_text(encoding="utf-8")
    document = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0},
        {"horizon": "soon"},
        {"safear": 2},
        {"features": {}},
        {"features": {"age": {"kind": "cardinal", "levels": ["young"]}}},
        {"actions": {"wait": {"cost": 1, "chnage": {"age": "+1"}}}},
        {"horizon": 1001},
        {"goal": {"threshold": 1.5}},
        {"goal": {"failure_cost": -1}},
        {"cost": {"resolution": 0}},
        {"colour": "blue"},
    ],
    ids=str,
)
def test_the_schema_refuses_what_check_refuses(
    wrong: dict[str, Any], schema: dict[str, Any], safear: Safear, tmp_path: Path
) -> None:
    document = yaml.safe_load(safear("examples", "loan").out) | wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document)
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    answer = safear("check", "wrong.json")
    assert answer.code == 2
    assert answer.err.startswith("wrong.json:")


# ---------------------------------------------------------------------------------------------------------- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script(shell: str, safear: Safear) -> None:
    answer = safear("completion", shell)
    assert (answer.code, answer.err) == (0, "")
    assert f"_SAFEAR_COMPLETE={shell}_complete" in answer.out
    assert "safear" in answer.out.replace("_SAFEAR_COMPLETE", "")


def test_the_bash_script_is_bash(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "complete.sh").write_text(safear("completion", "bash").out)
    subprocess.run(["bash", "-n", "complete.sh"], cwd=tmp_path, check=True, timeout=60)


@pytest.mark.parametrize(
    "words, expected",
    [("safear rec", {"recommend"}), ("safear completion z", {"zsh"}), ("safear recommend loan --simu", {"--simulate"})],
)
def test_what_is_completed(words: str, expected: set[str], tmp_path: Path) -> None:
    """As the scripts ask the program."""
    done = subprocess.run(
        [SCRIPT],
        cwd=tmp_path,
        env=os.environ
        | {"_SAFEAR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == expected
    assert done.stderr == ""
