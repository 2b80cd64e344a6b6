"""What attempts tell of the chances and costs of a problem.

A quantity that depends on the level reached, or on conditions, has a cell for each of its amounts. A chance is counted
in each cell. A cell with too few tries takes the share of all cells together as its nominal value, but keeps the
interval of its own counts (widened to hold that share), so that pooling never hides how little is known of it:

    nominal = K / N,   [min(low(k, n), K / N), max(high(k, n), K / N)],   [0, 1] if it was never tried.

Costs are means, rounded to a step no larger than their standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.errors import Path
from safear.fitting.attempts import Attempts, known_rows
from safear.mdp.expand import find_ends, is_fine
from safear.problem.checks import check_action
from safear.problem.condition import ALWAYS, condition_features
from safear.problem.model import Action, Change, Outcome, Problem
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity, amount_places, quantity_features
from safear.problem.tries import Counts, count_interval
from safear.problem.vector import CodeArray, apply_change, holds

_SHOWN = Decimal("0.0001")  # pooled chances are rounded to this, their intervals outwards

NoticeCode = Literal[
    "never_tried",
    "few_tries",
    "thin",
    "never_seen",
    "few_costs",
    "no_column",
    "unknown_state",
    "not_offered",
    "outcomes",
    "sum",
    "unclear_cost",
    "drift",
    "repeated",
    "no_costs",
    "selection",
    "bounds",
    "no_history",
    "rewritten",
]


@dataclass(frozen=True, slots=True)
class FitNotice:
    """What the data cannot tell, or what became of them.

    never_tried    nobody tried `action`
    few_tries      too few tries at `action`, all or none of which worked: its chances stay as far as the tries allow
    thin           a cell (`place`) has too few tries (`counts`), so its nominal value is that of all cells
    never_seen     a cell was never tried
    few_costs      a cell has too few costs, so that its value is the mean of all
    no_column      the log has no column `feature`, so that the cells of `place` cannot be told apart
    unknown_state  `count` attempts do not say in which cell they were; they count for all cells together only
    not_offered    `count` attempts were made where the problem does not offer the action; they were left out
    outcomes       `action` can end in more ways than a log of what worked can tell
    sum            the chances would not add up to 1
    unclear_cost   it cannot be told which attempts had the cost at `place`
    drift          the share that worked has changed: `counts` before `date`, `later` from then on
    repeated       `count` people made the attempts, some of them several
    no_costs       the log has no costs
    selection      only those who tried are in the log
    bounds         a history shows changes, not attempts: bounds, not points
    no_history     no period in the history could have shown what `action` does
    rewritten      the file was written anew, without its comments
    """

    code: NoticeCode
    action: str = ""
    place: Path = ()
    feature: str = ""
    count: int = 0
    counts: Counts | None = None
    later: Counts | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class FitEntry:
    """One amount before and after: `place` is its path, `n` how many attempts its own cell has."""

    place: Path
    before: Amount
    after: Amount
    n: int
    pooled: bool = False

    @property
    def action(self) -> str:
        """The action that it belongs to."""
        return str(self.place[1])

    @property
    def is_chance(self) -> bool:
        """Whether it is a chance, and not a cost."""
        return "chance" in self.place[2:]


@dataclass(frozen=True, slots=True)
class Fitted:
    """An action with what the data say, and what there is to tell of it."""

    action: Action
    entries: tuple[FitEntry, ...] = ()
    notices: tuple[FitNotice, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimator:
    """Fits the actions of a problem. A cell with fewer than `min_tries` attempts is pooled."""

    problem: Problem
    min_tries: int

    def fit_action(self, action: Action, log: Attempts) -> Fitted:
        """Chances and costs of an action from its attempts."""
        path: Path = ("actions", action.name)
        if not len(log):
            return Fitted(action, notices=(FitNotice("never_tried", action.name),))
        offered = self.offered(action, log)
        notices = [FitNotice("not_offered", action.name, count=int((~offered).sum()))] if not offered.all() else []
        log = log.take(offered)
        if not len(log):
            return Fitted(action, notices=(*notices, FitNotice("never_tried", action.name)))
        fitted, entries, found = self._fit_chances(action, log, path)
        notices += found
        people = len(log) if log.person is None else len(np.unique(log.person))
        if people < len(log):
            notices.append(FitNotice("repeated", action.name, count=people, counts=count_true(log.worked)))
        fitted, costs, found = self._fit_costs(fitted, log, path)
        return Fitted(fitted, (*costs, *entries), tuple(dict.fromkeys([*notices, *found])))

    def offered(self, action: Action, log: Attempts) -> NDArray[np.bool_]:
        """Which attempts were made where the action is offered, or may be: `when` holds and something can change."""
        features, offered = self.problem.feature_by_name, np.ones(len(log), np.bool_)
        if action.when != ALWAYS:
            known = known_rows(log.levels, condition_features(action.when), len(log))
            offered[known] = holds(action.when, _codes(log, known), features) if known.any() else True
        changed = frozenset(name for outcome in action.outcomes for name in outcome.change)
        known = known_rows(log.levels, changed, len(log))
        if known.any():
            codes = _codes(log, known)
            moves = np.zeros(int(known.sum()), np.bool_)
            for outcome in action.outcomes:
                after = apply_change(outcome.change, codes, features)
                moves |= np.any([after[name] != codes[name] for name in outcome.change] or [False], axis=0)
            offered[known] &= moves
        if self.problem.constraints or self.problem.side_effects:
            offered &= self._is_fine(action, log)
        return offered

    def _is_fine(self, action: Action, log: Attempts) -> NDArray[np.bool_]:
        """Where no outcome breaks a constraint or goes beyond a scale, or where not enough is known to say."""
        features, fine = self.problem.feature_by_name, np.ones(len(log), np.bool_)
        shown = frozenset(name for name in self.problem.decisive_features if not features[name].hidden)
        known = known_rows(log.levels, shown, len(log))
        if known.any():
            codes = _codes(log, known)
            hidden = {name: feature for name, feature in features.items() if feature.hidden}  # as they begin
            codes |= {name: codes.get(feature.copy_of, np.zeros_like(codes[""])) for name, feature in hidden.items()}
            for end in find_ends(self.problem, action, codes):
                fine[known] &= ~end.possible | is_fine(self.problem, end)
        return fine

    # ------------------------------------------------------------------------------------------------------- chances

    def _fit_chances(self, action: Action, log: Attempts, path: Path) -> tuple[Action, list[FitEntry], list[FitNotice]]:
        working = find_working(action)
        if working is None:
            return action, [], [FitNotice("outcomes", action.name)]
        outcomes, entries, notices = list(action.outcomes), [], self._find_drift(action, log)
        tries = count_true(log.worked)
        is_one_sided = tries.tried < self.min_tries and tries.worked in {0, tries.tried}
        if len(outcomes) == 1:  # it always worked, says the file
            outcomes = [replace(outcomes[0], chance=outcomes[0].chance or Amount.exactly(1)), Outcome()]
        for number, outcome in enumerate(outcomes):
            if outcome.chance is not None:
                happened = log.worked if number == working else ~log.worked
                at = (*path, "outcomes", number, "chance")
                estimate = partial(self._keep_chance if is_one_sided else self._estimate_chance, happened)
                chance, found, told = self.fit_quantity(outcome.chance, outcome.change, at, log, estimate)
                outcomes[number] = replace(outcome, chance=chance)
                entries += found
                notices += told
        fitted = replace(action, outcomes=tuple(outcomes))
        if check_action(self.problem, fitted):
            return action, [], [FitNotice("sum", action.name)]
        if is_one_sided:
            notices = [notice for notice in notices if notice.code not in {"thin", "never_seen"}]
            notices.append(FitNotice("few_tries", action.name, counts=tries))
        return fitted, entries, notices

    def _estimate_chance(self, happened: NDArray[np.bool_], rows: NDArray[np.bool_], _: Amount) -> Amount:
        """The chance in the cell that these attempts are in."""
        counts, pool = count_true(happened[rows]), count_true(happened)
        if counts.tried >= self.min_tries or counts == pool:
            return Amount.counted(counts, confidence=self.problem.confidence)
        nominal = (Decimal(pool.worked) / Decimal(pool.tried)).quantize(_SHOWN)
        low, high = Decimal(0), Decimal(1)
        if counts.tried:
            low, high = count_interval(counts, self.problem.confidence)
        low, high = low.quantize(_SHOWN, ROUND_FLOOR), high.quantize(_SHOWN, ROUND_CEILING)
        source = f"data {counts}, pooled {pool}" if counts.tried else f"pooled {pool}"
        return Amount(nominal, min(low, nominal), max(high, nominal), source)

    def _keep_chance(self, happened: NDArray[np.bool_], rows: NDArray[np.bool_], before: Amount) -> Amount:
        """The chance as it was, brought into the interval that too few tries allow: one failure is no chance of 0."""
        counts = count_true(happened[rows])
        if not counts.tried:
            return before
        low, high = count_interval(counts, self.problem.confidence)
        low, high = low.quantize(_SHOWN, ROUND_FLOOR), high.quantize(_SHOWN, ROUND_CEILING)
        source = ", ".join(filter(None, [before.source, f"data {counts}"]))
        return Amount(min(max(before.nominal, low), high), low, high, source)

    def _find_drift(self, action: Action, log: Attempts) -> list[FitNotice]:
        """Whether attempts from the middle date on worked more or less often than those before, beyond chance (1%)."""
        if log.date is None:
            return []
        middle = np.sort(log.date)[len(log) // 2]
        earlier, later = count_true(log.worked[log.date < middle]), count_true(log.worked[log.date >= middle])
        if min(earlier.tried, later.tried) < self.min_tries or compare_counts(earlier, later) >= 0.01:
            return []
        date = str(middle.astype("datetime64[D]"))
        return [FitNotice("drift", action.name, counts=earlier, later=later, date=date)]

    # --------------------------------------------------------------------------------------------------------- costs

    def _fit_costs(self, action: Action, log: Attempts, path: Path) -> tuple[Action, list[FitEntry], list[FitNotice]]:
        known = ~np.ma.getmaskarray(log.cost)
        if not known.any():
            return action, [], []
        works = [action.works(number) for number in range(len(action.outcomes))]
        own = [outcome.cost is not None for outcome in action.outcomes]
        entries: list[FitEntry] = []
        notices: list[FitNotice] = []

        def fit(quantity: Quantity, change: Change, at: Path, rows: NDArray[np.bool_]) -> Quantity:
            part = log.take(rows & known)
            if not len(part):
                return quantity
            estimate = partial(self._estimate_cost, np.ma.getdata(part.cost))
            fitted, found, told = self.fit_quantity(quantity, change, at, part, estimate)
            entries.extend(found)
            notices.extend(told)
            return fitted

        shared = np.zeros(len(log), np.bool_)  # the attempts that cost what the action does
        outcomes = list(action.outcomes)
        for worked in (True, False):
            ways = [number for number, one in enumerate(works) if one == worked]
            rows = log.worked == worked
            if not any(own[number] for number in ways):
                shared |= rows
            elif len(ways) == 1:
                outcome, at = outcomes[ways[0]], (*path, "outcomes", ways[0], "cost")
                if outcome.cost is not None:
                    outcomes[ways[0]] = replace(outcome, cost=fit(outcome.cost, outcome.change, at, rows))
            else:
                notices.append(FitNotice("unclear_cost", action.name, (*path, "outcomes")))
        cost = fit(action.cost, action.outcomes[0].change, (*path, "cost"), shared)
        return replace(action, cost=cost, outcomes=tuple(outcomes)), entries, notices

    def _estimate_cost(self, costs: NDArray[np.float64], rows: NDArray[np.bool_], _: Amount) -> Amount:
        return mean_cost(costs[rows] if rows.sum() >= self.min_tries else costs)

    # --------------------------------------------------------------------------------------------------------- cells

    def fit_quantity(
        self,
        quantity: Quantity,
        change: Change,
        path: Path,
        log: Attempts,
        estimate: Callable[[NDArray[np.bool_], Amount], Amount],
    ) -> tuple[Quantity, list[FitEntry], list[FitNotice]]:
        """The quantity with each amount estimated from the attempts in its cell; from all, if cells are not known."""
        places = list(amount_places(quantity, path))
        action, missing = str(path[1]), sorted(quantity_features(quantity) - log.levels.keys())
        notices = [FitNotice("no_column", action, path, feature=name) for name in missing]
        cells = np.zeros(len(log), np.int64) if missing else self._cells(quantity, change, log)
        if (cells < 0).any():
            notices.append(FitNotice("unknown_state", action, path, count=int((cells < 0).sum())))
        entries = []
        for number, (at, before) in enumerate(places):
            rows = cells == (0 if missing else number)
            n = int(rows.sum())
            thin = n < self.min_tries and len(places) > 1 and not missing
            if thin:
                code: NoticeCode = "few_costs" if "chance" not in at[2:] else "thin" if n else "never_seen"
                notices.append(FitNotice(code, action, at, counts=count_true(log.worked[rows])))
            entries.append(FitEntry(at, before, estimate(rows, before), n, pooled=thin or bool(missing)))
        return _with_amounts(quantity, [entry.after for entry in entries]), entries, notices

    def _cells(self, quantity: Quantity, change: Change, log: Attempts) -> NDArray[np.int64]:
        """The number of the amount that each attempt is about; -1 where it is not known."""
        known = known_rows(log.levels, quantity_features(quantity), len(log))
        codes = _codes(log, known)
        cells = np.full(len(log), -1, np.int64)
        features = self.problem.feature_by_name
        match quantity:
            case Amount():
                cells[:] = 0
            case ByLevel(name, table):
                reached = apply_change({name: change[name]}, codes, features)[name]
                places = {level: place for place, level in enumerate(table)}
                cells[known] = np.array([places.get(level, -1) for level in features[name].levels])[reached]
            case ByCase(cases, _):
                is_open = np.ones(len(log), np.bool_)  # no case so far holds, as far as is known
                for place, (when, _) in enumerate(cases):
                    seen = is_open & known_rows(log.levels, condition_features(when), len(log))
                    met = seen.copy()
                    met[seen] = holds(when, _codes(log, seen), features)
                    cells[met] = place
                    is_open = seen & ~met
                cells[is_open] = len(cases)
        return cells


def find_working(action: Action) -> int | None:
    """The outcome that works, if there is one, and at most one that does not."""
    working = [number for number in range(len(action.outcomes)) if action.works(number)]
    return working[0] if len(working) == 1 and len(action.outcomes) <= 2 else None


def _codes(log: Attempts, rows: NDArray[np.bool_]) -> dict[str, CodeArray]:
    """The levels in some rows. An entry that is no feature keeps the number of rows known where there are no others."""
    return {name: column[rows] for name, column in log.levels.items()} | {"": np.zeros(int(rows.sum()), np.int16)}


def count_true(happened: NDArray[np.bool_]) -> Counts:
    """How many of all."""
    return Counts(int(happened.sum()), len(happened))


def _with_amounts(quantity: Quantity, new: list[Amount]) -> Quantity:
    """The quantity with other amounts, in the order of `amounts`."""
    rest: Iterator[Amount] = iter(new)
    match quantity:
        case Amount():
            return next(rest)
        case ByLevel(name, table):
            return ByLevel(name, {level: next(rest) for level in table})
        case ByCase(cases, _):
            return ByCase(tuple((when, next(rest)) for when, _ in cases), next(rest))


def mean_cost(costs: NDArray[np.float64]) -> Amount:
    """The mean, rounded to the largest 1, 2 or 5 times a power of ten that is no larger than its standard error.

    If that error is larger than the mean, to two digits. Costs that are all the same are taken as they are.
    """
    mean, spread = float(np.mean(costs)), float(np.ptp(costs))
    if spread == 0:
        number = Decimal(repr(float(costs[0])))
    else:
        error = float(np.std(costs, ddof=1)) / math.sqrt(len(costs))
        grain = _round_below(error) if error < mean else Decimal(1).scaleb(math.floor(math.log10(mean)) - 1)
        number = (Decimal(repr(mean)) / grain).to_integral_value() * grain
    return replace(Amount.exactly(Decimal(f"{number.normalize():f}")), source=f"data, n={len(costs)}")


def _round_below(number: float) -> Decimal:
    """The largest 1, 2 or 5 times a power of ten that is no larger."""
    power = Decimal(1).scaleb(math.floor(math.log10(number)))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= Decimal(number) or factor == 1)


def compare_counts(one: Counts, other: Counts) -> float:
    """Fisher's exact test, two-sided: how likely counts at least as far apart are if the chance is the same.

    Of all ways to divide the successes between both, those no more likely than this one: the hypergeometric law.
    """
    worked, tried = one.worked + other.worked, one.tried + other.tried
    low, high = max(0, worked - other.tried), min(worked, one.tried)

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    whole = log_choose(tried, worked)
    logs = [log_choose(one.tried, k) + log_choose(other.tried, worked - k) - whole for k in range(low, high + 1)]
    here = logs[one.worked - low]
    return min(1.0, math.fsum(math.exp(item) for item in logs if item <= here + 1e-7))
