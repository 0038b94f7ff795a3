"""Conversations kept as a tree of messages (`mapping`): each new version of a message begins a branch."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import object_of


def branch(nodes: dict[str, Any], leaf: Any, mark: str) -> tuple[list[dict[str, Any]], int]:
    """Return the messages from the root to a leaf, and the number of messages on other branches.

    `leaf` is the key of the current node; if it is unknown, the last node without a child is used. `mark` is a field that
    every message has.
    """
    messages = [held for node in nodes.values() if mark in (held := _message(node))]
    parents = {key: object_of(node).get("parent") for key, node in nodes.items()}
    if not any(type(parent) is str for parent in parents.values()):  # a simplified export
        return messages, 0
    if type(leaf) is not str or leaf not in nodes:
        inner = {parent for parent in parents.values() if type(parent) is str}
        leaf = next((key for key in reversed(nodes) if key not in inner), None)
    path: list[dict[str, Any]] = []
    passed: set[str] = set()
    while type(leaf) is str and leaf in nodes and leaf not in passed:
        passed.add(leaf)
        message = _message(nodes[leaf])
        if mark in message:
            path.append(message)
        leaf = parents[leaf]
    return path[::-1], len(messages) - len(path)


def _message(node: Any) -> dict[str, Any]:
    return object_of(object_of(node).get("message"))
