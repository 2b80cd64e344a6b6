"""What is a number when it is written: one form for files, cells, options and objectives.

Python and DuckDB read more than people mean: `1_0` is ten to both, and Python reads the digits of every script.
"""

from __future__ import annotations

import re

# `5`, `+5`, `-0.5`, `.5`, `5.`, `1e-3`: as JSON and tables have them, with a sign and without a zero in front.
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_SEPARATORS = frozenset("\x1c\x1d\x1e\x1f")  # spaces to str.strip(), but neither to float() nor to people


def reads_as_number(text: str) -> bool:
    """Whether a text is a number, perhaps with spaces around it; no NaN, and nothing without end."""
    return NUMBER.fullmatch(text.strip()) is not None and _SEPARATORS.isdisjoint(text)


def find_listed(text: str, count: int) -> int | None:
    """The place, from 0, of what a text names by its number from 1 to `count`; None if it is no such number."""
    digits = text.lstrip("0")  # Python reads no number of thousands of digits
    is_short = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(count))
    return int(digits) - 1 if is_short and int(digits) <= count else None
