"""What planning for the worst chances costs: the robust target sweep beside the nominal one, and whole solves.

`python -m benchmarks.robust` prints a table. Every chance of a problem becomes an interval of 0.1 to both sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.adult_shaped import adult_shaped
from benchmarks.timing import seconds, side_by_side, use_one_core

import safear as sa
from safear.mdp import compile_families
from safear.mdp.arrays import MDP
from safear.mdp.ground import restrict
from safear.solvers.targets import EXCESS, sweep_targets

WIDTH = 0.1
COLUMNS = 64


def widen(mdp: MDP) -> MDP:
    """The MDP with intervals around all chances but those of certain outcomes."""
    open_ = np.diff(mdp.edge_start)[mdp.edge_row] > 1
    low, high = np.clip(mdp.edge_chance - WIDTH, 0.0, 1.0), np.clip(mdp.edge_chance + WIDTH, 0.0, 1.0)
    return replace(
        mdp, edge_low=np.where(open_, low, mdp.edge_chance), edge_high=np.where(open_, high, mdp.edge_chance)
    )


def main() -> None:
    """Measure and print."""
    use_one_core()
    family = next(iter(compile_families(adult_shaped())))
    block = widen(family.block(0))
    times = side_by_side(
        {
            name: lambda name=name: sweep_targets(block, EXCESS, targets=(0.0, COLUMNS), chances=name)  # type: ignore[misc]
            for name in ("nominal", "worst")
        }
    )
    print("| | nominal | robust | times |\n|---|---:|---:|---:|")
    rows = [(f"a target sweep, {block.n_states:,} states, {COLUMNS} targets", times["nominal"], times["worst"])]
    people = {"loan": restrict_to_first(sa.load_example("loan"))}
    people["one of the block"] = widen(restrict(block, int(np.flatnonzero(~block.goal)[0])).mdp)
    for name, mdp in people.items():
        for objective in (sa.Mean(), sa.CVaR(0.95)):
            plain, robust = (
                seconds(lambda mdp=mdp, objective=objective, flag=flag: sa.solve(replace(mdp), objective, robust=flag))  # type: ignore[misc]
                for flag in (False, True)
            )
            rows.append((f"{objective}, {name}, {mdp.n_states:,} states", plain, robust))
    for what, plain, robust in rows:
        print(f"| {what} | {plain * 1e3:.2f} ms | {robust * 1e3:.2f} ms | {robust / plain:.1f} |")


def restrict_to_first(problem: sa.Problem) -> MDP:
    """What its first person can reach, with intervals."""
    return widen(sa.compile_mdp(problem, start=problem.default_person))


if __name__ == "__main__":
    main()
