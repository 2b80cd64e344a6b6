"""Storm and QuantEcon on exported models: optimal means, chances and budgets, and the chains of plans.

Storm counts in fractions and gives exact answers, QuantEcon counts in floats. Nothing of ours but the arrays of an MDP,
and what a policy does, gets into the exported models. Drawn problems may be trivial, so each test also counts those
that are not, and `some_of` picks budgets at which something changes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

import safear as sa
from compare import rows_of
from doors import EXCESS, highest_success, largest_spent, sweep_lanes, sweep_success, sweep_targets
from lanes import scaled
from safear.evaluation import evaluate_states
from small_problems import drawn_guesses
from strategies import problems

stormpy = pytest.importorskip("stormpy", "2.0", reason="stormpy is only needed here", exc_type=ImportError)
quantecon = pytest.importorskip("quantecon.markov", reason="QuantEcon is only needed here", exc_type=ImportError)

CLOSE = 1e-9
Floats: TypeAlias = NDArray[np.float64]
Check: TypeAlias = Callable[[sa.MDP], bool]  # fails, or says whether there was anything to get wrong


def starts_of(mdp: sa.MDP) -> list[int]:
    """Where runs may begin."""
    return [int(start) for start in mdp.starts]


def close(values: object) -> Any:
    return pytest.approx(values, rel=CLOSE, abs=CLOSE)


# ----------------------------------------------------------------------------------------------------- models in Storm


@dataclass(frozen=True, slots=True)
class At:
    """A run in a state; `step` and `spent` only where a model keeps them in mind."""

    state: int
    step: int = 0
    spent: int = 0


@dataclass(frozen=True, slots=True)
class Along:
    """A run on an edge, whose cost is paid as it is left: edges of one row may differ in cost and not in target."""

    edge: int
    step: int = 0
    spent: int = 0


Node: TypeAlias = At | Along | str  # ends have names: goal, failed
Rows: TypeAlias = Callable[[At], Iterable[int]]


class Move(NamedTuple):
    """One of the things that can be done at a node."""

    leads: Mapping[Node, Fraction]
    cost: int = 0  # in quanta
    steps: int = 0


@dataclass(frozen=True)
class Model:
    """A model in Storm; `starts` are numbers of its nodes."""

    storm: Any
    starts: Sequence[int]

    def ask(self, formula: str) -> list[Fraction]:
        """The answer for each start."""
        result = stormpy.model_checking(self.storm, stormpy.parse_property(formula), only_initial_states=True)
        return [Fraction(str(result.get_value(start))) for start in self.starts]


def export(mdp: sa.MDP, moves_at: Callable[[Node], list[Move]], *, chain: bool = False) -> Model:
    """What can be reached from where runs may begin; a node without moves is never left; ends are labels too.

    All starts are initial in one model: if parts of it are out of reach, Storm 2.0 fails on bounds of rewards.
    """
    starts = [enter(mdp, At(state)) for state in starts_of(mdp)]
    place = {start: number for number, start in enumerate(dict.fromkeys(starts))}
    groups: list[list[Move]] = []
    for node in (queue := list(place)):
        groups.append(moves_at(node) or [Move({node: Fraction(1)})])
        for target in (target for move in groups[-1] for target in move.leads if target not in place):
            place[target] = len(place)
            queue.append(target)
    moves = [move for group in groups for move in group]
    entries = [
        (row, place[target], stormpy.Rational(chance))
        for row, move in enumerate(moves)
        for target, chance in sorted(move.leads.items(), key=lambda lead: place[lead[0]])
    ]
    assert all(sum(move.leads.values()) == 1 for move in moves)
    first = np.cumsum([0, *map(len, groups[:-1])]).tolist()
    shape = {"rows": len(moves), "columns": len(place), "entries": len(entries)}
    if not chain:
        shape |= {"has_custom_row_grouping": True, "row_groups": len(place)}
    builder = stormpy.datastructures.SparseMatrixBuilder[stormpy.Rational](**shape)
    builder.add_next_values(*map(list, zip(*entries, strict=True)), [] if chain else first)
    labels = stormpy.models.StateLabeling(len(place))
    for label in ("init", "goal", "failed"):
        labels.add_label(label)
        if label in place:
            labels.add_label_to_state(label, place[label])
    for start in starts:
        labels.add_label_to_state("init", place[start])
    reward = stormpy.models.SparseRewardModel[stormpy.Rational]
    rewards = {
        name: reward(optional_state_action_reward_vector=[stormpy.Rational(getattr(move, name)) for move in moves])
        for name in ("cost", "steps")
    }
    components = stormpy.models.SparseModelComponents[stormpy.Rational](
        transition_matrix=builder.build(), state_labeling=labels, reward_models=rewards
    )
    kind = stormpy.models.SparseDtmc if chain else stormpy.models.SparseMdp
    return Model(kind[stormpy.Rational](components), [place[start] for start in starts])


def spread(mdp: sa.MDP, row: int, node: At) -> dict[Node, Fraction]:
    """The edges of a row with their chances, which are decimals, as such; what never happens is left out."""
    edges = range(*mdp.edge_start[row : row + 2].tolist())
    chances = {edge: Fraction(float(mdp.edge_chance[edge])).limit_denominator(10**8) for edge in edges}
    return {Along(edge, node.step, node.spent): chance for edge, chance in chances.items() if chance}


def all_rows(mdp: sa.MDP) -> Rows:
    return lambda node: range(*mdp.row_start[node.state : node.state + 2].tolist())


def enter(mdp: sa.MDP, node: At) -> Node:
    return "goal" if mdp.goal[node.state] else node


def timeless(mdp: sa.MDP) -> Model:
    """States and edges as they are; it is up to the formula what time and money there is."""

    def moves_at(node: Node) -> list[Move]:
        match node:
            case At():
                return [Move(spread(mdp, row, node), steps=1) for row in all_rows(mdp)(node)]
            case Along(edge):
                target = enter(mdp, At(int(mdp.edge_next[edge])))
                return [Move({target: Fraction(1)}, cost=int(mdp.edge_cost[edge]))]
            case _:
                return []

    return export(mdp, moves_at)


def unfolded(mdp: sa.MDP, rows: Rows, *, chain: bool = False, keep_spent: bool = False) -> Model:
    """States by step (and by what was spent): all runs end at the goal, or as failures that have paid for it."""

    def moves_at(node: Node) -> list[Move]:
        match node:
            case At(step=step):
                moves = [Move(spread(mdp, row, node), steps=1) for row in rows(node)] if step < mdp.horizon else []
                return moves or [Move({"failed": Fraction(1)}, cost=mdp.failure_cost)]
            case Along(edge, step, spent):
                cost = int(mdp.edge_cost[edge])
                target = At(int(mdp.edge_next[edge]), step + 1, spent + cost if keep_spent else 0)
                return [Move({enter(mdp, target): Fraction(1)}, cost=cost)]
            case _:
                return []

    return export(mdp, moves_at, chain=chain)


# ---------------------------------------------------------------------------------------------------------- the optima


def quantecon_means(mdp: sa.MDP) -> Floats:
    """The least mean of all states in quanta; who cannot act stays, and what has not arrived at the end pays."""
    staying = np.flatnonzero(np.diff(mdp.row_start) == 0)
    pair_state = np.concatenate([mdp.row_state, staying])
    order = np.argsort(pair_state, kind="stable")
    place = np.argsort(order)  # of each pair, once they are sorted by state
    chances = coo_matrix(
        (
            np.concatenate([mdp.edge_chance, np.ones(len(staying))]),
            (
                place[np.concatenate([mdp.edge_row, np.arange(mdp.n_rows, len(place))])],
                np.concatenate([mdp.edge_next, staying]),
            ),
        ),
        shape=(len(place), mdp.n_states),
    ).tocsr()
    costs = np.zeros(len(place))
    np.add.at(costs, place[mdp.edge_row], mdp.edge_chance * mdp.edge_cost)
    state = pair_state[order]
    action = np.arange(len(state)) - np.searchsorted(state, state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "infinite horizon", UserWarning)  # ours is finite
        decisions = quantecon.DiscreteDP(-costs, chances, 1.0, state, action)
    values, _ = quantecon.backward_induction(decisions, mdp.horizon, np.where(mdp.goal, 0.0, -float(mdp.failure_cost)))
    means: Floats = -values[0]
    return means


def check_means(mdp: sa.MDP) -> bool:
    starts = starts_of(mdp)
    rows = rows_of(mdp)
    storm = unfolded(mdp, lambda node: rows(node.state, node.step)).ask('R{"cost"}min=? [F ("goal" | "failed")]')
    ours = sa.solve(mdp, sa.Mean())
    expected = [float(mean * mdp.quantum) for mean in storm]
    assert ours.values[starts].tolist() == close(expected)
    plain = replace(mdp, stops=False)  # QuantEcon knows no step
    means = (quantecon_means(mdp)[starts] * float(mdp.quantum)).tolist()
    assert sa.solve(plain, sa.Mean()).values[starts].tolist() == close(means)
    _, lanes = sweep_lanes(mdp, sa.Mean(), mdp.goal[:, None])
    assert (lanes[starts, 0] * float(mdp.quantum)).tolist() == close(expected)
    return any(mean not in {0, mdp.failure_cost} for mean in storm)


def check_success(mdp: sa.MDP) -> bool:
    starts = starts_of(mdp)
    storm = timeless(mdp).ask(f'Pmax=? [F<={2 * mdp.horizon} "goal"]')  # a step is a state and an edge
    assert sweep_success(mdp)[0][starts].tolist() == close([float(chance) for chance in storm])
    plan = sa.solve(mdp, sa.SuccessFirst())
    for start, chance in zip(starts, storm, strict=True):
        assert sa.evaluate(plan, start).success == close(float(chance))
    return any(0 < chance < 1 for chance in storm)


def totals_of(mdp: sa.MDP) -> set[int]:
    """What runs that succeed after a step at least may have spent, in quanta."""
    found: set[int] = set()
    runs = {(state, 0) for state in starts_of(mdp)}
    for _ in range(mdp.horizon):
        rows = [(row, spent) for state, spent in runs for row in all_rows(mdp)(At(state))]
        edges = [(edge, spent) for row, spent in rows for edge in range(*mdp.edge_start[row : row + 2].tolist())]
        runs = {(int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])) for edge, spent in edges}
        found |= {spent for state, spent in runs if mdp.goal[state]}
    return found


def some_of(totals: Iterable[int]) -> set[int]:
    """The least, the largest and one between, and just below each."""
    rising = sorted(totals)
    places = {round(place) - 1 for place in np.geomspace(1, len(rising), 3)} if rising else set()
    return {max(rising[place] - less, 0) for place in places for less in (0, 1)}


def check_budgets(mdp: sa.MDP) -> bool:
    starts, model = starts_of(mdp), timeless(mdp)

    @cache
    def missed(budget: int) -> list[float]:
        """Storm's least chance not to get there with so many quanta."""
        if budget < 0:
            return [float(not mdp.goal[state]) for state in starts]
        formula = f'Pmax=? [F{{"steps"}}<={mdp.horizon},{{"cost"}}<={budget} "goal"]'
        return [float(1 - chance) for chance in model.ask(formula)]

    telling = False
    for budget in some_of(totals_of(mdp)):
        limit = budget * mdp.quantum
        ours = sa.solve(mdp, sa.Budget(float(limit)))
        # Where costs were rounded, the plan must do with less, and the bound allows for more.
        safe, loose = limit - mdp.cost_error, limit + mdp.cost_error
        expected = missed(math.floor(safe / mdp.quantum))
        assert ours.values[starts].tolist() == close(expected)
        assert ours.bounds[starts].tolist() == close(missed(math.floor(loose / mdp.quantum)))
        if safe >= 0:
            kept = [sa.evaluate(ours, start).success_within(float(safe)) for start in starts]
            assert [1 - chance for chance in kept] == close(expected)
        telling |= any(0 < chance < 1 for chance in expected)
    return telling


# ----------------------------------------------------------------------------------------------------- plans as chains


def followed(solution: sa.Solution) -> Rows:
    """The row of what a plan says, as its user would ask for it."""
    mdp = solution.mdp

    def rows(node: At) -> Iterator[int]:
        spent = float(node.spent * mdp.quantum)
        action = solution.policy.action(node.state, step=node.step, spent=spent)
        return (row for row in all_rows(mdp)(node) if mdp.actions[mdp.row_action[row]] == action)

    return rows


def check_greedy(mdp: sa.MDP) -> bool:
    starts = starts_of(mdp)
    telling = False
    for objective in (sa.MeanStd(0.5), sa.MeanStd(2), sa.MeanLowerStd(1)):
        solution = sa.solve(mdp, objective, method="greedy")
        model = unfolded(mdp, followed(solution), chain=True)
        chances = model.ask('P=? [F "goal"]')
        success = [float(chance) for chance in chances]
        means = [float(mean * mdp.quantum) for mean in model.ask('R{"cost"}=? [F ("goal" | "failed")]')]
        costs = [sa.evaluate(solution, start) for start in starts]
        assert [cost.success for cost in costs] == close(success)
        assert [cost.all_runs.mean for cost in costs] == close(means)
        if not mdp.depth.any():
            everywhere = evaluate_states(solution)
            assert everywhere.success.tolist() == close(success)
            assert everywhere.all_runs.mean.tolist() == close(means)
        telling |= any(0 < chance < 1 for chance in chances)
    return telling


def check_account(mdp: sa.MDP) -> bool:
    """Plans that look at what was spent, and the distributions of what they cost, for one person."""
    telling = False
    for objective in (sa.CVaR(0.8), sa.VaR(0.9)):
        solution = sa.solve(mdp, objective)
        model = unfolded(mdp, followed(solution), chain=True, keep_spent=True)
        cost = sa.evaluate(solution)
        with_failure = cost.failed_units + cost.failure_cost
        assert cost.success == close(float(*model.ask('P=? [F "goal"]')))
        for total in some_of({*cost.succeeded_units.tolist(), *with_failure.tolist()}):
            good = float(cost.succeeded_chances[cost.succeeded_units <= total].sum())
            bad = float(cost.failed_chances[with_failure <= total].sum())
            assert good == close(float(*model.ask(f'P=? [F{{"cost"}}<={total} "goal"]')))
            assert good + bad == close(float(*model.ask(f'P=? [F{{"cost"}}<={total} ("goal" | "failed")]')))
        telling |= solution.policy.looks_at_spent
    return telling


# ------------------------------------------------------------------------------------------------------------ the tests

CHECKS: dict[str, Check] = {
    "mean": check_means,
    "success": check_success,
    "budgets": check_budgets,
    "greedy": check_greedy,
    "account": check_account,
}
ONE_PERSON = "account"  # its plans begin with what one person should spend


def compiled(problem: sa.Problem, *, alone: bool) -> sa.MDP:
    """All states, or what one person can reach."""
    return sa.compile_mdp(problem, start=problem.default_person if alone else None)


@pytest.mark.parametrize("name", CHECKS)
def test_drawn_problems(name: str) -> None:
    telling = 0

    @settings(max_examples=scaled(60))
    @given(document=problems(), alone=st.just(True) if name == ONE_PERSON else st.booleans())
    def check(document: dict[str, Any], alone: bool) -> None:
        nonlocal telling
        telling += CHECKS[name](compiled(sa.parse_problem(document), alone=alone))

    check()
    assert telling > 0


@pytest.mark.parametrize("example", ["loan", "health-insurance"])
@pytest.mark.parametrize(
    "name, alone", [(name, alone) for name in CHECKS for alone in (False, True) if alone or name != ONE_PERSON]
)
def test_bundled_problems(name: str, alone: bool, example: str) -> None:
    telling = CHECKS[name](compiled(sa.load_example(example), alone=alone))
    assert telling == ((name, example) != ("success", "health-insurance"))  # there, everybody can be sure to succeed


# ------------------------------------------------------------------------------------------- against the worst chances

Loss: TypeAlias = Callable[[int, bool], float]  # of what was spent, and whether it led to a goal
Ends: TypeAlias = tuple[float, float]


def worst_loss(mdp: sa.MDP, loss: Loss) -> float:
    """The least expected loss at the worst chances, for losses between 0 and 1: each is a chance to come to "lost".

    The interval MDP is unfolded by step and by what was spent, with a node for every outcome, since two of them may
    lead to the same state.
    """
    rows = rows_of(mdp)

    def moves_at(node: Node) -> list[dict[Node, Ends]]:
        match node:
            case At(state, step, spent):
                acts = step < mdp.horizon and not mdp.goal[state]
                moves: list[dict[Node, Ends]] = [
                    {
                        Along(edge, step, spent): (float(mdp.edge_low[edge]), float(mdp.edge_high[edge]))
                        for edge in range(*mdp.edge_start[row : row + 2].tolist())
                    }
                    for row in (rows(state, step) if acts else [])
                ]
                share = loss(spent, bool(mdp.goal[state]))
                ends = {"lost": (share, share), "won": (1 - share, 1 - share)}
                return moves or [{end: pair for end, pair in ends.items() if pair[1] > 0}]
            case Along(edge, step, spent):
                target = At(int(mdp.edge_next[edge]), step + 1, spent + int(mdp.edge_cost[edge]))
                return [{target: (1.0, 1.0)}]
        return [{node: (1.0, 1.0)}]

    place: dict[Node, int] = {At(mdp.start): 0, "lost": 1}
    groups: list[list[dict[Node, Ends]]] = []
    for node in (queue := list(place)):
        groups.append(moves_at(node))
        for target in (target for move in groups[-1] for target in move if target not in place):
            place[target] = len(place)
            queue.append(target)
    moves = [move for group in groups for move in group]
    entries = [
        (row, place[target], stormpy.Interval(*ends))
        for row, move in enumerate(moves)
        for target, ends in sorted(move.items(), key=lambda lead: place[lead[0]])
    ]
    builder = stormpy.datastructures.SparseMatrixBuilder[stormpy.Interval](
        rows=len(moves), columns=len(place), entries=len(entries), has_custom_row_grouping=True, row_groups=len(place)
    )
    builder.add_next_values(*map(list, zip(*entries, strict=True)), np.cumsum([0, *map(len, groups[:-1])]).tolist())
    labels = stormpy.models.StateLabeling(len(place))
    for number, label in enumerate(("init", "lost")):
        labels.add_label(label)
        labels.add_label_to_state(label, number)
    components = stormpy.models.SparseModelComponents[stormpy.Interval](
        transition_matrix=builder.build(), state_labeling=labels
    )
    result = stormpy.model_checking(
        stormpy.models.SparseMdp[stormpy.Interval](components),
        stormpy.parse_property(f'Pmin=? [F<={2 * mdp.horizon + 1} "lost"]'),  # unbounded, no chance may be 0
        uncertainty_resolution_mode=stormpy.UncertaintyResolutionMode.ROBUST,
    )
    return float(result.get_value(0))


def losses_of(mdp: sa.MDP, target: int, most: int) -> dict[str, tuple[Loss, float]]:
    """Each as Storm is asked for it, and our own answer: at the end, and for budgets and targets of so many quanta."""

    def total(spent: int, won: bool) -> int:
        return spent if won else spent + mdp.failure_cost

    mean, budget = (sa.solve(mdp, one, robust=True).value for one in (sa.Mean(), sa.Budget(mdp.to_cost(target))))
    excess = sweep_targets(mdp, EXCESS, targets=(0.0, target + 1), chances="worst").score[mdp.start, -1]
    return {
        "success": (lambda _, won: float(not won), 1 - highest_success(mdp, robust=True)),
        "mean": (lambda spent, won: total(spent, won) / most, mean / float(mdp.quantum) / most),
        "budget": (lambda spent, won: float(not won or spent > target), budget),
        "excess": (lambda spent, won: max(total(spent, won) - target, 0) / most, float(excess) / most),
    }


def test_robust_optima_are_those_of_interval_mdps() -> None:
    """Success, mean, budget and expected excess over a target, of 200 random problems."""
    wide = 0
    for seed in range(200):
        problem = sa.parse_problem(drawn_guesses(seed, horizon=3))
        mdp = sa.compile_mdp(problem, start=problem.default_person)
        most = int(largest_spent(mdp)[mdp.start]) + mdp.failure_cost + 1
        for name, (loss, ours) in losses_of(mdp, most // 3, most).items():
            assert ours == pytest.approx(worst_loss(mdp, loss), abs=CLOSE), (seed, name)
        wide += mdp.has_intervals
    assert wide > 150
