"""Make the golden files of a version, once per release: `python tools/golden.py 2026-11-18-21d7ac0 0.1.0`.

What people write in the first folder (problems, terms, forms) goes into the second. This version makes all else from
it, and keeps what it reads in each file (expected.json). A folder that exists is never written again, and its files
are listed in SHA256SUMS.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib import parse, request

import safear as sa

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from promises.formats.reading import GOLDEN, SUMS, classifier_options, list_files, read_file, sum_files

INPUTS = ("problem.yaml", "terms.yaml", "person.yaml", "people.csv", "form.json", "attempts.csv")
SAFEAR = (sys.executable, "-m", "safear")
COMMANDS = (
    "recommend problem.yaml --save plan.json",
    "recommend problem.yaml --objective cvar:0.9 --robust --no-personal-data --save nameless.json",
    "resume plan.json --outcome failed --menu --problem problem.yaml --save again.json",
    "batch problem.yaml people.csv --plans --part-size 2 --keep customer --out batch",
)


def main(source: str, target: str) -> None:
    """Make a folder of golden files, one folder for each kind of problem."""
    expected = dict[str, object]()
    for given in sorted(path.parent for path in (GOLDEN / source).glob("*/form.json")):
        folder = GOLDEN / target / given.name
        folder.mkdir(parents=True)
        for file in (given / name for name in INPUTS if (given / name).exists()):
            shutil.copyfile(file, folder / file.name)
        make_files(folder)
        for file in list_files(folder):
            expected[f"{given.name}/{file.name}"] = read_file(file, lambda *one, cwd=folder: run(cwd, *one))
    write_json(GOLDEN / target / "expected.json", expected)
    with SUMS.open("a", encoding="utf-8") as sums:
        sums.writelines(sum_files(GOLDEN / target))


def make_files(folder: Path) -> None:
    """What this version writes for a problem."""
    model = classifier_options(folder)
    for command in COMMANDS:
        run(folder, *command.split(), *model)
    write_json(folder / "written.json", sa.dump_problem(sa.load_problem(folder / "problem.yaml")))
    if not model:  # whose columns without levels are not in a walk
        walked = json.loads(run(folder, "walk", "problem.yaml", "--plan", "1", "--outcome", "failed", "--json"))
        write_json(folder / "walked.json", walked["person"])
    if (folder / "attempts.csv").exists():
        run(folder, "fit", "problem.yaml", "attempts.csv", "--min-tries", "2", "-o", "fitted.yaml")
    command = [*SAFEAR, "serve", "problem.yaml", *model, "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8") as server:  # noqa: S603
        base = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline() if server.stdout else "")[0]
        form = parse.urlencode(json.loads((folder / "form.json").read_bytes()) | {"do": "again"}).encode()
        try:
            with request.urlopen(f"{base}/answers", form, timeout=60) as answer:  # noqa: S310
                (folder / "answers.json").write_bytes(answer.read())
        finally:
            server.terminate()


def write_json(file: Path, content: Mapping[str, object]) -> None:
    """A line for each part, so that a difference is found."""
    parts = [f" {json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}" for name, part in content.items()]
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def run(folder: Path, *arguments: str) -> str:
    """What a command prints."""
    return subprocess.check_output([*SAFEAR, *arguments], cwd=folder, encoding="utf-8")  # noqa: S603


if __name__ == "__main__":
    main(*sys.argv[1:])
