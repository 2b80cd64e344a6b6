"""What every request passes: the name it came to, the page it came from, its size; and what every answer says.

A page on the loopback interface can be reached by any page that the browser has open. So names other than ours are
refused (a foreign name that points to 127.0.0.1 would make its page one of ours), and so is what another page sends.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from safear.web.error_pages import FORM, ErrorDesk
from safear.web.http_errors import ProblemDetails, make_details

MOST_BYTES = 64 * 1024
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^][:@,/?#\s]+))(?::[0-9]{0,5})?", re.IGNORECASE)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Guard:
    """An application behind the checks. `names` are the host names that it answers to, without a port."""

    app: ASGIApp
    names: Collection[str]
    errors: ErrorDesk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what does not belong here, and put the headers into every answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        if scope["method"] == "HEAD":  # as GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refuse(scope) or await self._try(scope, receive, guarded)
        if refusal is not None and not started:
            await self.errors.respond(scope, refusal)(scope, receive, guarded)

    async def _try(self, scope: Scope, receive: Receive, send: Send) -> ProblemDetails | None:
        """Let the application answer; if it cannot, why."""
        try:
            body = b"" if scope["method"] in READING else await _read_body(receive)
            if len(body) > MOST_BYTES:
                return _too_big()
            scope[FORM] = body
            await self.app(scope, _replay(body, receive), send)
        except _CutOffError:  # nobody is there any more
            return None
        except asyncio.CancelledError:  # the server stops, and waits no longer
            return make_details("stopping", 503, "the service is being stopped; ask again in a few seconds")
        except Exception as error:  # noqa: BLE001  # whatever nobody foresaw
            return self.errors.read_crash(error)
        return None

    def _refuse(self, scope: Scope) -> ProblemDetails | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host_name(host) not in self.names:
            return make_details("host", 400, "use the address that the program printed when it started")
        ours = _is_ours(headers.get("sec-fetch-site"), headers.get("origin"), host)
        if scope["method"] not in READING and not ours:
            return make_details("origin", 403, "another page sent this")
        if headers.get("content-encoding", "identity").lower() != "identity":  # nothing is unpacked here
            return make_details("encoding", 415, "send it as it is, without a content-encoding")
        if "content-length" in headers and "transfer-encoding" in headers:  # who stands between us may see another end
            return make_details("framing", 400, "send either a content-length or a transfer-encoding")
        if _count_head(scope) > MOST_BYTES:  # what comes at once has no limit before
            return make_details("too-big", 431, f"send at most {MOST_BYTES:,} bytes of address and headers")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > MOST_BYTES:
            return _too_big()
        return None


class _CutOffError(Exception):
    """Whoever asked went away before all was sent."""


def _too_big() -> ProblemDetails:
    return make_details("too-big", 413, f"send at most {MOST_BYTES:,} bytes")


def _is_ours(site: str | None, origin: str | None, host: str) -> bool:
    """Whether something was sent by a page of ours, or by no page at all.

    Browsers say which (`Sec-Fetch-Site`); of those that do not, the origin must be ours. Programs say neither.
    """
    if site is not None:
        return site in {"same-origin", "none"}
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False


async def _read_body(receive: Receive) -> bytes:
    """What was sent: no more is read once it is too much, whatever was announced. An error if it is cut off."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _CutOffError
        part: bytes = message.get("body", b"")
        body += part
        if len(body) > MOST_BYTES or not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """First what was read already, then whatever comes."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return first.pop() if first else await receive()

    return replayed


def _count_head(scope: Scope) -> int:
    """How many bytes the address and the headers have, with what stands between them."""
    address = len(scope["raw_path"]) + len(scope["query_string"])
    return address + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])


def host_name(host: str) -> str:
    """`localhost:8000` without its port, `[::1]:8000` without brackets; empty if it is no name with a port."""
    found = _HOST.fullmatch(host)
    return "" if found is None else (found[1] or found[2]).lower()
