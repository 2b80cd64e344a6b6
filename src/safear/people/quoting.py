"""Cells in quotes, line by line: DuckDB passes over spaces before a quote, which is a letter to Python then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_REST_OF_QUOTED = re.compile(r'(?:[^"]++|"")*+"')


@dataclass(slots=True)
class Quotes:
    """Goes along the lines of a CSV file: whether quotes are open now, and whether any stood behind a space."""

    delimiter: str
    is_open: bool = False
    is_spaced: bool = False

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, each of which was gone along when it comes."""
        for line in lines:
            self.pass_over(line)
            yield line

    def pass_over(self, line: str) -> None:
        """Go along a line. Only the first letter of a cell opens quotes."""
        place = 0 if self.is_open else self._find(line)
        while place is not None:
            closing = _REST_OF_QUOTED.match(line, place)
            if closing is None:
                self.is_open = True
                return
            place = self._find(line, closing.end())
        self.is_open = False

    def _find(self, line: str, begin: int = 0) -> int | None:
        """Where the next cell in quotes begins, after its quote."""
        if '"' not in line:
            return None
        cell = rf"{'(?:^|' if not begin else '(?:'}{re.escape(self.delimiter)})( *)\""
        found = re.compile(cell).search(line, begin)
        if found is None:
            return None
        self.is_spaced |= bool(found[1])
        return found.end()
