"""The problems that come with the package, as files usable by name."""

from __future__ import annotations

import os
from pathlib import Path

from safear.arguments import TEXT, takes
from safear.errors import ProblemError, suggest
from safear.problem.load import load_problem, parse_problem
from safear.problem.model import Problem

_FOLDER = Path(__file__).parent / "problems"


def example_names() -> list[str]:
    """The names of the bundled problems."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _FOLDER.iterdir() if entry.name.endswith(".yaml"))


def example_text(name: str) -> str:
    """The text of a bundled problem file."""
    if name not in example_names():
        raise ProblemError.at(
            (), f"there is no bundled problem '{name}'", suggest(name, example_names()), code="unknown_name"
        )
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


@takes(name=TEXT)
def load_example(name: str) -> Problem:
    """A bundled problem."""
    return parse_problem(example_text(name), f"{name}.yaml")


def find_problem(source: str) -> Problem:
    """A problem from a file or, if there is no such file, the bundled one of that name."""
    if not os.path.isfile(source) and source in example_names():  # noqa: PTH113  # which it also is not if nobody may look
        return load_example(source)
    try:
        return load_problem(source)
    except ProblemError as error:
        if error.mistakes[0].code == "no_file" and not Path(source).suffix:
            cause = f"there is neither a file nor a bundled problem '{source}'"
            raise ProblemError.at((), cause, suggest(source, example_names()), code="unknown_name") from error
        raise
