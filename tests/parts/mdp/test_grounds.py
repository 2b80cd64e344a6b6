"""What one person can reach of shared ground, against ground of their own: equal, bit for bit."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import CompiledMDP, find_lattice, ground, grounds, quantity_checks
from doors import goals as goals_module
from lanes import scaled
from safear.datasets import example_names, load
from safear.errors import TooLargeError
from safear.mdp import check_mdp
from safear.problem import ActionTerms, Amount, ByLevel, Outcome, apply_terms
from safear.recourse import Case, Desk
from strategies import problems

PRICES: st.SearchStrategy[Any] = st.decimals(0, 20, places=2) | st.sampled_from([0, 1, 2.5, 0.125])
CHANCES: st.SearchStrategy[Any] = st.decimals(0, 1, places=2) | st.sampled_from(
    [0, 1, 0.5, "1e-17", "0.1234567890123456789"]
)
FILED: dict[str, Any] = {
    "safear": 1,
    "title": "Raw",
    "horizon": 4,
    "features": {
        "age": {"kind": "ordinal", "levels": ["young", "old"], "mutable": False},
        "income": {"kind": "numeric", "edges": [20, 35, 50], "values": [10, 28, 40, 60], "min": 0, "max": 99},
        "debt": {"kind": "numeric", "edges": [5, 9], "values": [2, 7, 12], "min": 0, "max": 30, "at_most": 1},
    },
    "goal": {"failure_cost": 9},
    "actions": {
        "earn": {"cost": 1, "chance": 0.5, "change": {"income": "+1"}},
        "pay back": {"cost": 2.5, "change": {"debt": "-1"}, "at_most": 2},
        "gamble": {"cost": 1, "when": "age == young", "chance": 0.1, "change": {"income": "+2"}},
    },
}
PEOPLE = [
    {"age": age, "income": income, "debt": debt} for age in ("young", "old") for income in (3, 33) for debt in (8, 14)
]


def assert_equal(ours: sa.MDP, theirs: sa.MDP) -> None:
    """All fields are the same, arrays in their types as well; but for who was asked about goals."""
    check_mdp(ours)
    for item in fields(CompiledMDP):
        one, other = getattr(ours, item.name), getattr(theirs, item.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, item.name
            assert np.array_equal(one, other), item.name
            assert one.flags.c_contiguous
        elif item.name != "goals":
            assert type(one) is type(other)
            assert one == other, item.name
    assert (ours.edge_low is ours.edge_chance) == (theirs.edge_low is theirs.edge_chance)


NEVER, AT_ONCE = 0, 10**6  # when all ground of a space is laid; else it is laid where somebody comes


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ground is laid for the first who comes."""
    monkeypatch.setattr(ground, "WORTH_LAYING", AT_ONCE)


@contextmanager
def own_ground() -> Iterator[None]:
    """Everybody has their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grounds, "NEGLIGIBLE", -1)
        yield


def open_both(desk: Desk, plain: Desk, person: Any, terms: sa.Terms | None = None) -> tuple[Case, Case]:
    """The case of a person at two desks, at the second without shared ground."""
    shared = desk.open(person, terms=terms)
    with own_ground():
        return shared, plain.open(person, terms=terms)


def assert_opened_alike(desk: Desk, plain: Desk, person: Any, terms: sa.Terms | None = None) -> None:
    ours, theirs = open_both(desk, plain, person, terms)
    assert ours.favourable == theirs.favourable
    assert_equal(ours.mdp, theirs.mdp)


@st.composite
def terms_of(draw: st.DrawFn, problem: sa.Problem) -> sa.Terms:
    """Any costs, chances and forbidden actions."""
    names = [action.name for action in problem.actions]
    own = {}
    for name in names:
        cost = draw(st.none() | PRICES)
        chance = draw(st.none() | CHANCES) if len(problem.action_by_name[name].outcomes) <= 2 else None
        own[name] = ActionTerms(
            cost=None if cost is None else Amount.exactly(cost),
            chance=None if chance is None else Amount.exactly(chance),
        )
    return sa.Terms(own, tuple(draw(st.lists(st.sampled_from(names), unique=True, max_size=2))))


def draw_terms(problem: sa.Problem, rng: np.random.Generator) -> sa.Terms | None:
    """The same at random: for half of the actions costs, for a fifth chances; one of three people forbid an action."""

    def some(share: float) -> Iterator[str]:
        return (action.name for action in problem.actions if len(action.outcomes) <= 2 and rng.random() < share)

    cost = {name: round(float(rng.uniform(0.1, 9)), 1) for name in some(0.5)}
    chance = {name: round(float(rng.uniform(0, 1)), 2) for name in some(0.2)}
    forbid = [problem.actions[rng.integers(len(problem.actions))].name] if rng.random() < 0.3 else []
    return sa.Terms.of(cost=cost, chance=chance, forbid=forbid)


@settings(max_examples=scaled(150))
@given(problems(), st.sampled_from([NEVER, AT_ONCE]), st.data())
def test_everybody_on_any_terms(document: dict[str, Any], worth: int, data: st.DataObject) -> None:
    problem = sa.parse_problem(document)
    whole = sa.compile_mdp(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ground, "WORTH_LAYING", worth)
        desk = Desk.of(problem)
        for state in data.draw(st.lists(st.integers(0, whole.n_states - 1), max_size=5)):
            person, horizon = whole.person(state), data.draw(st.integers(1, 5))
            terms = data.draw(st.none() | terms_of(problem))
            changed = (problem if terms is None else apply_terms(problem, terms)).with_horizon(horizon)
            reach = partial(desk.grounds.reachable, changed, find_lattice(changed), person, goals=desk.goals)
            shared = reach()
            with own_ground():
                assert_equal(shared, reach())


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", ["adult", "german", "adult-second"])
def test_people_of_the_paper(name: str) -> None:
    dataset = load(name.removesuffix("-second"))
    problem = dataset.second_problem if name.endswith("second") else dataset.problem
    assert problem is not None
    rng, desk = np.random.default_rng(0), Desk.of(problem, dataset.classifier(0))
    for row in rng.integers(len(dataset.codes), size=12).tolist():
        person = {
            feature.name: feature.levels[code]
            for feature, code in zip(problem.features, dataset.codes[row], strict=True)
        }
        for terms in (None, draw_terms(problem, rng)):
            assert_opened_alike(desk, Desk.of(problem, desk.classifier), person, terms)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", example_names())
def test_people_of_the_examples(name: str) -> None:
    problem, rng = sa.load_example(name), np.random.default_rng(1)
    desk = Desk.of(problem)
    for person in problem.people:
        for terms in (None, *(draw_terms(problem, rng) for _ in range(5))):
            assert_opened_alike(desk, desk, person, terms)
            assert_opened_alike(desk.with_horizon(3), desk.with_horizon(3), person, terms)


def decide(frame: pd.DataFrame) -> pd.Series[bool]:
    return frame["income"] - frame["debt"] > 27


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("promise", ["value", "range", "narrow"])
def test_people_as_filed(promise: str) -> None:
    problem = sa.parse_problem(FILED | {"goal": {"failure_cost": 9, "promise": promise}})
    desk, rng = Desk.of(problem, decide), np.random.default_rng(2)
    for person in PEOPLE:
        for terms in (None, draw_terms(problem, rng)):
            assert_opened_alike(desk, desk, person, terms)
            assert_opened_alike(replace(desk, forgetful=True), desk, person, terms)


@pytest.mark.usefixtures("at_once")
def test_goals_with_a_margin() -> None:
    problem = sa.parse_problem(FILED | {"goal": {"failure_cost": 9, "threshold": 0.5, "aim": 0.7}})
    desk = Desk.of(
        problem, sa.as_classifier(lambda frame: ((frame["income"] - frame["debt"]) / 60).clip(0, 1), problem)
    )
    gained = []
    for person in PEOPLE:
        assert_opened_alike(desk, desk, person)
        case = desk.open(person)
        ours = desk.compile(problem, case.decision, case.mdp.goals.in_force)  # type: ignore[attr-defined]
        with own_ground():
            assert_equal(ours, desk.compile(problem, case.decision, ours.goals))
        gained.append(int(ours.goal.sum() - case.mdp.goal.sum()))
    assert any(gained)


class Asked:
    """A model that remembers how many inputs it was asked about in each call."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.sizes.append(len(frame))
        return (frame["education"] == "doctorate") & (frame["hours"] == "overtime")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("dense", "ahead"), [(10**8, 2048), (0, 2048), (10**8, 40), (0, 5)])
def test_a_model_is_asked_no_more_and_no_more_often(monkeypatch: pytest.MonkeyPatch, dense: int, ahead: int) -> None:
    monkeypatch.setattr(goals_module, "DENSE", dense)
    monkeypatch.setattr(grounds, "AHEAD", ahead)
    adult, models = load("adult"), (Asked(), Asked())
    desk, plain = (Desk.of(adult.problem, model) for model in models)
    for row in range(0, 120, 10):
        person = {str(name): level for name, level in adult.levels.iloc[row].items()}
        assert_opened_alike(desk, plain, person)
        ours, theirs = (model.sizes for model in models)
        assert sum(ours) <= sum(theirs)
        assert len(ours) <= len(theirs)
    assert sum(models[0].sizes) > 0


def test_whoever_comes_first_or_later_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sa.load_example("loan")
    whole = sa.compile_mdp(problem)
    monkeypatch.setattr(ground, "WORTH_LAYING", 30)
    laid = count_laid(monkeypatch)
    for came in range(1, whole.n_states + 1):
        assert_opened_alike(Desk.of(problem), Desk.of(problem), whole.person(came - 1))
        assert len(laid) <= (came >= 4), "30 states for each of four people are more than all 96"
    assert laid == [problem.title]


def count_laid(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of the problems all of whose ground is laid from now on."""
    laid, find = list[str](), vars(ground)["find_allowed"]

    def find_and_note(problem: sa.Problem, space: Any) -> Any:
        laid.append(problem.title)
        return find(problem, space)

    monkeypatch.setattr(ground, "find_allowed", find_and_note)
    return laid


def test_who_comes_with_the_same_problem_shares_its_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever decides, and on whatever terms; a copy of the problem has its own, and nothing of others is sent."""
    problem, laid = sa.parse_problem(FILED), count_laid(monkeypatch)

    def decide_otherwise(frame: pd.DataFrame) -> pd.Series[bool]:
        return frame["income"] > 45

    for person in PEOPLE:
        for decides in (decide, decide_otherwise):
            plain = Desk.of(replace(problem), decides)
            assert_opened_alike(Desk.of(problem, decides), plain, person)
            assert_opened_alike(Desk.of(problem, decides), plain, person, sa.Terms.of(cost={"earn": 3}))
    assert laid == ["Raw"] * 4, "gambling depends on the age, and paying back on the debt that was filed"
    size = len(pickle.dumps(problem))
    assert size == len(pickle.dumps(sa.parse_problem(FILED)))
    Desk.of(pickle.loads(pickle.dumps(problem)), decide).open(PEOPLE[0])
    assert laid == ["Raw"] * 5


def test_ground_goes_with_its_problem_and_keeps_nobody() -> None:
    problem, model = sa.parse_problem(FILED), partial(decide)
    desk = Desk.of(problem, model)
    desk.open(PEOPLE[0])
    held = weakref.ref(problem), weakref.ref(model), weakref.ref(desk.grounds)
    del desk, model
    gc.collect()
    assert [one() is None for one in held] == [False, True, False]
    gc.disable()
    try:
        del problem
        assert [one() is None for one in held] == [True, True, True]
    finally:
        gc.enable()


@pytest.mark.usefixtures("at_once")
def test_terms_that_shared_ground_cannot_answer() -> None:
    problem = sa.load_example("loan")
    desk, action = Desk.of(problem), problem.actions[0]
    (name,) = action.outcomes[0].change
    table = ByLevel(name, {level: Amount.exactly(2) for level in problem.feature_by_name[name].levels})
    interval = Amount.between(Amount.exactly("0.3").nominal, Amount.exactly("0.6").nominal)
    outcomes = (replace(action.outcomes[0], chance=Amount.exactly("0.3")), Outcome(cost=Amount.exactly(7)))
    for own in (ActionTerms(cost=table), ActionTerms(chance=interval), ActionTerms(outcomes=outcomes)):
        assert_opened_alike(desk, desk, None, sa.Terms({action.name: own}))


@pytest.mark.usefixtures("at_once")
def test_a_problem_with_other_constraints_is_not_answered_from_this_ground() -> None:
    problem = sa.load_example("loan")
    desk = Desk.of(problem)
    other = replace(problem, constraints=(*problem.constraints, problem.actions[0].when))
    lattice, decision = desk.compiler.lattice, desk.decide()
    ours = desk.grounds.reachable(other, lattice, decision.person, goals=desk.goals, record=decision.record)
    assert_equal(ours, Desk.of(other).open().mdp)
    assert ours.n_rows < desk.open().mdp.n_rows


@pytest.mark.usefixtures("at_once")
def test_limits_are_those_of_one_person() -> None:
    desk = Desk.of(sa.load_example("loan"))
    few = replace(desk, max_states=3)
    with pytest.raises(TooLargeError, match="one person can reach"):
        few.open()
    size = desk.open().mdp.n_states
    assert replace(desk, max_states=size).open().mdp.n_states == size


@pytest.mark.usefixtures("at_once")
def test_large_ground_is_not_laid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounds, "NEGLIGIBLE", 1000)
    desk = Desk.of(sa.load_example("loan"))
    monkeypatch.setattr(ground, "find_allowed", None)
    assert desk.open().mdp.n_states > 1


@pytest.mark.usefixtures("at_once")
def test_ground_that_had_to_make_room_is_laid_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounds, "MOST_BYTES", 1)
    laid, desks = count_laid(monkeypatch), [Desk.of(sa.parse_problem(FILED), decide) for _ in range(2)]
    for person in PEOPLE + PEOPLE:
        for desk in desks:
            assert_opened_alike(desk, desk, person)
            assert_opened_alike(desk, desk, person)
    assert len(laid) == 2 * 2 * len(PEOPLE), "one is kept at a time"


@pytest.mark.usefixtures("at_once")
def test_ground_that_went_with_its_problem_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = (Desk.of(sa.parse_problem(FILED), decide) for _ in range(2))
    need = vars(first.grounds)["_need"]
    monkeypatch.setattr(grounds, "MOST_BYTES", 2 * need)
    monkeypatch.setattr(grounds, "_KEPT", type(vars(grounds)["_KEPT"])())
    laid = count_laid(monkeypatch)
    first.open(PEOPLE[0])
    gc.freeze()  # so that it does not take long to look for what is gone
    for _ in range(3):  # each is gone before the next one comes
        Desk.of(sa.parse_problem(FILED), decide).open(PEOPLE[0])
        gc.collect()
    gc.unfreeze()
    last.open(PEOPLE[0])
    assert len(laid) == 5
    first.open(PEOPLE[0])
    assert len(laid) == 5, "what is left of two is not too much"
    Desk.of(sa.parse_problem(FILED), decide).open(PEOPLE[0])
    first.open(PEOPLE[0])
    assert len(laid) == 7, "of three it is: the oldest made room"


@pytest.mark.usefixtures("at_once")
def test_mistakes_where_somebody_never_comes_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantity_checks, "MAX_COMBINATIONS", 0)  # as if there were too many levels to look at all
    case = {"when": "a == far", "chance": 0.9}
    document = {
        "safear": 1,
        "title": "Far away",
        "horizon": 1,
        "features": {
            "a": {"kind": "ordinal", "levels": ["here", "near", "far"]},
            "b": {"kind": "nominal", "levels": [1, 2]},
        },
        "classifier": {"rule": "a > here"},
        "actions": {
            "go": {
                "cost": 1,
                "outcomes": [{"chance": 0.5, "change": {"a": "+1"}}, {"chance": [case, 0.5], "change": {"b": 2}}],
            }
        },
        "people": {"me": {"a": "here", "b": 1}},
    }
    desk = Desk.of(sa.parse_problem(document))
    for _ in range(2):
        assert desk.open().mdp.n_states == 3


@pytest.mark.parametrize("worth", [NEVER, 200, AT_ONCE])
def test_threads_share_ground(monkeypatch: pytest.MonkeyPatch, worth: int) -> None:
    monkeypatch.setattr(ground, "WORTH_LAYING", worth)
    german = load("german")
    desk, plain = (Desk.of(german.problem, german.classifier(0)) for _ in range(2))
    people = [{str(name): level for name, level in german.levels.iloc[row].items()} for row in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(desk.open, people))
    for person, case in zip(people, found, strict=True):
        assert_equal(case.mdp, open_both(desk, plain, person)[1].mdp)
