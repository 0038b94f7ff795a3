"""The documentation of the HTTP API has every route that the service describes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from support import requests

if TYPE_CHECKING:
    from support.http import HttpServer

DOCS = Path(__file__).resolve().parents[3] / "docs/how-to/http.md"


def test_every_route_of_the_openapi_document_stands_in_the_table_of_requests(
    service: HttpServer,
) -> None:
    document = requests.get(f"{service.url}/api/openapi.json", timeout=60).json()
    table = DOCS.read_text().partition("\n## ")[0]
    told = {
        (method, re.sub(r"\{[^}]*id\}", "{}", path).replace("{name}", "{}"))
        for row in table.splitlines()
        if row.startswith("| `")
        for method, path in _requests(row)
    }
    described = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert described - told == set()


def _requests(row: str) -> list[tuple[str, str]]:
    """Return the requests of a row: `GET /a`, `/a/{id}` are two, both of them GET."""
    found, method = [], ""
    for piece in re.findall(r"`([^`]+)`", row.split("|")[1]):
        verb, _, path = piece.rpartition(" ")
        method = verb or method
        found.append((method, path))
    return found
