"""Lanes: which tests `make check`, `make test` and `make test-all` run, and how many examples they draw.

`tests/costs.json` holds what each test costs in CPU seconds, as `make costs` measured it with the examples of
`make test`; a test that it does not name is cheap. A test runs in the first lane whose limit it keeps, and in all lanes
after that. Each test also has its cheapest case in `make test`, unless that takes more than CASES says; files with a
make target of their own wait for `make test-all`.

No lane grows unnoticed: `make check` and `make test` fail if a test takes three times what is noted, and more than
LEAST, twice in a row, or if all of them together take more than BUDGETS says. Costs are seconds of one machine on a
quiet day, and machines differ: a loop that is timed meanwhile, and what most tests cost, say how much slower this one
is.
"""

from __future__ import annotations

import ast
import gc
import json
import math
import resource
import statistics
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

COSTS = Path(__file__).parents[1] / "costs.json"
CHEAP = 0.005  # about what a test costs that is not noted
CASES = {"tests/promises/": 7.0, "tests/exact/": 7.0, "tests/parts/": 1.0}  # CPU s of a test's cheapest case, at most
SLACK = 3  # how many times its cost a test may take: machines differ
SAME = 1.6  # costs that differ by less are the same
LOOP = 0.001  # CPU seconds that the loop of `measure_pace` takes where costs are noted
MANY = 30  # tests that are enough to say how much slower a machine is
LEAST = 0.3  # CPU seconds that any test may take: what Python does now and then, such as collecting garbage
HEAVY = ("duckdb", "fastapi", "lightgbm", "pandas", "skops.io", "sklearn.ensemble", "xgboost")
# All cases of these are tried in `make test`: `make mutants` judges the formulas by them, or each is a promise.
WHOLE = tuple(
    f"tests/{place}"
    for place in (
        *(f"exact/{room}" for room in ("core/", "evaluation/", "mdp/test_hope.py", "risk/", "solvers/")),
        *(f"promises/cli/test_{topic}.py" for topic in ("margin_options", "personal_data", "trust_options")),
        "promises/formats/",
    )
)
# Files whose libraries are installed by a make target that runs them.
APART = tuple(
    f"tests/{place}.py"
    for place in (
        "exact/solvers/test_engines",
        "parts/paper/test_dice",
        "promises/reports/test_printing",
        "promises/web/test_browser",
        "promises/web/test_journey",
    )
)


@dataclass(frozen=True)
class Lane:
    """A selection of tests: the CPU seconds that each may take, and the examples of a property."""

    name: str
    limit: float
    examples: int


BUDGETS = {"check": 60.0, "test": 360.0}  # CPU seconds of all tests of a lane together
CHECK, TEST, ALL = LANES = (Lane("check", 0.02, 5), Lane("test", 0.06, 25), Lane("all", math.inf, 100))
_lane = TEST  # the one that runs
SPENT = dict.fromkeys(BUDGETS, 0.0)  # what the tests that were collected cost together
LEFT = set[str]()  # promises and exact figures of which no case is in `make test`
COLLECTED = set[str]()  # all tests that were found, whether they run or not

# In `make check` and `make test` examples come from a seed: a green run stays green. `make test-all` draws new ones,
# keeps those that fail in .hypothesis, and tries them again.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it takes minutes to explain a failure
)
for _each in (CHECK, TEST):
    settings.register_profile(_each.name, _COMMON, max_examples=_each.examples, derandomize=True)
_kept = DirectoryBasedExampleDatabase(Path(__file__).parents[2] / ".hypothesis" / "examples")
settings.register_profile(  # wherever it runs: Hypothesis has settings of its own for CI
    ALL.name,
    _COMMON,
    max_examples=ALL.examples,
    derandomize=False,
    database=_kept,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],  # filters are judged in the other lanes
)


def scaled(count: int, least: int | None = None) -> int:
    """Return this lane's share of a number of examples or cases: all in `make test-all`, a quarter in `make test`.

    But no fewer than `least`: ten in `make test`, two in `make check`, if nothing else is asked for.
    """
    few = _lane.examples * 2 // 5 if least is None else least
    return max(min(count, few), count * _lane.examples // ALL.examples)


# ---------------------------------------------------------------------------------------------------------- selection


def is_drawn(item: pytest.Item) -> bool:
    """Return whether Hypothesis draws the examples of a test."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def find_lane(item: pytest.Item, costs: Mapping[str, float], chosen: Iterable[str]) -> Lane:
    """Return the first lane that a test belongs to; `chosen` are cases that are always tried."""
    cost = costs.get(item.nodeid, 0.0)
    if item.nodeid.startswith(APART):
        return ALL
    if cost * (CHECK.examples / TEST.examples if is_drawn(item) else 1) <= CHECK.limit:
        return CHECK
    return TEST if cost <= TEST.limit or item.nodeid in chosen else ALL


@cache
def find_sharing(path: Path) -> set[str]:
    """Return the names at the top of a file, tests among them, that have to do with `scaled`."""
    found, parts = {"scaled"}, dict[str, set[str]]()
    for part in ast.parse(path.read_text(encoding="utf-8")).body:
        nodes = [node for node in ast.walk(part) if isinstance(node, ast.Name)]
        inside = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
        made = {part.name} if isinstance(part, ast.FunctionDef | ast.ClassDef) else inside
        words = {node.id for node in nodes} | {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
        parts |= dict.fromkeys(made, words)
    while more := {name for name, words in parts.items() if words & found} - found:
        found |= more
    return found


def takes_a_share(item: pytest.Item) -> bool:
    """Return whether a test draws more examples, or tries more cases, in a later lane."""
    return is_drawn(item) or item.nodeid.split("::")[1].partition("[")[0] in find_sharing(item.path)


def is_always_tried(name: str) -> bool:
    """Return whether some case of a test belongs into `make test`, unless all are too dear."""
    return name.startswith(tuple(CASES)) and not name.startswith(APART)


def choose_cases(names: Iterable[str], costs: Mapping[str, float]) -> set[str]:
    """Return the cheapest case of every test, and all cases of WHOLE, up to what CASES says."""
    groups: dict[str, list[str]] = {}
    for name in filter(is_always_tried, names):
        groups.setdefault(name if name.startswith(WHOLE) else name.partition("[")[0], []).append(name)
    cheapest = [min(group, key=lambda name: costs.get(name, 0.0)) for group in groups.values()]
    limits = {name: most for name in cheapest for place, most in CASES.items() if name.startswith(place)}
    return {name for name, most in limits.items() if costs.get(name, 0.0) < most}


def read_costs() -> dict[str, float]:
    """Return what each test costs, as far as that was noted."""
    found: dict[str, float] = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {}
    return found


# -------------------------------------------------------------------------------------------------------- measurement


def measure_cpu() -> float:
    """Return the CPU seconds of this process so far, and of all programs that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure_pace() -> float:
    """Return how many times longer a fixed loop takes than where costs are noted, at least 1."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        sum(len(str(number)) for number in range(20_000))
        times.append(time.process_time() - begin)
    return max(1.0, min(times) / LOOP)


class Meter:
    """Measures what a test costs, without what is set up or torn down for several."""

    def __init__(self, costs: Mapping[str, float], *, is_limited: bool) -> None:
        self.costs, self.is_limited = costs, is_limited
        self.others = 0.0  # CPU seconds for other tests, while one runs

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Set what several tests share apart."""
        begin, before = measure_cpu(), self.others
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.others = before + measure_cpu() - begin

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        """Set the end of a file apart: what its tests shared ends, too."""
        begin = measure_cpu()
        try:
            return (yield)
        finally:
            if nextitem is None or nextitem.path != item.path:
                self.others += measure_cpu() - begin

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test; a second time, if it took too long: the first one in a process pays for what is imported."""
        tell, place, begin = item.ihook, {"nodeid": item.nodeid, "location": item.location}, measure_cpu()
        tell.pytest_runtest_logstart(**place)
        allowed = max(LEAST, SLACK * self.costs.get(item.nodeid, 0.0)) if self.is_limited else math.inf
        reports, cost = self.run(item, nextitem)
        spent = measure_cpu() - begin
        is_dear = cost > allowed and cost / measure_pace() > allowed and is_green(reports)
        if is_dear:
            again, less = self.run(item, nextitem)
            cost = min(cost, less) if is_green(again) else 0.0  # not judged if it cannot run twice
        for report in reports:
            report.user_properties += [("cost", cost), ("allowed", allowed if is_dear else math.inf), ("spent", spent)]
            tell.pytest_runtest_logreport(report=report)
        tell.pytest_runtest_logfinish(**place)
        return True

    def run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], float]:
        """Return the reports of a test, and the CPU seconds that it takes."""
        self.others, begin = 0.0, measure_cpu()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return reports, measure_cpu() - begin - self.others


def is_green(reports: Iterable[pytest.TestReport]) -> bool:
    """Return whether a test has passed in all its phases."""
    return all(report.passed for report in reports)


class Results:
    """What was measured, where results come together: it is judged, or noted."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.before, self.skipped = config, read_costs(), set[str]()
        self.costs, self.dear, self.spent = dict[str, float](), dict[str, float](), 0.0
        self.paces, self.last, self.verdict = list[float](), -math.inf, list[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take it, and once a second what the loop takes meanwhile."""
        found: dict[str, Any] = dict(report.user_properties)
        if report.skipped:
            self.skipped.add(report.nodeid)
        if report.when == "setup" and found:
            self.costs[report.nodeid] = cost = found["cost"]
            self.spent += found["spent"]
            if cost > found["allowed"]:
                self.dear[report.nodeid] = found["allowed"]
        if time.monotonic() > self.last + 1:
            self.paces.append(measure_pace())
            self.last = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run of which a test has outgrown what is noted, or all of them the budget of their lane."""
        pace = statistics.fmean(self.paces or [1.0])
        if self.config.option.note_costs:
            self.note(pace, is_whole=session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED})
            return
        noted = {name: cost for name, cost in self.costs.items() if self.before.get(name, 0.0) >= LEAST}
        if len(noted) >= MANY:  # a busy machine slows tests more than the loop, which needs little of its cache
            pace = max(pace, statistics.median(cost / self.before[name] for name, cost in noted.items()))
        for name, allowed in self.dear.items():
            if (cost := self.costs[name] / pace) > allowed:
                self.verdict += [f"{name} took {cost:.2g} CPU seconds twice; it may take {allowed:.2g}"]
        if self.spent / pace > BUDGETS[_lane.name]:
            self.verdict += [f"all took {self.spent / pace:.0f} CPU seconds; they have {BUDGETS[_lane.name]:.3g}"]
        if self.verdict and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name them."""
        if self.verdict:
            terminalreporter.section("too dear: make them smaller, or run `make costs` and look at what changes")
            terminalreporter.write("".join(f"{line}\n" for line in self.verdict))

    def note(self, pace: float, *, is_whole: bool) -> None:
        """Write what tests cost: what was noted, if they were skipped or cost about the same."""
        asked, noted = self.config.option, dict[str, float]()
        if not is_whole or asked.keyword or asked.markexpr or self.config.args_source is pytest.Config.ArgsSource.ARGS:
            noted = dict(self.before)  # some tests did not run, and others may be there no longer
        for name, cost in self.costs.items():
            before, now = self.before.get(name, 0.0), cost / pace
            noted[name] = before if name in self.skipped or before / SAME < now < before * SAME else now
        costs = {name: round(cost, 2) for name, cost in noted.items() if round(cost, 2) > CHECK.limit}
        COSTS.write_text(json.dumps(costs, indent=0, sort_keys=True) + "\n", encoding="utf-8")


# --------------------------------------------------------------------------------------------- hooks, for conftest.py


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the lane; without one, all tests run with the examples of `make test`, for as long as they like."""
    group = parser.getgroup("lanes")
    group.addoption("--lane", choices=[lane.name for lane in LANES], help="run the tests of this lane")
    group.addoption("--rest", action="store_true", help="leave out what `make test` has run in the same way")
    group.addoption("--examples", type=int, help="draw so many examples of a property that asks for 100")
    group.addoption("--no-limits", action="store_true", help="let tests take longer than their lanes allow")
    group.addoption("--note-costs", action="store_true", help="write what tests cost to tests/costs.json")


@pytest.hookimpl(trylast=True)  # after Hypothesis, which loads a profile of its own
def pytest_configure(config: pytest.Config) -> None:
    """Set the knob, before tests are imported."""
    gc.set_threshold(50_000, 20, 50)  # to look through all that was imported, often, takes a tenth of the time
    global _lane  # noqa: PLW0603  # one for all tests
    asked = next((lane for lane in LANES if lane.name == config.option.lane), TEST)
    _lane = Lane(asked.name, asked.limit, config.option.examples or asked.examples)
    settings.register_profile("lane", settings.get_profile(asked.name), max_examples=_lane.examples)
    settings.load_profile("lane")
    is_noting = config.option.note_costs
    is_limited = config.option.lane in BUDGETS and not config.option.no_limits and not is_noting
    config.pluginmanager.register(Meter(read_costs(), is_limited=is_limited))
    if (is_limited or is_noting) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(config))
    for name in HEAVY if is_noting else ():  # the first test that needs one would pay for it
        import_module(name)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Remember it, whatever is left out later."""
    COLLECTED.add(item.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to later lanes."""
    costs = read_costs()
    chosen = choose_cases((item.nodeid for item in items), costs)
    lanes = {item: find_lane(item, costs, chosen) for item in items}
    for item, lane in lanes.items():
        for name in [each.name for each in LANES[LANES.index(lane) :] if each.name in BUDGETS]:
            few = CHECK.examples / TEST.examples if name == CHECK.name and is_drawn(item) else 1
            SPENT[name] += costs.get(item.nodeid, CHEAP) * few
    kept = {item.nodeid.split("[")[0] for item, lane in lanes.items() if lane is not ALL}
    names = {item.nodeid.split("[")[0] for item in items if not item.nodeid.startswith("tests/parts/")}
    LEFT.update(set(filter(is_always_tried, names)) - kept)
    if config.option.lane:
        wanted = [item for item in items if lanes[item].limit <= _lane.limit]
        if config.option.rest:
            wanted = [item for item in wanted if lanes[item] is ALL or takes_a_share(item)]
        config.hook.pytest_deselected(items=list(set(items).difference(wanted)))
        items[:] = wanted
