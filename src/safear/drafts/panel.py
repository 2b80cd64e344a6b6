"""Asks a model about people of a table with one column changed: where does its decision change?

A single change seldom turns a decision around. So besides each of some rejected people as filed, the same people are
tried with some of the other columns that can change taken from somebody who is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.asking import ask
from safear.classifier.protocol import Classifier, Inputs, find_aimed

BATCH = 65_536  # rows in one call
PEOPLE = 150  # rejected people who are tried
MIXTURES = 2  # of each, besides the person as filed
TAKEN = 0.5  # of the columns that can change, from somebody who is accepted
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Panel:
    """Some rejected people of a table, as filed and mixed with accepted ones: a row of `records` each."""

    classifier: Classifier
    records: pd.DataFrame

    @classmethod
    def draw(cls, classifier: Classifier, table: pd.DataFrame, accepted: Flags, *, change: Sequence[str]) -> Panel:
        """From a table of what the model wants; always the same ones."""
        rng = np.random.default_rng(0)
        rejected = np.flatnonzero(~accepted)
        some = np.sort(rng.choice(rejected, min(PEOPLE, len(rejected)), replace=False))
        mixed = np.repeat(some, MIXTURES)
        donors = rng.choice(np.flatnonzero(accepted), len(mixed))
        parts = {}
        for name in table:
            rows = np.where(rng.random(len(mixed)) < TAKEN, donors, mixed) if name in change else mixed
            parts[name] = table[name].take(np.concatenate([some, rows])).array
        return cls(find_aimed(classifier), pd.DataFrame(parts))

    @cached_property
    def filed(self) -> Flags:
        """Whether the model accepts each row as it is."""
        return decide(self.classifier, self.records)

    def try_column(self, name: str, values: Sequence[Any]) -> Flags:
        """[row, value]: whether the model accepts each row with each value in place of its own."""
        count = len(self.records)
        rows = self.records.iloc[np.tile(np.arange(count), len(values))].reset_index(drop=True)
        tried = np.repeat(np.array(values, dtype=object), count)
        rows[name] = tried.astype(np.float64) if isinstance(values[0], float) else tried
        return decide(self.classifier, rows).reshape(len(values), count).T


def decide(classifier: Classifier, records: pd.DataFrame) -> Flags:
    """The model's decisions on records as they are."""
    parts = [records.iloc[start : start + BATCH] for start in range(0, len(records), BATCH)]
    made = [ask(classifier, Inputs((), np.empty((len(part), 0), dtype=np.int16), {}, part)) for part in parts]
    return np.concatenate(made) if made else np.zeros(0, dtype=bool)
