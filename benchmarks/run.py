"""`make bench`: how long starting, sweeping and exact optima take, beside the literal Algorithm 1, in one run.

Ratios say more than seconds: machines differ and are noisy. Nothing here is asserted by the tests.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import safear as sa
from safear.recourse.population import group_people

PROBLEM = {
    "safear": 1,
    "title": "Adult-shaped",
    "horizon": 12,
    "features": {
        "age": {"kind": "ordinal", "levels": [0, 1, 2, 3, 4, 5], "actionable": False},
        "education": {"kind": "ordinal", "levels": [0, 1, 2, 3, 4]},
        "hours": {"kind": "ordinal", "levels": [0, 1, 2, 3]},
        "work": {"kind": "nominal", "levels": ["gov", "self", "private", "other"]},
        "job": {"kind": "nominal", "levels": ["prof", "white", "service", "blue", "sales", "other"]},
        "marital": {"kind": "nominal", "levels": [0, 1, 2, 3, 4], "mutable": False},
        "race": {"kind": "nominal", "levels": [0, 1], "mutable": False},
        "gender": {"kind": "nominal", "levels": [0, 1], "mutable": False},
    },
    "actions": {
        "improve education": {
            "cost": 2,
            "when": "education < 4",
            "chance": {"education": {"1": 1, "2": 0.9, "3": 1, "4": 0.8}},
            "change": {"education": "+1", "age": "+1"},
        },
        "more hours": {"cost": 0.8, "change": {"hours": "+1"}},
        "work gov": {"cost": 1.1, "chance": 0.7, "change": {"work": "gov"}},
        "work self": {"cost": 1.0, "chance": 0.5, "change": {"work": "self"}},
        "work private": {"cost": 1.2, "chance": 0.9, "change": {"work": "private"}},
        "job prof": {"cost": 1.0, "chance": 0.5, "change": {"job": "prof"}},
        "job white": {"cost": 1.0, "chance": 0.5, "change": {"job": "white"}},
    },
    "classifier": {"rule": "education >= 3 and hours >= 2 or job == prof and education >= 2 and age >= 3"},
}


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The median time of some runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run_python(*arguments: str) -> Callable[[], object]:
    """A Python process with these arguments."""
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def literal_algorithm_1(mdp: sa.MDP, aversion: float) -> float:
    """G-RSVI as it is printed: loops over steps, states, actions and outcomes. The value of state 0."""
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
                score = mean + aversion * sum(p * (x - mean) ** 2 for p, x in outcomes) ** 0.5
                best = score if best is None or score < best else best
            if best is not None:
                values[state] = best
    return values[0]


def main() -> None:
    """Print the table."""
    bare = seconds(run_python("-c", "pass"))
    for name, work, goal in (
        ("import safear", run_python("-c", "import safear"), 0.5),
        ("safear --help", run_python("-m", "safear", "--help"), 0.3),
        ("safear recommend loan --json", run_python("-m", "safear", "recommend", "loan", "--json"), None),
    ):
        taken = seconds(work)
        wanted = "" if goal is None else f"  goal {goal} s: {'met' if taken < goal else 'MISSED'}"
        print(f"{name:32} {taken:6.3f} s  {taken / bare:5.1f} x an empty Python{wanted}")

    problem = sa.parse_problem(PROBLEM)
    mdp = sa.compile_mdp(problem)
    sweep = seconds(lambda: sa.solve(mdp, sa.MeanStd(0.5), method="greedy"))
    start = time.perf_counter()
    value = literal_algorithm_1(mdp, 0.5)
    loops = time.perf_counter() - start
    ours = sa.solve(mdp, sa.MeanStd(0.5), method="greedy").planned[0] / float(mdp.quantum)
    if not np.isclose(value, ours):
        sys.exit(f"the two sweeps disagree: {value} and {ours}")
    print(f"{'compile, 57,600 states':32} {seconds(lambda: sa.compile_mdp(problem)):6.3f} s")
    print(f"{'greedy sweep, 57,600 states':32} {sweep:6.3f} s  {loops / sweep:5.1f} x faster than Algorithm 1 in loops")
    everybody = sa.evaluate_states(sa.solve(next(iter(sa.compile_blocks(problem))), sa.MeanStd(0.5), method="greedy"))
    print(f"{'one block of 2,880 states':32} {len(everybody.success):,} exact distributions")
    menus()
    population()


def menus(people: int = 200) -> None:
    """Menus of rejected people of Adult, warm: from the record to named plans with exact figures."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    rejected = np.flatnonzero(~forest.favourable(sa.Inputs(adult.problem.features, adult.codes)))
    rng = np.random.default_rng(0)
    times, plans = [], []
    for row in rng.choice(rejected, people, replace=False):
        person = adult.levels.iloc[row].to_dict()
        start = time.perf_counter()
        try:
            menu = sa.menu(adult.problem, forest, person)
        except sa.NoRecourseError:
            continue
        times.append(time.perf_counter() - start)
        plans.append(len(menu.frontier))
    times, plans = times[5:], plans[5:]  # the first ones are not warm
    median, late, longest = np.quantile(times, [0.5, 0.95, 1.0])
    goal = f"goal 0.15 s: {'met' if late < 0.15 else 'MISSED'} by 95 in 100"
    print(
        f"{'menu of one person (Adult)':32} {median:6.3f} s  95% {late:.3f} s, longest {longest:.3f} s, "
        f"{np.mean(plans):.1f} optimal plans each  {goal}"
    )


def population() -> None:
    """The exact optimum of CVaR(0.95) for all whom the forest rejects, on two threads, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "population"], check=True, capture_output=True, text=True)
    print(done.stdout, end="")


def solve_population() -> None:
    """What `population` runs: blocks, sweeps, exact figures; then time and memory."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    codes = adult.codes[~forest.favourable(sa.Inputs(adult.problem.features, adult.codes))]
    start = time.perf_counter()
    blocks = group_people(adult.problem, forest, codes)
    with ThreadPoolExecutor(2) as pool:
        solutions = list(pool.map(lambda block: sa.solve(block.mdp, sa.CVaR(0.95)), blocks))
        exact = list(pool.map(sa.evaluate_states, solutions))
    taken = time.perf_counter() - start
    counts = [len(block.people) for block in blocks]
    value = sum(float(s.values[b.states].sum()) for s, b in zip(solutions, blocks, strict=True)) / sum(counts)
    success = sum(float(e.success[b.states].sum()) for e, b in zip(exact, blocks, strict=True)) / sum(counts)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    met = "met" if taken < 60 and memory < 4 else "MISSED"
    print(
        f"{'CVaR(0.95) of all Adult, optimal':32} {taken:6.3f} s  {sum(counts):,} people, {memory:.2f} GiB, mean value "
        f"{value:.3f}, success {success:.4f}  goal 60 s, 4 GiB: {met}"
    )


if __name__ == "__main__":
    solve_population() if sys.argv[1:] == ["population"] else main()
