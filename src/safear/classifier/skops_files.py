"""Models saved with skops, which opens no type that is not known to be safe."""

from __future__ import annotations

import sys
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
# Of Python's own modules, those of data. All others run code, or touch files, programs or the interpreter.
DATA_MODULES = frozenset(
    (
        "array",
        "collections",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "itertools",
        "math",
        "numbers",
        "re",
        "statistics",
    )
)
# And of the others, types of data, which are nothing but made. They may be trusted by name.
DATA_TYPES = frozenset(
    (
        *(f"builtins.{name}" for name in ("bytearray", "bytes", "complex", "frozenset", "range", "set", "slice")),
        "operator.attrgetter",
        "operator.itemgetter",
        "random.Random",
        "types.SimpleNamespace",
        "uuid.UUID",
        "zoneinfo.ZoneInfo",
    )
)
PATHS = frozenset(("Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"))
PICKLERS = frozenset(("cloudpickle", "dill"))
SCIENTIFIC = ("joblib", "numpy", "pandas", "scipy", "sklearn", "torch")
# Of these, the parts that compile or run code, and the functions that open files, some of which are pickles.
TOOLS = (
    "joblib.externals",
    "joblib.numpy_pickle",
    "numpy.ctypeslib",
    "numpy.distutils",
    "numpy.f2py",
    "numpy.testing",
    "pandas.io",
    "scipy.io",
    "sklearn.datasets",
    "torch.hub",
    "torch.package",
    "torch.serialization",
    "torch.utils.cpp_extension",
)
FILE_VERBS = ("dump", "load", "read_", "save", "to_pickle")  # with which their names begin
FILE_FUNCTIONS = frozenset(
    (
        "DataSource",
        "eval",
        "exec",
        "fromfile",
        "fromregex",
        "genfromtxt",
        "hub",
        "memmap",
        "open_memmap",
        "query",
        "runstring",
        "tofile",
    )
)
LIBRARIES_OF_MODELS = ("catboost", "lightgbm", "sklearn", "xgboost")


def load_skops(path: Path, trust: Sequence[str]) -> Any:
    """The model of a skops file. `trust` lists further types that it may hold."""
    io = require_package("skops.io", "skops", "skops")
    require_file(path)
    trusted = [*PRESETS, *trust]

    def read() -> tuple[Any, list[str], list[str]]:
        found = io.get_untrusted_types(file=path)
        harmful = [name for name in found if name not in PRESETS and can_harm(name)]
        untrusted = [name for name in found if name not in trusted]
        # Modules of the user's own are needed only for what is trusted by name, and never stand in for a library.
        with on_path(Path.cwd(), last=True) if trust else nullcontext():
            return None if harmful or untrusted else io.load(path, trusted=trusted), harmful, untrusted

    model, harmful, untrusted = read_foreign(path, "a skops model", read)
    # Types are told in full: they are what somebody would trust.
    if harmful:  # whatever is trusted: no fitted model needs them, and nobody can tell what they would be called with
        cause = f"this is not a model: it would call {quote_list(harmful)}"
        raise unreadable(path, cause, "do not open it; ask whoever made it", code="harmful")
    if untrusted:
        cause = f"holds types that are not known to be safe: {quote_list(untrusted)}"
        raise unreadable(path, cause, _remedy(untrusted), code="untrusted_types", types=untrusted)
    return model


def _remedy(untrusted: Sequence[str]) -> str:
    """To trust classes of the libraries; of anything else, to find out first what it does."""
    if all(_is_of_models(name) for name in untrusted):
        return "these are classes of known libraries; to take them, add " + " ".join(f"--trust {n}" for n in untrusted)
    return "such a file can run any code: ask whoever made it what they are; --trust TYPE is for code that you know"


def _is_of_models(name: str) -> bool:
    """Whether what a file names is, by its name, a class of a library of models."""
    last = name.rpartition(".")[2].lstrip("_")
    return name.startswith(tuple(f"{library}." for library in LIBRARIES_OF_MODELS)) and last[:1].isupper()


def can_harm(name: str) -> bool:
    """Whether what a file names does something to the machine, or runs what it is given."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    if root in SCIENTIFIC:
        opens_files = last in FILE_FUNCTIONS or last.startswith(FILE_VERBS)
        return opens_files or name.startswith(tuple(f"{tool}." for tool in TOOLS))
    return root in PICKLERS or (root in sys.stdlib_module_names and root not in DATA_MODULES and not _is_data(name))


def _is_data(name: str) -> bool:
    """Whether what a file names of Python's other modules is a type of data, or of annotations."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    if root == "typing":  # whose functions, and references to what is not there yet, evaluate texts
        return last.lstrip("_")[:1].isupper() and last != "ForwardRef"
    return name in DATA_TYPES or (root == "pathlib" and last in PATHS)
