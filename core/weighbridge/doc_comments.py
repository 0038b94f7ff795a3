"""The `#:` comments of a class's attributes."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path


def doc_comments(of: type) -> dict[str, list[str]]:
    """Return the lines of the `#:` comment above each attribute that the body of a class assigns."""
    module = sys.modules[of.__module__]
    source = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    lines = source.splitlines()
    body = next(
        node.body
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name == of.__name__
    )
    return {name: comment_above(lines, node.lineno) for node in body for name in _assigned(node)}


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def comment_above(lines: list[str], number: int) -> list[str]:
    """Return the lines of the `#:` comment that ends above a line."""
    found: list[str] = []
    for line in reversed(lines[: number - 1]):
        text = line.strip()
        if not text.startswith("#:"):
            break
        found.insert(0, text.removeprefix("#:").strip())
    return found
