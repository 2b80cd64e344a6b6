"""`make soak`: the reliability run. Every part on all cores, then one table, which `results.json` keeps."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from soak import results
from soak.parts import PARTS, run_all

MINUTES = 11.0


def main() -> None:
    """Run, print, write; exit code 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"[default: all] {', '.join(p.name for p in PARTS)}")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long all of it may take, about")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6, help="[default: another one each time]")
    parser.add_argument("--most", type=int, help="no more than so many inputs or kills of each part: a short run")
    parser.add_argument(
        "--json", type=Path, help=f"write the record here [default: {results.RESULTS}, if all parts ran]"
    )
    parser.add_argument("--again", metavar="NAME", help="read one broken input again, by the name that was told")
    chosen = parser.parse_args()
    if chosen.again:
        import_module("soak.readers").read_again(chosen.again)  # which takes a while to import
        return
    names = chosen.parts or [part.name for part in PARTS]
    if unknown := [name for name in names if name not in {part.name for part in PARTS}]:
        parser.error(f"no such part: {', '.join(unknown)}")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1"}  # processes that fork must have no threads
    folder = Path(tempfile.mkdtemp(prefix="soak-found-"))
    began = time.monotonic()
    counts = run_all(names, chosen.minutes, chosen.seed, folder=folder, most=chosen.most)
    print(results.lay_out(counts))
    for count in counts:
        for failure in count.failures:
            print(f"\n{failure.what}: {failure.told}\n    {failure.again}")
    target = chosen.json or (None if chosen.parts or chosen.most else results.RESULTS)
    if target is not None:
        results.write(counts, target, seed=chosen.seed, minutes=round((time.monotonic() - began) / 60, 1))
    if target == results.RESULTS:
        results.show(counts)
    if any(folder.iterdir()):
        print(f"\nInputs that broke something are in {folder}")
    else:
        folder.rmdir()
    sys.exit(any(count.broken for count in counts))


if __name__ == "__main__":
    main()
