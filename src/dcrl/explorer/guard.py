"""Who may talk to the page: requests for this machine by a name that is its own, from the page itself.

A page of a stranger that the same browser shows can send requests here too. It cannot forge two headers:
`Host`, which a rebound DNS name would give away, and `Origin`, which says whose page asks.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
HEADERS = (
    # no page, script, picture or connection from anywhere else, whatever a run's files say
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; "
        b"object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Guard:
    """ASGI middleware: refuses a wrong Host or Origin with 403, on HTTP and on websockets."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app, self.exposed, self.names = app, not is_loopback(host), own_names(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif not self._welcome(scope["headers"]):
            await _refuse(scope, send)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _welcome(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        hosts, origins = [_all(headers, name) for name in (b"host", b"origin")]
        if len(hosts) != 1 or not self._own(_name(hosts[0])):
            return False
        site, mode = _all(headers, b"sec-fetch-site"), _all(headers, b"sec-fetch-mode")
        if site and site[0] in ("cross-site", "same-site") and mode != ["navigate"]:
            return False  # a stranger's page that loads parts of this one; following a link to it is harmless
        return all(_same(origin, hosts[0]) for origin in origins)

    def _own(self, name: str) -> bool:
        """DNS rebinding needs a name, so a bare address is safe where the page is meant for other machines."""
        return name in self.names or (self.exposed and _is_address(name))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def own_names(host: str) -> frozenset[str]:
    """The names by which a browser may call this server."""
    if is_loopback(host):
        return LOOPBACK | {host}
    return LOOPBACK | {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}


def _all(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    return [value.decode("latin-1").strip().lower() for name, value in headers if name.lower() == wanted]


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in HEADERS}
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in own]
            message = {**message, "headers": [*kept, *HEADERS]}
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the handshake ends with 403
        return
    plain = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": plain})
    await send(
        {"type": "http.response.body", "body": b"refused: the request names another host or comes from another page\n"}
    )
