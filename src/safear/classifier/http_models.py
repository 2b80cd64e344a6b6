"""Models behind an address: asked with JSON, batch by batch, as the scoring server of MLflow takes it."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from safear.classifier.reading import require_package, unreadable
from safear.classifier.waiting import time_left
from safear.errors import ClassifierError, quote_list

if TYPE_CHECKING:
    import pandas as pd

BATCH = 1000  # rows in one request
WAITS = (0.5, 1.0, 2.0)  # seconds before each further try
CONNECT = 10.0  # seconds
WAITED = 1 / 8  # of the time that somebody has for an answer may each wait take
GRACE = 0.5  # seconds after which a request is given up for which nobody waits any more
NO_ANSWER = "no_answer"
BUSY = frozenset({429, 502, 503, 504})  # which may be over soon
AT_FAULT = frozenset({400, 422, 500})  # what a server says if its model fails on the input
MOST_BYTES = 2**26  # of an answer
TOKEN = "SAFEAR_MODEL_TOKEN"  # noqa: S105  # the name of a variable
SHOWN = 200  # characters of what a server says


@dataclass(frozen=True)
class HttpModel:
    """A function from a DataFrame to what a server answers.

    It sends `{"dataframe_records": [{...}, ...]}` and takes a list, or `{"predictions": [...]}`: labels, scores, or
    pairs of chances. A request has `time_limit` seconds, or as long as somebody waits for it. What may be over soon is
    tried again, if they have the time. No redirect is followed: nothing is sent to an address that the operator did not
    give.
    """

    address: str = field(repr=False)  # whose query may be a secret
    time_limit: float | None = None

    @property
    def shown(self) -> str:
        """The address as it is told."""
        return tell_source(self.address)

    def __call__(self, frame: pd.DataFrame) -> list[Any]:
        """What the server answers, one for each row."""
        starts = range(0, len(frame), BATCH)
        answers: list[Any] = []
        for done, start in enumerate(starts):
            rows = frame.iloc[start : start + BATCH]
            answers += self._ask(rows, f"{done} of {len(starts)} batches were answered")
        return answers

    def _ask(self, rows: pd.DataFrame, progress: str) -> list[Any]:
        body = json.dumps({"dataframe_records": list(_records(rows))}, allow_nan=False).encode()
        status, text = self._send(body, progress)
        if 300 <= status < 400:
            cause = f"it sends us on to another address ({status}), and we do not follow"
            raise unreadable(self.shown, cause, "give the address that answers", code="redirected")
        if status in AT_FAULT:
            cause = f"{self.shown} failed: {_said(status, text)}"
            sent = quote_list([str(name) for name in rows])
            remedy = f"it was sent {sent}; further columns are named in the problem's 'given: [...]'"
            raise ClassifierError.at(("classifier",), cause, remedy, code="classifier_failed", status=status)
        if status != 200:
            cause = f"it refuses: {_said(status, text)}; {progress}"
            raise unreadable(self.shown, cause, code="refused", status=status)
        try:
            found = json.loads(text)
        except ValueError:
            raise unreadable(self.shown, f"it answers with no JSON: {text[:SHOWN]!r}", code="no_json") from None
        answers = found.get("predictions") if isinstance(found, dict) else found
        if not isinstance(answers, list) or any(isinstance(answer, dict) for answer in answers):
            remedy = 'it should give a list, or {"predictions": [...]}, of labels, scores or pairs of chances'
            raise unreadable(self.shown, f"it answers with something else: {text[:SHOWN]!r}", remedy, code="no_list")
        if len(answers) != len(rows):
            cause = f"{self.shown} gave {len(answers)} answers to {len(rows)} inputs"
            raise ClassifierError.at(("classifier",), cause, "it should give one per input", code="wrong_shape")
        return answers

    def _send(self, body: bytes, progress: str) -> tuple[int, str]:
        """The status and the text of an answer, at the last of some tries."""
        errors = require_package("urllib3", "urllib3", "http").exceptions
        waits = _choose_waits()
        for wait in (*waits, None):
            limit = self._find_limit()
            try:
                status, text = self._send_once(body, limit)
            except (errors.ReadTimeoutError, TimeoutError):
                cause = f"it has not answered after {limit:g} seconds; {progress}"
                remedy = "allow more with --model-timeout SECONDS"
                raise unreadable(self.shown, cause, remedy, code=NO_ANSWER) from None
            except errors.HTTPError as error:
                if wait is None:
                    cause = f"it cannot be reached: {_reason(error)}; tried {len(waits) + 1} times; {progress}"
                    raise unreadable(self.shown, cause, code="unreachable") from error
            else:
                if status not in BUSY or wait is None:
                    return status, text
            time.sleep(wait or 0)
        return status, text

    def _find_limit(self) -> float | None:
        """How many seconds a request may take."""
        left = time_left()
        limits = [self.time_limit, None if left is None else max(left, 0.0) + GRACE]
        return min((limit for limit in limits if limit is not None), default=None)

    def _send_once(self, body: bytes, limit: float | None) -> tuple[int, str]:
        urllib3 = require_package("urllib3", "urllib3", "http")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {os.environ[TOKEN]}"
        deadline = math.inf if limit is None else time.monotonic() + limit
        response = pool().request(
            "POST",
            self.address,
            body=body,
            headers=headers,
            timeout=urllib3.Timeout(connect=CONNECT if limit is None else min(CONNECT, limit), read=limit),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            content = self._read(response, deadline)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return int(response.status), content.decode("utf-8", errors="replace")

    def _read(self, response: Any, deadline: float) -> bytes:
        """The content of an answer, as long as it comes in time and within bounds."""
        content = bytearray()
        for part in response.stream(2**16):
            content += part
            if time.monotonic() > deadline:
                raise TimeoutError
            if len(content) > MOST_BYTES:
                raise unreadable(self.shown, f"its answer has more than {MOST_BYTES:,} bytes", code="too_large")
        return bytes(content)


def load_http(address: str, time_limit: float | None) -> HttpModel:
    """The model behind an address, which is asked when it is needed."""
    urllib3 = require_package("urllib3", "urllib3", "http")
    try:
        parsed = urllib3.util.parse_url(address)
    except urllib3.exceptions.LocationParseError:
        parsed = urllib3.util.Url()
    if parsed.auth is not None:
        remedy = f"put a token into the variable {TOKEN}; it is sent as a bearer token"
        raise unreadable(tell_source(address), "an address must hold no password", remedy, code="password")
    if not parsed.host:
        raise unreadable(tell_source(address), "this is no address", "write http://HOST:PORT/PATH", code="no_address")
    return HttpModel(address, time_limit)


def tell_source(source: str) -> str:
    """The name of a classifier as others may read it: an address without user, password and query."""
    scheme, mark, rest = source.partition("://")
    if scheme.lower() not in {"http", "https"} or not mark:
        return source
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def _choose_waits() -> tuple[float, ...]:
    """How long to wait before each further try: not for most of the time that somebody has for the answer."""
    left = time_left()
    return WAITS if left is None else tuple(wait for wait in WAITS if wait <= left * WAITED)


@cache
def pool() -> Any:
    """Connections, kept open from batch to batch. No proxies."""
    return require_package("urllib3", "urllib3", "http").PoolManager()


def _records(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows as JSON has them: what is missing is null, whatever NumPy calls a number is one."""
    columns = {str(name): [_plain(value) for value in values.tolist()] for name, values in rows.items()}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    item = getattr(value, "item", None)
    return _plain(item()) if item is not None else None if _is_nothing(value) else str(value)


def _is_nothing(value: Any) -> bool:
    import pandas as pd  # noqa: PLC0415  # who has a frame has it already

    return value is None or value is pd.NA or value is pd.NaT


def _said(status: int, text: str) -> str:
    return f"{status} {' '.join(text.split())[:SHOWN]}".strip()


def _reason(error: BaseException) -> str:
    """What went wrong at the bottom, in short."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error) or type(error).__name__
