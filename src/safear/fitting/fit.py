"""`safear fit`: the chances and costs of a problem from what happened when people tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from safear.arguments import WHOLE, takes
from safear.errors import InputError, ObjectiveError, ProblemError
from safear.files import read_text, write_text
from safear.fitting.attempts import LOG, open_log, read_attempts
from safear.fitting.estimates import Estimator, FitEntry, FitNotice, NoticeCode
from safear.fitting.fit_teller import FitTeller
from safear.fitting.histories import bound_action, is_history, read_history
from safear.fitting.rewriting import rewrite_amounts
from safear.problem.checks import check_problem, require_problem
from safear.problem.dump import dump_problem_text
from safear.problem.load import parse_problem
from safear.problem.model import Problem
from safear.texts.notebook import html_paragraphs, html_table

if TYPE_CHECKING:
    import pandas as pd

MIN_TRIES = 10  # from so many tries on, a level or a condition has a chance of its own


@dataclass(frozen=True, eq=False)
class Fit:
    """A problem with what the data say: every amount that was looked at, and what they cannot tell.

    `text` is the file of the new problem. It keeps the comments and the order of the file that was given. If the data
    are a history, `attempts` counts its periods.
    """

    problem: Problem
    original: Problem
    entries: tuple[FitEntry, ...]
    notices: tuple[FitNotice, ...]
    attempts: int
    text: str
    is_history: bool = False

    def __str__(self) -> str:
        return FitTeller.of().whole(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tell = FitTeller.of()
        table = html_table(tell.headings(), tell.rows(self))
        return html_paragraphs([tell.head(self)]) + table + html_paragraphs(tell.notices(self))

    def save(self, path: str | Path) -> None:
        """Write the new problem to a file."""
        write_text(Path(path), self.text)


@takes(attempts=LOG, min_tries=WHOLE)
def fit_problem(
    problem: Problem | str | Path, attempts: str | Path | pd.DataFrame, *, min_tries: int = MIN_TRIES
) -> Fit:
    """Fill the chances and costs of a problem from a log of attempts.

    The log has the columns `action` and `worked` (yes or no) and, if you like, `cost`, `date`, and features: the state
    before. Chances become counts; where a chance depends on levels or conditions, each of them is counted by itself
    if it was tried often enough. Costs become means.

    A history has `person`, `date` and features, but neither `action` nor `worked`: it shows changes, not attempts, and
    gives the least that each chance can be.

    Args:
        problem: The problem, or its file, whose comments and order are then kept.
        attempts: A CSV or Parquet file, or a data frame.
        min_tries: From so many tries on, a level or a condition has a chance of its own, and a chance may be 0 or 1.
    """
    if min_tries < 1:
        raise ObjectiveError.at(
            ("min_tries",), f"{min_tries} is below 1", "10 is usual", code="out_of_range", value=min_tries
        )
    text, form, name = None, "yaml", "<problem>"
    if isinstance(problem, str | Path):
        name, form = str(problem), "json" if str(problem).lower().endswith(".json") else "yaml"
        text = read_text(Path(problem), ProblemError)
        problem = parse_problem(text, name)
    require_problem(problem)
    mistakes = check_problem(problem)
    if mistakes:
        raise ProblemError(mistakes)
    frame, place = open_log(attempts)
    estimator, shows_attempts = Estimator(problem, min_tries), not is_history(frame)
    if shows_attempts:
        log = read_attempts(frame, problem, place)
        count, parts = len(log), [log.take(log.action == number) for number in range(len(problem.actions))]
        found = [estimator.fit_action(*pair) for pair in zip(problem.actions, parts, strict=True)]
        codes: list[NoticeCode] = ["no_costs", "selection"] if log.cost.mask.all() else ["selection"]
    else:
        history = read_history(frame, problem, place)
        count, codes = history.periods, ["bounds"]
        found = [bound_action(estimator, action, history) for action in problem.actions]
    fitted = replace(problem, actions=tuple(one.action for one in found))
    entries = tuple(entry for one in found for entry in one.entries)
    notices = [*(notice for one in found for notice in one.notices), *map(FitNotice, codes)]
    new = None if text is None else write_fit(text, fitted, entries, name)
    if text is not None and new is None:
        notices.append(FitNotice("rewritten"))
    text = new or dump_problem_text(fitted, form)
    return Fit(fitted, problem, entries, tuple(notices), count, text, is_history=not shows_attempts)


def write_fit(text: str, fitted: Problem, entries: tuple[FitEntry, ...], name: str) -> str | None:
    """The text of a file with the fitted amounts; None if it cannot be changed in place to say just that."""
    amounts = {entry.place: entry.after for entry in entries}
    new = rewrite_amounts(text, amounts, "json" if name.lower().endswith(".json") else "yaml")
    try:
        return new if new is not None and parse_problem(new, name) == fitted else None
    except InputError:
        return None
