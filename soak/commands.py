"""`commands`: odd command lines, environments and standard streams. An exit code as documented, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, get_args

from soak.counts import Count, Tally
from soak.forking import TELLTALE, Streams, load_everything, start_command
from soak.kills import write_inputs
from soak.mutating import ODD_TEXTS, mutate_text

CODES = {0, 1, 2, 3}  # 3: no plan reaches the goal
COMMANDS = (
    "demo", "init", "check", "fit", "recommend", "walk", "resume", "durability", "sensitivity", "plot",
    "compare", "audit",
    "batch", "examples", "schema", "completion",
)  # fmt: skip
PLACES = (
    "problem.yaml", "people.csv", "log.csv", "plan.json", "nothing.yaml", "folder", "/dev/null", "/dev/full",
    "", ".", "..",
    "-", "--", "loan", "health-insurance", "loan.yaml", "a\nb.yaml", "x" * 300, "/proc/self/mem",
    "\x1b[31m.yaml", "~",
    os.fsdecode(b"\xff\xfe.yaml"), "folder/nothing/at/all", "problem.yaml/x", "people.parquet", "*.csv", "[",
    "nul\\0.yaml",
    "model.skops", "model.py:decide", "os:system", "safear:nothing", "decisions.csv", "http://127.0.0.1:1/",
)  # fmt: skip
ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {}, {}, {}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"},
    {"COLUMNS": "1"}, {"COLUMNS": "0"}, {"COLUMNS": "x"}, {"TERM": "dumb"}, {"TERM": ""}, {"TZ": "Nowhere/At_All"},
    {"NO_COLOR": "1"}, {"HOME": "/nowhere"}, {"TMPDIR": "/nowhere"}, {"SAFEAR_CACHE": "/nowhere"},
    {"SAFEAR_CACHE": "/dev/null"}, {"LANG": "xx_YY.UTF-8"}, {"PYTHONUTF8": "0", "LC_ALL": "C"},
)  # fmt: skip
_KINDS: tuple[Streams, ...] = get_args(Streams)
STREAMS = (*_KINDS[:1] * 8, *_KINDS)


def _options(command: str) -> list[Any]:
    from safear.cli.main import cli  # noqa: PLC0415  # loaded beforehand

    found = cli.get_command(None, command)  # type: ignore[arg-type]  # it looks at no context
    return [] if found is None else list(found.params)


def draw_command(rng: Random) -> list[str]:
    """A command with arguments and options that it has, mostly, and values that it can hardly do with."""
    command = rng.choice(COMMANDS)
    words = [command]
    for parameter in _options(command):
        if parameter.param_type_name == "argument":
            words += [rng.choice(("problem.yaml", "people.csv", rng.choice(PLACES)))] if rng.random() < 0.9 else []
        elif parameter.required or rng.random() < 0.12:
            words.append(rng.choice(parameter.opts))
            if not getattr(parameter, "is_flag", False):
                words.append(_value(rng, parameter))
    if rng.random() < 0.15:
        words.insert(
            rng.randrange(len(words) + 1), rng.choice(("--nothing", "-x", "--json", "--help", "--verbose", "--"))
        )
    if rng.random() < 0.1:
        place = rng.randrange(len(words))
        words[place] = mutate_text(rng, words[place])
    # A command line is bytes without zeros; those that are no UTF-8 come as halves of characters.
    return [os.fsdecode(word.replace("\0", "").encode("utf-8", "surrogatepass")) for word in words]


def _value(rng: Random, parameter: Any) -> str:
    choices = getattr(parameter.type, "choices", None)
    if choices and rng.random() < 0.7:
        return str(rng.choice(list(choices)))
    if type(parameter.type).__name__ == "Path":
        return rng.choice(("out.json", "out.svg", "out.html", rng.choice(PLACES)))
    return rng.choice(("1", "0.5", "mean", "gender", "Ada", rng.choice(PLACES), rng.choice(ODD_TEXTS)))


def judge_printed(printed: str) -> str:
    """What is wrong with what a command has printed; empty if nothing is."""
    if TELLTALE in printed or "Exception ignored" in printed:
        return f"a traceback: {printed[-700:]}"
    controls = {c for c in printed if c not in "\n\t\r" and unicodedata.category(c) == "Cc"}
    return f"control characters {sorted(controls)!r}: {printed[:300]!r}" if controls else ""


def _prepare(folder: Path) -> None:
    write_inputs(folder)
    (folder / "folder").mkdir(exist_ok=True)


def _run_really(words: list[str], folder: Path, env: Mapping[str, str], streams: Streams) -> tuple[int | None, str]:
    """In a process that begins from nothing, through a shell that closes what is to be closed."""
    closing = {
        "no stdin": "<&-",
        "no stdout": ">&-",
        "no stderr": "2>&-",
        "full": ">/dev/full",
        "nobody reads": "| true",
    }
    script = f'"$0" -m safear "$@" {closing.get(streams, "")}'
    shell = ["bash", "-o", "pipefail", "-c", script, sys.executable, *words]
    done = subprocess.run(  # our own program
        shell,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        check=False,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def run(seconds: float, seed: int, *, most: int | None = None, really: float = 0.04) -> Count:
    """Run odd commands for so many seconds, or so many of them; `really` is the share that begins from nothing."""
    load_everything()
    tally, rng, until, seen = Tally("commands"), Random(seed), time.monotonic() + seconds, set[str]()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        while time.monotonic() < until and (most is None or tally.numbers["inputs"] < most):
            words, env, streams = draw_command(rng), dict(rng.choice(ENVIRONMENTS)), rng.choice(STREAMS)
            folder = Path(tempfile.mkdtemp(dir=name))
            _prepare(folder)
            again = f"{env} {streams}: safear {words!r}"
            if again in seen:
                continue
            seen.add(again)
            tally.add("inputs")
            if rng.random() < really:
                code, printed = _run_really(words, folder, env, streams)
            else:
                child = start_command(words, folder=folder, output=Path(name) / "out.txt", env=env, streams=streams)
                code, printed = child.wait(), child.printed
                child.end()
            wrong = judge_printed(printed)
            if "a traceback" in wrong:
                tally.fail("tracebacks", wrong, again)
            elif code not in CODES:
                tally.fail("wrong", f"exit code {code}: {printed[-500:]}", again)
            elif wrong:
                tally.fail("wrong", wrong, again)
            else:
                tally.add("read" if code == 0 else "refused")
    tally.notes.append(f"{len(ENVIRONMENTS)} environments, {len(get_args(Streams))} kinds of standard streams")
    return tally.done()
