"""Classifiers from the command line: skops files, tables, Python objects by name."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from skops import io

from safear.classifier.adapters import FunctionClassifier, ModelClassifier, TableClassifier
from safear.classifier.sources import _on_path, load_classifier
from safear.errors import ClassifierError, MissingExtraError
from safear.mdp.compile import compile_mdp
from safear.problem.load import parse_problem

FORMS = "use FILE.skops, a table of decisions FILE.csv, or a Python object MODULE:NAME or FILE.py:NAME"
PROBLEM = parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 2,
        "features": {
            "skill": {"kind": "ordinal", "levels": ["basic", "skilled"]},
            "job": {"kind": "nominal", "levels": ["employed", "unemployed"]},
        },
        "goal": {"favourable": "approved"},
        "actions": {"learn": {"cost": 1, "change": {"skill": "+1"}}},
    }
)
ROWS = [(skill, job) for skill in ("basic", "skilled") for job in ("employed", "unemployed")]
GOALS = [False, False, True, False]  # skilled and employed
FRAME = pd.DataFrame(ROWS, columns=["skill", "job"])
LABELS = ["approved" if goal else "rejected" for goal in GOALS]

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write Python files into the current directory; what is imported from there is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    known, path = set(sys.modules), list(sys.path)

    def write_file(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    yield write_file
    assert sys.path == path, "loading a classifier leaves the import path as it was"
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def goals(source: str, *, trust: tuple[str, ...] = ()) -> list[bool]:
    decided: list[bool] = compile_mdp(PROBLEM, load_classifier(source, PROBLEM, trust=trust)).goal.tolist()
    return decided


def refusal(source: str | Path, *, trust: tuple[str, ...] = ()) -> str:
    with pytest.raises(ClassifierError) as refused:
        load_classifier(str(source), PROBLEM, trust=trust)
    return str(refused.value)


FUNCTION = """
    def decide(frame):
        return (frame["skill"] == "skilled") & (frame["job"] == "employed")
    """


# --------------------------------------------------------------------------------------------------------------- skops


def save_model(path: Path) -> None:
    model = make_pipeline(OneHotEncoder(), LogisticRegression(C=1000)).fit(FRAME, LABELS)
    io.dump(model, path)


@pytest.mark.parametrize("name", ["model.skops", "MODEL.SKOPS", "v1.2/my model.skops"])
def test_a_skops_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    save_model(tmp_path / name)
    assert isinstance(load_classifier(name, PROBLEM), ModelClassifier)
    assert goals(name) == GOALS
    assert goals(str(tmp_path / name)) == GOALS


CLEANING = """
    def clean(frame):
        return frame
    """


def test_a_type_that_is_not_known_to_be_safe(write: Write) -> None:
    write("cleaning.py", CLEANING)
    with _on_path(Path()):
        cleaning = importlib.import_module("cleaning")
    step = FunctionTransformer(cleaning.clean, feature_names_out="one-to-one")
    io.dump(make_pipeline(step, OneHotEncoder(), LogisticRegression(C=1000)).fit(FRAME, LABELS), "model.skops")
    assert refusal("model.skops") == (
        "model.skops: holds types that are not known to be safe: 'cleaning.clean'\n"
        "    if you know them, add --trust cleaning.clean"
    )
    assert refusal("model.skops", trust=("cleaning.other",)).startswith("model.skops: holds types")
    del sys.modules["cleaning"]  # it is found in the current directory again, as for MODULE:NAME
    assert goals("model.skops", trust=("cleaning.clean",)) == GOALS


def test_something_else_in_a_skops_file(tmp_path: Path) -> None:
    io.dump([1, 2], tmp_path / "list.skops")
    assert "list is not a classifier" in refusal(tmp_path / "list.skops")


def test_a_file_that_is_not_skops(tmp_path: Path) -> None:
    file = tmp_path / "model.skops"
    file.write_text("not a zip")
    assert refusal(file) == f"{file}: not a skops model: BadZipFile: File is not a zip file"


@pytest.mark.parametrize("module", ["skops", "skops.io"])
def test_without_skops_it_says_what_to_install(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(tmp_path / "model.skops")
    monkeypatch.delitem(sys.modules, "skops.io", raising=False)
    monkeypatch.delattr("skops.io")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as missing:
        load_classifier(str(tmp_path / "model.skops"), PROBLEM)
    assert str(missing.value) == "skops is not installed; install it with: pip install 'safear[skops]'"
    assert missing.value.exit_code == 2


# -------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    "text",
    [
        "skill,job,decision\nbasic,employed,no\nbasic,unemployed,no\nskilled,employed,approved\nskilled,unemployed,no\n",
        (
            "\ufeffdecision,job,skill\r\n"
            "no,employed,basic\r\nno,unemployed,basic\r\napproved,employed,skilled\r\nno,unemployed,skilled\r\n"
        ),
        (
            'skill,job,"the, decision"\n'
            '"basic",employed,no\nbasic,unemployed,no\nskilled,employed,"approved"\nskilled,unemployed,no'
        ),
    ],
    ids=["plain", "as Excel saves it", "quoted"],
)
def test_a_table_of_decisions(text: str, tmp_path: Path) -> None:
    (tmp_path / "decisions.csv").write_bytes(text.encode())
    source = str(tmp_path / "decisions.csv")
    assert isinstance(load_classifier(source, PROBLEM), TableClassifier)
    assert goals(source) == GOALS


def test_levels_in_a_table_are_read_as_written(tmp_path: Path) -> None:
    """`no`, `NA` and `01` are names, not false, not missing and not the number 1."""
    problem = parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 2,
            "features": {"answer": {"kind": "ordinal", "levels": ["no", "NA", "01", "null"]}},
            "goal": {"favourable": "approved"},
            "actions": {"go on": {"cost": 1, "change": {"answer": "+1"}}},
        }
    )
    file = tmp_path / "decisions.csv"
    file.write_text("answer,decision\nno,rejected\nNA,approved\n01,rejected\nnull,approved\n")
    assert compile_mdp(problem, load_classifier(str(file), problem)).goal.tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "not a CSV table: No columns to parse from file"),
        (b'skill,job\n"basic', "not a CSV table: "),
        (b"skill,job,decision\nbasic,employed,\xff\xfe\n", "not a CSV table: "),
    ],
    ids=["empty", "open quote", "not UTF-8"],
)
def test_a_file_that_is_not_a_table(content: bytes, text: str, tmp_path: Path) -> None:
    file = tmp_path / "decisions.csv"
    file.write_bytes(content)
    assert refusal(file).startswith(f"{file}: {text}")


def test_a_table_with_other_separators_shows_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "decisions.csv"
    file.write_text("skill;job;decision\nbasic;employed;no\n")
    assert "the table of decisions has no column 'skill'\n    columns: 'skill;job;decision'" in refusal(file)


# ------------------------------------------------------------------------------------------------------ Python objects


@pytest.mark.parametrize("source", ["lending:decide", "lending.py:decide", "bank.loans:decide", "bank/loans.py:decide"])
def test_a_python_object(source: str, write: Write) -> None:
    for name in ("lending.py", "bank/loans.py"):
        write(name, FUNCTION)
    assert isinstance(load_classifier(source, PROBLEM), FunctionClassifier)
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
    assert "list is not a classifier" in refusal("lending:levels")


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
        load_classifier(f"{form}:decide", PROBLEM)
    assert isinstance(refused.value, ClassifierError), "the user's code ended the program"
    assert str(refused.value).startswith(f"{form}: cannot be imported: {told}")


def test_a_module_that_is_not_there(write: Write) -> None:
    write("lending.py", FUNCTION)
    assert refusal("landing:decide") == (
        f"landing: cannot be imported: ModuleNotFoundError: No module named 'landing'\n    {FORMS}"
    )


# ---------------------------------------------------------------------------------------------------------- other forms


@pytest.mark.parametrize("source", ["model.pkl", "MODEL.PKL", "model.pickle", "v2/model.joblib"])
def test_pickles_are_not_opened(source: str, write: Write) -> None:
    write(source, "cos\nsystem\n(S'touch opened'\ntR.")
    assert refusal(source) == (
        f"{source}: a pickle can run any code when it is opened\n    save the model with skops; {FORMS}"
    )
    assert not Path("opened").exists()


@pytest.mark.parametrize("source", ["model", "model.onnx", "decisions.xlsx", "lending.py", "", "."])
def test_forms_that_are_not_known(source: str) -> None:
    assert refusal(source).endswith(f"this is not a form of classifier that we know\n    {FORMS}")


@pytest.mark.parametrize("source", ["model.skops", "decisions.csv", "lending.py:decide"])
def test_a_file_that_is_not_there(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = source.partition(":")[0]
    assert refusal(source) == f"{file}: no such file"
    Path(file).mkdir()
    assert refusal(source).startswith(f"{file}: ")


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
    assert isinstance(load_classifier("trained:model", PROBLEM), ModelClassifier)
