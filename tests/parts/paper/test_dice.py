"""Table `dice`: goals replaced by counterfactuals, and DiCE itself where it is installed."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import safear as sa
from doors import PAPER_MEASURES as MEASURES
from doors import (
    Entry,
    EntryKey,
    Explainer,
    OnlyThese,
    Study,
    Workshop,
    choose_people,
    dice,
    dice_restricts_success,
    measure_neutral,
    read_levels,
    replace_goals,
)
from doors import dice_module as module
from safear.classifier import Inputs
from safear.errors import MissingExtraError
from safear.mdp import check_mdp

TOY = """
safear: 1
title: toy
horizon: 3
goal: {stop: false}
features:
  skill: {kind: ordinal, levels: [low, medium, high]}
  home:  {kind: nominal, levels: [rent, own]}
  group: {kind: nominal, levels: [a, b], mutable: false}
actions:
  learn: {cost: 1, chance: 0.5, change: {skill: +1}}
  buy:   {cost: 2, chance: 1.0, change: {home: own}}
classifier: {rule: skill >= medium}
people:
  someone: {skill: low, home: rent, group: a}
"""
START = {"skill": "low", "home": "rent", "group": "a"}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEAR_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def german() -> Study:
    return Study.of("german")


def goals_of(mdp: sa.MDP) -> set[tuple[int, ...]]:
    return {tuple(codes) for codes in mdp.codes(np.flatnonzero(mdp.goal)).tolist()}


def rows(*codes: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    return np.array(codes, dtype=np.int16).reshape(-1, 3)


class TestReplacedGoals:
    problem = sa.parse_problem(TOY)

    def test_only_these(self) -> None:
        inputs = Inputs(self.problem.features, rows((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)))
        assert OnlyThese(rows((1, 1, 0), (0, 0, 0))).favourable(inputs).tolist() == [True, False, True, False]
        assert OnlyThese(rows()).favourable(inputs).tolist() == [False] * 4

    def test_what_the_rule_favours_is_no_goal(self) -> None:
        assert (1, 0, 0) in goals_of(sa.compile_mdp(self.problem, start=START))
        mdp = replace_goals(self.problem, START, rows((1, 1, 0)))
        check_mdp(mdp)
        assert goals_of(mdp) == {(1, 1, 0)}

    def test_states_that_the_rule_favours_are_passed_through(self) -> None:
        exact, simulated = measure_neutral(
            replace_goals(self.problem, START, rows((2, 0, 0))), np.random.default_rng(0)
        )
        # `learn` costs less than `buy`: three trials, of which two should succeed.
        assert exact["success"] == pytest.approx(0.5)
        assert exact["mean"] == pytest.approx((2 * 0.25 + 3 * 0.25) / 0.5)
        assert exact["variance"] == pytest.approx(0.25)
        assert (exact["var80"], exact["sparsity"], exact["proximity"]) == (3, 1, 2)
        assert exact["tail_mean80"] is None
        assert simulated["success"] == pytest.approx(0.5, abs=0.15)
        assert simulated["var80"] == 3
        assert set(exact) == set(simulated) == set(MEASURES)

    @pytest.mark.parametrize("goals", [rows(), rows((2, 1, 1))], ids=["none", "unreachable"])
    def test_no_way_is_no_success(self, goals: np.ndarray[tuple[int, ...], np.dtype[np.int16]]) -> None:
        for figures in measure_neutral(replace_goals(self.problem, START, goals), np.random.default_rng(0)):
            assert figures["success"] == 0
            assert all(figures[measure] is None for measure in MEASURES if measure != "success")

    def test_without_rollouts(self) -> None:
        exact, simulated = measure_neutral(replace_goals(self.problem, START, rows((1, 0, 0))), None)
        assert exact["success"] == pytest.approx(0.875)
        assert all(figure is None for figure in simulated.values())

    def test_goals_that_the_classifier_does_not_see(self) -> None:
        problem = sa.parse_problem(TOY.replace("levels: [a, b],", "levels: [a, b], seen_by_classifier: false,"))
        assert goals_of(replace_goals(problem, START, rows((1, 1, 0)))) == {(1, 1, 0)}


def test_people_are_the_same_each_time(german: Study) -> None:
    people = choose_people(german)
    assert len(set(people.tolist())) == 100
    assert people.tolist() == choose_people(Study.of("german")).tolist()
    assert people.max() < len(german.rejected)


def test_people_of_adult_are_under_30(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.of("adult")
    rejected = np.flatnonzero(~study.dataset.favourable)  # as good as those of a forest, and there at once
    monkeypatch.setitem(study.__dict__, "rejected", rejected)
    ages = study.dataset.raw["age"].to_numpy()[rejected[choose_people(study)]]
    assert len(ages) == 100
    assert ages.max() < 30


def success(dataset: str, policy: str, ours: float | None) -> Entry:
    return Entry(EntryKey("dice", dataset, "all", policy, 12, "success"), None, ours)


def test_claim() -> None:
    cells = [
        success("adult", "dice10", 0.7),
        success("adult", "mean-std:0", 0.9),
        success("adult", "mean-std:0.5", 0.6),
        success("german", "dice10", 0.9),
        success("german", "mean-std:0", 0.9),
        success("insurance", "dice10", 0.9),
        Entry(EntryKey("risk", "adult", "all", "mean-std:0", 12, "success"), None, 0.0),
        Entry(EntryKey("dice", "adult", "all", "mean-std:0", 12, "mean"), None, 0.0),
    ]
    assert dice_restricts_success(cells) == {"adult": True, "german": False}
    assert dice_restricts_success([]) == {}


def test_without_dice_ml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    with pytest.raises(MissingExtraError) as caught:
        next(dice(Workshop(), lambda: None))
    assert str(caught.value) == "dice-ml is not installed; install it with: pip install 'safear[dice]'"


class Found:
    """What DiCE does, without DiCE."""

    class NothingError(Exception):
        pass

    def __init__(self, message: str) -> None:
        self.message = message

    def generate_counterfactuals(self, *_args: object, **_options: object) -> None:
        random.random()
        np.random.random()  # noqa: NPY002
        print("No Counterfactuals found, perhaps try with different parameters")
        raise self.NothingError(self.message)


class TestNoneFound:
    def test_none(self, german: Study, capsys: pytest.CaptureFixture[str]) -> None:
        message = "No counterfactuals found for any of the query points! Kindly check your configuration."
        before, numpy_before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
        assert Explainer(german, Found(message), Found.NothingError).counterfactuals(0).shape == (0, 9)
        assert random.getstate() == before
        assert np.random.get_state()[1].tolist() == numpy_before  # type: ignore[index]  # noqa: NPY002
        assert capsys.readouterr() == ("", "")

    def test_other_errors_are_told(self, german: Study) -> None:
        with pytest.raises(Found.NothingError, match="outside"):
            Explainer(german, Found("a feature is outside the range"), Found.NothingError).counterfactuals(0)

    def test_it_is_counted_and_not_dropped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nothing = Found("No counterfactuals found")
        monkeypatch.setattr(module, "PEOPLE", 10)
        monkeypatch.setattr(Explainer, "of", lambda study: Explainer(study, nothing, Found.NothingError))
        workshop = Workshop(seeds=(0,), simulate=False)
        study = Study.of("german")
        workshop.studies.update({("adult", 0, False): study, ("german", 0, False): study})  # one of them is enough
        steps: list[int] = []
        cells = {(c.key.policy, c.key.measure): c for c in dice(workshop, lambda: steps.append(1))}
        assert len(steps) == 2
        assert cells["", "n"].ours == 10
        assert cells["dice10", "no_counterfactual"].ours == 10
        assert cells["dice10", "success"].ours == 0
        assert cells["dice10", "mean"].ours is None
        assert cells["dice10", "success"].simulated is None
        assert cells["mean-std:0", "success"].ours == pytest.approx(1, abs=0.1)
        policies = ("dice10", "mean-std:0", "mean-std:0.25", "mean-std:0.5")
        expected = {(policy, measure) for policy in policies for measure in MEASURES}
        assert set(cells) == expected | {("", "n"), ("dice10", "no_counterfactual")}
        assert cells["mean-std:0.25", "mean"].paper == 1.55


def test_levels_are_read_by_name(german: Study) -> None:
    frame = german.dataset.levels.iloc[:50, ::-1]
    assert read_levels(german.problem.features, frame).tolist() == german.dataset.codes[:50].tolist()


@pytest.fixture(scope="module")
def explainer(german: Study) -> Explainer:
    pytest.importorskip("dice_ml", reason="dice-ml is an optional extra", exc_type=ImportError)
    return Explainer.of(german)


@pytest.fixture(scope="module")
def people(german: Study) -> list[int]:
    chosen: list[int] = german.rejected[choose_people(german)][:5].tolist()
    return chosen


class TestWithDice:
    def test_deterministic_and_quiet(
        self, explainer: Explainer, german: Study, people: list[int], capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = [explainer.counterfactuals(row).tolist() for row in people]
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002
        again = Explainer.of(german)
        assert [again.counterfactuals(row).tolist() for row in reversed(people)] == first[::-1]
        assert random.random() == random.Random(5).random()
        assert np.random.random() == np.random.RandomState(5).random()  # noqa: NPY002
        assert capsys.readouterr() == ("", "")

    def test_they_are_counterfactuals(self, explainer: Explainer, german: Study, people: list[int]) -> None:
        features = german.problem.features
        immutable = [i for i, feature in enumerate(features) if not feature.mutable]
        for row in people:
            found = explainer.counterfactuals(row)
            assert 1 <= len(found) <= 10
            assert len(np.unique(found, axis=0)) == len(found)
            assert (found[:, immutable] == german.dataset.codes[row, immutable]).all()
            assert german.dataset.classifier(0).favourable(Inputs(features, found)).all()

    def test_they_are_the_only_goals(self, explainer: Explainer, german: Study, people: list[int]) -> None:
        reached = 0
        for row in people:
            found = explainer.counterfactuals(row)
            person = Inputs(german.problem.features, german.dataset.codes[[row]]).levels(0)
            mdp = replace_goals(german.problem, person, found)
            check_mdp(mdp)
            states = {tuple(codes) for codes in mdp.codes(np.arange(mdp.n_states)).tolist()}
            assert goals_of(mdp) == {tuple(codes) for codes in found.tolist()} & states
            reached += len(goals_of(mdp))
        assert reached > 0
