"""Print the oldest versions that pyproject.toml allows, one `name==version` a line, for `make test-oldest`."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
requirements = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
for requirement in requirements:
    match = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if match is None:
        sys.exit(f"pyproject.toml: '{requirement}' has no lower bound of the form name>=version")
    sys.stdout.write(f"{match[1]}=={match[2]}\n")
