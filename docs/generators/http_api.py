"""Reference of the HTTP API, from its OpenAPI document."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from generators.tables import code, table
from weighbridge.settings import Settings
from weighbridge_producer.app import create_app
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.service.problems import MEDIA_TYPE, describe
from weighbridge_producer.service.service import Service

#: generating the document does not connect to the server
_NOT_CONNECTED = "redis://localhost:6379/0"


@cache
def document() -> dict[str, Any]:
    """Return the service's OpenAPI document."""
    client = RedisClient(_NOT_CONNECTED, settings=Settings())
    return describe(create_app(Service(client)).openapi())


def markdown() -> str:
    """Return a section for each request, and one for each type."""
    requests = [
        _request(method.upper(), path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    types = [
        _type_section(name, schema)
        for name, schema in sorted(document()["components"]["schemas"].items())
    ]
    return "\n\n".join(["## Requests", _refusals(), *requests, "## Types", *types])


def _refusals() -> str:
    """Return the error responses common to all requests."""
    [statuses] = {
        tuple(
            status
            for status, answer in operation["responses"].items()
            if MEDIA_TYPE in answer.get("content", {})
        )
        for methods in document()["paths"].values()
        for operation in methods.values()
    }
    return (
        f"Any request may be refused with a [Problem](#problem) and one of {', '.join(statuses)}."
    )


def _request(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"### {method} {path}", operation.get("description") or operation.get("summary", "")]
    parameters = [
        (
            code(given["name"]),
            given["in"],
            _shape(given["schema"]),
            "required" if given.get("required") else _default(given["schema"]),
            given.get("description", "") or given["schema"].get("description", ""),
        )
        for given in operation.get("parameters", ())
    ]
    if parameters:
        parts.append(table(("parameter", "in", "type", "default", "what it is"), parameters))
    if body := operation.get("requestBody"):
        parts.append(f"Body: {_content(body)}.")
    answers = [
        (status, _content(answer), answer.get("description", ""))
        for status, answer in operation["responses"].items()
        if MEDIA_TYPE not in answer.get("content", {})
    ]
    parts.append(table(("status", "answer", "meaning"), answers))
    return "\n\n".join(filter(None, parts))


def _content(part: dict[str, Any]) -> str:
    of_shape: dict[str, list[str]] = {}
    for media, given in part.get("content", {}).items():
        of_shape.setdefault(_shape(given.get("schema", {})), []).append(code(media))
    return "; ".join(
        ", ".join(media) + (f": {shape}" if shape else "") for shape, media in of_shape.items()
    )


def _type_section(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (
            code(field),
            _shape(given),
            "required" if field in required else _default(given),
            given.get("description", ""),
        )
        for field, given in schema.get("properties", {}).items()
    ]
    parts = [f"### {name}", schema.get("description", "")]
    if rows:
        parts.append(table(("field", "type", "default", "what it is"), rows))
    else:
        parts.append(_shape(schema))
    return "\n\n".join(filter(None, parts))


def _default(schema: dict[str, Any]) -> str:
    return code(json.dumps(schema["default"])) if "default" in schema else ""


def _shape(schema: dict[str, Any]) -> str:
    """Return a description of a schema, with links to named types."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        return " or ".join(dict.fromkeys(map(_shape, options)))
    kind = schema.get("type", "")
    if kind == "array" and schema.get("items"):
        return f"list of {_shape(schema['items'])}"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, dict) and values:
        return f"object of {_shape(values)}"
    bounds = [
        f"{word} {schema[name]}"
        for name, word in (
            ("minimum", "from"),
            ("maximum", "to"),
            ("minLength", "at least"),
            ("maxLength", "at most"),
        )
        if name in schema
    ]
    return " ".join([*([kind] if isinstance(kind, str) else [" or ".join(kind)]), *bounds]).strip()
