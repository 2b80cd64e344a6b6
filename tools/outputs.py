"""Write all that SafeAR prints and writes to a folder: run it with two versions, and `diff -r` judges a refactoring.

    python tools/outputs.py after
    git worktree add ../before COMMIT && PYTHONPATH=../before/src python tools/outputs.py before
    diff -r before after

Each case has a folder with the streams and exit codes of its commands and the files that they leave: help, checks,
menus, letters, pictures, walks, saved plans, audits, batches, drafts, pages, the API and error texts, for the bundled
problems, the data sets of the paper and two tables with models. Two runs of one version must not differ.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib import error, parse, request

import pandas as pd
import pyarrow.parquet

import safear as sa
from safear.cli.main import main as run_safear

ROOT = Path(__file__).parents[1]
DAY = date(2026, 11, 18).isoformat()
COUNT = 300  # people of each data set
FILED = "credit"  # a table with a model, in examples/german_credit
LANGUAGES = ("en", "de", "es")
BUNDLED = ("loan", "health-insurance")
DATA_SETS = {"adult": ("gender", "race"), "german": ("gender",), "insurance": ("gender",)}  # and groups to audit
WORDS = {  # a line of commands is written for each of these that it names
    "language": " ".join(LANGUAGES),
    "bundled": " ".join(BUNDLED),
    "command": "demo init check fit recommend walk resume durability sensitivity plot serve compare audit batch"
    " reproduce examples schema completion",
    "record": "problem menu situation sensitivity audit comparisons batch check",
    "picture": "traces distribution cdf frontier tree dots tornado",
    "objective": "mean var:0.9 cvar:0.95 cvar:0.5 mean-cvar:0.5:0.95 mean-std:0 mean-std:0.5 mean-std:2 budget:5"
    " mean-lower-std:1 mean-variance:0.3 entropic:0.5 success-first:cvar:0.9",
    "deviation": "mean-std:0 mean-std:1 mean-lower-std:1",
    "outcome": "failed worked",
}
LETTER = f"--date {DAY} --reference R-1 --contact Desk"
GENERAL = {
    "help": """
        --help
        --version
        {command} --help
        completion bash
        schema {record}
        examples
        examples {bundled}
        demo
        reproduce synthetic loan --no-simulation --seeds 1 --json
        """,
    "mistakes": """
        recommend nothing.yaml
        recommend loan --set savings=enormous
        recommend loan --objective cvar:2
        recommend loan --forbid nothing
        recommend loan --json --horizon 1 --failure-cost 3
        audit german --group colour
        walk loan --outcome perhaps
        resume nothing.json
        batch loan nothing.csv --out out
        plot traces loan --out nothing.txt
        """,
}
PERSON = {
    "menus": """
        check {problem} --json
        recommend {problem} --language {language}
        recommend {problem} --json
        recommend {problem} --json --exact --most 9 --level 0.9
        recommend {problem} --json --robust
        recommend {problem} --json --horizon 5 --failure-cost 7
        """,
    "objectives": """
        recommend {problem} --json --objective {objective}
        recommend {problem} --json --objective {deviation} --method greedy
        recommend {problem} --json --objective mean-std:1 --method episodic --episodes 1000 --seed 5
        """,
    "later": """
        recommend {problem} --language {language} --report letter-{language}.html --figures {language}.json {letter}
        recommend {problem} --objective mean --save plan.json
        walk {problem} --plan 1 --outcome {outcome} --json
        walk {problem} --plan 1 --outcome failed --outcome failed --language de
        resume plan.json --outcome failed --json
        resume plan.json --outcome failed --menu --problem {problem} --json
        durability {problem} plan.json --json
        sensitivity {problem} --plan 1 --json
        """,
    "pictures": """
        plot {picture} {problem} -o {picture}-{language}.svg --language {language}
        plot learning {problem} -o learning.svg --seed 3 --episodes 500
        plot frontier {problem} --greedy mean-std:0.5 --greedy mean-std:1 -o greedy.svg
        plot traces {problem} -o traces.png
        """,
}
PEOPLE = {
    "audit": """
        audit {problem} {groups} --json
        audit {problem} {groups} --objective cvar:0.95 --json --report audit.html
        audit {problem} {groups} --objective mean-std:1 --method greedy --language de --report audit-de.html
        plot disparity {problem} {groups} -o disparity.svg
        """,
    "batch": """
        compare {problem} --sample 100 --json
        batch {problem} people.csv --out menus --json --keep number
        batch {problem} people.csv --out exact --exact --plans --no-personal-data --part-size 64
        batch {problem} people.csv --out cautious --objective cvar:0.95 --plans --threads 2
        """,
}
RECORDS = {
    "people": """
        check {problem} --people applications.csv.gz --json
        audit {problem} applications.csv.gz --group housing --json --report audit.html
        batch {problem} people.csv --out menus --json
        batch {problem} people.csv --out plans --objective mean --plans --aim 0.6
        init applications.csv.gz {model} --favourable good --target decision --change {changes} -o draft.yaml
        """,
}
MODEL = "--classifier train.py:model"


def list_cases() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each case and its commands, which run one after the other in its folder."""
    known = {"letter": LETTER, "model": MODEL, "changes": "duration:down,amount:down,savings:up"}
    yield from write_commands("all", GENERAL, known)
    for problem in (*BUNDLED, *DATA_SETS):
        yield from write_commands(problem, PERSON, known | {"problem": problem})
    for problem, groups in DATA_SETS.items():
        by = " ".join(f"--group {group}" for group in groups)
        yield from write_commands(problem, PEOPLE, known | {"problem": problem, "groups": by})
    yield from write_commands(FILED, PERSON | RECORDS, known | {"problem": f"problem.yaml {MODEL}"})


def write_commands(name: str, cases: dict[str, str], known: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Fill in the lines of cases."""
    for case, text in cases.items():
        commands = list[str]()
        for line in text.split("\n")[1:-1]:
            names = [word for word in WORDS if f"{{{word}}}" in line]
            for chosen in product(*(WORDS[word].split() for word in names)):
                commands.append(line.strip().format_map(known | dict(zip(names, chosen, strict=True))))
        yield f"{name}-{case}", commands


# ---------------------------------------------------------------------------------------------------------- one by one


def write_case(name: str, commands: list[str], folder: Path) -> None:
    """Run the commands of a case in a folder of its own."""
    place = folder / name
    place.mkdir(parents=True)
    os.chdir(place)
    given = provide(name, commands)
    for number, command in enumerate(commands, start=1):
        out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), 0
        sys.argv = ["safear", *shlex.split(command)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run_safear()
            except SystemExit as end:
                code = int(end.code or 0)
        out.flush()
        printed = f"$ safear {command}\n[{code}]\n{out.buffer.getvalue().decode()}{err.getvalue()}"  # type: ignore[attr-defined]
        Path(f"{number:02}.txt").write_text(printed, encoding="utf-8")
    for path in given:
        path.unlink()
    for path in place.rglob("*.parquet"):  # as text, so that a difference can be read
        write_table(path)


def provide(name: str, commands: list[str]) -> list[Path]:
    """Put the files that commands need into this folder, and return them."""
    table, before = name.partition("-")[0], set(Path().iterdir())
    if table == FILED:
        source = ROOT / "examples/german_credit"
        for file in (source / "train.py", source / "problem.yaml", source / "applications.csv.gz"):
            Path(file.name).symlink_to(file)
        pd.read_csv("applications.csv.gz").head(COUNT).to_csv("people.csv", index=False)
    elif any("people.csv" in command for command in commands):
        levels = sa.datasets.load(table).levels.head(COUNT)
        levels.assign(number=range(len(levels))).to_csv("people.csv", index=False)
    return sorted(set(Path().iterdir()) - before)


def write_table(path: Path) -> None:
    """Put a table as lines of JSON in the place of a Parquet file."""
    rows = pyarrow.parquet.read_table(path).to_pylist()
    text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    path.with_suffix(".jsonl").write_text(text, encoding="utf-8")
    path.unlink()


# ----------------------------------------------------------------------------------------------------------- the server


def write_pages(problem: str, folder: Path) -> None:
    """Ask a server for its pages, and its API for the menus of many people."""
    place = folder / f"{problem}-pages"
    place.mkdir(parents=True)
    data = sa.datasets.load(problem) if problem in DATA_SETS else None
    loaded = data.problem if data else sa.load_example(problem)
    people = [dict(row) for _, row in data.levels.head(40).iterrows()] if data else list(loaded.people.values())
    names = [feature.name for feature in loaded.features]
    command = [sys.executable, "-m", "safear", "serve", problem, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as server:  # noqa: S603
        try:
            line = server.stdout.readline() if server.stdout else ""
            base = re.findall(r"http://127\.0\.0\.1:\d+", line)[0]
            threading.Thread(target=server.stdout.read if server.stdout else str, daemon=True).start()

            def ask(file: str, path: str, form: dict[str, str] | None = None, body: Any = None) -> None:
                content = parse.urlencode(form).encode() if form else json.dumps(body).encode() if body else None
                headers = {"Content-Type": "application/json"} if body else {}
                with contextlib.suppress(error.HTTPError):
                    asked = request.Request(base + path, content, headers)  # noqa: S310
                    with request.urlopen(asked, timeout=600) as answer:  # noqa: S310
                        content = answer.read().replace(base.encode(), b"BASE")
                        content = re.sub(rb'(name="ticket" value=")\w+', rb"\1TICKET", content)  # drawn at random
                        (place / file).write_bytes(content)

            for code in LANGUAGES:
                ask(f"start-{code}.html", f"/?language={code}")
                ask(f"analyst-{code}.html", f"/analyst?language={code}")
            ask("openapi.json", "/api/v1/openapi.json")
            ask("problem.json", "/api/v1/problem")
            for number, person in enumerate(people):
                ask(f"menu-{number:03}.json", "/api/v1/menu", body={"person": person})
            for number, person in enumerate(people[:6]):
                form = {f"feature{place}": str(person[name]) for place, name in enumerate(names)}
                for code in LANGUAGES:
                    for door in ("", "report", "figures", "plan", "answers"):
                        asked = form | {"do": "again", "language": code, "date": DAY}
                        ask(f"{door or 'page'}-{number}-{code}.txt", f"/{door}", form=asked)
        finally:
            server.terminate()


def run(task: tuple[str, list[str], Path]) -> str:
    """Write a case; a problem without commands is one to serve."""
    name, commands, folder = task
    if commands:
        write_case(name, commands, folder)
    else:
        write_pages(name, folder)
    return name


def main() -> None:
    """Write all cases, or those whose name holds a text."""
    parser = argparse.ArgumentParser(description="Write all that SafeAR prints and writes to a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name holds this")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    os.environ |= {"COLUMNS": "110", "TZ": "UTC", "NO_COLOR": "1", "PYTHONHASHSEED": "0"}
    cases = [*list_cases(), *((name, []) for name in (*BUNDLED, "german"))]
    tasks = [(name, commands, folder) for name, commands in cases if asked.only in name]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=1) as pool:
        for name in pool.map(run, tasks):
            print(name, flush=True)


if __name__ == "__main__":
    main()
