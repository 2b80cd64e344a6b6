"""The words of a plan, followed to the letter by somebody who knows nothing else, lead where the policy leads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import turns
from ladders import ladders
from moody_policies import Ruled, policies
from safear.evaluation import Policy
from safear.recourse import make_plan
from safear.risk import Objective
from small_problems import course

NEAR = 1e-6
ENDS = {"time is up": "out of time", "no step is left": "stuck", "you have reached": "goal", "stop, since": "lost"}


@dataclass(frozen=True)
class ReadStep:
    """A step as its lines say it: what to do, how often it must work, and the ways on from each ending.

    Steps that repeat an action are told together: their endings are told once.
    """

    action: str
    times: int = 1
    endings: list[tuple[bool, list[str]]] = field(default_factory=list)

    def ways(self, place: int, *, works: bool) -> list[str]:
        """What the lines say of an outcome, the one at a place of its row."""
        if self.times == 1:
            assert self.endings[place][0] == works
            return self.endings[place][1]
        (found,) = [ways for worked, ways in self.endings if worked == works]
        return found


@dataclass(frozen=True)
class Reader:
    """Where somebody is who reads a plan: at which step, how its tries have ended, and how often it has worked."""

    number: int
    made: int = 0
    spent: float = 0.0
    endings: tuple[int, ...] = ()
    worked: int = 0


def read_plan(lines: list[str]) -> dict[int, ReadStep]:
    steps: dict[int, ReadStep] = {}
    for line in lines:
        if head := re.match(r"(\d+)(?:–\d+)?\. (.*?)(?:, (twice|\d+ times))?(?: \(when .*\))?: costs ", line):
            times = 1 if head[3] is None else 2 if head[3] == "twice" else int(head[3].split()[0])
            steps[int(head[1])] = ReadStep(head[2], times)
        elif ending := re.match(r"   If it (works|has worked|fails)[\w ]*(?: \(.*?\))?: (.*)\.$", line):
            steps[max(steps)].endings.append((ending[1] != "fails", ending[2].split("; ")))
    return steps


def applies(condition: str, reader: Reader, ending: int) -> bool:
    """Whether a condition holds for somebody whose step has just ended in this way."""
    tries = (*reader.endings, ending)
    number = [float(text) for text in re.findall(r"\d[\d.]*(?:e-\d+)?", condition)]
    if condition.startswith(("if it fails", "if this happens")):
        times = 2 if "twice" in condition else int(number[0])
        assert set(tries) == {ending}
        return len(tries) == times
    if condition.startswith("on the first try"):
        return len(tries) == 1
    if condition.startswith("on one of the first"):
        return len(tries) <= number[0]
    return all(holds(part, reader) for part in condition.removeprefix("if ").split(" and "))


def holds(part: str, reader: Reader) -> bool:
    """Whether what is said of tries or of what has been spent is so."""
    about = re.fullmatch(r"you have (made|spent) (.*?)( by then)?", part)
    assert about, part
    value, said = reader.made if about[1] == "made" else reader.spent, about[2]
    first, *others = [float(text) for text in re.findall(r"\d[\d.]*(?:e-\d+)?", said)] or [0.0]
    if said.startswith("at most"):
        return value <= first + NEAR
    if said.endswith("or more"):
        return value >= first - NEAR
    return first - NEAR <= value <= (others[0] if others else first) + NEAR


def find_way(ways: list[str], reader: Reader, ending: int, horizon: int) -> str:
    """What to do next, reading from left to right."""
    ways = [way for way in ways if not way.startswith("this costs ")]
    if reader.made == horizon and (last := [way for way in ways if "time is up" in way]):
        return last[0].removeprefix("at the end, ")
    ways = [way for way in ways if not way.startswith("at the end, ")]
    default = ""
    for way in ways:
        told = re.fullmatch(r"((?:if|on) .*?|otherwise), (.*)", way)
        if told is None:
            default = way
        elif told[1] == "otherwise" or applies(told[1], reader, ending):
            return told[2]
    return default


def follow_words(policy: Policy, steps: dict[int, ReadStep]) -> int:
    """Follow the words along every run, and compare with the policy at each step. How many steps were compared."""
    mdp, origin, compared = policy.mdp, policy.mdp.locate_start(), 0
    waiting = [(origin, 0, Reader(1))]
    while waiting:
        state, spent, reader = waiting.pop()
        compared += 1
        account = int(policy.accounts[origin]) - spent
        row = int(policy.rows(reader.made, np.array([state]), np.array([account]))[0])
        step = steps[reader.number]
        assert step.action == mdp.actions[mdp.row_action[row]].capitalize()
        edges = range(mdp.edge_start[row], mdp.edge_start[row + 1])
        for place, edge in enumerate(edges):
            if mdp.edge_high[edge] == 0:
                continue
            there, paid = int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])
            worked = reader.worked + mdp.works(edge)
            then = Reader(reader.number, reader.made + 1, mdp.to_cost(paid), reader.endings, worked)
            way = find_way(step.ways(place, works=mdp.works(edge)), then, place, mdp.horizon)
            if mdp.works(edge) and worked < step.times:
                on = Reader(reader.number, then.made, then.spent, (), worked)
            elif way == "try again":
                on = Reader(reader.number, then.made, then.spent, (*reader.endings, place), worked)
            elif number := re.fullmatch(r".* \(step (\d+)\)", way):
                assert steps[int(number[1])].action.casefold() == way.rpartition(" (")[0]
                on = Reader(int(number[1]), then.made, then.spent)
            else:
                assert ends_so(policy, there, then.made, int(policy.accounts[origin]) - paid) == ENDS[find_end(way)]
                continue
            assert ends_so(policy, there, then.made, int(policy.accounts[origin]) - paid) == ""
            waiting.append((there, paid, on))
    return compared


def find_end(way: str) -> str:
    return next(words for words in ENDS if way.startswith(words))


def ends_so(policy: Policy, state: int, step: int, account: int) -> str:
    """How a run has ended; empty if it goes on."""
    mdp = policy.mdp
    if mdp.goal[state]:
        return "goal"
    if step == mdp.horizon:
        return "stuck" if mdp.dead_end[state] and mdp.depth[state] < mdp.horizon else "out of time"
    if int(policy.rows(step, np.array([state]), np.array([account]))[0]) >= 0:
        return ""
    return "stuck" if mdp.dead_end[state] else "lost"


@given(policies())
def test_who_follows_the_words_follows_the_plan(policy: Policy) -> None:
    """Whatever happens, the words name the step that the policy takes; here also those that are told of rare cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "RARE", 0.0)
        steps = read_plan(make_plan(policy, limit=None).lines())
    assert not steps or follow_words(policy, steps)


@given(ladders(2, 4), st.sampled_from([sa.Mean(), sa.CVaR(0.9)]))
def test_who_follows_the_words_climbs_the_ladder(document: dict[str, Any], objective: Objective) -> None:
    """The same where steps are repeated."""
    problem = sa.parse_problem(document).with_horizon(6)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    policy = sa.solve(mdp, objective).policy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "RARE", 0.0)
        steps = read_plan(make_plan(policy, limit=None).lines())
    assert not steps or follow_words(policy, steps)


@pytest.mark.parametrize("objective", ["mean", "cvar:0.95", "var:0.9", "budget:3", "success-first", "mean-std:1"])
def test_who_follows_the_words_of_the_loan_follows_the_plan(objective: str) -> None:
    problem = sa.load_example("loan").with_horizon(7)
    policy = sa.recommend(problem, objectives=objective)[0].policy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "RARE", 0.0)
        steps = read_plan(make_plan(policy, limit=None).lines())
    assert follow_words(policy, steps) > 10


def test_what_depends_on_what_was_spent_is_told_where_one_gets_there() -> None:
    problem = course([1, 2], 4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    plan = make_plan(Ruled(mdp, lambda _step, _states, spent: np.where(spent < 4, 1, 0)))
    assert plan.lines()[5] == (
        "   If it fails: if you have spent at most 3 months by then, try again; "
        "otherwise, sit the good exam (step 3); at the end, time is up."
    )
