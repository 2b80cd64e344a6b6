"""What an audit found, in plain sentences: who carries more risk, and how sure that is.

Nothing is claimed that the tests do not support: a difference is "more than chance" only where the rank test, corrected
for all tests of the table, and the bootstrap interval of the difference both say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from safear.population.audit import Audit
from safear.population.audit_teller import AuditTeller
from safear.population.decomposition import Gap
from safear.population.group_figures import FigureRow, GroupRow
from safear.reports.verdicts import EFFORT, Division, Extremes, Verdict
from safear.texts.names import capital

MOST_LISTED = 4  # groups in a sentence; of more, only the ends are told


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence; `mark` says how sure it is, or that something goes wrong."""

    text: str
    mark: str = ""  # "clear", "unsure", "chance", "wrong" or nothing


@dataclass(frozen=True, slots=True)
class FindingTeller:
    """Tells what was found, in a language; divisions are those of the same language."""

    tell: AuditTeller

    def sum_up(
        self, audit: Audit, divisions: Sequence[Division], origins: Mapping[str, Iterable[Gap]]
    ) -> list[Finding]:
        """All that matters, in short: who carries more risk, whom nothing helps, where gaps come from.

        A model that says the same of everybody comes first: it may not be meant.
        """
        by_name = {division.groups.by: division for division in divisions}
        found = [Finding(self.tell.unanimous(accepted=False), "wrong")] if audit.is_unanimous else []
        found += [self._by(division, self.conclude(division)) for division in divisions]
        found += [self.without_recourse(audit, divisions), *self.giving_up(audit)]
        found += [self._by(division, finding) for division in divisions for finding in self.small(division)]
        for name, parts in origins.items():
            found += self.origin(name, by_name[name,], parts, unit=audit.problem.cost_unit)
        return found

    def _by(self, division: Division, finding: Finding) -> Finding:
        """A finding of a division, where several are told of."""
        return replace(finding, text=self.tell("audit.by_finding", column=division.name, finding=finding.text))

    def asked(self, audit: Audit) -> tuple[str, str]:
        """What was asked; and whom the model accepts, what the others do, and how they are compared."""
        problem, population, overall = audit.problem, audit.population, audit.overall
        say, teller = self.tell.part("audit.asked"), self.tell.teller
        columns = self.tell.join([teller.feature(name) for name in population.groups])
        read = say("read", people=overall["n"])
        if population.skipped:
            read = say("read_some", people=overall["n"], count=population.skipped, rows=population.rows)
        rejected, share = overall["rejected"], self.tell.percent(overall["favourable"])
        decided = say("decided", accepted=overall["n"] - rejected, share=share, rejected=rejected)
        objective = teller.objective(audit.objective, problem.cost_unit)
        key = "followed_greedy" if audit.method == "greedy" else "followed"
        followed = say(key, within=teller.within(problem), objective=objective)
        question = say("question", columns=columns, goal=teller.quoted_goal(problem))
        return question, " ".join([read, decided, followed, say("exact")])

    # -------------------------------------------------------------------------------------------- who carries more risk

    def conclude(self, division: Division) -> Finding:
        """Who carries more risk, in one sentence."""
        say, count = self.tell.part("audit.conclusion"), len(division.comparable)
        if division.comparisons is None:
            return Finding(say("too_many", groups=count))
        if count < 2:
            group = {"group": self._group(division, division.comparable[0])} if count else {}
            return Finding(say("one_group" if count else "no_group", minimum=division.groups.minimum, **group))
        risks = [item for item in division.measures if item.name not in EFFORT]
        gaps: dict[tuple[str, str], list[str]] = {}
        for widest in map(division.find_widest, risks):
            if widest is not None:
                pair = self._group(division, widest.worst), self._group(division, widest.best)
                gaps.setdefault(pair, []).append(widest.measure.phrase)
        if not gaps:
            unsure = {Verdict.RANKS, Verdict.MEANS}
            some = any(item.verdict in unsure for measure in risks for item in division.compared(measure))
            return Finding(f"{say('even')} {say('some_differ')}", "unsure") if some else Finding(say("even"), "chance")
        told = [say("gap", one=pair[0], other=pair[1], measures=self.tell.join(names)) for pair, names in gaps.items()]
        values = {"surely": say("by_more" if count == 2 else "widest"), "gaps": "; ".join(told)}
        if len({one for one, _ in gaps}) > 1:
            return Finding(say("depends", **values), "clear")
        (one, other), measures = next(iter(gaps.items()))
        values |= {"one": one, "other": other, "measures": self.tell.join(measures)}
        clear = sum(map(len, gaps.values()))
        key = "than_other" if len(gaps) == 1 else "than_others"
        return Finding(say(key, clear=clear, risks=len(risks), **values), "clear")

    def explain(self, division: Division, unit: str) -> list[Finding]:
        """Measure by measure, the groups with the worst and the best figure, and how sure the difference is."""
        extremes = map(division.find_extremes, division.measures)
        found = [self._explain(item, division, unit) for item in extremes if item is not None]
        return [*found, *self.small(division)]

    def _explain(self, extremes: Extremes, division: Division, unit: str) -> Finding:
        measure, verdict, tell = extremes.measure, extremes.comparison.verdict, self.tell
        say = tell.part("audit.difference")
        worst, best = (tell.with_unit(row.value, measure, unit) for row in (extremes.worst, extremes.best))
        groups = {"one": self._group(division, extremes.worst), "other": self._group(division, extremes.best)}
        told = [say("figures", measure=capital(measure.phrase), worst=worst, best=best, **groups)]
        if verdict is not Verdict.UNKNOWN:
            gap, low, high = extremes.gap
            size = say("size", gap=tell.difference(gap, measure, signed=False), span=tell.span(low, high, measure))
            p = f"p = {tell.p_value(extremes.comparison.p_holm)}".replace("= <", "<")
            told.append(say(verdict.value, size=size, p=p))
        pairs = division.compared(measure)
        if len(pairs) > 1:
            clear = sum(item.verdict is Verdict.CLEAR for item in pairs)
            told.append(say("pairs", clear=clear, pairs=len(pairs)))
        return Finding(" ".join(told), verdict.mark)

    def _group(self, division: Division, row: GroupRow | FigureRow) -> str:
        """The group of a row, in quotes."""
        return self.tell.quote(division.groups.label(row.number))

    # ------------------------------------------------------------------------------------------- who is not in figures

    def small(self, division: Division) -> list[Finding]:
        """Which groups are shown but not compared."""
        say, small = self.tell.part("audit.small"), [row for row in division.groups.groups if row.small]
        if not small:
            return []
        listed = [
            f"{self._group(division, row)} ({self.tell.texts.whole(row.rejected)})" for row in small[: 2 * MOST_LISTED]
        ]
        rest = [say("more", number=len(small) - len(listed))] if len(small) > len(listed) else []
        groups = self.tell.join([*listed, *rest])
        return [Finding(say("groups", minimum=division.groups.minimum, groups=groups))]

    def without_recourse(self, audit: Audit, divisions: Sequence[Division]) -> Finding:
        """Whom nothing helps, by group; they are counted."""
        say, rejected, share = self.tell.part("audit.helpless"), audit.overall["rejected"], audit.overall["no recourse"]
        if not share:
            return Finding(say("nobody"))
        helpless = sum(row.without_recourse for row in divisions[0].groups.groups)
        parts = []
        for division in divisions:
            groups = [row for row in division.groups.groups if row.rejected]
            if len(division.groups.by) == 1 and len(groups) > 1:
                parts.append(say("by", column=division.name, groups=self._list_helpless(division, groups)))
        values = {"divisions": "; ".join(parts)} if parts else {}
        key = "some_by" if parts else "some"
        told = say(key, helpless=helpless, rejected=rejected, share=self.tell.percent(share), **values)
        return Finding(f"{told} {say('counted')}", "wrong")

    def _list_helpless(self, division: Division, groups: Sequence[GroupRow]) -> str:
        say = self.tell.part("audit.helpless")

        def tell(row: GroupRow) -> str:
            counts = {"helpless": row.without_recourse, "rejected": row.rejected}
            share = self.tell.percent(row.without_recourse / row.rejected)
            return say("group", **counts, share=share, group=self._group(division, row))

        if len(groups) <= MOST_LISTED:
            return self.tell.join([tell(row) for row in groups])
        return say("most", group=tell(max(groups, key=lambda row: row.without_recourse / row.rejected)))

    def giving_up(self, audit: Audit) -> list[Finding]:
        """Whose plan hardly tries."""
        say, share = self.tell.part("audit.gives_up"), audit.overall["gives up"]
        if not share:
            return []
        told = say("greedy" if audit.method == "greedy" else "cheap", share=self.tell.percent(share))
        return [Finding(f"{told} {say('hidden')}", "wrong")]

    def acceptance(self, division: Division) -> Finding:
        """Whom the model accepts; this is not tested."""
        say, groups = self.tell.part("audit.accepts"), [row for row in division.groups.groups if row.people]
        shares = {row.number: 1 - row.rejected / row.people for row in groups}
        if len(groups) > MOST_LISTED:
            groups = [choose(groups, key=lambda row: shares[row.number]) for choose in (min, max)]
        listed = [
            say("group", share=self.tell.percent(shares[row.number]), group=self._group(division, row))
            for row in groups
        ]
        return Finding(say("ends" if len(shares) > MOST_LISTED else "all", groups=self.tell.join(listed)))

    def origin(self, feature: str, division: Division, parts: Iterable[Gap], *, unit: str) -> list[Finding]:
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
                    gap = self.tell.difference(sign * part.gap, measure, signed=False)
                    text = self.tell(
                        "audit.origin.sentence",
                        column=self.tell.teller.feature(feature),
                        size=gap if measure.is_share else f"{gap} {self.tell.teller.text(unit)}",
                        measure=measure.phrase,
                        one=self.tell.quote(self.tell.teller.level(feature, pair[0])),
                        other=self.tell.quote(self.tell.teller.level(feature, pair[1])),
                        start=self.tell.difference(sign * part.start, measure),
                        model=self.tell.difference(sign * part.model, measure),
                    )
                    return [Finding(text)]
        return []
