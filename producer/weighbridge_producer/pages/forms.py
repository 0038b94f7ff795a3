"""Entries of a submitted form, read with a size limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import UploadFile
from starlette.requests import Request

from weighbridge.store.projects import DEFAULT_PROJECT
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.uploads.request_bodies import whole_body

if TYPE_CHECKING:
    from starlette.types import Message

_FIELDS_LIMIT = 1_000

Entries = dict[str, list[str]]


async def entries_of(request: Request, limit_bytes: int, project: str = DEFAULT_PROJECT) -> Entries:
    """Return a form's entries by name, including a file's content; ProblemError if it is too large or invalid."""
    body = await whole_body(request, limit_bytes, project)

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    entries: Entries = {}
    try:
        async with Request(request.scope, receive).form(
            max_fields=_FIELDS_LIMIT, max_files=1, max_part_size=limit_bytes
        ) as form:
            for name, value in form.multi_items():
                text = (
                    (await value.read()).decode(errors="replace")
                    if isinstance(value, UploadFile)
                    else value
                )
                # Browsers send the lines of a text area with CRLF.
                entries.setdefault(name, []).append(text.replace("\r\n", "\n"))
    except UnicodeError:
        raise ProblemError(
            415, "INVALID_FORM", "the form has an unknown encoding", "send UTF-8"
        ) from None
    return entries
