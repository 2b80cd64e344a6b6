"""`--trust` and `--trust-pickle` with every command: nothing that a model's file brings runs without them."""

from __future__ import annotations

import importlib
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from skops import io

import safear as sa
from calls import commands_with
from promises.cli.conftest import Safear

LOAN = sa.load_example("loan")
OWN_STEPS = "from pathlib import Path\n\nPath('ran').touch()\n\ndef same(frame):\n    return frame\n"
CALLS = {
    "init": ("init", "people.csv", "--favourable", "approved", "--change", "savings", "-o", "draft.yaml", "--force"),
    "check": ("check", "loan"),
    "recommend": ("recommend", "loan", "--objective", "mean"),
    "walk": ("walk", "loan", "--objective", "mean"),
    "resume": ("resume", "plan.json", "--menu", "--problem", "loan", "--objective", "mean"),
    "durability": ("durability", "loan", "plan.json"),
    "sensitivity": ("sensitivity", "loan", "--objective", "mean", "--tolerance", "0.1"),
    "plot": ("plot", "dots", "loan", "--objective", "mean", "--out", "dots.svg"),
    "serve": ("serve", "loan", "--host", "0.0.0.0"),  # which is refused, but only once the model was opened
    "compare": ("compare", "loan", "--objective", "mean"),
    "audit": ("audit", "loan", "people.csv", "--group", "savings"),
    "batch": ("batch", "loan", "people.csv", "--objective", "mean", "--out", "plans"),
}
FILES = {  # with what each is opened, and what is said without that
    "model.skops": (("--trust", "own_steps.same"), "holds types that are not known to be safe: 'own_steps.same'"),
    "model.pkl": (("--trust-pickle",), "add --trust-pickle"),
    "model.joblib": (("--trust-pickle",), "add --trust-pickle"),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A model that decides as the rule of `loan` does, in files that import a module, which leaves a trace."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "own_steps.py").write_text(OWN_STEPS, encoding="utf-8")
    mdp = sa.compile_mdp(LOAN)
    people = pd.DataFrame([mdp.person(state) for state in range(mdp.n_states)])
    answers = ["approved" if goal else "rejected" for goal in mdp.goal]
    people[people["job"] == "employed"].to_csv(folder / "people.csv", index=False)
    sa.save_plan(sa.recommend(LOAN, objectives="mean")[0], folder / "plan.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        step = FunctionTransformer(importlib.import_module("own_steps").same)
        model = make_pipeline(step, OneHotEncoder(), DecisionTreeClassifier(random_state=0)).fit(people, answers)
        io.dump(model, "model.skops")
        joblib.dump(model, "model.joblib")
        Path("model.pkl").write_bytes(pickle.dumps(model))
        yield folder
    sys.modules.pop("own_steps", None)


@pytest.fixture
def trace(models: Path, safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that calls name, beside which there is a trace once the module was imported."""
    assert safear is not None  # it has changed into the directory
    for path in models.iterdir():
        if path.is_file() and path.name != "ran":
            shutil.copy(path, tmp_path)
    monkeypatch.delitem(sys.modules, "own_steps", raising=False)
    return tmp_path / "ran"


def test_every_command_that_opens_models_is_looked_at() -> None:
    assert commands_with("--trust") == commands_with("--trust-pickle") == commands_with("--classifier") == set(CALLS)


@pytest.mark.parametrize("command", CALLS)
def test_nothing_runs_without_the_word_of_the_operator(command: str, safear: Safear, trace: Path) -> None:
    before = set(trace.parent.iterdir())
    for file, (_, told) in FILES.items():
        answer = safear(*CALLS[command], "--classifier", file).refusal
        assert file in answer
        assert told in answer
    for file, other in (("model.pkl", ("--trust", "own_steps.same")), ("model.skops", ("--trust-pickle",))):
        assert FILES[file][1] in safear(*CALLS[command], "--classifier", file, *other).refusal
    assert "own_steps" not in sys.modules
    assert set(trace.parent.iterdir()) == before, "neither a trace nor a result"


@pytest.mark.parametrize("file", ["model.skops", "model.pkl"])
@pytest.mark.parametrize("command", [name for name in CALLS if name not in {"init", "serve"}])
def test_with_it_the_model_decides(command: str, file: str, safear: Safear, trace: Path) -> None:
    by_rule = safear(*CALLS[command])
    shutil.rmtree("plans", ignore_errors=True)
    answer = safear(*CALLS[command], "--classifier", file, *FILES[file][0])
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == by_rule.out, "the model has learnt the rule"
    assert trace.exists()


@pytest.mark.parametrize("file", FILES)
def test_what_init_says_to_do_next_has_the_word(file: str, safear: Safear, trace: Path) -> None:
    answer = safear(*CALLS["init"], "--classifier", file, *FILES[file][0])
    assert (answer.code, trace.exists()) == (0, True)
    calls = [line.split()[1:] for line in answer.out.splitlines() if line.startswith("  safear ")]
    assert [" ".join(FILES[file][0]) in " ".join(call) for call in calls] == [True] * len(calls)
    assert [safear(*call).code for call in calls] == [0, 0]


@pytest.mark.parametrize("file", FILES)
def test_the_server_opens_the_model_before_anything_else(file: str, safear: Safear, trace: Path) -> None:
    told = safear(*CALLS["serve"], "--classifier", file, *FILES[file][0]).refusal
    assert "others could open the page at 0.0.0.0" in told
    assert trace.exists()
