"""The backward sweep beside Storm, QuantEcon and C: `python -m benchmarks.engines [REGIONS ...]`, on one core.

Ours minimises mean and deviation (G-RSVI), theirs the mean alone: neither has a risk objective. All of them must agree
on the mean before anything is timed. Storm and QuantEcon get the arrays of our compiled MDP; bringing these into the
form that both need (goals with a free action that leads back to them) is not timed. Their builds begin from there,
ours begins from the problem. The literal loop in C has the whole space as arrays, as Storm has; ours has families of
blocks. What the build for every processor gives is measured in a process of its own.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import stormpy
from benchmarks import table
from benchmarks.adult_shaped import adult_shaped
from benchmarks.literal import compile_sweep
from benchmarks.ours import Floats, ours_build, ours_solve, ours_values
from benchmarks.timing import once, side_by_side, use_one_core
from numpy.typing import NDArray
from quantecon.markov import DiscreteDP, backward_induction
from scipy.sparse import csr_matrix
from stormpy.datastructures import SparseMatrixBuilder
from stormpy.models import SparseMdp, SparseModelComponents, SparseRewardModel, StateLabeling

import safear as sa
from safear.solvers.sweep import aversion_of

AVERSION = 0.5
TOLERANCE, EXACT = 1e-9, 1e-12
MOST_OF_C = 3
STORM = f"Storm {stormpy.__version__}, mean only"
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """An MDP as pairs of a state and an action, as engines without final states want it: goals lead to themselves."""

    horizon: int
    first_pair: Whole  # by state
    state: Whole  # by pair, rising
    cost: Floats  # by pair: what is expected to be paid
    start: Whole  # by pair: its first edge, and one end more
    following: Whole  # by edge, rising within a pair
    chance: Floats


def pairs_of(mdp: sa.MDP) -> Pairs:
    """The pairs of an MDP; a failure costs nothing in it."""
    if mdp.failure_cost:
        sys.exit("the engines are given no cost of failing, but this problem has one")
    final = np.flatnonzero(np.diff(mdp.row_start) == 0)
    state = np.concatenate([mdp.row_state, final])
    order = np.argsort(state, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    cost = np.add.reduceat(mdp.edge_chance * mdp.edge_cost, mdp.edge_start[:-1]) * float(mdp.quantum)
    edge_pair = np.concatenate([place[mdp.edge_row], place[mdp.n_rows :]])
    following = np.concatenate([mdp.edge_next, final])
    edges = np.lexsort((following, edge_pair))
    return Pairs(
        mdp.horizon,
        np.searchsorted(state[order], np.arange(mdp.n_states)),
        state[order],
        np.concatenate([cost, np.zeros(len(final))])[order],
        np.searchsorted(edge_pair[edges], np.arange(len(order) + 1)),
        following[edges],
        np.concatenate([mdp.edge_chance, np.ones(len(final))])[edges],
    )


def storm_build(pairs: Pairs) -> Any:
    """Storm's sparse model; its builder takes lists, all entries in one call."""
    states, count = len(pairs.first_pair), len(pairs.state)
    builder = SparseMatrixBuilder[float](
        rows=count, columns=states, entries=len(pairs.following), has_custom_row_grouping=True, row_groups=states
    )
    rows = np.repeat(np.arange(count), np.diff(pairs.start))
    builder.add_next_values(rows.tolist(), pairs.following.tolist(), pairs.chance.tolist(), pairs.first_pair.tolist())
    rewards = SparseRewardModel[float](optional_state_action_reward_vector=pairs.cost.tolist())
    components = SparseModelComponents[float](
        transition_matrix=builder.build(), state_labeling=StateLabeling(states), reward_models={"cost": rewards}
    )
    return SparseMdp[float](components)


def parse_formula(pairs: Pairs) -> Any:
    """The least expected cost within the horizon."""
    return stormpy.parse_properties(f'R{{"cost"}}min=? [C<={pairs.horizon}]')[0]


def storm_solve(model: Any, formula: Any) -> Any:
    """The least expected cost of all states; for this formula Storm gives no policy, even if it is asked."""
    return stormpy.model_checking(model, formula)


def quantecon_build(pairs: Pairs) -> Any:
    """QuantEcon's decision problem in state-action pairs, undiscounted."""
    shape = (len(pairs.state), len(pairs.first_pair))
    chances = csr_matrix((pairs.chance, pairs.following, pairs.start), shape=shape)
    action = np.arange(len(pairs.state)) - pairs.first_pair[pairs.state]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "infinite horizon", UserWarning)  # ours is finite
        return DiscreteDP(-pairs.cost, chances, 1.0, pairs.state, action)


def literal_algorithm_1(mdp: sa.MDP, aversion: float) -> Floats:
    """G-RSVI as it is printed: loops over steps, states, actions and outcomes. The values in quanta."""
    values = [0.0 if goal else float(mdp.failure_cost) for goal in mdp.goal.tolist()]
    rows, edges = mdp.row_start.tolist(), mdp.edge_start.tolist()
    chance, cost, target = mdp.edge_chance.tolist(), mdp.edge_cost.tolist(), mdp.edge_next.tolist()
    for _ in range(mdp.horizon):
        later = values[:]
        for state in range(mdp.n_states):
            best = None
            for row in range(rows[state], rows[state + 1]):
                outcomes = [(chance[e], cost[e] + later[target[e]]) for e in range(edges[row], edges[row + 1])]
                mean = sum(p * x for p, x in outcomes)
                score = mean + aversion * math.sqrt(sum(p * (x - mean) ** 2 for p, x in outcomes))
                best = score if best is None or score < best else best
            if best is not None:
                values[state] = best
    return np.array(values)


def require_agreement(values: Mapping[str, Floats], tolerance: float = TOLERANCE) -> None:
    """Leave if two engines differ anywhere by more than the tolerance."""
    (reference, expected), *others = values.items()
    for name, found in others:
        apart = float(np.abs(found - expected).max())
        if not apart <= tolerance * max(1.0, float(np.abs(expected).max())):
            sys.exit(f"{name} and {reference} differ by {apart:g}; nothing was timed")


def compare_engines(regions: float) -> list[table.Record]:
    """Ours beside Storm and QuantEcon."""
    problem = adult_shaped(regions)
    mdp = sa.compile_mdp(problem)
    pairs = pairs_of(mdp)
    formula = parse_formula(pairs)
    built, model, decisions = ours_build(problem), storm_build(pairs), quantecon_build(pairs)
    require_agreement(
        {
            "ours": ours_values(problem, ours_solve(built, sa.Mean())),
            "Storm": np.array(storm_solve(model, formula).get_value_vector()),
            "QuantEcon": -backward_induction(decisions, pairs.horizon)[0][0],
        }
    )
    builds = side_by_side(
        {
            "ours": lambda: ours_build(problem),
            "Storm": lambda: storm_build(pairs),
            "QuantEcon": lambda: quantecon_build(pairs),
        },
        3,
    )
    solves = side_by_side(
        {
            "ours": lambda: ours_solve(built, sa.MeanStd(AVERSION)),
            "Storm": lambda: storm_solve(model, formula),
            "QuantEcon": lambda: backward_induction(decisions, pairs.horizon),
        },
        11,
    )
    size = f"{mdp.n_states:,} states"
    storm, quantecon = STORM, "QuantEcon, mean only"
    note = "theirs from our arrays, ours from the problem"
    return [
        table.compare(f"sweep, {size}, Storm", solves["ours"], storm, solves["Storm"], at_least=2),
        table.compare(f"sweep, {size}, QuantEcon", solves["ours"], quantecon, solves["QuantEcon"], at_least=3),
        table.compare(f"build, {size}, Storm", builds["ours"], storm, builds["Storm"], at_least=2, note=note),
        table.compare(f"build, {size}, QuantEcon", builds["ours"], quantecon, builds["QuantEcon"], note=note),
    ]


def beside_c(regions: float) -> list[table.Record]:
    """Ours beside the literal loop in C, on one thread; nothing where there is no compiler."""
    prepare = compile_sweep()
    if prepare is None:
        print("there is no gcc: nothing is measured beside C", file=sys.stderr)
        return []
    problem = adult_shaped(regions)
    mdp, built = sa.compile_mdp(problem), ours_build(problem)
    records = []
    for objective in (sa.Mean(), sa.MeanStd(AVERSION)):
        loop = prepare(mdp, aversion_of(objective))
        ours = ours_values(problem, ours_solve(built, objective))
        require_agreement({"ours": ours, "C": loop() * float(mdp.quantum)}, EXACT)
        taken = side_by_side({"ours": partial(ours_solve, built, objective), "C": loop}, 11)
        ratio = taken["C"] / taken["ours"]
        records.append(
            table.Record(
                f"sweep, {mdp.n_states:,} states, {objective}, C",
                taken["ours"],
                "a literal loop in C",
                taken["C"],
                ratio,
                f"at most {MOST_OF_C}x as long",
                ratio >= 1 / MOST_OF_C,
                "gcc -O3 -march=native, one thread, same values to 1e-12",
            )
        )
    return records


def without_avx2(regions: Sequence[float]) -> list[table.Record]:
    """The sweep of the build for every processor beside Storm."""
    records = []
    for size in regions:
        command = [sys.executable, "-m", "benchmarks.engines", "--storm-only", str(size)]
        setting = {"SAFEAR_CORE": "baseline"}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | setting)
        states, ours, storm = json.loads(done.stdout)
        name, note = f"sweep, {states:,} states, without AVX2, Storm", "ours built for every processor, Storm as it is"
        records.append(table.compare(name, ours, STORM, storm, at_least=None, note=note))
    return records


def time_storm(regions: float) -> tuple[int, float, float]:
    """How many states, and the seconds of our sweep and of Storm's."""
    problem = adult_shaped(regions)
    mdp, built = sa.compile_mdp(problem), ours_build(problem)
    pairs = pairs_of(mdp)
    formula, model = parse_formula(pairs), storm_build(pairs)
    solves = side_by_side(
        {"ours": lambda: ours_solve(built, sa.MeanStd(AVERSION)), "Storm": lambda: storm_solve(model, formula)}, 11
    )
    return mdp.n_states, solves["ours"], solves["Storm"]


def beside_algorithm_1() -> table.Record:
    """Ours beside the paper's algorithm in Python loops."""
    problem = adult_shaped()
    mdp, built = sa.compile_mdp(problem), ours_build(problem)
    found: list[Floats] = []
    loops = once(lambda: found.append(literal_algorithm_1(mdp, AVERSION)))
    ours = ours_values(problem, ours_solve(built, sa.MeanStd(AVERSION)))
    require_agreement({"ours": ours, "Algorithm 1 in loops": found[0] * float(mdp.quantum)})
    solve = side_by_side({"ours": lambda: ours_solve(built, sa.MeanStd(AVERSION))}, 11)["ours"]
    note = "the paper reports 23.12 s for Adult and 60.02 s for German on an M1 Max"
    return table.compare(f"sweep, {mdp.n_states:,} states, Algorithm 1", solve, "in Python loops", loops, note=note)


def main() -> None:
    """Check, time, add to the table."""
    use_one_core()
    if sys.argv[1:2] == ["--storm-only"]:
        print(json.dumps(time_storm(float(sys.argv[2]))))
        return
    records = []
    sizes = [float(argument) for argument in sys.argv[1:]] or [1, 10]
    for regions in sizes:
        records += [*compare_engines(regions), *beside_c(regions)]
        if regions == 1:
            records.append(beside_algorithm_1())
    records += without_avx2(sizes)
    table.add(records)
    print(table.lay_out(records))


if __name__ == "__main__":
    main()
