"""What an audit found, in plain sentences: who carries more risk, and how sure that is.

Nothing is claimed that the tests do not support: a difference is "more than chance" only where the rank test, corrected
for all tests of the table, and the bootstrap interval of the difference both say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safear.population.audit import Audit
from safear.population.decomposition import Gap
from safear.population.group_figures import GroupRow
from safear.recourse.teller import Teller
from safear.reports.audit_words import format_difference, format_p, format_span, join_words, quote, with_unit
from safear.reports.verdicts import EFFORT, Division, Extremes, Verdict
from safear.texts.names import capital, show_name
from safear.texts.numbers import count_of

MOST_LISTED = 4  # groups in a sentence; of more, only the ends are told


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence; `mark` says how sure it is, or that something goes wrong."""

    text: str
    mark: str = ""  # "clear", "unsure", "chance", "wrong" or nothing


MARKS = {
    Verdict.CLEAR: "clear",
    Verdict.RANKS: "unsure",
    Verdict.MEANS: "unsure",
    Verdict.CHANCE: "chance",
    Verdict.UNKNOWN: "",
}


def conclude(division: Division) -> Finding:
    """Who carries more risk, in one sentence."""
    count = len(division.comparable)
    if division.comparisons is None:
        return Finding(f"{count:,} groups are too many to compare in pairs.")
    if count < 2:
        enough = "no group has" if not count else f"only {quote(division.comparable[0].group)} has"
        least = f"at least {division.groups.minimum:,} rejected people"
        return Finding(f"Nothing can be compared; {enough} {least}.")
    risks = [item for item in division.measures if item.name not in EFFORT]
    gaps: dict[tuple[str, str], list[str]] = {}
    for widest in map(division.find_widest, risks):
        if widest is not None:
            pair = quote(widest.worst.group), quote(widest.best.group)
            gaps.setdefault(pair, []).append(widest.measure.phrase)
    if not gaps:
        unsure = {Verdict.RANKS, Verdict.MEANS}
        some = any(item.verdict in unsure for measure in risks for item in division.compared(measure))
        text = "No difference in average risk is more than chance. That does not prove there is none."
        text += " In some measures only the ranks or only the averages differ." if some else ""
        return Finding(text, "unsure" if some else "chance")
    told = [f"{one} is worse off than {other} in {join_words(measures)}" for (one, other), measures in gaps.items()]
    surely = "by more than chance" if count == 2 else "the widest gaps that are more than chance"
    if len({one for one, _ in gaps}) > 1:
        return Finding(f"Who carries more risk depends on the measure ({surely}): {'; '.join(told)}.", "clear")
    clear = f"{sum(map(len, gaps.values()))} of {count_of(len(risks), 'measure')} of risk"
    if len(gaps) > 1:
        (one, _), *_ = gaps
        return Finding(f"{one} carries more risk than others in {clear} ({surely}): {'; '.join(told)}.", "clear")
    (((one, other), measures),) = gaps.items()
    return Finding(f"{one} carries more risk than {other} in {clear} ({surely}): {join_words(measures)}.", "clear")


def explain(division: Division, unit: str) -> list[Finding]:
    """Measure by measure, the groups with the worst and the best figure, and how sure the difference is."""
    found = [
        _explain(extremes, division, unit) for extremes in map(division.find_extremes, division.measures) if extremes
    ]
    return [*found, *tell_small(division)]


def _explain(extremes: Extremes, division: Division, unit: str) -> Finding:
    measure, verdict = extremes.measure, extremes.comparison.verdict
    worst, best = (with_unit(row.value, measure, unit) for row in (extremes.worst, extremes.best))
    text = (
        f"{capital(measure.phrase)}: {worst} for {quote(extremes.worst.group)}, {best} for {quote(extremes.best.group)}"
    )
    gap, low, high = extremes.gap
    size = f"{format_difference(gap, measure, signed=False)} (95% interval {format_span(low, high, measure)})"
    p = f"p = {format_p(extremes.comparison.p_holm)}".replace("= <", "<")
    match verdict:
        case Verdict.CLEAR:
            text += f". The difference of {size} is more than chance ({p})."
        case Verdict.RANKS:
            text += f". People in one group tend to have the larger figure (rank test, {p}), but the averages do not "
            text += f"show it: they differ by {size}."
        case Verdict.MEANS:
            text += (
                f". The averages differ by {size}, but the rank test does not show that one group tends to have the "
            )
            text += f"larger figure ({p}): this is uncertain."
        case Verdict.CHANCE:
            text += f". The difference of {size} is within chance ({p})."
        case Verdict.UNKNOWN:
            text += "."
    pairs = division.compared(measure)
    if len(pairs) > 1:
        clear = sum(item.verdict is Verdict.CLEAR for item in pairs)
        text += f" {clear:,} of {len(pairs):,} pairs of groups differ by more than chance."
    return Finding(text, MARKS[verdict])


def tell_small(division: Division) -> list[Finding]:
    """Which groups are shown but not compared."""
    small = [row for row in division.groups.groups if row.small]
    if not small:
        return []
    listed = [f"{quote(row.group)} ({row.rejected:,})" for row in small[: 2 * MOST_LISTED]]
    rest = [f"{len(small) - len(listed):,} more"] if len(small) > len(listed) else []
    few = f"fewer than {division.groups.minimum:,} rejected people"
    return [Finding(f"Too small to compare, with {few}: {join_words([*listed, *rest])}.")]


def tell_without_recourse(audit: Audit, divisions: Sequence[Division]) -> Finding:
    """Whom nothing helps, by group; they are counted."""
    rejected, share = audit.overall["rejected"], audit.overall["no recourse"]
    if not share:
        return Finding("Everybody who is rejected has a way to the goal.")
    helpless = sum(row.without_recourse for row in divisions[0].groups.groups)
    parts = []
    for division in divisions:
        groups = [row for row in division.groups.groups if row.rejected]
        if len(division.groups.by) == 1 and len(groups) > 1:
            parts.append(f"by {show_name(division.name)}, {_list_helpless(groups)}")
    text = f"Nothing helps {helpless:,} of the {rejected:,} rejected ({Teller.of().percent(share)})"
    text += f": {'; '.join(parts)}." if parts else "."
    return Finding(f"{text} They count with a success of 0 and have no costs.", "wrong")


def _list_helpless(groups: Sequence[GroupRow]) -> str:
    def tell(row: GroupRow) -> str:
        share = Teller.of().percent(row.without_recourse / row.rejected)
        return f"{row.without_recourse:,} of {row.rejected:,} ({share}) of {quote(row.group)}"

    if len(groups) <= MOST_LISTED:
        return join_words([tell(row) for row in groups])
    return f"most of all {tell(max(groups, key=lambda row: row.without_recourse / row.rejected))}"


def tell_giving_up(audit: Audit) -> list[Finding]:
    """Whose plan hardly tries."""
    share = audit.overall["gives up"]
    if not share:
        return []
    text = f"The plans of {Teller.of().percent(share)} of the rejected succeed far less often than they could: "
    if audit.method == "greedy":
        text += "the greedy method may miss better ones"
    else:
        text += "failing costs too little in the problem (goal.failure_cost)"
    text += ". Costs cover only those who succeed, so they do not show it."
    return [Finding(text, "wrong")]


def tell_acceptance(division: Division) -> Finding:
    """Whom the model accepts; this is not tested."""
    groups = [row for row in division.groups.groups if row.people]
    shares = {row.number: 1 - row.rejected / row.people for row in groups}
    if len(groups) > MOST_LISTED:
        groups = [choose(groups, key=lambda row: shares[row.number]) for choose in (min, max)]
    listed = join_words([f"{Teller.of().percent(shares[row.number])} of {quote(row.group)}" for row in groups])
    between = ", the groups with the smallest and the largest share" if len(shares) > MOST_LISTED else ""
    return Finding(f"The model accepts {listed}{between} (not tested here).")


def tell_origin(feature: str, division: Division, parts: Iterable[Gap], unit: str) -> list[Finding]:
    """Where the gap of the first measure that clearly differs comes from."""
    for name in ("cvar", "mean", "success"):
        (measure,) = (item for item in division.measures if item.name == name)
        extremes = division.find_extremes(measure)
        if extremes is None or extremes.comparison.verdict is not Verdict.CLEAR:
            continue
        pair = (extremes.worst.group, extremes.best.group)
        for part in parts:
            if part.measure == name and {part.group, part.other} == set(pair):
                sign = measure.worse if part.group == pair[0] else -measure.worse
                gap = format_difference(sign * part.gap, measure, signed=False)
                start, model = (format_difference(sign * value, measure) for value in (part.start, part.model))
                size = gap if measure.is_share else f"{gap} {unit}"
                column = show_name(feature)
                text = f"By {column}: of the gap of {size} in {measure.phrase} between {quote(pair[0])} and "
                text += f"{quote(pair[1])}, {start} comes from where people start and {model} from how the model "
                text += f"treats people who differ only in {column}."
                return [Finding(text)]
    return []
