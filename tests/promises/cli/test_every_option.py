"""Every option of every command is given through the program, and has the effect that it has in Python."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import safear as sa
from calls import COMMANDS, commands_with, options_of, run
from crowds import part_bytes
from promises.cli.conftest import Safear
from safear.datasets import load
from small_problems import GUESS

PROBLEM = GUESS.replace("horizon: 6", "horizon: 8")  # in which simple plans are not the best ones
BANK = """\
import time

def score(frame):
    return frame["skill"].map({"low": 0.1, "mid": 0.6, "high": 0.95}).astype(float)

def hang(frame):
    time.sleep(3)
"""


@pytest.fixture(autouse=True)
def guess(safear: Safear, tmp_path: Path) -> sa.Problem:
    """A problem with a model, people, somebody's terms and a plan."""
    assert safear is not None  # it has changed into the directory
    texts = {"guess.yaml": PROBLEM, "bank.py": BANK, "people.csv": "skill\nlow\nmid\nhigh\n"}
    texts |= {"me.json": '{"skill": "mid"}', "terms.yaml": "actions: {learn: {cost: 2.5}}\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    problem = sa.load_problem("guess.yaml")
    sa.save_plan(sa.recommend(problem, objectives="mean")[0], "plan.json")
    return problem


# --------------------------------------------------------------------------------------------------- about one person

Asked = dict[str, Any]  # what `recommend` of the library is given


def set_goal(problem: sa.Problem, **changes: Any) -> sa.Problem:
    return replace(problem, goal=replace(problem.goal, **changes))


def by_score(problem: sa.Problem, **changes: Any) -> Asked:
    problem = set_goal(problem, **changes)
    return {"problem": problem, "classifier": sa.load_classifier("bank.py:score", problem)}


MEAN, SCORE = ("--objective", "mean"), ("--classifier", "bank.py:score")
PERSONAL: dict[str, tuple[tuple[str, ...], Callable[[sa.Problem], Asked]]] = {
    "--person": (("--person", "me.json"), lambda _: {"person": {"skill": "mid"}}),
    "--row": (("--person", "people.csv", "--row", "2"), lambda _: {"person": {"skill": "mid"}}),
    "--terms": (("--terms", "terms.yaml"), lambda problem: {"terms": sa.load_terms("terms.yaml", problem)}),
    "--forbid": (("--forbid", "learn"), lambda _: {"terms": sa.Terms.of(forbid=("learn",))}),
    "--objective": (MEAN, lambda _: {"objectives": "mean"}),
    "--method": (
        ("--objective", "mean-std:1", "--method", "greedy"),
        lambda _: {"objectives": "mean-std:1", "method": "greedy"},
    ),
    "--level": (
        ("--horizon", "6", "--level", "0.5"),
        lambda problem: {"problem": problem.with_horizon(6), "level": 0.5},
    ),
    "--robust": (("--objective", "cvar:0.9", "--robust"), lambda _: {"objectives": "cvar:0.9", "robust": True}),
    "--exact": (("--most", "1", "--exact"), lambda _: {"most": 1, "exact": True}),
    "--simple": ((*MEAN, "--simple"), lambda _: {"objectives": "mean", "exact": False}),
    "--most": (
        ("--horizon", "6", "--most", "1"),
        lambda problem: {"problem": problem.with_horizon(6), "most": 1},
    ),
    "--classifier": (SCORE, by_score),
    "--threshold": ((*SCORE, "--threshold", "0.9"), lambda problem: by_score(problem, threshold=0.9)),
    "--horizon": (("--horizon", "4"), lambda problem: {"problem": problem.with_horizon(4)}),
    "--failure-cost": (
        ("--failure-cost", "5"),
        lambda problem: {"problem": set_goal(problem, failure_cost=Decimal(5))},
    ),
}


def walk(safear: Safear, words: tuple[str, ...]) -> str:
    return run(safear, "walk", "guess.yaml", *words).partition("\n")[2]


def resume(safear: Safear, words: tuple[str, ...]) -> str:
    """A new menu before the first step is that of `recommend`."""
    told = run(safear, "resume", "plan.json", "--menu", "--problem", "guess.yaml", "--changed", "--json", *words)
    return str([(plan["first_action"], plan["success"], plan["value"]) for plan in json.loads(told)["menu"]["plans"]])


def sensitivity(safear: Safear, words: tuple[str, ...]) -> str:
    run(safear, "sensitivity", "guess.yaml", "--tolerance", "0.1", "--out", "found.svg", *words)
    return Path("found.svg").read_text(encoding="utf-8")


def plot(safear: Safear, words: tuple[str, ...]) -> str:
    run(safear, "plot", "cdf", "guess.yaml", "--out", "found.svg", *words)
    return Path("found.svg").read_text(encoding="utf-8")


def examine(menu: sa.Menu, asked: Asked) -> str:
    known = {name: value for name, value in asked.items() if name != "most"}
    plan = None if "objectives" in asked else menu[0].name
    return sa.plots.tornado(sa.sensitivity(**known, plan=plan, tolerance=0.1)[0]).svg


ABOUT_PERSONS: dict[str, tuple[Callable[..., str], Callable[[sa.Menu, Asked], str]]] = {
    "walk": (walk, lambda menu, _: f"{sa.walk(menu[0], [])}\n"),
    "resume": (resume, lambda menu, _: str([(one.first_action, one.cost.success, one.value) for one in menu])),
    "sensitivity": (sensitivity, examine),
    "plot": (plot, lambda menu, _: sa.plots.cdf(menu).svg),
}


EXAMINED = [option for option in PERSONAL if option not in {"--method", "--robust", "--most"}]  # see below
PAIRS = [(command, one) for command in ABOUT_PERSONS for one in (EXAMINED if command == "sensitivity" else PERSONAL)]


def leave_out(option: str, words: tuple[str, ...]) -> tuple[str, ...]:
    place = words.index(option)
    return words[:place] + words[place + 1 + (not words[-1].startswith("--")) :]


@pytest.mark.parametrize("command, option", PAIRS)
def test_an_option_about_a_person_does_what_it_does_in_python(
    command: str, option: str, safear: Safear, guess: sa.Problem
) -> None:
    words, translate = PERSONAL[option]
    asked: Asked = {"problem": guess} | translate(guess)
    ask, expect = ABOUT_PERSONS[command]
    found = ask(safear, words)
    assert found == expect(sa.recommend(**asked), asked)
    if option != "--row":  # of several rows, one must be named
        assert found != ask(safear, leave_out(option, words))


@pytest.mark.parametrize("ask", [walk, resume])
def test_who_learns_needs_episodes_and_a_seed(ask: Callable[..., str], safear: Safear) -> None:
    words = (*MEAN, "--method", "episodic", "--episodes")
    found = [ask(safear, (*words, "3", "--seed", str(seed))) for seed in (0, 1, 2, 3, 0)]
    assert found[0] == found[-1]
    assert len(set(found)) > 1
    assert ask(safear, (*words, "400", "--seed", "0")) != found[0]


def test_so_many_plans_are_examined_and_only_the_best_ones(safear: Safear) -> None:
    call = ("sensitivity", "guess.yaml", "--tolerance", "0.1")
    for most in (1, 2):
        assert len(safear("sensitivity", *call[1:], "--horizon", "6", "--most", most, "--json").json["plans"]) == most
    for name in ("cheapest", "safest"):
        (named,) = safear("sensitivity", *call[1:], "--horizon", "6", "--plan", name, "--json").json["plans"]
        assert named["plan"] == name
    assert "is not the best one" in safear(*call, "--objective", "mean-std:1", "--method", "greedy").refusal
    assert "goes with --method episodic" in safear("sensitivity", *call[1:], "--episodes", "9").refusal


# ---------------------------------------------------------------------------------------------- about several people

POPULAR = {
    "check": ("check", "guess.yaml", "--whole"),
    "compare": ("compare", "guess.yaml", "--people", "people.csv"),
    "audit": ("audit", "guess.yaml", "people.csv", "--group", "skill"),
    "batch": ("batch", "guess.yaml", "people.csv", "--out", "plans", "--objective", "mean"),
}


def results(safear: Safear, *call: str) -> list[str]:
    """What is printed, and the rows of a batch."""
    shutil.rmtree("plans", ignore_errors=True)
    told = [run(safear, *call)]
    return told + [pd.read_parquet(part).to_csv() for part in Path("plans").glob("*.parquet")]


@pytest.mark.parametrize("command", POPULAR)
def test_a_threshold_moves_the_line(command: str, safear: Safear) -> None:
    """The rule accepts those whose score is 0.9 or more, and the model alone also those in the middle."""
    by_rule = results(safear, *POPULAR[command])
    assert results(safear, *POPULAR[command], *SCORE, "--threshold", "0.9") == by_rule
    assert results(safear, *POPULAR[command], *SCORE) != by_rule


@pytest.mark.parametrize("command", POPULAR)
def test_another_horizon_and_another_failure_cost(command: str, safear: Safear) -> None:
    Path("other.yaml").write_text(PROBLEM.replace("horizon: 8", "horizon: 4").replace("cost: 20", "cost: 0.5"))
    other = tuple("other.yaml" if word == "guess.yaml" else word for word in POPULAR[command])
    found = results(safear, *POPULAR[command], "--horizon", "4", "--failure-cost", "0.5")
    assert found == results(safear, *other)
    for words in (("--horizon", "4"), ("--failure-cost", "0.5")):
        assert results(safear, *POPULAR[command], *words) not in (found, results(safear, *POPULAR[command]))


def test_the_best_plans_for_everybody(safear: Safear, guess: sa.Problem) -> None:
    run(safear, "batch", "guess.yaml", "people.csv", "--out", "simple")
    run(safear, "batch", "guess.yaml", "people.csv", "--out", "exact", "--exact")
    sa.batch(guess, None, "people.csv", out="mine", exact=True)
    assert part_bytes(Path("exact")) == part_bytes(Path("mine")) != part_bytes(Path("simple"))


def test_the_seed_is_that_of_the_forest(safear: Safear) -> None:
    german = load("german")
    german.levels.head(20).to_csv("rows.csv", index=False)
    for seed in ("0", "1"):
        forest = german.classifier(int(seed))
        mdp = sa.compile_mdp(german.problem, forest, start=german.problem.default_person)
        people = safear("check", "german", "--seed", seed, "--json").json["people"]
        assert people[0]["goals"] == int(mdp.goal.sum())
        run(safear, "batch", "german", "rows.csv", "--out", f"out{seed}", "--seed", seed, "--plans", *MEAN)
        sa.batch(german.problem, forest, "rows.csv", out=f"mine{seed}", objective=sa.Mean(), plans=True)
        assert part_bytes(Path(f"out{seed}")) == part_bytes(Path(f"mine{seed}"))
    assert part_bytes(Path("out0")) != part_bytes(Path("out1"))
    kept = [safear("durability", "german", "out0", "--seed", seed, "--json").json["holding"] for seed in ("0", "1")]
    assert kept[0] > kept[1]
    changed = dict(german.levels.iloc[14])
    assert [sa.recommend(german.problem, german.classifier(seed), changed).favourable for seed in (0, 1)] == [
        False,
        True,
    ]
    about = ("--person", "rows.csv", "--row", "15")
    assert safear("sensitivity", "german", *about, "--seed", "1", "--json").json["decision"] == "favourable"


def test_another_method_for_everybody(safear: Safear, guess: sa.Problem) -> None:
    greedy = ("--objective", "mean-std:1", "--method", "greedy", "--json")
    asked = {"objective": sa.MeanStd(1), "method": "greedy"}
    audit = sa.audit(guess, None, "people.csv", groups=["skill"], **asked)  # type: ignore[arg-type]
    assert safear("audit", *POPULAR["audit"][1:], *greedy).json["overall"]["mean"] == pytest.approx(
        audit.overall["mean"]
    )


# ------------------------------------------------------------------------------------------------- durability and init


def durability(safear: Safear, *words: str) -> dict[str, Any]:
    """Of a plan that ends in the middle, where the rule rejects."""
    problem = sa.load_problem("guess.yaml")
    sa.save_plan(sa.recommend(problem, sa.load_classifier("bank.py:score", problem), objectives="mean")[0], "mid.json")
    return safear("durability", "guess.yaml", "mid.json", "--json", *words).json


def test_a_plan_that_does_not_hold_is_repaired_unless_nobody_wants_that(safear: Safear, guess: sa.Problem) -> None:
    found, left = durability(safear), durability(safear, "--no-repair")
    assert (found["holding"], left["holding"]) == (0, 0)
    middle = sa.recommend(guess, sa.load_classifier("bank.py:score", guess), objectives="mean")[0]
    assert found["repaired_more"] == pytest.approx(sa.recommend(guess, objectives="mean")[0].mean - middle.mean)
    assert (left["repaired_more"], left["plans"][0]["repair"]) == (None, None)


def test_what_was_made_for_other_costs_or_steps_is_not_compared(safear: Safear) -> None:
    for found in (durability(safear, "--failure-cost", "5"), durability(safear, "--horizon", "4")):
        assert (found["holding"], found["repaired_more"], found["unknown"]) == (0, None, 1)


def test_less_confidence_is_a_narrower_interval(safear: Safear) -> None:
    wide, narrow = durability(safear)["interval"], durability(safear, "--confidence", "0.5")["interval"]
    assert wide[0] <= narrow[0] < narrow[1] < wide[1]
    assert wide[1] == pytest.approx(1 - 0.025)
    assert narrow[1] == pytest.approx(1 - 0.25)


def test_a_draft_for_another_threshold(safear: Safear) -> None:
    people = pd.DataFrame({"skill": ["low", "mid", "high"] * 20, "age": range(60)})
    people.to_csv("people.csv", index=False)
    assert "rejects 20" in run(safear, "init", "people.csv", *SCORE, "--change", "skill", "-o", "plain.yaml")
    told = run(safear, "init", "people.csv", *SCORE, "--change", "skill", "-o", "draft.yaml", "--threshold", "0.9")
    assert "rejects 40" in told
    assert sa.load_problem("draft.yaml").goal.threshold == 0.9


# --------------------------------------------------------------------------------------------------------- all commands

MINIMAL = POPULAR | {
    "init": ("init", "people.csv", "--change", "skill", "-o", "draft.yaml", "--force"),
    "fit": ("fit", "guess.yaml", "log.csv"),
    "recommend": ("recommend", "guess.yaml", *MEAN),
    "walk": ("walk", "guess.yaml", *MEAN),
    "resume": ("resume", "plan.json", "--menu", "--problem", "guess.yaml", *MEAN),
    "durability": ("durability", "guess.yaml", "plan.json"),
    "sensitivity": ("sensitivity", "guess.yaml", *MEAN, "--tolerance", "0.1"),
    "plot": ("plot", "dots", "guess.yaml", *MEAN, "--out", "dots.svg"),
}


@pytest.mark.parametrize("command", sorted(commands_with("--model-timeout") - {"serve"}))
def test_no_command_waits_longer_for_a_model_than_it_may(command: str, safear: Safear) -> None:
    told = safear(*MINIMAL[command], "--classifier", "bank.py:hang", "--model-timeout", "0.02")
    assert told.code == 2
    assert "after 0.02 seconds" in told.err
    assert told.err.endswith("    allow more with --model-timeout SECONDS\n")


@pytest.mark.parametrize("command", MINIMAL)
def test_what_is_said_of_the_work_is_not_among_the_results(command: str, safear: Safear) -> None:
    pd.DataFrame({"action": ["learn"] * 12, "worked": ["yes", "no"] * 6}).to_csv("log.csv", index=False)
    call = (*MINIMAL[command], *(SCORE if command == "init" else ()))
    quiet = results(safear, *call)
    shutil.rmtree("plans", ignore_errors=True)
    loud = safear(*call, "--verbose")
    assert (loud.code, loud.out) == (0, quiet[0])
    assert ("of memory" in loud.err) == (command not in {"fit", "init", "durability"}), loud.err


@pytest.mark.parametrize("command", sorted(commands_with("--output") & MINIMAL.keys() - {"init", "fit"}))
def test_what_is_written_is_what_is_printed_as_json(command: str, safear: Safear) -> None:
    assert safear(*MINIMAL[command], "--output", "found.json").code == 0
    assert Path("found.json").read_text(encoding="utf-8") == run(safear, *MINIMAL[command], "--json")


# ---------------------------------------------------------------------------------------------------- none is left out

LOOPED = {  # tests that fail if a command has the option and no call; most of them are in files of their own
    *(
        "--aim",
        "--agree",
        "--trust",
        "--trust-pickle",
        "--no-personal-data",
        "--model-timeout",
        "--verbose",
        "--output",
    ),
}
TABLED = {  # what tests give to several commands, or by a table
    *PAIRS,
    *product(POPULAR, ("--threshold", "--horizon", "--failure-cost")),
    *product(("walk", "resume"), ("--episodes", "--seed")),
    *product(
        ("serve",), ("--port", "--threshold", "--horizon", "--failure-cost", "--people")
    ),  # in test_margin_options.py
}


def test_reproduce_gives_exact_figures_only(safear: Safear) -> None:
    entries = json.loads(safear("reproduce", "synthetic", "--json").out)
    exact = json.loads(safear("reproduce", "synthetic", "--json", "--no-simulation").out)
    assert any(entry["simulated"] is not None for entry in entries)
    assert exact == [entry | {"simulated": None} for entry in entries]


Words = dict[str, list[str]]  # of what has a name


def words_in(tree: ast.AST, known: Words) -> list[str]:
    """The words of all arguments and commands, in order; those of sentences are left out."""
    found = []
    for node in ast.walk(tree):
        words = node.value.split() if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
        if len(words) == 1 or COMMANDS.keys() & words[:1]:
            found += [word.partition("=")[0] if word.startswith("--") else word for word in words]
        found += known.get(node.id, []) if isinstance(node, ast.Name) else []
    return found


def names_in(tree: ast.AST, known: Words) -> Words:
    """What is assigned, looped over, or given to a test by a table."""
    found = dict[str, list[str]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.For | ast.comprehension):
            values = node.value if isinstance(node, ast.Assign) else node.iter
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.parametrize":
            names, values = re.findall(r"\w+", ast.unparse(node.args[0])), node.args[1]
        else:
            continue
        found |= dict.fromkeys(names, words_in(values, known | found))
    return found


def given_in(path: Path) -> Iterator[tuple[str, str]]:
    """What a file gives the first command that a call names, or that of the file, if the call is not refused."""
    tree, about = ast.parse(path.read_text(encoding="utf-8")), path.stem.removeprefix("test_").partition("_")[0]
    parts = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
    known = names_in(ast.Module([part for part in tree.body if part not in parts], []), {})
    helpers = {part.name: words_in(part, known) for part in parts}
    for part in [part for part in parts if ".code == 2" not in ast.unparse(part)]:
        nodes, here = list(ast.walk(part)), known | names_in(part, known)
        wrong = [node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr == "refusal"]
        for call in set(nodes).difference(*map(ast.walk, wrong)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                words = words_in(call, here)
                asked = [call.func.id, *words, *helpers.get(call.func.id, [])]
                command = next((word for word in asked if word in COMMANDS), about)
                yield from ((command, word) for word in words if command in COMMANDS and word.startswith("-"))


def test_every_option_of_every_command_is_given_in_some_test() -> None:
    more = ("paper/test_reproduce.py", "population/test_cluster.py")
    files = [*Path(__file__).parent.glob("test_*.py"), *(Path(__file__).parents[1] / name for name in more)]
    given = {pair for path in files for pair in given_in(path)} | TABLED
    missing = [
        f"{command} {forms[-1]}"
        for command in COMMANDS
        for forms in options_of(command)
        if not LOOPED.intersection(forms) and not any((command, form) in given for form in forms)
    ]
    assert missing == []
