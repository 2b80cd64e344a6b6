"""What the paper concludes from its tables, checked on ours: one forest (or one run of episodes) at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from safear.paper.dice import dice_restricts_success
from safear.paper.entries import SIGNIFICANT, Entry
from safear.paper.gap import DEAR, ENOUGH, FREE, optimum_succeeds
from safear.paper.instances import INSTANCES, RUNS, varies_less
from safear.paper.rollouts import average
from safear.paper.study import Study
from safear.paper.tables import AVERSIONS, HORIZON, TESTED, Workshop, p_value
from safear.risk.objectives import MeanStd


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, the table it is read off, and for each forest whether it holds."""

    table: str
    dataset: str
    text: str
    holds: Mapping[int, bool]  # seed -> holds
    tried: str = "forest"  # what was drawn anew with each seed

    @property
    def holds_mostly(self) -> bool:
        """Whether it holds for the median forest: for more than half of them."""
        return 2 * sum(self.holds.values()) > len(self.holds)


def check_claims(workshop: Workshop, table: str, entries: Sequence[Entry]) -> list[Claim]:
    """The claims that are read off a table, which has these entries."""
    found = [
        Claim(table, dataset, text, {seed: holds(workshop.study(dataset, seed)) for seed in _seeds(workshop, table)})
        for of_table, text, holds, datasets in _CLAIMS
        if of_table == table
        for dataset in datasets
    ]
    if table == "episodic":
        text = "more aversion, less variable costs in the last episodes"
        found += [
            Claim(table, dataset, text, {seed: varies_less(dataset, group, seed) for seed in RUNS}, "run")
            for dataset, group in INSTANCES
        ]
    if table == "optimal":
        for group in (FREE, DEAR):
            text = f"at aversion 2 the optimum succeeds in {ENOUGH} of the runs ({group})"
            holds = optimum_succeeds(entries, group)
            found += [Claim(table, dataset, text, {workshop.seeds[0]: succeeds}) for dataset, succeeds in holds.items()]
    if table == "dice":
        restricts = dice_restricts_success(entries)
        text = "policies to DiCE's counterfactuals succeed less often"
        found += [Claim(table, dataset, text, {workshop.seeds[0]: holds}) for dataset, holds in restricts.items()]
    return found


def _seeds(workshop: Workshop, table: str) -> list[int]:
    """Five forests where the table has been computed with five, else the first."""
    return list(workshop.seeds) if table in {"risk", "horizon", "gender", "gender-tests"} else [workshop.seeds[0]]


def _figure(study: Study, measure: str, aversion: float, *, horizon: int = HORIZON, group: str = "all") -> float:
    figures = study.exact(MeanStd(aversion), horizon)[measure][study.members(group)]
    return average(figures) or 0.0


def _falls(measure: str) -> Callable[[Study], bool]:
    def holds(study: Study) -> bool:
        figures = [_figure(study, measure, aversion) for aversion in AVERSIONS]
        return figures[0] > figures[1] > figures[2]

    return holds


def _men_are_better_off(study: Study) -> bool:
    measures = ("mean", "variance", "var80", "tail_mean80", "var95", "tail_mean95")
    return all(
        _figure(study, measure, aversion, group="female") > _figure(study, measure, aversion, group="male")
        for measure in measures
        for aversion in AVERSIONS
    )


def _disparity_grows(study: Study) -> bool:
    gaps = [
        _figure(study, "var95", aversion, group="female") - _figure(study, "var95", aversion, group="male")
        for aversion in AVERSIONS
    ]
    return gaps[0] < gaps[-1]


def _differs(study: Study) -> bool:
    """Women and men differ significantly in all six measures at every aversion."""
    return all(p_value(study, aversion, measure) < SIGNIFICANT for aversion in AVERSIONS for measure in TESTED)


def _does_not_differ(study: Study) -> bool:
    """Women and men differ significantly in none of them."""
    return all(p_value(study, aversion, measure) >= SIGNIFICANT for aversion in AVERSIONS for measure in TESTED)


def _success_drops(study: Study) -> bool:
    return _figure(study, "success", 2.0) < _figure(study, "success", 0.0) - 0.01


def _short_horizons_fail(study: Study) -> bool:
    return _figure(study, "success", 0.0, horizon=4) < _figure(study, "success", 0.0, horizon=12) - 0.01


def _sparse_is_not_safe(study: Study) -> bool:
    """The plan that changes least (aversion 0) has the largest variance."""
    least = min(AVERSIONS, key=lambda aversion: _figure(study, "sparsity", aversion))
    return _figure(study, "variance", least) == max(_figure(study, "variance", aversion) for aversion in AVERSIONS)


_BOTH = ("adult", "german")
_CLAIMS: list[tuple[str, str, Callable[[Study], bool], tuple[str, ...]]] = [
    ("risk", "more aversion, less variance", _falls("variance"), _BOTH),
    ("risk", "low sparsity does not mean low risk", _sparse_is_not_safe, _BOTH),
    ("gender", "disparity in favour of men in all six measures", _men_are_better_off, _BOTH),
    ("gender", "the gap in VaR95 grows with aversion", _disparity_grows, ("adult",)),
    ("gender-tests", "women and men differ significantly in all measures", _differs, ("adult",)),
    ("gender-tests", "women and men do not differ significantly in any measure", _does_not_differ, ("german",)),
    ("horizon", "success drops at aversion 2", _success_drops, _BOTH),
    ("horizon", "success drops at horizon 4", _short_horizons_fail, _BOTH),
]
