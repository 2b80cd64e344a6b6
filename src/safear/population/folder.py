"""The folder of a batch: parts as Parquet files, each whole or not there, and what they were made from.

`_batch.json` records the question. Only the same question continues a folder.
"""

# ruff: noqa: S608  # queries are put together from names made here and from text that quote_sql has quoted

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from safear.errors import InputError, Place, quote_list
from safear.files import write_text
from safear.people.cells import quote_sql
from safear.people.opening import connect
from safear.population.figures import DECISIONS
from safear.population.parts import FIGURES, SAVED

MANIFEST = "_batch.json"  # readers of a folder of Parquet files pass over names that begin so
_LEFTOVER = re.compile(rf"\.part-\d+\.parquet\.\d+|\.{re.escape(MANIFEST)}\..+")
TEXTS = ("decision", "plan", "first_action")
COLUMNS = ("file", "row", *TEXTS, "gives_up", *FIGURES)


@dataclass(frozen=True)
class Folder:
    """Where the parts of a batch go; `kept` are the columns that people bring along, with their types in DuckDB."""

    path: Path
    kept: Mapping[str, str]

    def prepare(self, manifest: Mapping[str, object]) -> None:
        """Make the folder, or make sure that it holds parts of this batch and no other."""
        place = Place(file=str(self.path))
        taken = [*COLUMNS, SAVED]
        for name in self.kept:
            if name.casefold() in taken:  # as DuckDB reads names
                cause = f"the result would have two columns '{name}' that differ only in case"
                raise InputError.at(place, cause, "rename the column to keep", code="twice")
            taken.append(name.casefold())
        try:
            self.path.mkdir(exist_ok=True)
            found = sorted(item.name for item in self.path.iterdir())
            leftovers = [name for name in found if _LEFTOVER.fullmatch(name)]  # of a run that was stopped
            if MANIFEST in found:
                self._require_same(manifest, json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
            elif len(found) > len(leftovers):
                cause, remedy = "already exists and is not the folder of a batch", "name a new folder"
                raise InputError.at(place, cause, remedy, code="unwritable")
            for name in leftovers:
                (self.path / name).unlink(missing_ok=True)
        except (OSError, TypeError, ValueError) as cause:
            reason = getattr(cause, "strerror", None) or str(cause)
            raise InputError.at(place, f"cannot be used: {reason}", "name another folder", code="unwritable") from cause
        write_text(self.path / MANIFEST, json.dumps(manifest, indent=2) + "\n")

    def _require_same(self, manifest: Mapping[str, object], found: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(manifest))
        if not isinstance(found, dict):
            raise TypeError(f"{MANIFEST} does not say what was asked for")
        other = [key for key in wanted | dict(found) if wanted.get(key) != found.get(key)]
        if other:
            cause = f"holds another batch: not the same {quote_list(other)}"
            remedy = "name a new folder, or repeat the same batch"
            raise InputError.at(Place(file=str(self.path)), cause, remedy, code="other_run")

    def part(self, number: int) -> Path:
        """The file of a part."""
        return self.path / f"part-{number:05d}.parquet"

    def write(self, number: int, rows: pd.DataFrame) -> None:
        """Write a part; it is there as a whole or not at all."""
        path = self.part(number)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        types = {"file": "VARCHAR", "row": "BIGINT"} | dict(self.kept)
        types |= dict.fromkeys(TEXTS, "VARCHAR") | {"gives_up": "BOOLEAN"} | dict.fromkeys(FIGURES, "DOUBLE")
        types |= {SAVED: "VARCHAR"} if SAVED in rows else {}
        columns = [f"CAST({_name(name)} AS {kind}) AS {_name(name)}" for name, kind in types.items()]
        try:
            with connect(Place(file=str(path)), 1, "1GB", failed="cannot be written") as connection:
                connection.execute("SET preserve_insertion_order = true")
                connection.register("rows", rows)
                selected = f"SELECT {', '.join(columns)} FROM rows"
                connection.execute(f"COPY ({selected}) TO {quote_sql(str(beside))} (FORMAT parquet)")
            beside.replace(path)
        except OSError as cause:
            raise InputError.at(
                Place(file=str(path)), f"cannot be written: {cause.strerror}", code="unwritable"
            ) from cause
        finally:
            beside.unlink(missing_ok=True)

    def count(self) -> dict[str, int]:
        """How many people there are of each decision in all parts, and how many whose every plan gives up."""
        counts = dict.fromkeys((*DECISIONS, "gives up"), 0)
        paths = ", ".join(quote_sql(glob.escape(str(path))) for path in sorted(self.path.glob("part-*.parquet")))
        if not paths:  # everybody was set aside
            return counts
        people = (
            f"SELECT decision, min(gives_up) AS all_give_up FROM read_parquet([{paths}]) GROUP BY file, row, decision"
        )
        with connect(Place(file=str(self.path)), 2, "1GB") as connection:
            sql = f"SELECT decision, count(*), count(*) FILTER (all_give_up) FROM ({people}) GROUP BY decision"
            rows = connection.execute(sql).fetchall()
        counts |= {decision: count for decision, count, _ in rows}
        return counts | {"gives up": sum(number for *_, number in rows)}


def digest_file(path: str) -> str:
    """The SHA-256 of a file's content."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as cause:
        raise InputError.at(Place(file=path), f"cannot be read: {cause.strerror}", code="unreadable") from cause


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
