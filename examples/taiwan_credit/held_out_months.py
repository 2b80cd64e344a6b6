"""Do chances that were fitted on early months hold in later ones? As it is, on payment status from month to month.

`python -m examples.taiwan_credit.held_out_months` fits status.yaml on logs drawn from April to July of one half of the
clients, and prints how many of the intervals hold the share among the other half: in the same months, from July to
August, and from August to September. A month of being late is an attempt to catch up, a month with the minimum paid an
attempt to pay in full: natural changes, not the effects of advice.

With `--log FILE.csv` it writes all attempts to a file, for `safear fit examples/taiwan_credit/status.yaml FILE.csv`.
"""

from __future__ import annotations

import argparse
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

import safear as sa
from safear.fitting import FitEntry

FOLDER = Path(__file__).parent
PROBLEM, CLIENTS = FOLDER / "status.yaml", FOLDER / "clients.csv.gz"
MONTHS = {"PAY_6": "2005-04", "PAY_5": "2005-05", "PAY_4": "2005-06", "PAY_3": "2005-07", "PAY_2": "2005-08"} | {
    "PAY_0": "2005-09"
}
EARLY = ("2005-04", "2005-05", "2005-06")  # the month before the change
TESTS = {"same months": EARLY, "July to August": ("2005-07",), "August to September": ("2005-08",)}
SIZES = {300: 60, 3_000: 20, None: 1}  # attempts in a log (None: all), and how many logs
ENOUGH = 200  # attempts that a share needs to be tested against


def read_attempts(clients: pd.DataFrame) -> pd.DataFrame:
    """Each client's months as attempts, with the state before."""
    parts = []
    for before, after in zip(list(MONTHS)[:-1], list(MONTHS)[1:], strict=True):
        status = pd.cut(clients[before], [-np.inf, -0.5, 0.5, np.inf], labels=["cleared", "minimum paid", "late"])
        action = status.map({"late": "catch up", "minimum paid": "pay in full"})
        worked = np.where(status == "late", clients[after] <= 0, clients[after] < 0)
        part = pd.DataFrame({"person": clients["ID"], "date": f"{MONTHS[before]}-01", "action": action})
        part = part.assign(worked=worked, status=status, limit=clients["LIMIT_BAL"], age=clients["AGE"])
        parts.append(part[status != "cleared"])
    return pd.concat(parts, ignore_index=True)


def chances(log: pd.DataFrame) -> dict[tuple[str | int, ...], FitEntry]:
    """The fitted chances by their place."""
    fit = sa.fit_problem(sa.load_problem(PROBLEM), log)
    return {entry.place: entry for entry in fit.entries if entry.is_chance}


def measure(attempts: pd.DataFrame, *, size: int | None, logs: int, seed: int = 0) -> dict[str, tuple[int, int]]:
    """How many intervals hold the share among other clients, of how many, for each test."""
    rng = np.random.default_rng(seed)
    clients = attempts["person"].unique()
    mine = attempts["person"].isin(rng.permutation(clients)[: len(clients) // 2])
    month = attempts["date"].str[:7]
    source = attempts[mine & month.isin(EARLY)].drop(columns="date")
    truths = {name: chances(attempts[~mine & month.isin(months)]) for name, months in TESTS.items()}
    held = dict.fromkeys(TESTS, 0)
    tested = dict.fromkeys(TESTS, 0)
    for _ in range(logs):
        log = source if size is None else source.iloc[rng.choice(len(source), size, replace=False)]
        fitted = chances(log)
        for name, truth in truths.items():
            for place, entry in fitted.items():
                if truth[place].n >= ENOUGH:
                    tested[name] += 1
                    held[name] += entry.after.low <= Decimal(truth[place].after.nominal) <= entry.after.high
    return {name: (held[name], tested[name]) for name in TESTS}


def tell(attempts: pd.DataFrame, size: int | None, logs: int, *, seed: int = 0) -> str:
    """A row of the table."""
    found = measure(attempts, size=size, logs=logs, seed=seed)
    cells = [f"{held / tested:.0%} of {tested}" for held, tested in found.values()]
    return f"| {'all' if size is None else size} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table, or write the attempts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--log", type=Path, metavar="FILE.csv", help="write all attempts to a file, and do no more")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    attempts = read_attempts(pd.read_csv(CLIENTS))
    if options.log is not None:
        attempts.to_csv(options.log, index=False)
        return
    print(f"| attempts in a log | {' | '.join(TESTS)} |\n|---:|{'---:|' * len(TESTS)}")
    for size, logs in SIZES.items():
        print(tell(attempts, size, logs, seed=options.seed))


if __name__ == "__main__":
    main()
