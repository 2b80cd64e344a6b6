"""Tables of decisions that were made beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from safear.classifier.reading import read_foreign, require_file, require_package, unreadable

if TYPE_CHECKING:
    import pandas as pd


def load_csv(path: Path) -> pd.DataFrame:
    """A CSV file, every cell as it is written."""
    import pandas as pd  # noqa: PLC0415  # only those who read a table wait for it

    require_file(path)
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise unreadable(path, f"not a CSV table: {error}") from None


def load_parquet(path: Path) -> Any:
    """A Parquet file, with its own types."""
    duckdb = require_package("duckdb", "DuckDB", "audit")
    require_file(path)
    return read_foreign(path, "a Parquet table", lambda: duckdb.read_parquet(str(path)).df())
