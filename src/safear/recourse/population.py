"""Many people at once: who is in which state of which MDP, so that equal people are solved once."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.errors import Mistake, PersonError, Place, quote_list
from safear.files import read_text
from safear.mdp.compile import compile_mdp
from safear.mdp.model import MDP
from safear.mdp.space import StateSpace, person_codes
from safear.spec.model import Problem, Record
from safear.spec.person import read_person

THREADS = 2
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


def group_people(problem: Problem, classifier: object, codes: NDArray[np.int16]) -> list[Block]:
    """The people of each block (those who share their immutable features) with the MDP of that block."""
    immutable = [i for i, feature in enumerate(problem.features) if not feature.mutable]
    combinations, member = np.unique(codes[:, immutable], axis=0, return_inverse=True)
    decider = as_classifier(classifier, problem)

    def compile_group(number: int) -> list[Block]:
        people = np.flatnonzero(member.reshape(-1) == number)
        return _compile_block(problem, decider, codes, people)

    with ThreadPoolExecutor(THREADS) as pool:
        return [block for found in pool.map(compile_group, range(len(combinations))) for block in found]


def _compile_block(
    problem: Problem, classifier: Classifier, codes: NDArray[np.int16], people: NDArray[np.int64]
) -> list[Block]:
    levels = _name_levels(problem, codes[people[0]])
    fixed = {
        feature.name: int(codes[people[0], i]) for i, feature in enumerate(problem.features) if not feature.mutable
    }
    persons, which = np.unique(codes[people], axis=0, return_inverse=True)
    if StateSpace(problem.features, fixed).size <= min(MAX_BLOCK, WORTH_IT * len(persons)):
        mdp = compile_mdp(problem, classifier, block=levels)
        if mdp.space is None or mdp.states is None:  # compile_mdp gives both
            raise TypeError(mdp)
        return [Block(mdp, people, np.searchsorted(mdp.states, mdp.space.encode(codes[people])))]
    blocks = []
    for number, person in enumerate(persons):
        mdp = compile_mdp(problem, classifier, start=_name_levels(problem, person))
        alike = people[which.reshape(-1) == number]
        blocks.append(Block(mdp, alike, np.full(len(alike), mdp.locate())))
    return blocks


def _name_levels(problem: Problem, codes: NDArray[np.int16]) -> dict[str, str]:
    return {feature.name: feature.levels[code] for feature, code in zip(problem.features, codes.tolist(), strict=True)}
