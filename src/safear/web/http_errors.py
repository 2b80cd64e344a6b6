"""Mistakes as problem details (RFC 9457): every error of ours with all of its mistakes, each with place and remedy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi.responses import Response
from pydantic import BaseModel, Field

from safear.classifier.http_models import NO_ANSWER
from safear.classifier.waiting import TIMED_OUT
from safear.errors import (
    ClassifierError,
    InputError,
    MissingExtraError,
    SafearError,
    format_path,
)
from safear.recourse.walk import WalkError
from safear.web.audits import AuditFailedError, NoAuditError, NotReadyError
from safear.web.work import BusyError, TooLateError

MEDIA_TYPE = "application/problem+json"
MOST_MISTAKES = 100  # that are listed: a small request may have thousands
RETRY = "5"  # seconds after which it is worth asking again
_URN = "urn:safear:problem:"


class MistakeDetail(BaseModel):
    """One thing that is wrong."""

    code: str = Field(description="the kind of mistake, for programs: `unknown_level`, `missing` ...")
    place: str = Field(description="a path into the request, such as `person.savings`; empty for the whole request")
    cause: str = Field(description="what is wrong")
    remedy: str | None = Field(description="how to put it right, if known")


class ProblemDetails(BaseModel):
    """Why there is no answer (RFC 9457)."""

    type: str = Field(description="a URI reference that names the kind of problem")
    title: str
    status: int
    detail: str
    mistakes: list[MistakeDetail] = Field(description=f"the mistakes found, of more than {MOST_MISTAKES} the first")
    reference: str | None = Field(description="under which the provider's log has this, if it was a failure of theirs")

    @property
    def kind(self) -> str:
        """Its type without what all of ours have in common."""
        return self.type.removeprefix(_URN)

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says besides."""
        if self.kind == "framing":  # what follows may be a part of this request
            return {"Connection": "close"}
        return {"Retry-After": RETRY} if self.status == 503 else {}


_TITLES = {
    "person": "The person cannot be read",
    "terms": "The personal terms cannot be read",
    "objective": "The objective cannot be read",
    "too-large": "This is too much to compute",
    "classifier": "The classifier failed",
    "classifier-late": "The classifier does not answer in time",
    "input": "The request cannot be read",
    "missing-extra": "A part of the installation is missing",
    "too-late": "The answer takes too long",
    "busy": "Too many are waiting for answers",
    "not-ready": "There is no answer yet",
    "stopping": "The service is being stopped",
    "no-audit": "There is nobody to audit",
    "audit-failed": "The audit failed",
    "walk": "The plan cannot have gone this way",
    "too-big": "The request is too large",
    "encoding": "Compressed requests are not read",
    "framing": "The request says twice how long it is",
    "host": "This page is not served under that name",
    "origin": "Only this page may send its forms",
    "crash": "Something went wrong here",
    "http": "There is no answer",
}


def make_details(
    kind: str, status: int, detail: str, mistakes: Sequence[MistakeDetail] = (), *, reference: str | None = None
) -> ProblemDetails:
    """Problem details of a kind that is ours."""
    return ProblemDetails(
        type=_URN + kind,
        title=_TITLES[kind],
        status=status,
        detail=detail,
        mistakes=list(mistakes),
        reference=reference,
    )


def read_error(error: SafearError, reference: str | None = None) -> ProblemDetails:
    """An error of ours as problem details; `reference` is that of a failure in the log."""
    match error:
        case WalkError():
            return _mistaken("walk", 409, error)
        case ClassifierError():
            return _silent(error, reference)
        case InputError():
            name = type(error).__name__.removesuffix("Error")
            kind = {"Person": "person", "Terms": "terms", "Objective": "objective", "TooLarge": "too-large"}.get(name)
            return _mistaken(kind or "input", 422, error)
        case MissingExtraError():
            return make_details("missing-extra", 501, str(error))
        case TooLateError():
            return make_details("too-late", 503, str(error))
        case BusyError():
            return make_details("busy", 503, str(error))
        case NotReadyError():
            return make_details("not-ready", 503, str(error))
        case AuditFailedError(reason=ClassifierError() as reason):
            told = _silent(reason, None)
            return make_details("audit-failed", 502, f"the audit failed: {told.detail}", told.mistakes)
        case AuditFailedError():
            return make_details("audit-failed", 500, str(error))
        case NoAuditError():
            return make_details("no-audit", 404, str(error))
        case _:
            return make_details("input", 500, str(error))


def _silent(error: ClassifierError, reference: str | None) -> ProblemDetails:
    """That the classifier failed, by code alone: what it says, and where it is, is the operator's business."""
    is_late = any(item.code in {TIMED_OUT, NO_ANSWER} for item in error.mistakes)
    cause = "the model that decides does not answer in time" if is_late else "the model that decides gives no answer"
    remedy = "try again later, or ask the provider"
    mistakes = [MistakeDetail(code=item.code, place="", cause=cause, remedy=remedy) for item in error.mistakes]
    kind, status = ("classifier-late", 503) if is_late else ("classifier", 502)
    return make_details(kind, status, f"{cause}; {remedy}", mistakes, reference=reference)


def _mistaken(kind: str, status: int, error: InputError) -> ProblemDetails:
    mistakes = [
        MistakeDetail(code=item.code, place=format_path(item.place.path), cause=item.cause, remedy=item.remedy)
        for item in error.mistakes[:MOST_MISTAKES]
    ]
    return make_details(kind, status, tell_some(error.mistakes), mistakes)


def tell_some(mistakes: Sequence[object]) -> str:
    """Mistakes in words, a line each, and how many more there are than are listed."""
    more = len(mistakes) - MOST_MISTAKES
    return "\n".join([*map(str, mistakes[:MOST_MISTAKES]), *([f"and {more:,} more"] if more > 0 else [])])


def respond(details: ProblemDetails, headers: dict[str, str] | None = None) -> Response:
    """Problem details as a response."""
    # In ASCII: what somebody sent, and is told of, may hold half a character.
    content = json.dumps(details.model_dump())
    return Response(
        content, status_code=details.status, media_type=MEDIA_TYPE, headers=details.headers | (headers or {})
    )


_TOLD = {
    400: "The request cannot be read, or the page is not served under this name",
    403: "The request comes from another page",
    404: "There is no such thing here",
    409: "The plan cannot have gone this way, or there is none to follow: the mistake has the reason's code",
    413: "The request is too large",
    422: "The request has mistakes; the answer lists all of them",
    500: "The audit failed; `detail` or the provider's log says why",
    502: "The classifier failed",
    503: "The answer takes too long, the classifier does not answer in time, or too many people are waiting",
}


def pick(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How the OpenAPI document tells of the ways in which a request may fail."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {status: {"description": _TOLD[status], "content": content} for status in statuses}
