"""`classifiers`: models that raise, hang, print, answer nonsense or meddle. A plan, or an error of ours; no crash."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from random import Random

from soak import faulty_models
from soak.counts import Count, Tally
from soak.forking import TELLTALE, load_everything, start_command
from soak.kills import write_inputs

MODELS = Path(__file__).with_name("faulty_models.py")
_OTHERS = {"calls", "logging", "np", "os", "pd", "sys", "threading", "time", "warnings"}


def list_models() -> list[str]:
    """The names of all classifiers of `faulty_models`."""
    return [name for name in faulty_models.NAMES if name not in _OTHERS]


def _commands(name: str) -> list[tuple[str, ...]]:
    source = ("--classifier", f"models.py:{name}", "--model-timeout", "2" if name == "hangs" else "60")
    return [
        ("recommend", "problem.yaml", *source, "--json"),
        ("audit", "problem.yaml", "people.csv", "--group", "gender", *source, "--json"),
        ("check", "problem.yaml", *source),
        ("batch", "problem.yaml", "people.csv", "--out", "out", "--objective", "mean", *source, "--json"),
    ]


def run(seconds: float, seed: int, *, most: int | None = None) -> Count:
    """Ask every one of them through several commands, in a random order, for so many seconds."""
    load_everything()
    tally, until = Tally("classifiers"), time.monotonic() + seconds
    todo = [words for name in list_models() for words in _commands(name)]
    Random(seed).shuffle(todo)
    with tempfile.TemporaryDirectory(prefix="soak-") as root:
        for number, words in enumerate(todo[:most]):
            if time.monotonic() > until:
                break
            folder = Path(root) / str(number)
            folder.mkdir()
            write_inputs(folder)
            shutil.copy(MODELS, folder / "models.py")
            child = start_command(words, folder=folder, output=Path(root) / "out.txt")
            code, again = child.wait(), f"safear {' '.join(words)}  # models.py: soak/faulty_models.py"
            child.end()
            tally.add("inputs")
            if TELLTALE in child.printed:
                tally.fail("tracebacks", child.printed[-700:], again)
            elif code not in {0, 2, 3}:
                tally.fail("wrong", f"exit code {code}: {child.printed[-500:]}", again)
            elif code == 0 and "--json" in words and not _is_json(child.result):
                tally.fail("wrong", f"standard output is no JSON: {child.result[:300]!r}", again)
            else:
                tally.add("read" if code == 0 else "refused")
    tally.notes.append(f"{len(list_models())} models, {len(_commands(''))} commands")
    return tally.done()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
