"""`safear init`: from a table and a model to a file that works, by flags or by questions on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from syrupy.assertion import SnapshotAssertion

import safear as sa
from promises.cli.conftest import SCRIPT, Safear

MODEL = """\
import numpy as np

def approve(table):
    points = (table["income"] >= 3000).astype(int) + (table["debt"] < 500) + (table["job"] == "permanent")
    return np.where(points >= 2, "yes", "no")

class Model:
    classes_ = np.array(["no", "yes"])
    feature_names_in_ = np.array(["income", "debt", "job", "age"])
    def predict(self, table):
        return approve(table)

model = Model()
"""
FLAGS = ("--change", "income:up,debt", "--change", "job", "--fixed", "age")


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(200),
            "income": rng.integers(10, 50, 200) * 100,
            "debt": rng.integers(0, 20, 200) * 100,
            "job": rng.choice(["permanent", "temporary", "none"], 200),
            "age": rng.integers(18, 70, 200),
            "paid": rng.choice(["yes", "no"], 200),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "bank.py").write_text(MODEL)
    return frame


def test_flags(safear: Safear, table: pd.DataFrame, snapshot: SnapshotAssertion) -> None:
    answer = safear("init", "people.csv", "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    assert (answer.code, answer.err) == (0, "")
    good = (table["income"] >= 3000).astype(int) + (table["debt"] < 500) + (table["job"] == "permanent") >= 2
    assert f"rejects {(~good).sum()} " in answer.out
    assert answer.out == snapshot
    problem = sa.load_problem("problem.yaml")
    assert problem.title == "people"
    assert list(problem.feature_by_name) == ["income", "debt", "job"]
    assert len(problem.guesses) == 2 * len(problem.actions)


def test_what_it_says_to_do_next_works(safear: Safear, table: pd.DataFrame) -> None:
    answer = safear("init", "people.csv", "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    commands = [line.split()[1:] for line in answer.out.splitlines() if line.startswith("  safear ")]
    assert [command[0] for command in commands] == ["recommend", "check"]
    for command in commands:
        done = safear(*command)
        assert (done.code, done.err) == (0, "")
    assert "200 people" in done.out
    assert len(table) == 200


def test_a_model_that_needs_trust_is_trusted_in_what_comes_next(safear: Safear, table: pd.DataFrame) -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    tree.fit(table[["income", "debt"]], table["income"] > 3000)
    joblib.dump(tree, "tree.joblib")
    command = ("init", "people.csv", "--classifier", "tree.joblib", "--favourable", "True", "--change", "income")
    answer = safear(*command, "--trust-pickle")
    assert (answer.code, answer.err) == (0, "")
    (check,) = [line.split()[1:] for line in answer.out.splitlines() if line.startswith("  safear check ")]
    assert safear(*check).code == 0


def test_columns_of_a_model_that_does_not_say_which_it_wants(safear: Safear, table: pd.DataFrame) -> None:
    command = ("init", "people.csv", "--classifier", "bank.py:approve", "--favourable", "yes", *FLAGS)
    answer = safear(*command, "--target", "paid")
    assert "and gets all: every record must have “id”, “age”, too." in answer.out
    assert "--target" not in answer.out
    assert sa.load_problem("problem.yaml").given == ("id", "age")
    assert len(table) == 200


def test_a_column_that_looks_like_the_answers_of_a_function(safear: Safear, table: pd.DataFrame) -> None:
    good = (table["income"] >= 3000).astype(int) + (table["debt"] < 500) + (table["job"] == "permanent") >= 2
    good[:10] = ~good[:10]  # no model is right about everybody
    table.assign(good=good.map({True: "g", False: "b"})).to_csv("labelled.csv", index=False)
    answer = safear("init", "labelled.csv", "--classifier", "bank.py:approve", "--favourable", "yes", *FLAGS)
    assert "every record must have “id”, “age”, “paid”, “good”, too." in answer.out
    assert "“good” looks like what the model was trained to say. If so, leave it out: --target good" in answer.out
    assert "“paid” looks" not in answer.out


def test_names_that_lightgbm_writes_otherwise(safear: Safear, table: pd.DataFrame) -> None:
    import lightgbm  # noqa: PLC0415  # only those who train it wait for it

    people = table[["income", "debt"]].rename(columns={"debt": "credit amount"})
    people.to_csv("spaces.csv", index=False)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model.fit(people, people["income"] - people["credit amount"] > 1500).booster_.save_model("model.txt")
    command = ("init", "spaces.csv", "--classifier", "model.txt", "--favourable", "1", "--change", "income:up")
    answer = safear(*command)
    assert (answer.code, answer.err) == (0, "")
    assert "does not say" not in answer.out
    assert sa.load_problem("problem.yaml").given == ("credit amount",)
    for line in answer.out.splitlines():
        if line.startswith("  safear "):
            done = safear(*line.split()[1:])
            assert (done.code, done.err) == (0, "")


def test_a_file_is_not_written_over(safear: Safear, table: pd.DataFrame) -> None:
    Path("problem.yaml").write_text("mine")
    command = ("init", "people.csv", "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    assert "problem.yaml exists; name another file with -o, or write over it with --force" in safear(*command).refusal
    assert Path("problem.yaml").read_text() == "mine"
    assert safear(*command, "-o", "other.yaml").code == 0
    assert safear(*command, "--force").code == 0
    assert sa.load_problem("problem.yaml") == sa.load_problem("other.yaml")
    assert len(table) == 200


def test_german(safear: Safear, table: pd.DataFrame, snapshot: SnapshotAssertion) -> None:
    command = ("init", "people.csv", "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    answer = safear(*command, "--language", "de")
    assert answer.out == snapshot
    assert "income erhöhen" in sa.load_problem("problem.yaml").action_by_name
    assert len(table) == 200


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--change incme",
        "--change age --fixed age",
        "--change age --fixed aeg",
        "--change paid",
        "--change income:sideways",
        "--change job:up",
        "--change job:permanant",
        "--change age",
        "--change income --target payd",
        "--change income --favourable yess",
    ],
)
def test_mistakes(safear: Safear, table: pd.DataFrame, arguments: str, snapshot: SnapshotAssertion) -> None:
    given = "" if "--favourable" in arguments else "--favourable yes "
    command = f"init people.csv --classifier bank.py:model {given}{arguments}"
    assert safear(*command.split()).refusal == snapshot
    assert not Path("problem.yaml").exists()
    assert len(table) == 200


def test_the_favourable_class_is_not_guessed(safear: Safear, table: pd.DataFrame, snapshot: SnapshotAssertion) -> None:
    answer = safear("init", "people.csv", "--classifier", "bank.py:model", *FLAGS)
    assert answer.refusal == snapshot
    assert len(table) == 200


ANSWERS = """
import numpy as np

def good(table): return (table["income"] - table["debt"] > 1500).to_numpy()
def truths(table): return good(table)
def ones(table): return good(table).astype(int)
def scores(table): return np.where(good(table), 0.9, 0.2)
def pairs(table): return np.c_[1 - scores(table), scores(table)]
def default(table): return np.where(good(table), "no", "yes")
def words(table): return np.where(good(table), "approved", "denied")
def chance(table): return np.random.default_rng().random(len(table)) > 0.5

class Nameless:
    feature_names_in_ = ["income", "debt"]
    def predict(self, table): return words(table)

nameless = Nameless()
"""
BY_INCOME = ("--change", "income:up,debt:down", "--target", "paid")


@pytest.mark.parametrize(
    ("name", "taken", "other"),
    [
        ("truths", "true", "false"),
        ("ones", "1", "0"),
        ("scores", "a score of 0.5 or more", "0"),
        ("pairs", "a score of 0.5 or more", "0"),
    ],
)
def test_what_is_taken_as_favourable_is_said(
    safear: Safear, table: pd.DataFrame, name: str, taken: str, other: str
) -> None:
    Path("answers.py").write_text(ANSWERS)
    command = ("init", "people.csv", "--classifier", f"answers.py:{name}", *BY_INCOME)
    answer = safear(*command)
    good = int((table["income"] - table["debt"] > 1500).sum())
    assert f"rejects {200 - good}." in answer.out
    assert f"Taken as favourable: {taken}. The other way round: --favourable {other}\n" in answer.out
    assert (
        f"# Taken as favourable: {taken}. The other way round: `favourable: {other}`."
        in Path("problem.yaml").read_text()
    )
    turned = safear(*command, "--force", "--favourable", other, "--change", "income:down,debt:up")
    assert f"rejects {good} (favourable is “{other}”)." in turned.out
    assert "Taken" not in turned.out + Path("problem.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "labels"),
    [("default", "'no', 'yes'"), ("words", "'approved', 'denied'"), ("nameless", "'approved', 'denied'")],
)
def test_labels_without_a_list_are_classes(safear: Safear, table: pd.DataFrame, name: str, labels: str) -> None:
    Path("answers.py").write_text(ANSWERS)
    command = ("init", "people.csv", "--classifier", f"answers.py:{name}", *BY_INCOME)
    said = safear(*command).refusal
    assert said.startswith(f"favourable: the model answers {labels}, and nothing says which is favourable\n")
    assert not Path("problem.yaml").exists()
    answer = safear(*command, "--favourable", "no" if name == "default" else "approved")
    assert f"rejects {(table['income'] - table['debt'] <= 1500).sum()} (" in answer.out


def test_a_model_that_does_not_answer_the_same_twice(safear: Safear, table: pd.DataFrame) -> None:
    Path("answers.py").write_text(ANSWERS)
    said = safear("init", "people.csv", "--classifier", "answers.py:chance", *BY_INCOME).refusal
    assert said.startswith("classifier: the model does not answer the same twice: ")
    assert not Path("problem.yaml").exists()
    assert len(table) == 200


def test_the_time_of_the_model_is_kept_in_what_comes_next(safear: Safear, table: pd.DataFrame) -> None:
    command = ("init", "people.csv", "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    answer = safear(*command, "--model-timeout", "2.5")
    commands = [line for line in answer.out.splitlines() if line.startswith("  safear ")]
    assert all("--classifier bank.py:model --model-timeout 2.5" in line for line in commands)
    assert "timeout" not in safear(*command, "--force").out
    assert len(table) == 200


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("none.csv", None, "none.csv: no such file"),
        ("empty.csv", "", "empty.csv: it has no people"),
        ("head.csv", "a,b\n", "head.csv: it has no people"),
        ("short.csv", "a,b\n1,2\n3\n", "short.csv: row 2: does not have the 2 fields of the header"),
        ("open.csv", 'a,b\n"1,2\n', "open.csv: cannot be read"),
        ("twice.csv", "a,a\n1,2\n", "a: there are two columns 'a'"),
        ("people.txt", "a,b\n1,2\n", "people.txt: is neither CSV nor Parquet"),
        ("other.csv", "incom,debt,job\n1,2,none\n", "the model needs a column 'income', which the table has not"),
    ],
)
def test_tables_that_cannot_be_used(
    safear: Safear, table: pd.DataFrame, name: str, text: str | None, expected: str
) -> None:
    if text is not None:
        Path(name).write_text(text)
    answer = safear("init", name, "--classifier", "bank.py:model", "--favourable", "yes", *FLAGS)
    assert expected in answer.refusal
    assert len(table) == 200


# --------------------------------------------------------------------------------------------------------- questions


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.leader, follower = pty.openpty()
        self.seen = ""
        self.process = subprocess.Popen(
            [SCRIPT, *arguments], cwd=folder, stdin=follower, stdout=follower, stderr=follower, close_fds=True
        )
        os.close(follower)

    def read_until(self, text: str, seconds: float = 60) -> str:
        start, end = len(self.seen), time.monotonic() + seconds
        while text not in self.seen[start:]:
            assert self.read(end - time.monotonic()), f"waited for {text!r}, saw {self.seen[start:]!r}"
        return self.seen[start:]

    def read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.leader], [], [], max(seconds, 0))
        try:
            self.seen += os.read(self.leader, 4096).decode() if ready else ""
        except OSError:  # how Linux says that nobody is at the other end any more
            return False
        return bool(ready)

    def say(self, text: str) -> None:
        os.write(self.leader, f"{text}\n".encode())

    def end(self) -> int:
        while self.read(60):
            pass
        os.close(self.leader)
        return self.process.wait(timeout=60)


@pytest.fixture
def begin_terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start programs on terminals; none is left when the test ends."""
    begun: list[Terminal] = []

    def begin(*arguments: str) -> Terminal:
        begun.append(Terminal(tmp_path, *arguments))
        return begun[-1]

    yield begin
    for terminal in begun:
        terminal.process.kill()
        terminal.process.wait()


def test_it_asks_for_one_of_the_labels_of_a_function(
    tmp_path: Path, table: pd.DataFrame, begin_terminal: Callable[..., Terminal]
) -> None:
    terminal = begin_terminal("init", "people.csv", "--classifier", "bank.py:approve", *FLAGS)
    assert "Which class is favourable (no, yes)" in terminal.read_until("): ")
    terminal.say("yes")
    terminal.read_until("Next:")
    assert terminal.end() == 0
    assert sa.load_problem(tmp_path / "problem.yaml").goal.favourable == "yes"
    assert len(table) == 200


def test_it_asks_on_a_terminal(tmp_path: Path, table: pd.DataFrame, begin_terminal: Callable[..., Terminal]) -> None:
    terminal = begin_terminal("init", "people.csv", "--classifier", "bank.py:model", "--fixed", "age")
    assert "Which class is favourable (no, yes)" in terminal.read_until("): ")
    terminal.say("perhaps")
    assert "'perhaps' is not one of" in terminal.read_until("): ")
    terminal.say("yes")
    offered = terminal.read_until("only: ")
    assert "1  income: 1000 to 4900" in offered
    assert "3  job:" in offered
    assert "age:" not in offered
    assert "id:" not in offered
    terminal.say("incme")
    assert "did you mean 'income'?" in terminal.read_until("only: ")
    terminal.say("1:up, debt,3:permanent")
    terminal.read_until("Next:")
    assert terminal.end() == 0
    problem = sa.load_problem(tmp_path / "problem.yaml")
    names = list(problem.action_by_name)
    assert "raise income" in names
    assert "lower income" not in names
    assert [name for name in names if "job" in name] == ["change job to permanent"]
    assert len(table) == 200


def test_the_steps_that_were_searched_and_those_of_the_draft(safear: Safear, tmp_path: Path) -> None:
    """Plans were looked for in up to 8 steps; whoever has one is done in 2, so the draft allows 4."""
    done = [10] * 20 + [8] * 10 + [7] * 10 + [0] * 5
    names = [f"f{number}" for number in range(10)]
    table = pd.DataFrame([[number < count for number in range(10)] for count in done], columns=names)
    table["income"] = range(len(table))
    table.to_csv(tmp_path / "people.csv", index=False)
    model = f"def approve(table):\n    return table[{names}].sum(axis=1) >= 9\n"
    (tmp_path / "bank.py").write_text(model)
    change = ",".join(f"{name}:True" for name in names)
    answer = safear("init", "people.csv", "--classifier", "bank.py:approve", "--favourable", "true", "--change", change)
    assert sa.load_problem("problem.yaml").horizon == 4
    assert "  5 have none within 4 steps, which is what the draft allows, nor within 8 steps;" in answer.out
