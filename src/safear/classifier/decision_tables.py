"""Tables of decisions that were made beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from safear.classifier.reading import require_file, unreadable

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
