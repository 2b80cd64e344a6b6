"""How the sweep grows with the space: `python -m benchmarks.growth`, from 11,520 to 57.6 million states.

Each size in a process of its own, for its memory: all plans are kept, a byte per state and step.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks import table
from benchmarks.adult_shaped import adult_shaped
from benchmarks.ours import ours_build, ours_solve
from benchmarks.timing import once, seconds, use_one_core

import safear as sa
from safear.mdp import Family, compile_families
from safear.population.family_figures import FamilySolution, solve_family
from safear.threads import work_ahead

REGIONS = (0.2, 1, 10, 100, 1000)
HAND_WRITTEN = 2.2e-9  # seconds per state and step: a constant from SPEED.md (AVX2 in C, another machine)
MOST_GROWTH = 1.5
MOST_GIGABYTES = 3


def measure(regions: float) -> dict[str, Any]:
    """The sweep per state and step, warm, on one core; and the whole way from the problem, with its memory."""
    objective = sa.MeanStd(0.5)
    problem = adult_shaped(regions)
    ours_solve(ours_build(adult_shaped()), objective)  # compiled code is loaded
    plans: list[FamilySolution] = []
    total = once(lambda: plans.extend(solve_all(problem, objective)))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    use_one_core()
    families = [part.family for part in plans]
    states = sum(part.planned.size for part in plans)
    plans.clear()
    sweep = seconds(lambda: sweep_all(families, objective), 9 if regions < 100 else 1)
    return {"states": states, "sweep": sweep, "total": total, "memory": memory}


def solve_all(problem: sa.Problem, objective: sa.MeanStd) -> Iterator[FamilySolution]:
    """The plans of all states, family by family, as an audit finds them."""
    return work_ahead(lambda family: solve_family(family, objective), compile_families(problem, max_bytes=None))


def sweep_all(families: list[Family], objective: sa.MeanStd) -> None:
    """The sweep alone; what it finds is not kept."""
    for family in families:
        solve_family(family, objective)


def main() -> None:
    """Measure all sizes, add to the table."""
    found = []
    for regions in REGIONS:
        run = [sys.executable, "-m", "benchmarks.growth", str(regions)]
        found.append(json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout))
    records = []
    common = next(size for size in found if size["states"] == 57_600)
    first = common["sweep"] / common["states"] / 12
    for size in found:
        each, name = size["sweep"] / size["states"] / 12, f"{size['states']:,} states"
        gigabytes = size["memory"] / 1e9
        records.append(
            table.Record(
                f"a state and step of the sweep, {name}",
                each,
                "with 57,600 states",
                first,
                first / each,
                f"at most {MOST_GROWTH}x as long" if size["states"] > common["states"] else None,
                each <= MOST_GROWTH * first if size["states"] > common["states"] else None,
            )
        )
        note = "from the problem to all plans, two threads"
        goal = f"< {MOST_GIGABYTES} GB" if size is found[-1] else None
        records.append(
            table.Record(
                f"all plans, {name}",
                size["total"],
                goal=goal,
                met=None if goal is None else gigabytes < MOST_GIGABYTES,
                note=note,
                memory_gb=gigabytes,
            )
        )
    most = 5 * HAND_WRITTEN
    records.append(
        table.Record(
            "a state and step of the sweep",
            first,
            "AVX2 by hand (SPEED.md)",
            HAND_WRITTEN,
            HAND_WRITTEN / first,
            f"<= {table.in_words(most)}",
            first <= most,
            "theirs is a constant, measured on another machine",
        )
    )
    table.add(records)
    print(table.lay_out(records))


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(float(sys.argv[1]))))
    else:
        main()
