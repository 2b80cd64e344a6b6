"""`readers`: broken inputs of every kind, read in this process. Each is read, or refused by an error of ours."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from random import Random

from soak import answer_readers, document_readers, table_readers, web_readers
from soak.counts import Count, Tally
from soak.judging import judge
from soak.targets import Target


@cache
def list_targets() -> tuple[Target, ...]:
    """Every reader."""
    modules = (document_readers, table_readers, answer_readers, web_readers)
    return tuple(target for module in modules for target in module.list_targets())


def draw_input(target: Target, seed: int, number: int) -> object:
    """The input of this number: the same whenever and wherever it is drawn."""
    return target.draw(Random(f"{target.name}:{seed}:{number}"))


def name_input(value: object) -> bytes:
    """A digest by which an input that comes twice is counted once."""
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def run(
    seconds: float, seed: int, *, folder: Path, most: int | None = None, only: Sequence[str] = ()
) -> tuple[Count, set[bytes]]:
    """Draw and read for so many seconds, or so many inputs; what breaks the rule is kept in the folder."""
    with _quiet():
        return _run(seconds, seed, folder, most, only)


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is logged meanwhile."""
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _run(seconds: float, seed: int, folder: Path, most: int | None, only: Sequence[str]) -> tuple[Count, set[bytes]]:
    tally, seen, spent = Tally("readers"), set[bytes](), Counter[str]()
    targets = [target for target in list_targets() if not only or target.name in only]
    seen.update(name_input((target.name, value)) for target in targets for value in target.originals())
    originals = frozenset(seen)
    weights = [target.weight for target in targets]
    chooser, number, until = Random(seed), 0, time.monotonic() + seconds
    while time.monotonic() < until and (most is None or len(seen) - len(originals) < most):
        (target,) = chooser.choices(targets, weights)
        number += 1
        value = draw_input(target, seed, number)
        name = name_input((target.name, value))
        if name in seen:
            continue
        seen.add(name)
        tally.add("inputs")
        began = time.monotonic()
        verdict = judge(partial(target.read, value))
        spent[target.name] += int(1e6 * (time.monotonic() - began))
        if verdict.is_fine:
            tally.add(verdict.what)
        else:
            file = folder / f"{target.name.replace(' ', '-').replace(':', '')}-{seed}-{number}"
            document_readers.keep(file, value)
            tally.fail(
                verdict.what,
                f"{target.name}: {verdict.told}",
                f"python -m soak --again '{target.name}:{seed}:{number}'",
            )
    tally.notes.append(f"{len(targets)} readers")
    return tally.done(), seen - originals


def read_again(name: str) -> None:
    """Read one input again, by the name that was told; whatever it raises is raised."""
    target, seed, number = name.rsplit(":", 2)
    (found,) = (one for one in list_targets() if one.name == target)
    value = draw_input(found, int(seed), int(number))
    print(repr(value)[:3000])
    found.read(value)
