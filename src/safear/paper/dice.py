"""Table `dice`: policies that may only end at the counterfactuals which DiCE finds, beside those free to end anywhere.

DiCE (dice-ml, an optional extra) knows the features and the classifier, but not what can be done, at what cost and
with what chance. Each person's counterfactuals become the only goals of that person's MDP.
"""

from __future__ import annotations

import importlib.util
import io
import random
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier, Inputs
from safear.errors import MissingExtraError
from safear.evaluation.forward import run_exactly
from safear.mdp.arrays import MDP
from safear.mdp.compile import compile_mdp
from safear.paper.entries import MEASURES, Entry, EntryKey, make_entry, read_measures
from safear.paper.rollouts import average, simulate_people
from safear.paper.study import ROLLOUTS, Study
from safear.paper.tables import AVERSIONS, Advance, Workshop
from safear.problem.model import Feature, Problem, Record
from safear.risk.distribution import Masked
from safear.risk.objectives import MeanStd
from safear.solvers.solve import solve

if TYPE_CHECKING:
    import pandas as pd

TABLE = "dice"
POLICY = "dice10"  # risk-neutral, to the counterfactuals only
COUNTERFACTUALS = 10
PEOPLE = 100
UNDER = {"adult": ("age", "30-39")}  # the paper takes people of Adult from below this level only
STEP = 10  # people from one call of `advance` to the next
MARGIN = 0.01  # by which success must be smaller to count as restricted
OnePerson = Mapping[str, float | None]  # figures by measure, None where undefined
_OUTCOME = "is favourable"
_NONE_FOUND = "No counterfactuals found"  # DiCE raises the same error for a wrong configuration


def dice(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Policies to ten counterfactuals of DiCE, and the usual ones, for a hundred people of each data set."""
    for name in ("adult", "german"):
        study = workshop.study(name)
        steps = study.problem.horizon
        explainer = Explainer.of(study)
        people = choose_people(study)
        yield make_entry(EntryKey(TABLE, name, "all", "", steps, "n"), float(len(people)))

        rng = _generator(study, POLICY) if workshop.simulate else None
        pairs, without = [], 0
        for done, row in enumerate(study.rejected[people].tolist(), start=1):
            goals = explainer.counterfactuals(row)
            without += not len(goals)
            person = Inputs(study.problem.features, study.dataset.codes[[row]]).levels(0)
            pairs.append(measure_neutral(replace_goals(study.problem, person, goals), rng))
            if done % STEP == 0:
                advance()
        yield make_entry(EntryKey(TABLE, name, "all", POLICY, steps, "no_counterfactual"), float(without))
        exact, simulated = (_gather(figures) for figures in zip(*pairs, strict=True))
        yield from _row(name, POLICY, steps, exact, simulated if workshop.simulate else None)

        chosen = np.zeros(len(study.rejected), dtype=bool)
        chosen[people] = True
        for aversion in AVERSIONS:
            objective = MeanStd(aversion)
            usual = _only(study.exact(objective, steps), chosen)
            sampled = None
            if workshop.simulate:
                rng = _generator(study, str(objective))
                sampled = _only(study.simulated(objective, steps, rng=rng, people=chosen), chosen)
            yield from _row(name, str(objective), steps, usual, sampled)


def dice_restricts_success(entries: Iterable[Entry]) -> dict[str, bool]:
    """The paper's claim, for each data set: fewer succeed if only the counterfactuals of DiCE count as goals."""
    success = {
        (entry.key.dataset, entry.key.policy): entry.ours
        for entry in entries
        if entry.key.table == TABLE and entry.key.measure == "success" and entry.ours is not None
    }
    usual = str(MeanStd(0.0))
    return {
        dataset: share < success[dataset, usual] - MARGIN
        for (dataset, policy), share in success.items()
        if policy == POLICY and (dataset, usual) in success
    }


def choose_people(study: Study) -> NDArray[np.int64]:
    """A hundred people at random, as positions among the rejected, in their order; fewer if there are not so many."""
    candidates = np.arange(len(study.rejected))
    if study.dataset.name in UNDER:
        name, limit = UNDER[study.dataset.name]
        position, feature = next((i, f) for i, f in enumerate(study.problem.features) if f.name == name)
        codes = study.dataset.codes[study.rejected, position]
        candidates = np.flatnonzero(codes < feature.levels.index(limit))
    count = min(PEOPLE, len(candidates))
    return np.sort(_generator(study, "people").choice(candidates, count, replace=False))


@dataclass(frozen=True, eq=False)
class OnlyThese:
    """A classifier that favours these inputs (rows of level numbers) and no others."""

    codes: NDArray[np.int16]

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Compare each input with each of ours."""
        answers: NDArray[np.bool_] = (inputs.codes[:, None, :] == self.codes[None, :, :]).all(axis=2).any(axis=1)
        return answers


def replace_goals(problem: Problem, person: Record, goals: NDArray[np.int16]) -> MDP:
    """What a person can reach, where `goals` (rows of level numbers of all features, maybe none) are the only goals.

    Other states that the classifier favours are passed through like any state.
    """
    seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
    return compile_mdp(problem, OnlyThese(goals[:, seen]), start=person)


def measure_neutral(mdp: MDP, rng: np.random.Generator | None) -> tuple[OnePerson, OnePerson]:
    """The figures of the risk-neutral policy for the person of an MDP: exact, and from rollouts if there is an rng."""
    policy = solve(mdp, MeanStd(0.0), method="greedy").policy
    runs = run_exactly(policy)
    exact = read_measures(runs.distribution, runs)
    if rng is None:
        return exact, dict.fromkeys(MEASURES)
    sampled = simulate_people(policy, np.array([mdp.locate()]), rollouts=ROLLOUTS, rng=rng)
    return exact, {measure: figures.tolist()[0] for measure, figures in sampled.items()}


def _row(
    dataset: str,
    policy: str,
    steps: int,
    exact: Mapping[str, Masked],
    simulated: Mapping[str, Masked] | None,
) -> Iterator[Entry]:
    for measure in MEASURES:
        key = EntryKey(TABLE, dataset, "all", policy, steps, measure)
        yield make_entry(key, average(exact[measure]), None if simulated is None else average(simulated[measure]))


def _gather(people: Iterable[OnePerson]) -> dict[str, Masked]:
    """Figures of people one by one as arrays, masked where undefined."""
    listed = list(people)
    return {m: np.ma.masked_invalid(np.array([one[m] for one in listed], dtype=np.float64)) for m in MEASURES}


def _only(figures: Mapping[str, Masked], chosen: NDArray[np.bool_]) -> dict[str, Masked]:
    return {measure: figures[measure][chosen] for measure in MEASURES}


def _generator(study: Study, purpose: str) -> np.random.Generator:
    """One generator per purpose, so that a row does not change with what else is computed."""
    return np.random.default_rng([study.seed, *f"{TABLE} {study.dataset.name} {purpose}".encode()])


@dataclass(frozen=True, eq=False)
class _Model:
    """A classifier as DiCE wants it: level names in, probabilities of both classes out."""

    features: tuple[Feature, ...]
    classifier: Classifier

    def predict_proba(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """1 for the class that the classifier decides on."""
        favourable = self.classifier.favourable(Inputs(self.features, read_levels(self.features, frame)))
        return np.stack([~favourable, favourable], axis=-1).astype(np.float64)

    def predict(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """1 where the decision is favourable."""
        decisions: NDArray[np.int64] = self.predict_proba(frame).argmax(axis=1)
        return decisions


def read_levels(features: tuple[Feature, ...], frame: pd.DataFrame) -> NDArray[np.int16]:
    """A frame of level names as level numbers."""
    columns = []
    for feature in features:
        numbers = {level: code for code, level in enumerate(feature.levels)}
        columns.append([numbers[level] for level in frame[feature.name].tolist()])
    return np.array(columns, dtype=np.int16).T


def is_installed() -> bool:
    """Whether dice-ml is there."""
    return importlib.util.find_spec("dice_ml") is not None


@dataclass(frozen=True, eq=False)
class Explainer:
    """DiCE for one data set and forest."""

    study: Study
    dice: Any  # dice_ml's own object
    none_found: type[Exception]

    @classmethod
    def of(cls, study: Study) -> Explainer:
        """DiCE with its random search: its genetic one fails where all features are categorical."""
        with _quiet():
            try:
                import dice_ml  # noqa: PLC0415  # an optional dependency, and slow to load
                from raiutils.exceptions import UserConfigValidationException  # noqa: PLC0415  # what dice-ml raises
            except ImportError:
                raise MissingExtraError("dice-ml", "dice") from None
        model = _Model(study.problem.features, study.dataset.classifier(study.seed))
        frame = study.dataset.levels.assign(**{_OUTCOME: study.dataset.favourable.astype(int)})
        with _quiet():
            data = dice_ml.Data(dataframe=frame, continuous_features=[], outcome_name=_OUTCOME)
            explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
        return cls(study, explainer, UserConfigValidationException)

    def counterfactuals(self, row: int) -> NDArray[np.int16]:
        """Up to ten counterfactuals of a row of the data set, as level numbers; immutable features stay as they are.

        They depend on the row and the study's seed only. DiCE's own `random_seed` is not used: it leaves some draws
        unseeded, and seeds those of every feature alike, so that features change together.
        """
        features = self.study.problem.features
        person = self.study.dataset.levels.iloc[[row]]
        seed = int(np.random.SeedSequence([self.study.seed, row]).generate_state(1)[0])
        with _quiet(), _seeded(seed):
            try:
                found = self.dice.generate_counterfactuals(
                    person,
                    total_CFs=COUNTERFACTUALS,
                    desired_class=1,
                    features_to_vary=[feature.name for feature in features if feature.mutable],
                )
            except self.none_found as error:
                if _NONE_FOUND not in str(error):
                    raise
                return np.empty((0, len(features)), dtype=np.int16)
        return read_levels(features, found.cf_examples_list[0].final_cfs_df)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without DiCE's progress bars, remarks and warnings."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """With both global generators seeded, which DiCE draws from; afterwards they are as they were."""
    before, numpy_before = random.getstate(), np.random.get_state()  # noqa: NPY002  # DiCE draws from there
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # DiCE draws from there
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002  # DiCE draws from there
