"""Models saved with skops, which opens no type that is not known to be safe."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from safear.classifier.reading import on_path, read_foreign, require_file, require_package, unreadable
from safear.errors import quote_list

# What fitted models of these libraries hold besides what skops itself trusts. None of them runs code of the file's
# choice: they are data, or parts of the libraries. A list that a model brings along is never looked at.
SCIKIT_LEARN = (
    "collections.OrderedDict",
    "functools.partial",  # of a function that is trusted itself
    "numpy.dtype",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "scipy.interpolate._bsplines.BSpline",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._classification.balanced_accuracy_score",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.model_selection._classification_threshold._CurveScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    "sklearn.utils.validation.check_array",
)
BOOSTING = (
    "catboost.core.CatBoost",
    "catboost.core.CatBoostClassifier",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRFClassifier",
    "xgboost.sklearn.XGBRegressor",
)
PRESETS = (*SCIKIT_LEARN, *BOOSTING)
# Modules that run programs or code, or read and write files: no part of a fitted model, and never to be trusted.
HARMFUL = frozenset(
    (
        "_io",
        "_operator",
        "_posixsubprocess",
        "asyncio",
        "builtins",
        "code",
        "codecs",
        "ctypes",
        "http",
        "importlib",
        "io",
        "marshal",
        "multiprocessing",
        "nt",
        "operator",
        "os",
        "pathlib",
        "pickle",
        "platform",
        "posix",
        "pty",
        "runpy",
        "shutil",
        "socket",
        "subprocess",
        "sys",
        "tempfile",
        "urllib",
        "webbrowser",
    )
)
NUMPY_FILES = frozenset(
    (
        "DataSource",
        "fromfile",
        "fromregex",
        "genfromtxt",
        "load",
        "loadtxt",
        "memmap",
        "open_memmap",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "tofile",
    )
)


def load_skops(path: Path, trust: Sequence[str]) -> Any:
    """The model of a skops file. `trust` lists further types that it may hold."""
    io = require_package("skops.io", "skops", "skops")
    require_file(path)
    trusted = [*PRESETS, *trust]

    def read() -> tuple[Any, list[str]]:
        untrusted = [name for name in io.get_untrusted_types(file=path) if name not in trusted]
        # Modules of the user's own are needed only for what is trusted by name, and never stand in for a library.
        with on_path(Path.cwd(), last=True) if trust else nullcontext():
            return None if untrusted else io.load(path, trusted=trusted), untrusted

    model, untrusted = read_foreign(path, "a skops model", read)
    if harmful := [name for name in untrusted if _can_harm(name)]:
        cause = f"this is not a model: it would call {quote_list(harmful)}"
        raise unreadable(path, cause, "do not open it; ask whoever made it", code="harmful")
    if untrusted:
        remedy = "if you know them, add " + " ".join(f"--trust {name}" for name in untrusted)
        raise unreadable(path, f"holds types that are not known to be safe: {quote_list(untrusted)}", remedy)
    return model


def _can_harm(name: str) -> bool:
    """Whether what a file names is a function that does something to the machine."""
    module, last = name.partition(".")[0], name.rpartition(".")[2]
    return module in HARMFUL or (module == "numpy" and last in NUMPY_FILES)
