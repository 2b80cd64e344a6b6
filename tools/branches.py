"""Print the share of branches that tests take, out of `coverage json`; fail if a package that computes is below 95%."""

import json
import sys
from collections import Counter
from pathlib import Path

COMPUTING = ("core", "problem", "mdp", "risk", "evaluation", "solvers", "recourse")
LEAST = 0.95

there, taken = Counter[str](), Counter[str]()
for name, file in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["files"].items():
    package = Path(name).parent.name
    there[package] += file["summary"]["num_branches"]
    taken[package] += file["summary"]["covered_branches"]
shares = {package: taken[package] / there[package] for package in COMPUTING}
for package, share in shares.items():
    print(f"{package}: {share:.1%} of {there[package]} branches")
sys.exit(min(shares.values()) < LEAST)
