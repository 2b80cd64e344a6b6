"""Many people at once: who is in which state of which MDP, so that equal people are solved once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.classifier.adapters import as_classifier
from safear.mdp.compile import MAX_REACHABLE, Compiler
from safear.mdp.compiled import CompiledMDP
from safear.mdp.families import FamilyCompiler, count_block_states, immutable_positions
from safear.memory import MAX_BYTES
from safear.problem.model import Problem

MAX_BLOCK = 500_000  # states; the people of a larger block are compiled one by one
WORTH_IT = 20_000  # states of a block per distinct person, up to which the block is less work than each on their own


@dataclass(frozen=True, eq=False)
class Block:
    """An MDP and the people in it: their positions in the population, and the state of each."""

    mdp: CompiledMDP
    people: NDArray[np.int64]
    states: NDArray[np.int64]


def group_people(problem: Problem, classifier: object, codes: NDArray[np.int16]) -> Iterator[Block]:
    """The people of each block (those who share their immutable features) with the MDP of that block.

    Blocks come one after the other as they are asked for. People of a block that is too large for them are compiled one
    by one, each with what they can reach.
    """
    if not len(codes):
        return
    compiler = Compiler.of(problem, as_classifier(classifier, problem))
    combinations, member = np.unique(codes[:, immutable_positions(problem)], axis=0, return_inverse=True)
    order = np.argsort(member.reshape(-1), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(member.reshape(-1), minlength=len(combinations)))[:-1])
    size = count_block_states(problem)
    distinct = [np.unique(codes[people], axis=0, return_inverse=True) for people in groups]
    together = [size <= min(MAX_BLOCK, WORTH_IT * len(persons)) for persons, _ in distinct]
    by_levels = {levels.tobytes(): people for levels, people in zip(combinations, groups, strict=True)}
    for family in FamilyCompiler(compiler).families(combinations[together]):
        for lane, levels in enumerate(family.levels):
            mdp, people = family.block(lane), by_levels[levels.tobytes()]
            yield Block(mdp, people, mdp.positions(codes[people]))
    for people, (persons, which), is_together in zip(groups, distinct, together, strict=True):
        for number, person in enumerate(() if is_together else persons):
            mdp = compiler.reachable(_name_levels(problem, person), MAX_REACHABLE, MAX_BYTES)
            alike = people[which.reshape(-1) == number]
            yield Block(mdp, alike, np.full(len(alike), mdp.locate()))


def _name_levels(problem: Problem, codes: NDArray[np.int16]) -> dict[str, str]:
    return {feature.name: feature.levels[code] for feature, code in zip(problem.features, codes.tolist(), strict=True)}
