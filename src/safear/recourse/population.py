"""Many people at once: who is in which state of which MDP, so that equal people are solved once."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safear.classifier.adapters import as_classifier
from safear.errors import Mistake, PersonError, Place, quote_list
from safear.files import read_text
from safear.mdp.compile import compile_mdp
from safear.mdp.families import compile_families
from safear.mdp.model import MDP
from safear.mdp.space import person_codes
from safear.spec.model import Problem, Record
from safear.spec.person import read_person

MAX_BLOCK = 500_000  # states; the people of a larger block are compiled one by one
WORTH_IT = 20_000  # states of a block per distinct person, up to which the block is less work than each on their own


@dataclass(frozen=True, eq=False)
class Block:
    """An MDP and the people in it: their positions in the population, and the state of each."""

    mdp: MDP
    people: NDArray[np.int64]
    states: NDArray[np.int64]


def read_people(problem: Problem, records: Iterable[Record], *, file: str | None = None) -> NDArray[np.int16]:
    """The level numbers of people, one row each. All records with mistakes are reported, by row from 1."""
    known: dict[tuple[tuple[str, type, str], ...], NDArray[np.int16]] = {}
    rows, mistakes = [], []
    for number, record in enumerate(records, start=1):
        key = tuple((str(name), type(value), str(value)) for name, value in record.items())  # True is not "True"
        if key not in known:
            try:
                known[key] = person_codes(problem.features, read_person(problem, record))
            except PersonError as error:
                mistakes += [_at_row(item, number, file) for item in error.mistakes]
                continue
        rows.append(known[key])
    if mistakes:
        raise PersonError(mistakes)
    return np.array(rows, dtype=np.int16).reshape(len(rows), len(problem.features))


def load_people(problem: Problem, path: Path) -> NDArray[np.int16]:
    """People from a CSV file with a column per feature; other columns are ignored."""
    reader = csv.DictReader(io.StringIO(read_text(path, PersonError), newline=""))
    try:
        rows = list(reader)
    except csv.Error as error:
        place = Place(file=str(path), line=reader.line_num)
        raise PersonError([Mistake(place, f"not a CSV table: {error}", "is a quotation mark not closed?")]) from None
    if not rows:
        raise PersonError([Mistake(Place(file=str(path)), "there is nobody in this file", "give a header and rows")])
    missing = [name for name in problem.feature_by_name if name not in rows[0]]
    if missing:
        header = [name for name in reader.fieldnames or () if name]
        cause = f"there is no column for {quote_list(missing)}"
        raise PersonError([Mistake(Place(file=str(path)), cause, f"the columns are {quote_list(header)}")])
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            place = Place(file=str(path), path=(f"row {number}",))
            fields = len(reader.fieldnames or ())
            raise PersonError([Mistake(place, f"does not have the {fields} fields of the header")])
    people = [{name: row[name] for name in problem.feature_by_name} for row in rows]
    return read_people(problem, people, file=str(path))


def _at_row(mistake: Mistake, number: int, file: str | None) -> Mistake:
    place = Place(file=file, path=(f"row {number}", *mistake.place.path))
    return Mistake(place, mistake.cause, mistake.remedy)


def group_people(problem: Problem, classifier: object, codes: NDArray[np.int16]) -> Iterator[Block]:
    """The people of each block (those who share their immutable features) with the MDP of that block.

    Blocks come one after the other as they are asked for. People of a block that is too large for them are compiled one
    by one, each with what they can reach.
    """
    if not len(codes):
        return
    decider = as_classifier(classifier, problem)
    immutable = [i for i, feature in enumerate(problem.features) if not feature.mutable]
    combinations, member = np.unique(codes[:, immutable], axis=0, return_inverse=True)
    order = np.argsort(member.reshape(-1), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(member.reshape(-1), minlength=len(combinations)))[:-1])
    size = math.prod(len(feature.levels) for feature in problem.features if feature.mutable)
    distinct = [np.unique(codes[people], axis=0, return_inverse=True) for people in groups]
    together = [size <= min(MAX_BLOCK, WORTH_IT * len(persons)) for persons, _ in distinct]
    by_levels = {levels.tobytes(): people for levels, people in zip(combinations, groups, strict=True)}
    for family in compile_families(problem, decider, blocks=combinations[together]):
        for lane, levels in enumerate(family.levels):
            mdp, people = family.block(lane), by_levels[levels.tobytes()]
            if mdp.space is None or mdp.states is None:  # compile_families gives both
                raise TypeError(mdp)
            yield Block(mdp, people, np.searchsorted(mdp.states, mdp.space.encode(codes[people])))
    for people, (persons, which), is_together in zip(groups, distinct, together, strict=True):
        for number, person in enumerate(() if is_together else persons):
            mdp = compile_mdp(problem, decider, start=_name_levels(problem, person))
            alike = people[which.reshape(-1) == number]
            yield Block(mdp, alike, np.full(len(alike), mdp.locate()))


def _name_levels(problem: Problem, codes: NDArray[np.int16]) -> dict[str, str]:
    return {feature.name: feature.levels[code] for feature, code in zip(problem.features, codes.tolist(), strict=True)}
