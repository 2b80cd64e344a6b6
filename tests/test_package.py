"""The public surface, and rules that hold for all of the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
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


@pytest.mark.parametrize(
    "arguments",
    [
        ["recommend", "loan"],
        ["recommend", "loan", "--objective", "mean-std:0.5", "--objective", "cvar:0.95"],
        ["recommend", "health-insurance", "--json"],
        ["check", "loan"],
        ["walk", "loan", "--plan", "safest", "--outcome", "fails"],
    ],
    ids=" ".join,
)
def test_small_problems_start_without_what_large_ones_need(arguments: list[str]) -> None:
    """Compiled code takes longer to load than a small problem takes to solve. The answers are the same."""
    code = (
        "import sys\nfrom safear.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n"
        "    heavy = {'duckdb', 'numba', 'pandas', 'pydantic', 'scipy', 'sklearn'}\n"
        "    print(*heavy & set(sys.modules), file=sys.stderr)"
    )
    done = [
        subprocess.run([sys.executable, "-c", before + code, *arguments], check=True, capture_output=True, text=True)
        for before in ("", "import numba\n")
    ]
    assert done[0].stderr == ("pydantic\n" if "--json" in arguments else "\n")  # records are pydantic models
    # What is added up in another order may differ in the last digits, which only JSON shows.
    plain, compiled = (re.sub(r"\d\.\d+", lambda number: f"{float(number[0]):.10f}", one.stdout) for one in done)
    assert plain == compiled != ""


def test_the_library_neither_prints_nor_asserts() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*assert ", text, re.MULTILINE), path
        assert not re.search(r"^\s*print\(", text, re.MULTILINE), path
        # DiCE draws from the global generators: that module seeds them around its call and puts their states back.
        assert "np.random.seed" not in text or path.name == "dice.py", path


def test_files_stay_small() -> None:
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: size for name, size in sizes.items() if size > 420} == {}


def test_no_name_stands_for_two_things() -> None:
    """Modules, classes and functions; the commands are named after what they call."""
    paths = [path for path in SOURCE.rglob("*.py") if path.parent.name != "cli" and path.stem != "__init__"]
    bodies = [ast.parse(path.read_text(encoding="utf-8")).body for path in paths]
    defined = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for names in ([path.stem for path in paths], [node.name for node in defined if not node.name.startswith("_")]):
        assert [name for name, count in Counter(names).items() if count > 1] == []


TESTS = Path(__file__).parent
ABOUT = {  # tests that are about no single module
    "test_bookkeeping.py": "hidden features through every entrance",
    "test_container.py": "container/requirements.txt",
    "test_documents.py": "the README, the docs and the examples",
    "test_oracle.py": "tests/oracle.py",
    "test_package.py": "all of the code",
    "test_promises_kept.py": "raw applications and real models: examples/german_credit",
    "test_encodings.py": "readers of every kind, with files as other programs save them",
    "test_large_inputs.py": "readers of every kind, with inputs of any size and depth",
    "test_missing_values.py": "empty cells through every entrance",
    "test_reach_verdicts.py": "a published set of actions: examples/reach",
    "test_service_account.py": "a package that is run by another user than the one who installed it",
    "test_same_bytes.py": "results on other machines",
    "test_strategies.py": "tests/strategies.py",
    "datasets/test_embed_data.py": "tools/embed_data.py",
    "datasets/test_presets.py": "the problems of the data sets",
    "plots/test_pictures.py": "what all pictures have in common",
    "plots/test_saving.py": "pictures as files",
    "population/test_same_answer.py": "one person through every entrance",
    "problem/test_wordings.py": "every mistake's whole text",
    "reports/test_printing.py": "pages on paper and on a phone, in a real browser",
    "soak/test_judging.py": "soak/judging.py",
    "soak/test_load.py": "soak/load.py",
    "soak/test_parts.py": "every part of soak/",
    "soak/test_readers.py": "soak/readers.py",
    "soak/test_results.py": "soak/results.py and docs/reliability.md",
    "solvers/test_engines.py": "other people's engines on exported models",
    "texts/test_one_voice.py": "no English outside the catalogue",
    "web/test_journey.py": "the whole way of a person through the page",
    "test_margins.py": "who is rejected, and what plans are made for",
    "web/test_browser.py": "the pages in a real browser",
    "web/test_privacy.py": "what no part of the server may keep",
    "web/test_schema.py": "the OpenAPI document against the server",
}


def test_tests_mirror_modules() -> None:
    """`mdp/test_slices.py` is about `mdp/slices.py`; `cli/test_audit_report.py` is about `cli/audit.py` too.

    The tests of a picture are named after the picture.
    """
    found = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    stray = set()
    for name in found:
        folder, _, file = name.rpartition("/")
        words = file.removesuffix(".py").split("_")[1:]
        homes = ["_".join(words[:count]) for count in range(1, len(words) + 1)] + ["_".join([*words, "picture"])]
        if not any((SOURCE / folder / f"{home}.py").is_file() for home in homes):
            stray.add(name)
    assert stray == set(ABOUT)


# --------------------------------------------------------------------------------------------------------------- extras


def read_extras() -> dict[str, set[str]]:
    """The packages of each extra, whatever other extras it names, without versions."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
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
