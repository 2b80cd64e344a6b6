"""Broken tables: people in frames and files, logs and histories, decisions that were made beforehand, batches."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import safear as sa
from safear.classifier.adapters import as_classifier
from safear.classifier.asking import ask
from safear.classifier.protocol import Inputs
from safear.classifier.sources import load_classifier
from safear.people.counts import read_population
from safear.people.lists import load_people
from safear.people.rows import load_row
from soak.judging import require
from soak.mutating import mutate_bytes, mutate_text, mutate_tree, odd_value
from soak.seeds import small_problem, tiny_problem
from soak.targets import Target, scratch

PEOPLE = (
    "skill,age,gender,branch\nbasic,33,female,north\nskilled,51,female,south\nbasic,20,male,\nexpert,60,male,north\n"
)
LOG = "action,worked,cost,date,skill,age,gender\n" + "".join(
    f"{action},{worked},{cost},2024-0{month}-01,basic,33,female\n"
    for month, (action, worked, cost) in enumerate(
        [("learn", "yes", 1), ("learn", "no", 2), ("study", "yes", ""), ("gamble", "no", 0.5)], start=1
    )
)
HISTORY = (
    "person,date,skill,age,gender\n"
    "a,2024-01-01,basic,33,female\na,2024-02-01,skilled,33,female\nb,2024-01-01,basic,20,male\n"
)
DECISIONS = "skill,age,gender,decision\n" + "".join(
    f"{skill},{age},{gender},{'hired' if skill == 'expert' else 'rejected'}\n"
    for skill in ("basic", "skilled", "expert")
    for age in ("<30", "30-50", ">=50")
    for gender in ("female", "male")
)


def table_of(text: str) -> dict[str, list[Any]]:
    """A CSV text as columns, with numbers where there are any."""
    frame = pd.read_csv(io.StringIO(text))
    return {str(name): frame[name].tolist() for name in frame.columns}


def mutate_columns(rng: Random, text: str) -> dict[Any, list[Any]]:
    """Columns with broken cells, names and lengths."""
    changed = mutate_tree(rng, table_of(text))
    if not isinstance(changed, dict):
        changed = {"skill": [changed]}
    columns = {name: value if isinstance(value, list) else [value] for name, value in changed.items()}
    rows = max((len(column) for column in columns.values()), default=0)
    return {name: (column + [odd_value(rng)] * rows)[:rows] for name, column in columns.items()}


def frame_of(columns: dict[Any, list[Any]]) -> pd.DataFrame:
    """Them as a data frame, with the types that pandas finds for them, or as objects where it finds none."""
    try:
        return pd.DataFrame({name: pd.Series(column, dtype=_kind(column)) for name, column in columns.items()})
    except (ValueError, OverflowError):  # names that Arrow cannot hold
        frame = pd.DataFrame(dict(enumerate(columns.values())), dtype=object)
        frame.columns = pd.Index(list(columns), dtype=object)
        return frame


def _kind(column: list[Any]) -> Any:
    """Texts that are no UTF-8 are objects to pandas."""
    is_odd = any(isinstance(cell, str) and not cell.isascii() for cell in column)
    return object if is_odd or not column else None


def _write(name: str, content: bytes | str) -> Path:
    path = scratch() / name
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return path


# ------------------------------------------------------------------------------------------------------------- people


def _draw_frame(rng: Random) -> Any:
    return mutate_columns(rng, PEOPLE)


def _read_frame(columns: Any) -> None:
    population = read_population(small_problem(), frame_of(columns), groups=["branch"])
    require(population.counts.sum() == population.rows, "people who are not counted")


def _draw_records(rng: Random) -> Any:
    columns = mutate_columns(rng, PEOPLE)
    rows = max(map(len, columns.values()), default=0)
    return [{name: column[row] for name, column in columns.items() if rng.random() < 0.98} for row in range(rows)]


def _read_records(records: Any) -> None:
    read_population(small_problem(), records, groups=["gender"])


def _draw_csv(rng: Random) -> Any:
    if rng.random() < 0.3:
        return mutate_bytes(rng, PEOPLE.encode())
    return mutate_text(rng, PEOPLE).encode("utf-8", "surrogatepass")


def _read_csv(content: Any) -> None:
    """By DuckDB, and one by one: whoever reads a table must find the same people in it."""
    path = _write("people.csv", content)
    population = read_population(small_problem(), path, groups=["gender"])
    require(population.counts.sum() == population.rows, "people who are not counted")


def _read_list(content: Any) -> None:
    load_people(_write("people.csv", content), small_problem())


def _read_row(content: Any) -> None:
    sa.recommend(tiny_problem(), person=load_row(_write("people.csv", content), tiny_problem(), row=1))


def _draw_packed(rng: Random) -> bytes:
    packed = gzip.compress(PEOPLE.encode(), mtime=0)
    return gzip.compress(_draw_csv(rng), mtime=0) if rng.random() < 0.3 else mutate_bytes(rng, packed)


def _read_packed(content: Any) -> None:
    """Flipped bits must be found: what is read is what was packed."""
    population = read_population(small_problem(), _write("people.csv.gz", content), groups=["gender"])
    try:
        unpacked = gzip.decompress(content)
    except (OSError, EOFError, ValueError):
        unpacked = None
    except Exception:  # noqa: BLE001  # zlib has an error of its own
        unpacked = None
    require(unpacked is not None, f"{population.rows} people were read from a damaged file")


@cache
def _parquet() -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(table_of(PEOPLE)).to_parquet(stream)
    return stream.getvalue()


def _draw_parquet(rng: Random) -> bytes:
    return mutate_bytes(rng, _parquet())


def _read_parquet(content: Any) -> None:
    read_population(small_problem(), _write("people.parquet", content), groups=["gender"])


# --------------------------------------------------------------------------------------------------------------- logs


def _draw_log(rng: Random) -> Any:
    return mutate_columns(rng, rng.choice((LOG, HISTORY)))


def _read_log(columns: Any) -> None:
    sa.fit_problem(small_problem(), frame_of(columns))


def _draw_log_file(rng: Random) -> bytes:
    return mutate_text(rng, rng.choice((LOG, HISTORY))).encode("utf-8", "surrogatepass")


def _read_log_file(content: Any) -> None:
    fit = sa.fit_problem(small_problem(), _write("log.csv", content))
    require(not sa.check_problem(fit.problem), "a problem with mistakes was made from a log")


# ---------------------------------------------------------------------------------------------------------- decisions


def _ask_all(classifier: Any) -> None:
    problem = small_problem()
    sizes = [len(feature.levels) for feature in problem.features if feature.seen_by_classifier]
    codes = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=-1).astype(np.int16)
    features = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    answers = ask(classifier, Inputs(features, codes))
    require(answers.shape == (len(codes),) and answers.dtype == np.bool_, "an answer that is none")


def _draw_decisions(rng: Random) -> Any:
    return mutate_columns(rng, DECISIONS)


def _read_decisions(columns: Any) -> None:
    _ask_all(as_classifier(frame_of(columns), small_problem()))


def _draw_decision_file(rng: Random) -> bytes:
    return mutate_text(rng, DECISIONS).encode("utf-8", "surrogatepass")


def _read_decision_file(content: Any) -> None:
    _ask_all(load_classifier(str(_write("decisions.csv", content)), small_problem()))


# ------------------------------------------------------------------------------------------------------------ batches


@cache
def _batch_folder() -> dict[str, bytes]:
    """The files of a batch that is done."""
    folder = scratch() / "whole"
    _run_batch(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _run_batch(folder: Path) -> Any:
    path = _write("people.csv", PEOPLE)
    return sa.batch(tiny_problem(), None, path, out=folder, objective=sa.Mean(), part_size=2, threads=1)


def _draw_batch(rng: Random) -> dict[str, bytes]:
    """The folder with one file changed, cut or put in."""
    files = dict(_batch_folder())
    name = rng.choice(sorted(files))
    if name.endswith(".json") and rng.random() < 0.5:
        files[name] = json.dumps(mutate_tree(rng, json.loads(files[name]))).encode()
    elif rng.random() < 0.1:
        files[rng.choice(("part-00002.parquet", "part-00009.parquet", "x", ".x", "part-x.parquet"))] = files[name]
    else:
        files[name] = mutate_bytes(rng, files[name])
    return files


def _read_batch(files: Any) -> None:
    """Refused, or gone on with so that it ends as if nothing had been changed."""
    folder = scratch() / "batch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    whole = _batch_folder()
    _run_batch(folder)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = sorted(name for name in whole if found.get(name) != whole[name])
    require(not other, f"a batch that was gone on with differs in {other}")


def list_targets() -> list[Target]:
    """All of them, with how often each is drawn."""
    return [
        Target("people: frame", _draw_frame, _read_frame, 8, lambda: [table_of(PEOPLE)]),
        Target("people: records", _draw_records, _read_records, 8),
        Target("people: CSV", _draw_csv, _read_csv, 4, lambda: [PEOPLE.encode()]),
        Target("people: list", _draw_csv, _read_list, 20, lambda: [PEOPLE.encode()]),
        Target("people: row", _draw_csv, _read_row, 4, lambda: [PEOPLE.encode()]),
        Target("people: gzip", _draw_packed, _read_packed, 3, lambda: [gzip.compress(PEOPLE.encode(), mtime=0)]),
        Target("people: Parquet", _draw_parquet, _read_parquet, 3, lambda: [_parquet()]),
        Target("log: frame", _draw_log, _read_log, 6, lambda: map(table_of, (LOG, HISTORY))),
        Target("log: CSV", _draw_log_file, _read_log_file, 6, lambda: map(str.encode, (LOG, HISTORY))),
        Target("decisions: frame", _draw_decisions, _read_decisions, 10, lambda: [table_of(DECISIONS)]),
        Target("decisions: CSV", _draw_decision_file, _read_decision_file, 6, lambda: [DECISIONS.encode()]),
        Target("batch: folder", _draw_batch, _read_batch, 1, lambda: [_batch_folder()]),
    ]
