"""Models saved with skops."""

from __future__ import annotations

import functools
import importlib
import operator
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skops import io

from doors import PRESETS, SCIKIT_LEARN, can_harm, load_skops, on_path, skops_files
from safear.classifier import ModelClassifier, load_classifier
from safear.errors import MissingExtraError
from small_sources import FRAME, GOALS, LABELS, PROBLEM, Write, goals, refusal
from trained_models import FOREST, MODELS, applications, as_it_is, fit, granted, one_hot, trained


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
    with on_path(Path()):
        cleaning = importlib.import_module("cleaning")
    step = FunctionTransformer(cleaning.clean, feature_names_out="one-to-one")
    io.dump(make_pipeline(step, OneHotEncoder(), LogisticRegression(C=1000)).fit(FRAME, LABELS), "model.skops")
    assert refusal("model.skops") == (
        "model.skops: holds types that are not known to be safe: 'cleaning.clean'\n"
        "    such a file can run any code: ask whoever made it what they are; --trust TYPE is for code that you know"
    )
    assert refusal("model.skops", trust=("cleaning.other",)).startswith("model.skops: holds types")
    del sys.modules["cleaning"]  # it is found in the current directory again, as for MODULE:NAME
    assert goals("model.skops", trust=("cleaning.clean",)) == GOALS


def test_something_else_in_a_skops_file(tmp_path: Path) -> None:
    io.dump([1, 2], tmp_path / "list.skops")
    assert "int is not a classifier" in refusal(tmp_path / "list.skops")


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


STANDARD = {
    "gradients of categories": MODELS["native gradients"],
    "extra trees": (as_it_is, fit(one_hot(ExtraTreesClassifier(n_estimators=3, random_state=0)))),
    "older gradients": (as_it_is, fit(one_hot(GradientBoostingClassifier(n_estimators=3, random_state=0)))),
    "neighbours": (as_it_is, fit(one_hot(KNeighborsClassifier(algorithm="kd_tree")))),
    "balls": (as_it_is, fit(one_hot(KNeighborsClassifier(algorithm="ball_tree")))),
    "network": (as_it_is, fit(one_hot(MLPClassifier(tol=1.0, random_state=0), StandardScaler()))),
    "splines": (as_it_is, fit(one_hot(LogisticRegression(max_iter=500), SplineTransformer(), StandardScaler()))),
    "own threshold": (as_it_is, fit(TunedThresholdClassifierCV(one_hot(LogisticRegression(), StandardScaler()), cv=2))),
    "isotonic": (
        as_it_is,
        fit(CalibratedClassifierCV(one_hot(RandomForestClassifier(**FOREST)), method="isotonic", cv=2)),
    ),
}


@pytest.mark.parametrize("name", [*MODELS, *STANDARD])
def test_models_of_all_libraries_need_no_trust(name: str, tmp_path: Path) -> None:
    """What their types are is known beforehand, and they decide as they did before they were saved."""
    frame, file = applications(50, seed=9, gaps=False), str(tmp_path / "model.skops")
    form, train = (MODELS | STANDARD)[name]
    training = applications(300, seed=1, gaps=False)
    model = trained(name) if name in MODELS else train(form(training), granted(training))
    io.dump(model, file)
    loaded = load_skops(Path(file), ())
    ask = "predict_proba" if hasattr(model, "predict_proba") else "save_raw" if "XGB" in name else "predict"
    table = () if ask == "save_raw" else (form(frame),)
    assert np.array_equal(getattr(loaded, ask)(*table), getattr(model, ask)(*table))


def test_what_runs_code_is_never_a_preset() -> None:
    """Whatever is trusted is a class of the libraries, or a function that neither writes nor runs what it is given."""
    assert {name.partition(".")[0] for name in PRESETS} == {
        "catboost", "collections", "functools", "lightgbm", "numpy", "scipy", "sklearn", "xgboost"
    }  # fmt: skip
    functions = {name for name in SCIKIT_LEARN if not name.rpartition(".")[2].lstrip("_")[0].isupper()}
    assert {name.rpartition(".")[2] for name in functions} == {
        "asarray", "balanced_accuracy_score", "check_array", "dtype", "make_column_selector", "partial"
    }  # fmt: skip


@pytest.mark.parametrize(
    "function, told",
    [
        (functools.partial(os.system, "true"), f"'{os.name}.system'"),
        (operator.methodcaller("tofile", "x"), "'operator.methodcaller'"),
        (eval, "'builtins.eval'"),
        (open, "'io.open'"),
        (shutil.rmtree, "'shutil.rmtree'"),
        (subprocess.run, "'subprocess.run'"),
        (functools.partial(np.save, "x"), "'numpy.save'"),
        (functools.partial(np.load, allow_pickle=True), "'numpy.load'"),
    ],
    ids=["system", "methodcaller", "eval", "open", "rmtree", "run", "save", "load"],
)
def test_what_does_harm_is_never_opened(function: Any, told: str, tmp_path: Path) -> None:
    """Nobody is told to trust it, and whoever does so all the same is refused as well."""
    file = tmp_path / "model.skops"
    io.dump(FunctionTransformer(function), file)
    expected = f"{file}: this is not a model: it would call {told}\n    do not open it; ask whoever made it"
    assert refusal(file) == expected
    assert refusal(file, trust=(told.strip("'"),)) == expected


@pytest.mark.parametrize(
    "name, harms",
    [
        ("posix.system", True),
        ("nt.system", True),
        ("subprocess.Popen", True),
        ("builtins.exec", True),
        ("sys.setprofile", True),
        ("importlib.import_module", True),
        ("operator.methodcaller", True),
        ("operator.attrgetter", False),
        ("operator.itemgetter", False),
        ("builtins.frozenset", False),
        ("builtins.range", False),
        ("builtins.complex", False),
        ("builtins.type", True),
        ("pathlib.PosixPath", False),
        ("pathlib._local.PosixPath", False),
        ("pathlib.os", True),
        ("random.Random", False),
        ("random.SystemRandom", True),
        ("uuid.UUID", False),
        ("zoneinfo.ZoneInfo", False),
        ("typing.Any", False),
        ("typing._GenericAlias", False),
        ("typing.ForwardRef", True),
        ("typing.get_type_hints", True),
        ("pandas.read_pickle", True),
        ("pandas.io.pickle.read_pickle", True),
        ("joblib.externals.cloudpickle.cloudpickle.loads", True),
        ("cloudpickle.loads", True),
        ("dill._dill.loads", True),
        ("numpy.lib.format.read_array", True),
        ("torch.serialization.load", True),
        ("pandas.core.frame.DataFrame", False),
        ("types.FunctionType", True),
        ("timeit.timeit", True),
        ("runpy.run_path", True),
        ("numpy.testing._private.utils.runstring", True),
        ("joblib.numpy_pickle.load", True),
        ("pandas.core.computation.eval.eval", True),
        ("collections.OrderedDict", False),
        ("datetime.date", False),
        ("numpy.random._pickle.__generator_ctor", False),
        ("sklearn.tree._tree.Tree", False),
        ("cleaning.load", False),
        ("operators.run", False),
    ],
)
def test_what_can_harm(name: str, harms: bool) -> None:
    assert can_harm(name) == harms


@pytest.mark.parametrize("data", [Path("x"), random.Random(1), operator.itemgetter("skill"), frozenset("ab"), range(3)])
def test_data_may_be_trusted_by_name(data: Any, tmp_path: Path) -> None:
    file = tmp_path / "model.skops"
    io.dump(FunctionTransformer(kw_args={"data": data}), file)
    names = io.get_untrusted_types(file=file)
    if names:
        assert "holds types that are not known to be safe" in refusal(file)
    assert isinstance(load_skops(file, names).kw_args["data"], type(data))


def test_a_class_of_a_known_library_may_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the only thing for which the option is told in full."""
    file, tree = tmp_path / "model.skops", "sklearn.tree._tree.Tree"
    io.dump(DecisionTreeClassifier().fit([[0], [1]], [0, 1]), file)
    monkeypatch.setattr(skops_files, "PRESETS", tuple(name for name in PRESETS if name != tree))
    if tree not in io.get_untrusted_types(file=file):
        pytest.skip("this version of skops trusts it by itself")
    assert refusal(file) == (
        f"{file}: holds types that are not known to be safe: '{tree}'\n"
        f"    these are classes of known libraries; to take them, add --trust {tree}"
    )
    assert load_skops(file, (tree,)).predict([[1]]) == [1]


@pytest.mark.parametrize("trust", [(), ("cleaning.clean",)], ids=["nothing else", "something else"])
def test_a_file_in_the_current_folder_is_not_taken_for_a_library(
    trust: tuple[str, ...], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the library had not been imported yet; also not if something else is trusted."""
    io.dump(trained("LightGBM"), "model.skops")
    write("lightgbm.py", "open('RAN', 'w').close()")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    for name in [name for name in sys.modules if name.partition(".")[0] == "lightgbm"]:
        monkeypatch.delitem(sys.modules, name)
    assert type(load_skops(Path("model.skops"), trust)).__module__.startswith("lightgbm.")
    assert not Path("RAN").exists()
