"""Python objects by name."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

import safear as sa
from safear.classifier import FunctionClassifier, ModelClassifier
from safear.cli.main import cli
from safear.errors import ClassifierError
from small_sources import FUNCTION, GOALS, PROBLEM, Write, goals, refusal


@pytest.mark.parametrize("source", ["lending:decide", "lending.py:decide", "bank.loans:decide", "bank/loans.py:decide"])
def test_a_python_object(source: str, write: Write) -> None:
    for name in ("lending.py", "bank/loans.py"):
        write(name, FUNCTION)
    assert isinstance(sa.load_classifier(source, PROBLEM), FunctionClassifier)
    assert goals(source) == GOALS


def test_a_file_somewhere_else(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = write("elsewhere/lending.py", FUNCTION)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert goals(f"{file}:decide") == GOALS
    assert goals("../elsewhere/lending.py:decide") == GOALS


@pytest.mark.parametrize(
    "source, text",
    [
        ("lending:decid", "lending:decid: 'lending' has no 'decid'\n    did you mean 'decide'?"),
        ("lending.py:decid", "lending.py:decid: 'lending.py' has no 'decid'\n    did you mean 'decide'?"),
        ("lending:zzz", "lending:zzz: 'lending' has no 'zzz'\n    possible: 'decide', 'levels'"),
        ("lending:levels.first", "lending:levels.first: 'lending' has no 'first'"),
        ("lending:", "lending:: 'lending' has no ''\n    possible: 'decide', 'levels'"),
    ],
)
def test_a_name_that_is_not_there(source: str, text: str, write: Write) -> None:
    write("lending.py", f"{textwrap.dedent(FUNCTION)}\nlevels = ['basic', 'skilled']")
    assert refusal(source).startswith(text)


def test_something_else_in_a_module(write: Write) -> None:
    write("lending.py", "levels = ['basic', 'skilled']")
    assert "str is not a classifier" in refusal("lending:levels")


@pytest.mark.parametrize(
    "code, told",
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def decide(frame:\n", "SyntaxError: "),
        ("import sys\nsys.exit(5)", "SystemExit: 5"),
    ],
    ids=["import", "raises", "syntax", "exit"],
)
@pytest.mark.parametrize("form", ["lending", "lending.py"])
def test_code_that_cannot_be_imported(form: str, code: str, told: str, write: Write) -> None:
    write("lending.py", code)
    with pytest.raises((ClassifierError, SystemExit)) as refused:
        sa.load_classifier(f"{form}:decide", PROBLEM)
    assert isinstance(refused.value, ClassifierError), "the user's code ended the program"
    assert str(refused.value).startswith(f"{form}: cannot be imported: {told}")


def test_a_module_that_is_not_there(write: Write) -> None:
    write("lending.py", FUNCTION)
    assert refusal("landing:decide") == (
        "landing: cannot be imported: ModuleNotFoundError: No module named 'landing'\n"
        "    name a module that Python finds, or a file: FILE.py:NAME"
    )


@pytest.mark.parametrize(
    "file, code, source",
    [
        (
            "house.py",
            """
            class Lending:
                @staticmethod
                def decide(frame):
                    return (frame["skill"] == "skilled") & (frame["job"] == "employed")

            class bank:
                lending = Lending()
            """,
            "house:bank.lending.decide",
        ),
        (
            "model.py",  # dataclasses look for their module among those that are imported
            """
            from __future__ import annotations
            from dataclasses import dataclass

            @dataclass
            class Decide:
                skill: str

                def __call__(self, frame):
                    return (frame["skill"] == self.skill) & (frame["job"] == "employed")

            decide = Decide("skilled")
            """,
            "model.py:decide",
        ),
        (
            "models/lending.py",  # which imports what stands beside it, as when it is run
            """
            from known_levels import SKILLED

            def decide(frame):
                return (frame["skill"] == SKILLED) & (frame["job"] == "employed")
            """,
            "models/lending.py:decide",
        ),
    ],
)
def test_python_objects_of_all_kinds(file: str, code: str, source: str, write: Write) -> None:
    write("models/known_levels.py", "SKILLED = 'skilled'")
    write(file, code)
    assert goals(source) == GOALS


def test_a_model_by_name_is_taken_as_a_model_not_as_a_function(write: Write) -> None:
    write("trained.py", "from sklearn.tree import DecisionTreeClassifier\nmodel = DecisionTreeClassifier()")
    assert isinstance(sa.load_classifier("trained:model", PROBLEM), ModelClassifier)


GOES_AWAY = """
import os

def leave():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
"""


@pytest.mark.parametrize(
    "code",
    [
        "leave()\ndef decide(frame):\n    return frame['job'] == 'employed'",
        "def decide(frame):\n    leave()\n    return frame['job'] == 'employed'",
    ],
    ids=["when it is imported", "when it is asked"],
)
@pytest.mark.parametrize("form", ["models/lending.py", "models.lending"])
def test_results_land_where_the_command_was_started(form: str, code: str, write: Write, tmp_path: Path) -> None:
    """Wherever a model goes."""
    write("models/lending.py", GOES_AWAY + code)
    theirs = write("models/out.json", "theirs")
    found = CliRunner().invoke(cli, ["recommend", "loan", "--classifier", f"{form}:decide", "-o", "out.json"])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "out.json").read_text(encoding="utf-8").startswith("{")
    assert theirs.read_text(encoding="utf-8") == "theirs"


def test_the_current_folder_stays_where_code_goes_away_and_fails(write: Write, tmp_path: Path) -> None:
    write("models/lending.py", f"{GOES_AWAY}leave()\n1 / 0")
    assert "ZeroDivisionError" in refusal("models/lending.py:decide")
    assert Path.cwd() == tmp_path
