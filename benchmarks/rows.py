"""How long an audit of many rows takes: `python -m benchmarks.rows [ROWS]`. People of Adult, drawn at random.

A Parquet file of up to 10^8 rows is written by DuckDB into a temporary folder first, and linked under as many names as
it takes; that time does not count.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from benchmarks import table

import safear as sa

MOST = 100_000_000
SIZES = (10**5, 10**6, 10**7, 10**8, 10**9)
MOST_SECONDS = {10**8: 30, 10**9: 300}
MOST_GIGABYTES = 2


def write_people(path: Path, rows: int) -> None:
    """So many rows of Adult, drawn with replacement."""
    levels = sa.datasets.load("adult").levels
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.register("levels", levels.assign(number=range(len(levels))))
        connection.execute("CREATE TABLE people AS SELECT * FROM levels")
        names = ", ".join(f'"{name}"' for name in levels.columns)
        connection.execute(
            f"COPY (SELECT {names} FROM range({rows}) AS r(i) JOIN people ON number = hash(i) % {len(levels)}) "
            f"TO '{path}' (FORMAT parquet)"
        )


def main() -> None:
    """Audit so many people or, if no number is given, from 10^5 to 10^9 of them, each time in another process."""
    if sys.argv[1:]:
        audit_rows(int(sys.argv[1]))
        return
    for rows in SIZES:
        subprocess.run([sys.executable, "-m", "benchmarks.rows", str(rows)], check=True)


def audit_rows(rows: int) -> None:
    """Write people, audit them, add to the table."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    with tempfile.TemporaryDirectory() as folder:
        copies = max(1, rows // MOST)
        path = Path(folder) / "people.parquet"
        write_people(path, rows // copies)
        for number in range(1, copies):
            path.with_stem(f"people-{number}").hardlink_to(path)
        size = copies * path.stat().st_size / 2**20
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        audit = sa.audit(adult.problem, forest, f"{folder}/*.parquet", groups=["gender"])
        read = time.perf_counter() - start
        audit.table()
        audit.tests()
        total = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    note = (
        f"{size:,.0f} MiB of Parquet; read, reduced, solved in {read:.1f} s ({rows / read:,.0f} rows/s), the rest are "
        f"tests; {before / 1e6:.2f} GB before it"
    )
    most = MOST_SECONDS.get(rows)
    goal = None if most is None else f"< {most} s, {MOST_GIGABYTES} GB"
    met = None if most is None else total < most and peak * 1024 < MOST_GIGABYTES * 1e9
    record = table.Record(
        f"audit of {rows:,} rows (Adult)", total, goal=goal, met=met, note=note, memory_gb=peak * 1024 / 1e9
    )
    table.add([record])
    print(table.lay_out([record]))


if __name__ == "__main__":
    main()
