"""Responses when the application itself fails."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from weighbridge_producer.service.access.security import Security
from weighbridge_producer.service.limits.key_watch import KeyWatch
from weighbridge_producer.service.limits.slots import ByteBudget

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "scheme": "http",
    "path": "/api/x",
    "raw_path": b"/api/x",
    "query_string": b"",
    "headers": [(b"host", b"localhost")],
}


def answer_of(app: ASGIApp) -> list[Message]:
    """Return the messages sent in response to one request."""
    sent: list[Message] = []

    async def serve() -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        service = SimpleNamespace(
            keys_required=False,
            closing=asyncio.Event(),
            answer_bytes=ByteBudget(1, 1, RuntimeError),
            key_watch=KeyWatch(None),
        )
        await Security(app, service)(dict(SCOPE), receive, send)

    asyncio.run(serve())
    return sent


async def fail_at_once(*_: object) -> None:
    raise KeyError("a secret of the inside")


async def fail_half_way(_scope: object, _receive: object, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    raise KeyError("a secret of the inside")


def test_a_failure_is_told_without_its_inside_and_logged_with_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    start, body = answer_of(fail_at_once)
    headers = dict(start["headers"])
    assert start["status"] == 500
    assert b"default-src 'none'" in headers[b"content-security-policy"]
    assert json.loads(body["body"])["code"] == "INTERNAL_ERROR"
    assert b"secret" not in body["body"]
    assert "a secret of the inside" in caplog.text


def test_half_an_answer_is_cut_off_so_that_nobody_takes_it_for_the_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(KeyError):
        answer_of(fail_half_way)
    assert "a secret of the inside" in caplog.text
