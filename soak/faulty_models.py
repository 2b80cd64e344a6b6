"""Classifiers, none of which is any good, for `soak.classifiers`: it copies this file beside a problem."""

# mypy: ignore-errors

import logging
import os
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd

ERRORS = [
    ValueError("no"),
    TypeError(),
    KeyError("x"),
    ZeroDivisionError(),
    RuntimeError("\x1b[31m" * 50),
    MemoryError(),
    RecursionError(),
    StopIteration(),
    AssertionError("a" * 100_000),
    OSError(5, "io"),
    ImportError("x"),
    EOFError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    BrokenPipeError(),
    SystemExit(5),
    SystemExit("bye"),
    TimeoutError("late"),
    Warning("w"),
    FloatingPointError(),
    np.linalg.LinAlgError("singular"),
    pd.errors.EmptyDataError("e"),
]
ANSWERS = {
    "none": lambda n: None,
    "nan": lambda n: np.full(n, np.nan),
    "inf": lambda n: np.full(n, np.inf),
    "empty": lambda n: [],
    "one": lambda n: [True],
    "scalar": lambda n: True,
    "too_many": lambda n: [True] * (n + 1),
    "percent": lambda n: [55.0] * n,
    "codes": lambda n: ([1, 2] * n)[:n],
    "negative": lambda n: [-1.0] * n,
    "text": lambda n: "yes" * n,
    "labels": lambda n: ["granted"] * n,
    "case": lambda n: ["Hired"] * n,
    "bytes": lambda n: [b"hired"] * n,
    "spaces": lambda n: [" hired "] * n,
    "mixed": lambda n: ([True, "hired", 1, None] * n)[:n],
    "objects": lambda n: [object()] * n,
    "masked": np.ma.masked_all,
    "square": lambda n: np.zeros((n, n)),
    "cube": lambda n: np.zeros((n, 1, 1)),
    "pairs": lambda n: np.full((n, 2), 0.7),
    "three": lambda n: np.full((n, 3), 1 / 3),
    "complex": lambda n: np.full(n, 1j),
    "dates": lambda n: pd.date_range("2024", periods=n),
    "frame": lambda n: pd.DataFrame({"a": [1] * n, "b": [0] * n}),
    "series": lambda n: pd.Series([True] * n, index=range(5, n + 5)),
    "generator": lambda n: (True for _ in range(n)),
    "ragged": lambda n: [[1], [1, 2]] * n,
    "nothing": lambda n: [None] * n,
    "pd_na": lambda n: pd.array([pd.NA] * n, dtype="boolean"),
    "strings": lambda n: ["0.7"] * n,
    "huge": lambda n: [10**400] * n,
    "dict": lambda n: dict.fromkeys(range(n), True),
    "ints": lambda n: np.ones(n, dtype=np.uint8),
    "floats16": lambda n: np.ones(n, dtype=np.float16),
    "set": lambda n: {True},
    "function": lambda n: right,
    "module": lambda n: sys,
    "nested": lambda n: [[[True]]] * n,
    "void": lambda n: np.zeros(n, dtype="V4"),
}
calls = []


def right(frame):
    return np.asarray(frame["skill"] == "expert")


def _raise(error):
    def model(frame):
        raise error

    return model


for _number, _error in enumerate(ERRORS):
    globals()[f"raises_{_number}_{type(_error).__name__}"] = _raise(_error)
for _name, _answer in ANSWERS.items():
    globals()[f"answers_{_name}"] = lambda frame, _answer=_answer: _answer(len(frame))


def prints(frame):
    print("hello from the model")
    sys.stdout.write("{" * 100)
    sys.stderr.write("err\n")
    return right(frame)


def logs(frame):
    logging.getLogger().warning("w")
    warnings.warn("careful", stacklevel=1)
    return right(frame)


def changes_inputs(frame):
    frame["skill"] = "expert"
    return np.ones(len(frame), bool)


def drops_inputs(frame):
    frame.drop(frame.index, inplace=True)
    return []


def changes_its_mind(frame):
    calls.append(1)
    return np.full(len(frame), len(calls) % 2 == 0)


def fails_later(frame):
    calls.append(1)
    if len(calls) > 1:
        raise ValueError("later")
    return right(frame)


def closes_streams(frame):
    sys.stdout.close()
    return right(frame)


def changes_folder(frame):
    os.chdir("/")
    return right(frame)


def starts_a_thread(frame):
    thread = threading.Thread(target=lambda: [right(frame) for _ in range(3)])
    thread.start()
    thread.join()
    return right(frame)


def hangs(frame):
    time.sleep(3600)


def recurses(frame):
    return recurses(frame)


def raises_on_floats(frame):
    np.seterr(all="raise")
    return right(frame)


def one_row_only(frame):
    if len(frame) != 1:
        raise ValueError("one at a time")
    return right(frame)


class Model:
    classes_ = ("hired", "rejected")

    def predict(self, frame):
        return np.where(right(frame), "hired", "rejected")

    def predict_proba(self, frame):
        raise AttributeError("none")


class Without:
    pass


class Strange(Model):
    classes_ = None


class Other(Model):
    classes_ = ("a", "b", "c")


class Twice(Model):
    classes_ = ("hired", "hired")


class Loud(Model):
    def __repr__(self):
        raise ValueError("no repr")

    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")


model, without, strange, other, twice, loud, number, text = (
    Model(),
    Without(),
    Strange(),
    Other(),
    Twice(),
    Loud(),
    5,
    "x",
)
NAMES = sorted(
    name for name in globals() if name.startswith(("raises_", "answers_")) or (name.islower() and name[0] != "_")
)
