"""Try a wheel as a stranger would: `try_wheel.py WHEEL REQUIREMENTS`, for `make test-dist`.

It is installed into an empty environment in a temporary folder, where no sources lie: first what the container gets,
with hashes, then the wheel alone. There the demo, a letter and an audit must work, and pip must find nothing missing.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def main(wheel: Path, requirements: Path) -> None:
    """Install it and use it."""
    with tempfile.TemporaryDirectory(prefix="safear-wheel-") as name:
        folder = Path(name)
        environment = folder / "environment"
        venv.create(environment, with_pip=True)
        programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
        # Neither sources of ours nor packages of somebody's own, and no compiler: only what was installed here.
        variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        variables["PATH"] = str(programs)

        def run(program: str, *arguments: str) -> str:
            done = subprocess.run(  # noqa: S603  # programs that were just installed
                [programs / program, *arguments],
                cwd=folder,
                env=variables,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            return done.stdout

        pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
        run("python", *pip, "install", "--no-compile", "--require-hashes", "--requirement", str(requirements))
        run("python", *pip, "install", "--no-compile", "--no-deps", str(wheel))
        run("python", *pip, "check")
        where = run("python", "-c", "import safear; print(safear.__file__)").strip()
        if not Path(where).is_relative_to(environment):
            sys.exit(f"safear was imported from {where}, not from the wheel")
        run("safear", "demo")
        run("safear", "recommend", "loan", "--report", "letter.html")
        audit = run("safear", "audit", "german", "--group", "gender")
        sys.stdout.write(f"{wheel.name}: {len(audit.splitlines())} lines of an audit\n")


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
