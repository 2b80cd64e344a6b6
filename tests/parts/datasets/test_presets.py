"""The preset problems against the tables of the paper."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

import safear as sa
from doors import Quantity
from safear.classifier import Inputs
from safear.datasets import load
from safear.problem import Amount, ByLevel, Move, SetTo, dump_problem_text, read_person

# Tables tb:trans_cost_detail, tb:trans_cost_detail_env2 and tb:trans_cost_detail_HIPD: cost, chance of success.
# The paper gives no chance for the step to `unskilled resident`; it is taken to be that of the other steps.
TABLES: dict[str, dict[str, tuple[str, str | dict[str, str]]]] = {
    "adult": {
        "improve education": ("2.0", {"high school": "1.0", "bachelors": "0.9", "masters": "1.0", "doctorate": "0.8"}),
        "work more hours": ("0.8", "1.0"),
        "work for the government": ("1.1", "0.7"),
        "become self-employed": ("1.0", "0.5"),
        "work for a private company": ("1.2", "0.9"),
        "take a professional job": ("1.0", "0.5"),
        "take a white-collar job": ("1.0", "0.5"),
    },
    "adult-second": {
        "improve education": ("2.0", {"high school": "0.9", "bachelors": "0.8", "masters": "0.9", "doctorate": "0.7"}),
        "work more hours": ("0.5", "1.0"),
        "work for the government": ("1.2", "0.6"),
        "become self-employed": ("2.0", "0.9"),
        "work for a private company": ("1.0", "0.8"),
        "take a professional job": ("1.0", "0.4"),
        "take a white-collar job": ("1.0", "0.7"),
    },
    "german": {
        "improve skill": ("1.5", {"unskilled resident": "0.8", "skilled": "0.8", "management": "0.8"}),
        "increase savings": ("1.2", "0.95"),
        "increase checkings": ("1.0", "0.7"),
        "increase duration": ("1.0", "1.0"),
        "live for free": ("1.5", "1.0"),
        "rent a house": ("1.2", "0.7"),
        "own a house": ("1.0", "0.4"),
    },
    "german-second": {
        "improve skill": ("2.0", {"unskilled resident": "0.7", "skilled": "0.7", "management": "0.7"}),
        "increase savings": ("1.0", "0.9"),
        "increase checkings": ("1.0", "0.9"),
        "increase duration": ("2.0", "1.0"),
        "live for free": ("2.0", "0.9"),
        "rent a house": ("1.5", "0.6"),
        "own a house": ("1.0", "0.3"),
    },
    "insurance": {
        "exercise": ("0.8", "0.95"),
        "quit smoking": ("0.8", "0.5"),
        "move to the southwest": ("1.0", "0.7"),
        "move to the southeast": ("1.0", "0.7"),
        "move to the northwest": ("1.0", "0.7"),
        "move to the northeast": ("1.0", "0.7"),
    },
}
STATES = {"adult": 57_600, "german": 147_456, "insurance": 3_456}
IMMUTABLE = {
    "adult": {"marital status", "race", "gender"},
    "german": {"purpose", "credit amount", "gender"},
    "insurance": {"children", "age", "gender"},
}
NOT_ACTIONABLE = {"adult": ["age"], "german": ["age"], "insurance": []}
CHANGES = {
    "improve education": {"education": Move(1), "age": Move(1)},
    "work more hours": {"hours": Move(1)},
    "work for the government": {"workclass": SetTo("government")},
    "become self-employed": {"workclass": SetTo("self-employed")},
    "work for a private company": {"workclass": SetTo("private")},
    "take a professional job": {"occupation": SetTo("professional")},
    "take a white-collar job": {"occupation": SetTo("white-collar")},
    "improve skill": {"skill": Move(1), "age": Move(1)},
    "increase savings": {"savings": Move(1)},
    "increase checkings": {"checkings": Move(1)},
    "increase duration": {"duration": Move(1)},
    "live for free": {"housing": SetTo("free")},
    "rent a house": {"housing": SetTo("rent")},
    "own a house": {"housing": SetTo("own")},
    "exercise": {"bmi": Move(-1)},
    "quit smoking": {"smoker": SetTo("no")},
    "move to the southwest": {"region": SetTo("southwest")},
    "move to the southeast": {"region": SetTo("southeast")},
    "move to the northwest": {"region": SetTo("northwest")},
    "move to the northeast": {"region": SetTo("northeast")},
}


def preset(name: str) -> sa.Problem:
    data = load(name.removesuffix("-second"))
    problem = data.second_problem if name.endswith("-second") else data.problem
    assert problem is not None
    return problem


def number(quantity: Quantity | None) -> Decimal | dict[str, Decimal]:
    match quantity:
        case Amount(nominal, low, high):
            assert low == nominal == high
            return nominal
        case ByLevel(_, amounts):
            return {level: amount.nominal for level, amount in amounts.items()}
    raise TypeError(quantity)


@pytest.mark.parametrize("name", TABLES)
class TestEach:
    def test_it_has_no_mistakes(self, name: str) -> None:
        assert sa.check_problem(preset(name)) == []

    def test_costs_and_chances_are_those_of_the_paper_in_its_order(self, name: str) -> None:
        found = {}
        for action in preset(name).actions:
            assert action.outcomes[0].change == CHANGES[action.name]
            assert all(not outcome.change for outcome in action.outcomes[1:])  # a failed try leaves all as it was
            assert all(outcome.cost is None for outcome in action.outcomes)  # and costs the full price
            found[action.name] = (number(action.cost), number(action.outcomes[0].chance))
        wanted = {
            action: (
                Decimal(cost),
                {level: Decimal(c) for level, c in chance.items()} if isinstance(chance, dict) else Decimal(chance),
            )
            for action, (cost, chance) in TABLES[name].items()
        }
        assert found == wanted
        assert list(found) == list(wanted)

    def test_states_and_immutable_features(self, name: str) -> None:
        problem, base = preset(name), name.removesuffix("-second")
        assert math.prod(len(feature.levels) for feature in problem.features) == STATES[base]
        assert {feature.name for feature in problem.features if not feature.mutable} == IMMUTABLE[base]
        aims = {name for action in problem.actions for name in action.outcomes[0].change}
        assert aims == {feature.name for feature in problem.features if feature.mutable}
        assert [f.name for f in problem.features if f.mutable and not f.actionable] == NOT_ACTIONABLE[base]
        assert all(feature.seen_by_classifier for feature in problem.features)

    def test_what_else_the_paper_says(self, name: str) -> None:
        problem = preset(name)
        assert problem.horizon == 12
        assert problem.goal.failure_cost == Decimal(0)
        assert problem.goal.threshold is None
        assert not problem.side_effects
        assert not problem.constraints

    def test_people_are_rows_of_the_data(self, name: str) -> None:
        problem, levels = preset(name), load(name.removesuffix("-second")).levels
        assert problem.people
        for title, person in problem.people.items():
            row = int(title.removeprefix("row "))
            assert read_person(problem, person) == levels.iloc[row].to_dict()

    def test_it_can_be_written_and_read_back(self, name: str) -> None:
        problem = preset(name)
        assert sa.parse_problem(dump_problem_text(problem), "again.yaml") == problem


@pytest.mark.parametrize("name", ["adult", "german"])
def test_the_second_model_differs_in_costs_and_chances_only(name: str) -> None:
    first, second = preset(name), preset(f"{name}-second")
    same = replace(second, title=first.title, description=first.description, actions=first.actions)
    assert same.without_labels() == first.without_labels()
    assert replace(second.glossary, texts=first.glossary.texts) == first.glossary
    assert [(a.name, a.when) for a in first.actions] == [(a.name, a.when) for a in second.actions]


def test_insurance_has_no_second_model() -> None:
    assert load("insurance").second_problem is None


def test_people_of_the_paper() -> None:
    assert list(preset("adult").people) == ["row 16", "row 734"]
    assert list(preset("german").people) == ["row 44", "row 972"]


class _Nobody:
    """Rejects everybody, so that every action that exists is seen."""

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        return np.zeros(len(inputs), dtype=bool)


def offered(problem: sa.Problem, **levels: str) -> list[str]:
    """The actions of somebody who is like the first person but for these levels."""
    person = {**read_person(problem, problem.default_person or {}), **levels}
    mdp = sa.compile_mdp(problem.with_horizon(1), _Nobody(), start=person)
    state = mdp.locate()
    return [mdp.actions[action] for action in mdp.row_action[mdp.row_start[state] : mdp.row_start[state + 1]]]


def test_an_action_that_changes_nothing_is_not_offered() -> None:
    everything = list(TABLES["adult"])
    assert offered(preset("adult"), workclass="other", occupation="other") == everything
    assert "become self-employed" not in offered(preset("adult"), workclass="self-employed")
    assert "work more hours" not in offered(preset("adult"), hours="overtime")
    assert "improve education" not in offered(preset("adult"), education="doctorate", age="20-24")
    assert "improve skill" not in offered(preset("german"), skill="management", age="young")
    assert "own a house" not in offered(preset("german"), housing="own")
    assert "exercise" not in offered(preset("insurance"), bmi="under 20")
    assert "quit smoking" not in offered(preset("insurance"), smoker="no")
    assert "move to the southwest" not in offered(preset("insurance"), region="southwest")


def test_education_raises_age_up_to_the_oldest() -> None:
    problem = preset("adult")
    for age, later in [("25-29", "30-39"), ("older", "older")]:
        person = {**read_person(problem, problem.people["row 16"]), "age": age}
        mdp = sa.compile_mdp(problem.with_horizon(1), _Nobody(), start=person)
        first = mdp.edge_start[mdp.row_start[mdp.locate()]]
        after = mdp.person(int(mdp.edge_next[first]))
        assert after == {**person, "age": later, "education": "bachelors"}
        assert mdp.edge_chance[first] == pytest.approx(0.9)
