"""The audits that the analyst sees: one per group column, computed once, in the background."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from safear.errors import ClassifierError, SafearError
from safear.web.logbook import log_crash
from safear.web.service import Service

if TYPE_CHECKING:
    from safear.plots import Picture
    from safear.population.audit import Audit
    from safear.population.result_records import AuditRecord
    from safear.reports import Page


class NoAuditError(SafearError):
    """There is nobody to audit."""

    def __str__(self) -> str:
        return "there are no people: start with --people FILE, or with a data set such as german"


class AuditFailedError(SafearError):
    """The audit could not be made, for a reason."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason

    def __str__(self) -> str:
        return f"the audit failed: {self.reason if isinstance(self.reason, SafearError) else 'the log says why'}"


class NotReadyError(SafearError):
    """The audit is still being computed."""

    def __str__(self) -> str:
        return "the audit is still being computed; ask again in a few seconds"


@dataclass(frozen=True, eq=False)
class AuditResult:
    """An audit by one column, with its record, and its picture and its report in each language."""

    column: str
    audit: Audit
    record: AuditRecord
    _shown: dict[str, tuple[Picture, Page]] = field(default_factory=dict, repr=False)

    def show(self, language: str) -> tuple[Picture, Page]:
        """The picture and the report in a language, made when first asked for."""
        from safear.plots import disparity  # noqa: PLC0415
        from safear.reports import report_audit  # noqa: PLC0415  # both need pandas, and only those with people need it

        if language not in self._shown:
            picture = disparity(self.audit, self.column, language=language)
            self._shown[language] = picture, report_audit(self.audit, language=language)
        return self._shown[language]


class Audits:
    """Audits by each of `columns`, shown in a language at first; `failure` says why they could not be made."""

    def __init__(self, service: Service, columns: Sequence[str], *, language: str = "en") -> None:
        self.service, self.columns, self.language = service, tuple(columns), language
        self.results: list[AuditResult] = []
        self.failure: Exception | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="safear-audit", daemon=True)

    @property
    def wanted(self) -> bool:
        """Whether there is anything to audit."""
        return self.service.people is not None and bool(self.columns)

    @property
    def is_ready(self) -> bool:
        """Whether all of them are done."""
        return len(self.results) == len(self.columns)

    def start(self) -> None:
        """Begin."""
        if self.wanted:
            self._thread.start()

    def stop(self) -> None:
        """Do not begin another one."""
        self._stopping.set()

    def _work(self) -> None:
        try:
            for column in self.columns:
                if self._stopping.is_set():
                    return
                result = _audit_by(self.service, column)
                result.show(self.language)
                self.results.append(result)
        except SafearError as error:
            self.failure = error
            if isinstance(error, ClassifierError):
                self.service.watch.note_failure(error)
        except Exception as error:  # noqa: BLE001  # whatever nobody foresaw
            self.failure = error
            log_crash(error)

    def records(self) -> list[AuditRecord]:
        """The figures as plain data, an audit per column; or else why they are not all there."""
        if not self.wanted:
            raise NoAuditError
        if self.failure is not None:
            raise AuditFailedError(self.failure)
        if not self.is_ready:
            raise NotReadyError
        return [result.record for result in self.results]


def _audit_by(service: Service, column: str) -> AuditResult:
    from safear.population.audit import audit  # noqa: PLC0415  # as above
    from safear.population.result_records import AuditRecord  # noqa: PLC0415

    people = service.people
    if people is None:
        raise NoAuditError
    found = audit(service.problem, service.classifier, people, groups=[column])
    return AuditResult(column, found, AuditRecord.of(found))
