"""G-RSEVI (Algorithm 2 of the paper): learn a policy for one person by trying, with epsilon-greedy exploration.

Each episode starts at the person's state, takes in each step the action with the least Q, or with probability epsilon
any, and then updates Q backward along the way with the same formula as the greedy sweep. Epsilon is decay^k in episode
k. Q starts at 0, below every true value, so that actions not yet tried look good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError
from safear.evaluation.policy import NOTHING, StatePolicy
from safear.mdp.arrays import MDP
from safear.progress import Progress
from safear.risk.objectives import Mean, MeanLowerStd
from safear.solvers.solution import LearningCurve
from safear.solvers.sweep import TIE, Stepwise


@dataclass(frozen=True, slots=True)
class Episodic:
    """How to learn: how many episodes, and by which factor exploration shrinks after each."""

    episodes: int = 10_000
    decay: float = 0.9995

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ObjectiveError.at((), f"{self.episodes} episodes are too few; at least 1 is needed", code="too_few")
        if not 0 < self.decay <= 1:
            raise ObjectiveError.at((), f"the decay {self.decay} is not above 0 and at most 1", code="out_of_range")


def learn(
    mdp: MDP,
    objective: Stepwise,
    settings: Episodic,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[StatePolicy, NDArray[np.float64], LearningCurve]:
    """The policy, the value of each state at step 0 in quanta, and how it went."""
    learner = _Learner(mdp, objective)
    start = mdp.locate()
    costs = np.empty(settings.episodes)
    succeeded = np.empty(settings.episodes, dtype=bool)
    exploration = np.cumprod(np.append(1.0, np.full(settings.episodes - 1, settings.decay)))
    for episode in range(settings.episodes):
        costs[episode], succeeded[episode] = learner.run(start, float(exploration[episode]), rng)
        if progress is not None and (episode + 1) % 100 == 0:
            progress(episode + 1, settings.episodes)
    curve = LearningCurve(costs * float(mdp.quantum), succeeded, exploration)
    return learner.policy(), learner.values(), curve


class _Learner:
    """Q[step][state] as plain lists: episodes touch a few entries at a time, where arrays would be slower."""

    def __init__(self, mdp: MDP, objective: Stepwise) -> None:
        self.mdp = mdp
        self.aversion = 0.0 if isinstance(objective, Mean) else objective.risk_aversion
        self.upper_only = isinstance(objective, MeanLowerStd)
        edges = list(zip(mdp.edge_chance.tolist(), mdp.edge_cost.tolist(), mdp.edge_next.tolist(), strict=True))
        edge_start, row_start = mdp.edge_start.tolist(), mdp.row_start.tolist()
        rows = (edges[edge_start[r] : edge_start[r + 1]] for r in range(mdp.n_rows))
        self.outcomes = [[edge for edge in row if edge[0] > 0] for row in rows]
        self.cumulated = [np.cumsum([edge[0] for edge in row]).tolist() for row in self.outcomes]
        self.first_row = row_start
        self.counts = np.diff(mdp.row_start).tolist()
        self.goal = mdp.goal.tolist()
        self.acting = mdp.acting.tolist()
        self.q: list[dict[int, list[float]]] = [{} for _ in range(mdp.horizon)]
        self.v: list[dict[int, float]] = [{} for _ in range(mdp.horizon)]

    def run(self, start: int, exploration: float, rng: np.random.Generator) -> tuple[float, bool]:
        """One episode: forward, then the updates backward. Its total cost in quanta, and whether it succeeded."""
        draws = rng.random((self.mdp.horizon, 3)).tolist()
        path: list[tuple[int, int]] = []
        state, spent = start, 0
        for step, (explore, which, outcome) in enumerate(draws):
            if self.goal[state] or not self.acting[step][state]:
                break
            scores = self.q[step].setdefault(state, [0.0] * self.counts[state])
            choice = int(which * len(scores)) if explore < exploration else _first_least(scores)
            path.append((state, choice))
            row = self.first_row[state] + choice
            edge = next((i for i, limit in enumerate(self.cumulated[row]) if outcome < limit), -1)
            _, cost, state = self.outcomes[row][edge]
            spent += cost
        for step in reversed(range(len(path))):
            self.update(step, *path[step])
        return (spent, True) if self.goal[state] else (spent + self.mdp.failure_cost, False)

    def update(self, step: int, state: int, choice: int) -> None:
        """Q(s, a) = m + risk_aversion * d with the values of the next step."""
        row = self.outcomes[self.first_row[state] + choice]
        to_go = [(chance, cost + self.value(step + 1, target)) for chance, cost, target in row]
        mean = sum(chance * total for chance, total in to_go)
        squares = sum(chance * (total - mean) ** 2 for chance, total in to_go if total > mean or not self.upper_only)
        scores = self.q[step][state]
        scores[choice] = mean + self.aversion * math.sqrt(squares)
        self.v[step][state] = min(scores)

    def value(self, step: int, state: int) -> float:
        """V of a state: 0 at goals, the failure cost at the end, and 0 where nothing has been learnt."""
        if self.goal[state]:
            return 0.0
        if step == self.mdp.horizon or not self.acting[step][state]:
            return float(self.mdp.failure_cost)
        return self.v[step].get(state, 0.0)

    def policy(self) -> StatePolicy:
        """The action with the least Q; the first where nothing has been learnt."""
        choices = np.full((self.mdp.horizon, self.mdp.n_states), NOTHING, dtype=np.uint8)
        choices[np.array(self.acting)] = 0
        for step, table in enumerate(self.q):
            for state, scores in table.items():
                choices[step, state] = _first_least(scores)
        return StatePolicy(self.mdp, choices)

    def values(self) -> NDArray[np.float64]:
        """V of each state at step 0."""
        return np.array([self.value(0, state) for state in range(self.mdp.n_states)])


def _first_least(scores: list[float]) -> int:
    least = min(scores)
    limit = least * (1 + TIE)
    return next(i for i, score in enumerate(scores) if score <= limit)
