"""The public surface, and rules that hold for all of the code."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import safear as sa

SOURCE = Path(sa.__file__).parent
PACKAGES = ["safear", *sorted(f"safear.{path.parent.name}" for path in SOURCE.glob("*/__init__.pyi"))]
TOP = """
    Audit Budget CVaR Classifier CostDistribution Draft Entropic Fit InputError MDP Mean MeanCVaR MeanLowerStd MeanStd
    MeanVariance Menu Offer Plan Problem SafearError SavedPlan Sensitivity Solution SuccessFirst Terms Turn VaR
    __version__ as_classifier audit batch check_problem compare compile_mdp datasets draft_problem dump_problem evaluate
    fit_problem load_classifier load_example load_person load_plan load_problem load_terms parse_objective
    parse_problem plots recommend replan reports resume save_plan sensitivity simulate solve verify walk
"""


def test_what_stands_at_the_top() -> None:
    assert dir(sa) == TOP.split()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_documented(package: str) -> None:
    module = import_module(package)
    assert module.__doc__
    names = module.__all__
    assert names == sorted(set(names)) == dir(module)
    for name in names:
        value = getattr(module, name)
        assert name == "__version__" or value.__doc__, name


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_does_not_take_the_place_of_a_name(package: str) -> None:
    """A package's submodule, once imported, hides whatever else has its name."""
    folder = SOURCE.joinpath(*package.split(".")[1:])
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    shown = {"datasets", "plots", "reports"} if package == "safear" else set()
    assert modules & set(import_module(package).__all__) == shown


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'safear' has no attribute 'nothing_like_this'"):
        sa.nothing_like_this  # type: ignore[attr-defined]  # noqa: B018


def test_import_and_help_are_light() -> None:
    """What takes long to import is imported by those who need it."""
    code = (
        "import sys, safear\nsys.argv = ['safear', '--help']\n"
        "from safear.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n"
        "    print(*{'numpy', 'pandas', 'pydantic', 'rich', 'sklearn', 'yaml'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("Usage: ")
    assert done.stderr == "\n"


SMALL = [
    ["recommend", "loan"],
    ["recommend", "loan", "--objective", "mean-std:0.5", "--objective", "cvar:0.95"],
    ["check", "loan"],
    ["walk", "loan", "--plan", "safest", "--outcome", "fails"],
    ["recommend", "health-insurance", "--json"],  # the last one, since records are pydantic models
]


@cache
def run_small() -> tuple[str, list[str]]:
    """What some commands print, one after the other, and what is loaded after each."""
    code = f"""
import sys
from safear.cli.main import main
for arguments in {SMALL}:
    sys.argv = ["safear", *arguments]
    try:
        main()
    except SystemExit:
        heavy = {{"duckdb", "pandas", "pydantic", "scipy", "sklearn"}}
        print(*heavy & set(sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout, done.stderr.split("\n")


def test_small_problems_start_without_what_large_ones_need() -> None:
    printed, loaded = run_small()
    assert printed
    assert loaded == ["", "", "", "", "pydantic", ""]


def test_the_library_neither_prints_nor_asserts() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*assert ", text, re.MULTILINE), path
        assert not re.search(r"^\s*print\(", text, re.MULTILINE), path
        # DiCE draws from the global generators: that module seeds them around its call and puts their states back.
        assert "np.random.seed" not in text or path.name == "dice.py", path


def test_a_file_is_a_chapter_and_no_book() -> None:
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: size for name, size in sizes.items() if size > 700} == {}


# --------------------------------------------------------------------------------------------------------------- extras


def read_extras() -> dict[str, set[str]]:
    """The packages of each extra, whatever other extras it names, without versions."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    written: dict[str, list[str]] = project["project"]["optional-dependencies"]

    def resolve(name: str) -> set[str]:
        found: set[str] = set()
        for requirement in written[name]:
            others = re.fullmatch(r"safear\[(.*)\]", requirement)
            packages = (
                [resolve(other) for other in others[1].split(",")] if others else [{re.split(r"[>;]", requirement)[0]}]
            )
            found.update(*packages)
        return found

    return {name: resolve(name) for name in written}


def test_one_extra_has_everything_but_dice() -> None:
    extras = read_extras()
    others = [packages for name, packages in extras.items() if name not in {"all", "dice"}]
    assert extras["all"] == set.union(*others)


def test_every_extra_that_an_error_names_exists() -> None:
    named = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'MissingExtraError\("([\w-]+)", "(\w+)"\)', text))
        named |= set(re.findall(r'require_package\("[\w.]+", "([\w-]+)", "(\w+)"\)', text))
    assert {("lightgbm", "models"), ("skops", "skops"), ("urllib3", "http")} <= named
    assert {extra for _, extra in named} <= read_extras().keys()
