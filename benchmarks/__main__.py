"""`make bench`: all benchmarks, each in a process of its own, then one table, which `results.json` keeps."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import table

SCRIPTS = ("engines", "growth", "rollouts", "run", "menus", "personal", "records", "rows")


def main() -> None:
    """Run all, print one table."""
    table.RESULTS.unlink(missing_ok=True)  # what is kept is of one run
    for script in SCRIPTS:
        print(f"benchmarks.{script} ...", file=sys.stderr)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{script}"], check=False, stdout=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"benchmarks.{script} did not finish")
    print(table.lay_out(table.read()))


if __name__ == "__main__":
    main()
