"""`guided`: inputs that are changed so that they reach further into the readers, by atheris, if that is installed.

Texts of conditions, objectives, problems, terms and plans. The rule is that of `soak.judging`. atheris has a process of
its own, since it ends that; what it has tried is in a file. It stops at the first input that breaks the rule, and keeps
that. To try it again: `python -m soak.guided FILE`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from soak.counts import Count, Tally
from soak.judging import judge

READERS = ("condition", "objective", "problem: YAML", "terms: YAML", "plan: text")
CONDITION = "skill == expert and not (age < 30 or gender in [male])"
OFTEN = 100  # inputs, after which their number is written down
FOR_EVER = -1  # runs, to libFuzzer


def run(seconds: float, seed: int, *, folder: Path, most: int | None = None) -> Count:
    """Fuzz for so many seconds, or so many runs; an input that breaks the rule is kept in the folder."""
    tally = Tally("guided")
    if find_spec("atheris") is None:
        tally.notes.append("left out: atheris is not installed (pip install --group soak)")
        return tally.done()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        tried, texts = Path(name) / "tried", Path(name) / "texts"
        texts.mkdir()
        options = [f"-max_total_time={seconds:.0f}", f"-runs={most or FOR_EVER}", f"-seed={seed}", "-max_len=20000"]
        options += [f"-artifact_prefix={folder}/guided-", "-timeout=600", str(texts)]
        done = subprocess.run(
            [sys.executable, "-m", "soak.guided", *options],
            env={**os.environ, "SOAK_TRIED": str(tried)},
            capture_output=True,
            check=False,
        )
        numbers = tried.read_text(encoding="ascii").split() if tried.exists() else ["0", "0"]
    for what, number in zip(("read", "refused"), map(int, numbers), strict=True):
        tally.add(what, number)
        tally.add("inputs", number)
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace")
        tally.fail("tracebacks", told[-1500:], f"python -m soak.guided {folder}/guided-...")
    tally.notes.append(f"{len(READERS)} readers")
    return tally.done()


def main() -> None:
    """Fuzz with options of libFuzzer, of which the last is a file, or a folder to begin with."""
    import atheris  # noqa: PLC0415  # an optional tool

    with atheris.instrument_imports(include=["safear"]):
        from soak import document_readers  # noqa: PLC0415  # what is imported here is watched
        from soak.seeds import RANKED, SMALL, TERMS, TINY, plan_texts  # noqa: PLC0415  # as above
    found = {target.name: target.read for target in document_readers.list_targets()}
    readers: list[Callable[[Any], None]] = [found[name] for name in READERS]
    seen, counts, tried = set[bytes](), Counter[str](), os.environ.get("SOAK_TRIED")

    def try_one(data: bytes) -> None:
        name = hashlib.blake2b(data, digest_size=8).digest()
        if len(data) < 2 or name in seen:
            return
        seen.add(name)
        text = data[1:].decode("utf-8", "replace")
        verdict = judge(lambda: readers[data[0] % len(readers)](text))
        if not verdict.is_fine:
            raise RuntimeError(verdict.told)
        counts[verdict.what] += 1
        if tried and counts.total() % OFTEN == 0:  # atheris ends the process, and nothing can be said after that
            Path(tried).write_text(f"{counts['read']} {counts['refused']}", encoding="ascii")

    if (folder := Path(sys.argv[-1])).is_dir():
        texts = (SMALL, TINY, CONDITION, "cvar:0.95", TERMS, RANKED, *plan_texts())
        for number, text in enumerate(texts):
            for first in range(len(readers)):
                (folder / f"{number}-{first}").write_bytes(bytes([first]) + text.encode())
    atheris.Setup(sys.argv, try_one, internal_libfuzzer=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
