"""`batch`: plans for everybody in a file, part by part, on threads or in processes here, or on a Dask cluster.

Parts are cut by row, so the same people are in the same part wherever it is solved, and every part is written by this
process: workers need no access to the files. What is there already is not solved again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from operator import index
from pathlib import Path

import pandas as pd

from safear._version import __version__
from safear.arguments import FILE, FLAG, NAMES, PROGRESS, TEXT, WHOLE, show, takes
from safear.classifier.adapters import as_classifier
from safear.errors import ObjectiveError
from safear.files import digest_file, require_folder
from safear.memory import require_room
from safear.people.counts import require_somebody
from safear.population.audit_teller import AuditTeller
from safear.population.batch_reading import PeopleFiles, open_people
from safear.population.crowd import Crowd
from safear.population.engine import Purpose
from safear.population.folder import Folder
from safear.population.parts import Job, PartSolver
from safear.population.workers import CannotTravelError, Crew, tell_threads
from safear.problem.checks import require_problem
from safear.problem.dump import dump_problem_text
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.offer import TAIL
from safear.risk.distribution import check_level
from safear.risk.objectives import Objective
from safear.solvers.solve import Method
from safear.threads import count_threads, work_ahead

logger = logging.getLogger("safear")

PART_SIZE, SLOW_PART_SIZE = 16_384, 512  # people: some tenths of a second, and with menus less than a minute
MAX_PART = 1_000_000
FEW = 1_000  # people by whom a classifier is known that sees records, or very many inputs
MAX_THREADS = 1024
_BYTES_PER_CELL = 40  # of a part: what is read, and what is made of it
Solved = Generator[tuple[int, pd.DataFrame]]  # numbers of parts, and their rows


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """The outcome of a batch: how many people there are of each kind, and how many parts.

    `giving_up` counts the people among `planned` whose plans all succeed far less often than they could. It
    `is_unanimous` if everybody is accepted, or nothing helps anybody: a model that looks at its input seldom says so.
    """

    people: int
    favourable: int
    planned: int
    without_recourse: int
    giving_up: int
    skipped: int
    parts: int
    resumed: int
    is_unanimous: bool = False  # found out

    def __post_init__(self) -> None:
        alike = self.people in (self.favourable, self.without_recourse)
        object.__setattr__(self, "is_unanimous", self.people > 1 and alike)

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        return pd.DataFrame([asdict(self)])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html(index=False))

    def __str__(self) -> str:
        return AuditTeller.of().batch(self)


@takes(
    out=FILE,
    exact=FLAG,
    plans=FLAG,
    personal_data=FLAG,
    reasons=FLAG,
    keep=NAMES,
    skip_bad=FILE.or_none,
    scheduler=TEXT.or_none,
    progress=PROGRESS.or_none,
)
def batch(  # noqa: PLR0913  # all but three by name, and each can be left out
    problem: Problem,
    classifier: object,
    people: str | Path,
    *,
    out: str | Path,
    objective: Objective | None = None,
    method: Method | None = None,
    level: float = TAIL,
    exact: bool = False,
    plans: bool = False,
    personal_data: bool = True,
    reasons: bool = False,
    keep: Sequence[str] = (),
    skip_bad: str | Path | None = None,
    part_size: int | None = None,
    threads: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> BatchSummary:
    """Plans for everybody in a CSV or Parquet file (or a glob of them), written to the folder `out` as Parquet.

    Besides their features, people may have columns `cost:ACTION`, `chance:ACTION` and `forbid:ACTION`. The columns in
    `keep` are copied to the result. Without an objective everybody gets the menu of `recommend`, one row per plan, with
    `exact` that of the best plans; otherwise one plan, the best one.
    With `plans`, the column `saved_plan` has each plan as a whole, as `save_plan` would write it, with or without
    `personal_data`. With `reasons`, the column `reason` has the code of why somebody has no recourse, which takes a
    search for each of them. With `scheduler`, the address of a Dask scheduler, its workers solve the parts; otherwise
    as many `threads` do so here or, where most of the work is Python, processes. To continue a run that was stopped,
    repeat the call.
    """
    check_level(level)
    require_problem(problem)
    threads = None if threads is None else _read_count("threads", threads, MAX_THREADS)
    if method == "episodic":
        raise ObjectiveError.at((), "batches have no method 'episodic'", "use 'optimal' or 'greedy'", code="unsuited")
    if objective is not None:
        Purpose(objective, method, level)  # refuses what cannot be solved
    elif method is not None:
        raise ObjectiveError.at(
            (), "a method is given, but no objective", "give one, such as mean-std:0.5", code="no_objective"
        )
    read = as_classifier(classifier, problem)
    job = Job(problem, read, objective, method, level, exact, plans, personal_data, reasons)
    if part_size is None:
        part_size = SLOW_PART_SIZE if job.is_slow else PART_SIZE
    part_size = _read_count("part_size", part_size, MAX_PART)
    _estimate(problem, part_size, threads or count_threads())
    require_folder(Path(out))  # before people are read
    solver = PartSolver(job)
    columns = [keep] if isinstance(keep, str) else list(keep)
    for name in columns:
        TEXT.require(name, "keep")
    with open_people(problem, people, sight=solver.sight, keep=columns, skip_bad=skip_bad) as source:
        require_somebody(source.examined, skip_bad)
        folder = Folder(Path(out), source.kept)
        sizes = [min(part_size, source.count - start) for start in range(0, source.count, part_size)]
        manifest = _describe(solver, source, part_size, folder.layout)
        there = folder.look(manifest, len(sizes))
        missing = [number for number in range(len(sizes)) if number not in there]
        crew = None if scheduler else Crew.of(job, [sizes[number] for number in missing], threads)
        folder.prepare(manifest)
        resumed, done = len(sizes) - len(missing), source.count - sum(sizes[number] for number in missing)
        if resumed:
            logger.info("%d of %d parts already exist", resumed, len(sizes))
        waiting = (part for part in source.parts(part_size) if part.number not in there)
        if scheduler is None:
            solved = _solve_here(solver, waiting, threads, crew)
        else:
            solved = _solve_there(job, waiting, scheduler)
        with closing(solved):  # whatever happens here, nobody goes on with the work
            for number, rows in solved:
                folder.write(number, rows)
                done += sizes[number]
                if progress is not None:
                    progress(done, source.count)
        counts = folder.finish()
        return BatchSummary(
            source.count,
            counts["favourable"],
            counts["plan"],
            counts["no recourse"],
            counts["gives up"],
            source.examined.skipped,
            len(sizes),
            resumed,
        )


def _solve_here(solver: PartSolver, parts: Iterator[Crowd], threads: int | None, crew: Crew | None) -> Solved:
    if crew is not None:
        try:
            yield from crew.solve(parts)
        except CannotTravelError as error:  # and nothing was solved yet
            tell_threads(error)
        else:
            return
    yield from work_ahead(lambda part: (part.number, solver.solve(part)), parts, threads=threads, in_order=False)


def _solve_there(job: Job, parts: Iterator[Crowd], scheduler: str) -> Solved:
    from safear.population.cluster import solve_on_cluster  # noqa: PLC0415  # an optional dependency

    yield from solve_on_cluster(job, parts, scheduler)


def _estimate(problem: Problem, part_size: int, threads: int) -> None:
    """Refuse parts that do not fit, a few of which are in memory at a time."""
    cells = len(problem.features) + 3 * len(problem.actions) + 12
    need = part_size * cells * _BYTES_PER_CELL * 3 * threads
    what = f"parts of {part_size:,} people on {threads} threads"
    require_room(need, what, max_bytes=None, remedy="make the parts smaller: part_size, --part-size")


def _read_count(name: str, value: int, most: int) -> int:
    """A whole number of any kind, such as NumPy's, as one that can be written to a file."""
    if not WHOLE.fits(value) or not 1 <= value <= most:
        raise ObjectiveError.at((name,), f"{show(value)} is not a whole number from 1 to {most:,}", code="out_of_range")
    return index(value)


def _describe(solver: PartSolver, source: PeopleFiles, part_size: int, layout: int) -> dict[str, object]:
    """Everything that the result depends on."""
    job = solver.job
    described: dict[str, object] = {
        "safear": __version__,
        "problem": hashlib.sha256(dump_problem_text(job.problem).encode()).hexdigest(),
        "classifier": solver.recognise(source.codes, source.first(FEW), layout=layout),
        "people": [{"file": name, "sha256": digest_file(name)} for name in source.names],
        "objective": "menu" if job.objective is None else str(job.objective),
        "method": job.method,
        "level": job.level,
        "exact": job.exact,
        "plans": job.plans and ("with personal data" if job.personal_data else "without personal data"),
        "keep": [list(pair) for pair in source.kept.items()],
        "part size": part_size,
    }
    # What folders of earlier versions do not have is left out, where the result is the same.
    described |= {"reasons": True} if job.reasons else {}
    return described | ({"layout": layout} if layout > 1 else {})
