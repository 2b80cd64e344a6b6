"""The folder of a batch: parts as Parquet files, each whole or not there, and what they were made from.

`_batch.json` records the question; only the same question continues a folder. `_parts.sha256` lists what was written
for it, so that a part that is damaged, or that somebody else put there, is solved again and not counted. A folder keeps
the layout with which it began: the first knew classifiers by more inputs.
"""

# ruff: noqa: S608  # queries are put together from names made here and from text that quote_sql has quoted

from __future__ import annotations

import glob
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from safear.errors import InputError, Place, quote_list
from safear.files import (
    SUMS,
    add_sum,
    digest_file,
    explain,
    is_leftover,
    list_sums,
    make_folder,
    read_sums,
    remove_leftovers,
    require_folder,
    scratch_folder,
    write_bytes,
)
from safear.people.cells import quote_sql
from safear.people.opening import connect
from safear.population.figures import DECISIONS
from safear.population.parts import FIGURES, REASON, SAVED

logger = logging.getLogger("safear")

MANIFEST = "_batch.json"  # readers of a folder of Parquet files pass over names that begin so
TEXTS = ("decision", "plan", "first_action")
COLUMNS = ("file", "row", *TEXTS, "gives_up", *FIGURES)
LAYOUT = 2


@dataclass(frozen=True)
class Folder:
    """Where the parts of a batch go; `kept` are the columns that people bring along, with their types in DuckDB."""

    path: Path
    kept: Mapping[str, str]
    _sums: dict[str, str] = field(default_factory=dict, repr=False)  # of the manifest, and of the parts that are good

    @cached_property
    def layout(self) -> int:
        """The number of the layout of what is there, or else of what will be."""
        try:
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # `look` says so if it matters
            return LAYOUT
        return 1 if isinstance(found, dict) and "layout" not in found else LAYOUT

    def look(self, manifest: Mapping[str, object], parts: int) -> set[int]:
        """The numbers of the parts that are there, all of them; what is not to be used is told. Nothing is changed.

        Refuses a folder that cannot be made, or that is that of another batch or of something else.
        """
        self._sums.clear()
        self._sums[MANIFEST] = hashlib.sha256(_as_text(manifest)).hexdigest()
        place = Place(file=str(self.path))
        self._require_names(place, reasons=bool(manifest.get("reasons")))
        require_folder(self.path)
        if not self.path.exists():
            return set()
        try:
            found = {item.name for item in self.path.iterdir() if not is_leftover(item.name)}
            if MANIFEST in found:
                self._require_same(manifest, json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
            elif found:
                cause, remedy = "already exists and is not the folder of a batch", "name a new folder"
                raise InputError.at(place, cause, remedy, code="unwritable")
        except (OSError, TypeError, ValueError) as cause:
            reason, remedy = f"cannot be used: {explain(cause)}", "name another folder"
            raise InputError.at(place, reason, remedy, code="unwritable") from cause
        wanted = {self.part(number).name: number for number in range(parts)}
        for name in sorted(found - wanted.keys()):
            if name.endswith(".parquet"):
                logger.warning("%s: is no part of this batch, and is not counted", self.path / name)
        known = read_sums(self.path) or {}
        if known.get(MANIFEST) != self._sums[MANIFEST]:  # the list is that of another batch
            known = {}
        return {wanted[name] for name in sorted(wanted.keys() & found) if self._is_good(name, known.get(name))}

    def _is_good(self, name: str, known: str | None) -> bool:
        """Whether a part is what was written for this question."""
        digest = None if known is None else digest_file(self.path / name)
        if digest is None or digest != known:
            logger.warning("%s: is damaged, or not from this batch; it is solved again", self.path / name)
            return False
        self._sums[name] = digest
        return True

    def prepare(self, manifest: Mapping[str, object]) -> None:
        """Make the folder ready for the parts that are not there."""
        make_folder(self.path)
        remove_leftovers(self.path)
        write_bytes(self.path / MANIFEST, _as_text(manifest))
        self._list()

    def _list(self) -> None:
        """Write down which parts are good, in their order."""
        wanted = list_sums(dict(sorted(self._sums.items())))
        file = self.path / SUMS
        if not file.exists() or file.read_bytes() != wanted:
            write_bytes(file, wanted)

    def _require_names(self, place: Place, *, reasons: bool) -> None:
        taken = [*COLUMNS, SAVED, *([REASON] if reasons else [])]
        for name in self.kept:
            if name.casefold() in taken:  # as DuckDB reads names
                cause = f"the result would have two columns '{name}' that differ only in case"
                raise InputError.at(place, cause, "rename the column to keep", code="twice")
            taken.append(name.casefold())

    def _require_same(self, manifest: Mapping[str, object], found: Mapping[str, object]) -> None:
        wanted = json.loads(_as_text(manifest))
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
        types = {"file": "VARCHAR", "row": "BIGINT"} | dict(self.kept)
        types |= dict.fromkeys(TEXTS, "VARCHAR") | {"gives_up": "BOOLEAN"} | dict.fromkeys(FIGURES, "DOUBLE")
        types |= {name: "VARCHAR" for name in (REASON, SAVED) if name in rows and name not in self.kept}
        columns = [f"CAST({_name(name)} AS {kind}) AS {_name(name)}" for name, kind in types.items()]
        place = Place(file=str(path))
        with scratch_folder() as scratch, connect(place, 1, "1GB", failed="cannot be written") as connection:
            made = scratch / "made"
            connection.execute("SET preserve_insertion_order = true")
            connection.register("rows", rows)
            selected = f"SELECT {', '.join(columns)} FROM rows"
            connection.execute(f"COPY ({selected}) TO {quote_sql(str(made))} (FORMAT parquet)")
            content = made.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        add_sum(self.path, path.name, digest)  # first: a part that is there is then always known
        write_bytes(path, content)
        self._sums[path.name] = digest

    def finish(self) -> dict[str, int]:
        """Put the list of parts in order; how many people there are of each decision in all of them.

        Also how many there are whose every plan gives up.
        """
        self._list()
        return self._count()

    def _count(self) -> dict[str, int]:
        counts = dict.fromkeys((*DECISIONS, "gives up"), 0)
        paths = ", ".join(
            quote_sql(glob.escape(str(self.path / name))) for name in sorted(self._sums) if name != MANIFEST
        )
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


def _as_text(manifest: Mapping[str, object]) -> bytes:
    return (json.dumps(manifest, indent=2) + "\n").encode()


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
