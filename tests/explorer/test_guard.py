"""Whom the explorer's server answers, by the address it is bound to. (test_server.py asks a running one.)"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the explorer is an optional extra")
guard = pytest.importorskip("dcrl.explorer.guard")


@pytest.mark.parametrize(
    ("bound", "host", "expected"),
    [
        ("0.0.0.0", "192.168.1.5:8050", 200),  # an address cannot be rebound
        ("0.0.0.0", "[fe80::1]:8050", 200),
        ("0.0.0.0", f"{socket.gethostname()}:8050", 200),
        ("0.0.0.0", "evil.example:8050", 403),
        ("192.168.1.5", "127.0.0.1.evil.example", 403),
        ("127.0.0.1", "192.168.1.5:8050", 403),
        ("::1", "[::1]:8050", 200),
        ("127.0.0.1", "", 403),
    ],
)
def test_a_server_for_others_answers_to_addresses_and_its_own_name(bound: str, host: str, expected: int) -> None:
    statuses: list[int] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {"type": "http", "headers": [(b"host", host.encode())]}
    asyncio.run(guard.Guard(page, bound)(scope, asyncio.Queue().get, send))
    assert statuses == [expected]
