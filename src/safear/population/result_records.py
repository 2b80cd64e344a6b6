"""Results for many people as records: the only JSON there is of them, in files, on the command line and in the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import RootModel

from safear.mdp.lattice import find_lattice
from safear.mdp.space import StateSpace
from safear.population.agreement import Agreement
from safear.population.audit import Audit
from safear.population.batch import BatchSummary
from safear.population.comparison import Comparison
from safear.population.decomposition import Gap
from safear.population.groups import BETWEEN
from safear.problem.model import Problem
from safear.recourse.advice_records import BlockedRecord
from safear.recourse.diagnose import Hint, HintCode, PersonDiagnosis, SpaceDiagnosis
from safear.recourse.figure_records import ResultRecord


class GroupRecord(ResultRecord):
    """A group of an audit. Figures are means over its rejected people who have them."""

    group: str
    n: int
    rejected: int
    favourable: float
    no_recourse: float | None
    gives_up: float | None
    success: float | None
    mean: float | None
    variance: float | None
    var: float | None
    cvar: float | None
    sparsity: float | None
    proximity: float | None
    small: bool

    @classmethod
    def of(cls, group: str, row: Mapping[str, object]) -> Self:
        """A row of a table of the audit."""
        return cls.model_validate({"group": group} | {name.replace(" ", "_"): value for name, value in row.items()})


class IntervalRecord(ResultRecord):
    """The interval (95%) of a group's mean of a measure."""

    group: str
    measure: str
    low: float | None
    high: float | None


class PairTestRecord(ResultRecord):
    """Two groups compared in one measure: `group` less `other`."""

    measure: str
    group: str
    other: str
    difference: float | None
    low: float | None
    high: float | None
    effect: float | None
    test: Literal["exact", "approximation"] | None
    p: float | None
    p_holm: float | None


class DivisionRecord(ResultRecord):
    """Everybody divided into groups. `tests` is null if there are too many groups to compare all pairs."""

    table: list[GroupRecord]
    difference: dict[str, float | None]
    ratio: dict[str, float | None]
    intervals: list[IntervalRecord]
    tests: list[PairTestRecord] | None

    @classmethod
    def of(cls, audit: Audit, by: Sequence[str]) -> Self:
        """The tables by some group columns."""
        tests = audit.tests(by).rename(columns={"p (Holm)": "p_holm"}) if audit.can_test(by) else None
        return cls.model_validate(
            {
                "table": [GroupRecord.of(group.name, group.row()) for group in audit.groups(by)],
                "difference": audit.difference(by).to_dict(),
                "ratio": audit.ratio(by).to_dict(),
                "intervals": audit.intervals(by).to_dict("records"),
                "tests": None if tests is None else tests.to_dict("records"),
            }
        )


class AuditRecord(ResultRecord):
    """Who carries more risk: everybody, by each group column and by all of them together.

    It `is_unanimous` if nothing helps anybody: a model that looks at its input seldom says so.
    """

    problem: str
    objective: str
    method: Literal["optimal", "greedy"] | None
    level: float
    horizon: int
    failure_cost: float
    unit: str
    minimum: int
    seed: int
    people: int
    skipped: int
    is_unanimous: bool
    overall: GroupRecord
    groups: dict[str, DivisionRecord]
    decompositions: dict[str, list[Gap]]

    @classmethod
    def of(cls, audit: Audit) -> Self:
        """All tables of an audit."""
        problem, population = audit.problem, audit.population
        return cls(
            problem=problem.title,
            objective=str(audit.objective),
            method=audit.method,
            level=audit.level,
            horizon=problem.horizon,
            failure_cost=float(problem.goal.failure_cost),
            unit=problem.cost_unit,
            minimum=audit.minimum,
            seed=audit.seed,
            people=population.rows,
            skipped=population.skipped,
            is_unanimous=audit.is_unanimous,
            overall=GroupRecord.of("everybody", {str(name): value for name, value in audit.overall.items()}),
            groups={BETWEEN.join(by): DivisionRecord.of(audit, by) for by in audit.columns},
            decompositions={name: list(found) for name, found in audit.decompositions().items()},
        )


class AveragesRecord(ResultRecord):
    """Plans of many people in figures."""

    value: float
    success: float
    mean: float
    cvar: float


class PlanInShortRecord(AveragesRecord):
    """One plan in figures."""

    first_action: str | None


class PairRecord(ResultRecord):
    """The greedy and the optimal plan of the people in one state."""

    person: dict[str, str]
    count: int
    greedy: PlanInShortRecord
    optimal: PlanInShortRecord
    bound: float
    best_success: float
    excess: float


class ComparisonRecord(ResultRecord):
    """Greedy against optimal for one objective."""

    objective: str
    people: int
    rejected: int
    without_recourse: int
    compared: int
    greedy: AveragesRecord
    optimal: AveragesRecord
    greedy_is_worse: float
    excess: float
    excess_of_worse: float
    largest_excess: float
    other_first_step: float
    optimum_gives_up: float
    largest_gap: float
    people_compared: list[PairRecord]

    @classmethod
    def of(cls, item: Comparison) -> Self:
        """The shares, and a record per distinct person."""
        return cls(
            objective=str(item.objective),
            people=item.people,
            rejected=item.rejected,
            without_recourse=item.without_recourse,
            compared=item.compared,
            greedy=AveragesRecord.model_validate(item.greedy),
            optimal=AveragesRecord.model_validate(item.optimal),
            greedy_is_worse=item.worse,
            excess=item.excess,
            excess_of_worse=item.excess_of_worse,
            largest_excess=item.largest_excess,
            other_first_step=item.other_first_step,
            optimum_gives_up=item.gives_up,
            largest_gap=item.largest_gap,
            people_compared=[PairRecord.model_validate(pair) for pair in item.pairs],
        )


class ComparisonsRecord(ResultRecord):
    """Greedy against optimal, for several objectives."""

    problem: str
    comparisons: list[ComparisonRecord]

    @classmethod
    def of(cls, problem: Problem, found: Sequence[Comparison]) -> Self:
        """One comparison per objective."""
        return cls(problem=problem.title, comparisons=[ComparisonRecord.of(item) for item in found])


class BatchRecord(RootModel[BatchSummary]):
    """What became of a batch: its summary as it is."""


class LevelAgreementRecord(ResultRecord):
    """The people at a level; `changed` of them are decided otherwise at its value. `cut` is an edge that parts them."""

    level: str
    value: float
    people: int
    changed: int
    accepted_only: int
    rejected_only: int
    is_coarse: bool
    cut: float | None


class NumberAgreementRecord(ResultRecord):
    """A number that the classifier sees as filed, with its levels, the worst first."""

    feature: str
    unit: str
    changed: int
    levels: list[LevelAgreementRecord]


class AgreementRecord(ResultRecord):
    """How people are decided on records and on levels; `numbers` is empty if the classifier sees none as filed."""

    people: int
    skipped: int
    rejected: int
    is_unanimous: bool
    agree: int
    accepted_only: int
    rejected_only: int
    together: int
    numbers: list[NumberAgreementRecord]


class HintRecord(ResultRecord):
    """What is allowed, but may not be meant."""

    code: HintCode
    feature: str
    places: list[list[str | int]]
    blocked: BlockedRecord | None


class CheckRecord(ResultRecord):
    """What was found in a problem without mistakes. Null or empty: it was not asked for, or nobody decides."""

    problem: str
    features: int
    actions: int
    horizon: int
    states: int
    quantum: float
    cost_error: float
    unit: str
    people: list[PersonDiagnosis]
    whole: SpaceDiagnosis | None
    population: AgreementRecord | None
    hints: list[HintRecord]

    @classmethod
    def of(
        cls,
        problem: Problem,
        people: Sequence[PersonDiagnosis],
        whole: SpaceDiagnosis | None,
        population: Agreement | None,
        hints: Sequence[Hint],
    ) -> Self:
        """All that was found."""
        lattice = find_lattice(problem)
        return cls(
            problem=problem.title,
            features=len(problem.shown_features),
            actions=len(problem.actions),
            horizon=problem.horizon,
            states=StateSpace(problem.shown_features, {}).size,
            quantum=float(lattice.quantum),
            cost_error=float(lattice.error),
            unit=problem.cost_unit,
            people=list(people),
            whole=whole,
            population=None if population is None else AgreementRecord.model_validate(population),
            hints=[HintRecord.model_validate(hint) for hint in hints],
        )
