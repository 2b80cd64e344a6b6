"""Many saved plans: files, folders of them, and what a batch has written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from safear.errors import Place, PlanError
from safear.files import digest_file, read_sums
from safear.people.whole_table import load_table
from safear.plans.saved_plan import SavedPlan, load_plan

COLUMN = "saved_plan"  # of what a batch writes


def open_plans(sources: Iterable[str | Path]) -> Iterator[tuple[str, SavedPlan]]:
    """Every plan with its name: of a JSON file, of the JSON and Parquet files of a folder, or of a Parquet file's rows.

    Raises a PlanError if there is none, or if one is damaged.
    """
    empty, seen = True, set[Path]()
    for source in map(Path, sources):
        for file in _find_files(source):
            if file.resolve() in seen:  # named twice, or in a folder that is named as well
                continue
            seen.add(file.resolve())
            for found in _open_rows(file) if file.suffix.lower() == ".parquet" else [(str(file), load_plan(file))]:
                empty = False
                yield found
    if empty:
        raise PlanError.at((), "there are no plans", "save some with 'safear recommend --save'", code="nothing")


def open_plan(name: str) -> SavedPlan:
    """One plan by its name as `open_plans` gives it: a file, or a row of what a batch has written (FILE.parquet:3)."""
    file, _, row = name.rpartition(":")
    if not (file.lower().endswith(".parquet") and row.isascii() and row.isdecimal()) or Path(name).exists():
        if name.lower().endswith(".parquet"):
            remedy = "name one of its rows: FILE.parquet:1 is the first"
            raise PlanError.at(Place(file=name), "has many plans", remedy, code="which_row")
        return load_plan(name)
    for known, plan in _open_rows(Path(file)):
        if known == f"{Path(file)}:{row.lstrip('0')}":
            return plan
    raise PlanError.at(Place(file=file), f"row {row} has no plan", "name another row", code="nothing")


def _find_files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    found = (file for ending in ("json", "parquet") for file in source.glob(f"*.{ending}") if file.is_file())
    return sorted(file for file in found if not file.name.startswith(("_", ".")))  # such as a batch's `_batch.json`


def _open_rows(file: Path) -> Iterator[tuple[str, SavedPlan]]:
    """The plans of a batch; people without one have none."""
    _require_whole(file)
    table = load_table(str(file))
    if COLUMN not in table:
        remedy = "write it with 'safear batch --plans'"
        raise PlanError.at(Place(file=str(file)), f"has no column '{COLUMN}'", remedy, code="missing_column")
    for row, text in enumerate(table[COLUMN].tolist(), start=1):
        if isinstance(text, str):
            place = Place((f"row {row}",), file=str(file))
            yield f"{file}:{row}", SavedPlan.read(text, place)


def _require_whole(file: Path) -> None:
    """Refuse a part of a batch that is not as it was written."""
    sums = read_sums(file.parent)
    if sums is None or not file.exists():  # not the folder of a batch; what is not there is told elsewhere
        return
    place, remedy = Place(file=str(file)), "run the same batch again, which solves the part again"
    if file.name not in sums:
        cause, remedy = "is no part of the batch in its folder", "keep it in a folder of its own"
        raise PlanError.at(place, cause, remedy, code="damaged")
    if sums[file.name] != digest_file(file):
        raise PlanError.at(place, "is damaged: it is not what the batch has written", remedy, code="damaged")
