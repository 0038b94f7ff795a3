"""Reference of all error codes, from the code."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generators.tables import code, table
from weighbridge.doc_comments import doc_comments
from weighbridge.errors import LineError, WeighbridgeError
from weighbridge.jobs.error_codes import RETRYABLE, ErrorCode
from weighbridge_producer import service
from weighbridge_producer.service.problems import status_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_RAISERS = {"ProblemError", "Problem.of"}
_BY_STATUS = "_OF_STATUS"  #: the service's problems for statuses that the framework raises
_COMPUTED = "..."  #: placeholder for computed text


def jobs_markdown() -> str:
    """Return the codes of jobs that could not be judged."""
    said = doc_comments(ErrorCode)
    return table(
        ("code", "what is wrong", "what helps", "`retry` grades it again"),
        (
            (
                code(each),
                said[each.name][0],
                " ".join(said[each.name][1:]),
                "yes" if each in RETRYABLE else "no",
            )
            for each in ErrorCode
        ),
    )


def others_markdown() -> str:
    """Return the errors of commands, of the Python client and of the service, with their classes."""
    rows = [
        (
            code(kind.code),
            code(kind.__name__),
            (kind.__doc__ or "").partition("\n")[0],
            str(status_of(kind)),
        )
        for kind in _kinds(WeighbridgeError)
        if kind is not LineError
    ]
    return table(("code", "Python class", "meaning", "HTTP status"), rows)


def _kinds(base: type[WeighbridgeError]) -> Iterator[type[WeighbridgeError]]:
    for kind in base.__subclasses__():
        if kind.__module__ == "weighbridge.errors":
            yield kind
            yield from _kinds(kind)


def problems_markdown() -> str:
    """Return the problems specific to HTTP, from the service's source."""
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for path in sorted(Path(service.__path__[0]).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = _named_texts(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _RAISERS:
                status, *texts = _arguments(node, named)
                if status.isdigit() and len(texts) > 1 and texts[0].isupper():
                    found.setdefault((texts[0], status), []).append((*texts[1:3], "")[:2])
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _BY_STATUS:
                for status_code, (name, *said) in ast.literal_eval(node.value).items():
                    found.setdefault((name, str(status_code)), []).insert(0, tuple(said))
    return table(
        ("code", "HTTP status", "what is wrong", "what helps"),
        (
            (code(name), status, *map(_joined, zip(*texts, strict=True)))
            for (name, status), texts in sorted(found.items())
        ),
    )


def _joined(texts: tuple[str, ...]) -> str:
    """Join the different texts of one code."""
    told = dict.fromkeys(text for text in texts if text and text != _COMPUTED)
    return "; or ".join(told) or "see the response"


def _named_texts(tree: ast.Module) -> dict[str, str]:
    """Return the module's string constants."""
    return {
        target.id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _arguments(call: ast.Call, named: dict[str, str]) -> list[str]:
    """Return a call's literal arguments from the source; computed ones are `...`."""
    flat: list[Any] = []
    for argument in call.args:
        tuples = isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple)
        flat += argument.value.elts if tuples else [argument]
    return [_text(argument, named) for argument in flat] or [""]


def _text(node: ast.expr, named: dict[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        return named.get(node.id, _COMPUTED)
    if isinstance(node, ast.JoinedStr):
        text = "".join(_text(part, named) for part in node.values)
        return text.replace(_COMPUTED * 2, _COMPUTED)
    if isinstance(node, ast.FormattedValue):
        return _formatted(_text(node.value, named), node.format_spec)
    return _COMPUTED


def _formatted(text: str, spec: ast.expr | None) -> str:
    """Return a constant as a message shows it: `20,000` and `60`, not `20000` and `60.0`."""
    if text == _COMPUTED or not isinstance(spec, ast.JoinedStr):
        return text
    form = "".join(part.value for part in spec.values if isinstance(part, ast.Constant))
    return format(ast.literal_eval(text), form)
