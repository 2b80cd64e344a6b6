"""The one way in which commands find a problem, who decides, and people: by file, bundled problem or data set."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from safear.classifier.protocol import Classifier
    from safear.datasets.dataset import Dataset
    from safear.problem.model import Problem
    from safear.recourse.teller import Teller


@dataclass(frozen=True, eq=False)
class Source:
    """A problem, who decides (None is the problem's own rule), and the data set if it is one.

    `original` is the problem before the options changed it, and `given` the classifiers that were named.
    """

    problem: Problem
    classifier: Classifier | None
    dataset: Dataset | None
    original: Problem
    seed: int
    given: tuple[str, ...] = ()

    def decides(self, tell: Teller) -> str:
        """Who decides, in words."""
        from safear.classifier.http_models import tell_source

        key = "rule" if self.dataset is None else "forest"
        return ", ".join(map(tell_source, self.given)) if self.given else tell(f"terminal.{key}", seed=self.seed)

    def find_people(self, given: str | None) -> str | pd.DataFrame:
        """The files of people that were named, or those of the data set."""
        from safear.errors import PersonError

        if given:
            return given
        if self.dataset is None:
            raise PersonError.at(
                (), "there are no people", "name a CSV or Parquet file, or a glob of them", code="nobody"
            )
        return self.dataset.levels


def find_named(problem_file: str) -> tuple[Problem, Dataset | None]:
    """By the name of a file, a bundled problem or a data set."""
    from safear.datasets.bundled import example_names, find_problem

    dataset = None
    if not os.path.exists(problem_file) and problem_file not in example_names():  # noqa: PTH110  # or nobody may look
        from safear.datasets.dataset import dataset_names, load

        dataset = load(problem_file) if problem_file in dataset_names() else None
    return find_problem(problem_file) if dataset is None else dataset.problem, dataset


def find_source(problem_file: str, options: dict[str, Any]) -> Source:
    """By name, with what the options change of it."""
    from safear.problem.checks import require_problem

    original, dataset = find_named(problem_file)
    problem = original
    if options["horizon"] is not None:
        problem = problem.with_horizon(options["horizon"])
    if options["failure_cost"] is not None:
        cost = Decimal(repr(options["failure_cost"]))
        problem = replace(problem, goal=replace(problem.goal, failure_cost=cost))
    given, seed = options["classifiers"], options["seed"]
    changed = {name: options[name] for name in ("threshold", "aim", "agree") if options[name] is not None}
    if changed and not given:
        raise click.UsageError(f"--{next(iter(changed))} goes with --classifier")
    if options["agree"] is not None and len(given) == 1:
        raise click.UsageError("--agree goes with several models: repeat --classifier")
    if changed:
        problem = replace(problem, goal=replace(problem.goal, **changed))
        require_problem(problem)
    if given:
        return Source(problem, load_decider(problem, options), dataset, original, seed, given)
    return Source(problem, None if dataset is None else dataset.classifier(seed), dataset, original, seed)


def load_decider(problem: Problem, options: dict[str, Any]) -> Classifier:
    """The classifier that the options name, or several, on their conditions."""
    from safear.classifier.adapters import as_classifier
    from safear.classifier.sources import load_classifier
    from safear.cli.results import divert_prints

    divert_prints()
    found = [
        load_classifier(
            source,
            problem,
            trust=options["trust"],
            trust_pickle=options["trust_pickle"],
            time_limit=options["model_timeout"],
        )
        for source in options["classifiers"]
    ]
    return found[0] if len(found) == 1 else as_classifier(found, problem)
