"""Sources of classifiers, pickles, and raw answers."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import safear as sa
from doors import KNOWN
from safear.errors import ClassifierError
from small_sources import FRAME, GOALS, LABELS, Write, goals, refusal

# --------------------------------------------------------------------------------------------- Which form a source has


@pytest.mark.parametrize("source", ["model", "decisions.xlsx", "lending.py", ""])
def test_forms_that_are_not_known(source: str) -> None:
    assert refusal(source).endswith(f"this is not a form of classifier that we know\n    {KNOWN}")


@pytest.mark.parametrize("source", ["model.skops", "decisions.csv", "lending.py:decide"])
def test_a_file_that_is_not_there(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = source.partition(":")[0]
    assert refusal(source) == f"{file}: no such file"
    Path(file).mkdir()
    assert refusal(source).startswith(f"{file}: ")


@pytest.mark.parametrize("source", ["ftp://host/model", "ftp://host/model.skops", "file:///model.txt", "abfs://a/b:c"])
def test_addresses_that_are_not_taken(source: str) -> None:
    assert refusal(source) == (
        f"{source}: of addresses, only http://... and https://... are taken\n    download it and name the file"
    )


# ------------------------------------------------------------- Pickled models are opened only with the operator's word


FORMS = ["model.pkl", "MODEL.PKL", "model.pickle", "v2/model.joblib"]


@pytest.mark.parametrize("source", FORMS)
def test_pickles_are_not_opened(source: str, write: Write) -> None:
    write(source, "cos\nsystem\n(S'touch opened'\ntR.")
    assert refusal(source) == (
        f"{source}: a pickle can run any code when it is opened\n"
        "    save the model with skops; or, if you trust whoever made this file like a program, add --trust-pickle"
    )
    assert not Path("opened").exists()


def dump_plainly(model: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(model))


@pytest.mark.parametrize("dump", [dump_plainly, joblib.dump], ids=["pickle", "joblib"])
@pytest.mark.parametrize("source", FORMS)
def test_a_trusted_pickle(source: str, dump: Any, write: Write, caplog: pytest.LogCaptureFixture) -> None:
    file = write(source, "")
    dump(make_pipeline(OneHotEncoder(), LogisticRegression(C=1000)).fit(FRAME, LABELS), file)
    with caplog.at_level(logging.WARNING, "safear"):
        assert goals(source, trust_pickle=True) == GOALS
    assert caplog.messages == [f"{source}: opening a pickle runs whatever code is in it, with all your rights"]


def test_a_pickle_of_the_user_s_own_class(write: Write) -> None:
    write("lending.py", "class Model:\n    def predict(self, rows):\n        return rows[:, 0] == 'skilled'")
    write("model.pkl", "clending\nModel\n(tR.")
    assert goals("model.pkl", trust_pickle=True) == [False, False, True, True]


@pytest.mark.parametrize(
    "content, told",
    [
        (b"", "not a pickle that can be opened here: EOFError"),
        (b"hello", "not a pickle that can be opened here: "),
        (b"cnot_there\nModel\n(tR.", "ModuleNotFoundError: No module named 'not_there'"),
        (pickle.dumps([1, 2]), "int is not a classifier"),
    ],
    ids=["empty", "text", "no module", "a list"],
)
def test_a_file_that_is_no_model(content: bytes, told: str, write: Write) -> None:
    write("model.pkl", "").write_bytes(content)
    assert told in refusal("model.pkl", trust_pickle=True)


# --------------------------------------- What a model gives, as an array: see test_vouching.py for all that is refused


def test_a_number_that_no_float_holds_is_refused() -> None:
    with pytest.raises(ClassifierError, match="a number that is not finite"):
        sa.recommend(sa.load_example("loan"), lambda frame: [10**400] * len(frame))


def test_a_model_that_fails_when_it_is_looked_at() -> None:
    class Loud:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

    with pytest.raises(ClassifierError, match="RuntimeError: columns"):
        sa.recommend(sa.load_example("loan"), Loud())
