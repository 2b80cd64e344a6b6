"""Classifiers that commands read: models, functions in files, and what is none."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from skops import io
from syrupy.assertion import SnapshotAssertion

import safear as sa
from calls import plans, write
from promises.cli.conftest import Safear

SAVINGS = ("little", "moderate", "rich")
APPLICANT = {"age": "young", "education": "school", "savings": "little", "job": "employed", "housing": "rent"}


def undecided() -> str:
    """The loan without a rule; JSON is YAML as well."""
    return json.dumps(
        {key: value for key, value in sa.dump_problem(sa.load_example("loan")).items() if key != "classifier"}
    )


def test_a_skops_model(safear: Safear, tmp_path: Path) -> None:
    """A model that has learnt the rule gives the plans of the rule."""
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem)
    people = pd.DataFrame([mdp.person(state) for state in range(mdp.n_states)])
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(random_state=0))
    io.dump(model.fit(people, ["approved" if goal else "rejected" for goal in mdp.goal]), tmp_path / "model.skops")
    write(tmp_path, "mine.yaml", undecided())
    assert plans(safear, "mine.yaml", "--classifier", "model.skops") == plans(safear, "loan")


def test_a_type_that_must_be_trusted(
    safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    write(tmp_path, "own_steps.py", "def same(frame):\n    return frame\n")
    monkeypatch.syspath_prepend(tmp_path)
    same = importlib.import_module("own_steps").same
    people = pd.DataFrame([APPLICANT, APPLICANT | {"savings": "rich"}])
    encoder = OneHotEncoder(categories=[list(feature.levels) for feature in sa.load_example("loan").features])
    model = make_pipeline(FunctionTransformer(same), encoder, LogisticRegression(C=1000))
    io.dump(model.fit(people, ["rejected", "approved"]), tmp_path / "model.skops")
    assert safear("recommend", "loan", "--classifier", "model.skops").refusal == snapshot
    [plan] = plans(safear, "loan", "--classifier", "model.skops", "--trust", "own_steps.same", "--objective", "mean")
    assert plan["first_action"] == "increase savings"  # it has learnt that few savings are bad
    monkeypatch.delitem(sys.modules, "own_steps")


def test_without_skops(safear: Safear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "skops.io", raising=False)
    monkeypatch.setitem(sys.modules, "skops", None)
    answer = safear("recommend", "loan", "--classifier", "model.skops")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "skops is not installed; install it with: pip install 'safear[skops]'\n"


CLASSIFIERS = """\
import numpy as np

class Own:
    def __init__(self, answer):
        self.answer = answer

    def favourable(self, inputs):
        return self.answer(len(inputs))

rich = lambda frame: frame["savings"] == "rich"
labels = lambda frame: frame["savings"]
raises = lambda frame: 1 / 0
short = lambda frame: [True] * (len(frame) + 1)
ragged = lambda frame: [[1], [1, 2]]
nan = lambda frame: [float("nan")] * len(frame)
leaves = lambda frame: exit(7)
own_raises = Own(lambda count: 1 / 0)
own_short = Own(lambda count: np.ones(count + 1, dtype=bool))
number = 3
"""


def test_a_function_in_a_file(safear: Safear, tmp_path: Path) -> None:
    """To whom only the rich are good enough: then changing the job is the only way."""
    write(tmp_path, "mine.py", CLASSIFIERS)
    options = ["--classifier", "mine.py:rich", "--objective", "mean"]
    [plan] = plans(safear, "loan", *options)
    assert plan["first_action"] == "change job"
    assert plan["sparsity"] == pytest.approx(1)
    assert safear("recommend", "loan", *options, "--forbid", "change job").code == 3


@pytest.mark.parametrize(
    "name",
    ["raises", "short", "ragged", "nan", "leaves", "own_raises", "own_short", "Own", "number", "number.x", "nobody"],
)
def test_no_classifier_brings_a_traceback(name: str, safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, "mine.py", CLASSIFIERS)
    answer = safear("recommend", "loan", "--classifier", f"mine.py:{name}", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "classifier" in answer.err or "mine.py" in answer.err


def test_a_pickle_runs_only_with_the_operator_s_word(safear_process: Safear, tmp_path: Path) -> None:
    write(tmp_path, "model.pkl", "cos\nmkdir\n(S'opened'\ntR.")
    command = ("recommend", "loan", "--classifier", "model.pkl")
    assert "add --trust-pickle" in safear_process(*command).refusal
    assert not (tmp_path / "opened").exists()
    told = safear_process(*command, "--trust-pickle").err
    assert "model.pkl: opening a pickle runs whatever code is in it, with all your rights" in told
    assert (tmp_path / "opened").exists(), "which is why"


SCORES = """\
def score(frame):
    return frame["savings"].map({"little": 0.2, "moderate": 0.45, "rich": 0.9}).astype(float)

def label(frame):
    return frame["savings"]
"""


@pytest.mark.parametrize("threshold, goals", [(None, {"rich"}), (0.45, {"moderate", "rich"}), (0.95, set())])
def test_a_threshold(threshold: float | None, goals: set[str], safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, "mine.py", SCORES)
    options = [] if threshold is None else ["--threshold", str(threshold)]
    for savings in ("little", "moderate", "rich"):
        answer = safear("recommend", "loan", "--classifier", "mine.py:score", *options, "--set", f"savings={savings}")
        assert ("nothing you need to do" in answer.out) == (savings in goals), answer.out


COMMANDS = [
    ["check", "loan"],
    ["recommend", "loan"],
    ["walk", "loan"],
    ["plot", "traces", "loan"],
    ["compare", "loan"],
    ["audit", "loan", "people.csv", "--group", "savings"],
    ["batch", "loan", "people.csv"],
    ["serve", "loan"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_with_a_classifier_takes_a_threshold(command: list[str], safear: Safear) -> None:
    """And refuses one where nothing has a score; the problem's own rule has none."""
    answer = safear(*command, "--threshold", "0.4", *(["--out", "out.svg"] if command[0] in {"plot", "batch"} else []))
    assert answer.code == 2
    assert "--threshold goes with --classifier" in answer.err


LOUD = """\
import sys
from threading import Thread

print("imported")

def decide(frame):
    print("asked")
    thread = Thread(target=lambda: sys.stdout.write("by a thread"))
    thread.start()
    thread.join()
    return frame["savings"] == "rich"
"""
QUIET = """\
def decide(frame):
    return frame["savings"] == "rich"
"""
PRINTING = [
    *([*command, "--json"] for command in COMMANDS if command[0] not in {"plot", "serve"}),
    *(command for command in COMMANDS if command[0] not in {"plot", "batch", "serve"}),
    ["plot", "traces", "loan", "--out", "plans.svg"],
    ["recommend", "loan", "--report", "letter.html"],
    ["init", "people.csv", "--change", "savings", "--force"],
]


@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
def test_what_a_model_prints_is_no_result(command: list[str], safear: Safear, tmp_path: Path) -> None:
    """On standard output is the same as with a model that is silent."""
    write(tmp_path, "people.csv", pd.DataFrame([APPLICANT | {"savings": s} for s in SAVINGS]).to_csv(index=False))
    answers = []
    for text in (QUIET, LOUD):
        write(tmp_path, "mine.py", text)
        out = ["--out", str(tmp_path / f"out{len(text)}")] if command[0] == "batch" else []
        answers.append(safear(*command, *out, "--classifier", "mine.py:decide"))
    quiet, loud = answers
    assert quiet.out
    assert (loud.code, loud.out) == (quiet.code, quiet.out)
    assert loud.err.startswith("imported\nasked\nby a thread")


MISFITS = """\
import numpy as np

rich = lambda frame: (frame["savings"] == "rich").to_numpy()
granted = lambda frame: np.where(rich(frame), "granted", "denied")
codes = lambda frame: np.where(rich(frame), 2, 1)
points = lambda frame: np.where(rich(frame), 87.5, 0.75)
masked = lambda frame: np.ma.array(np.ones(len(frame), dtype=bool), mask=~rich(frame))
"""


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] not in {"plot", "serve", "walk"}], ids=lambda c: c[0])
@pytest.mark.parametrize("name", ["granted", "codes", "points", "masked"])
def test_answers_that_do_not_fit_the_problem_are_no_result(
    name: str, command: list[str], safear: Safear, tmp_path: Path
) -> None:
    """A 1 of 1 and 2, or 0.75 of 100, is no acceptance, and `denied` no rejection."""
    write(tmp_path, "people.csv", pd.DataFrame([APPLICANT | {"savings": s} for s in SAVINGS]).to_csv(index=False))
    write(tmp_path, "mine.py", MISFITS)
    out = ["--out", "out"] if command[0] == "batch" else []
    answer = safear(*command, *out, "--classifier", f"mine.py:{name}", "--json")
    assert (answer.code, answer.out) == (2, "")
    told = {
        "granted": "answers with 'denied', 'granted', and none of that is '",
        "codes": "no probabilities between 0 and 1, such as 2; the first such input: ",
        "points": "no probabilities between 0 and 1, such as 87.5; the first such input: ",
        "masked": "leaves out some decisions; the first such input: ",
    }
    assert told[name] in answer.err


@pytest.mark.parametrize("answer", [True, False])
def test_the_same_answer_for_everybody_is_told(answer: bool, safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, "people.csv", pd.DataFrame([APPLICANT | {"savings": s} for s in SAVINGS]).to_csv(index=False))
    write(tmp_path, "mine.py", f"decide = lambda frame: [{answer}] * len(frame)")
    told = f"warning: everybody is {'accepted' if answer else 'rejected'}; is this the right model"
    batch = ("batch", "loan", "people.csv", "--out", "out", "--classifier", "mine.py:decide")
    assert told in safear(*batch).out
    assert safear(*batch, "--json").json["is_unanimous"] is True
    if not answer:  # else there is nothing to audit
        audit = ("audit", "loan", "people.csv", "--group", "savings", "--classifier", "mine.py:decide")
        assert told in " ".join(safear(*audit).out.split())
        assert safear(*audit, "--json").json["is_unanimous"] is True


def test_a_model_that_hangs(safear_process: Safear, tmp_path: Path) -> None:
    """It is given up, and does not keep the program from ending."""
    write(tmp_path, "mine.py", "import time\n\ndef decide(frame):\n    time.sleep(500)\n")
    command = ("recommend", "loan", "--classifier", "mine.py:decide", "--model-timeout", "0.5")
    start = time.monotonic()
    told = safear_process(*command).refusal
    assert time.monotonic() - start < 200
    assert "the classifier has not answered 1 inputs after 0.5 seconds; the first of them: age = young" in told
    assert told.endswith("    allow more with --model-timeout SECONDS\n")


def test_labels_have_no_threshold(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path, "mine.py", SCORES)
    assert safear("recommend", "loan", "--classifier", "mine.py:label", "--threshold", "0.4").refusal == snapshot


def test_no_rule_and_no_classifier(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    mine = write(tmp_path, "mine.yaml", undecided())
    assert safear("recommend", mine).refusal == snapshot
