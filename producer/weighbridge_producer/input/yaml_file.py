"""YAML or JSON files written by users: plain values only, of limited size, with line numbers in errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from ruamel.yaml.scalarbool import ScalarBoolean

from weighbridge.errors import WeighbridgeError
from weighbridge.grading.strict_json import DEPTH_LIMIT
from weighbridge.settings import MIB

_LIMIT_BYTES = MIB
_NODES_LIMIT = 100_000  #: more than any normal file has; aliases can expand to millions
_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map")
)
#: Exceptions of the YAML library, including those for values such as `!!bool maybe` or `0x_`.
_NOT_YAML = (
    *(YAMLError, RecursionError, ValueError, LookupError),
    *(TypeError, AttributeError, OverflowError),
)
_QUOTE = 'quote what begins with *, [, {, & or %, or has a colon in it: ["*_delete"]'


class YamlFile:
    """A file of one kind, such as `graders file`, whose errors have one class and line numbers."""

    def __init__(self, name: str, kind: str, error: type[WeighbridgeError]) -> None:
        self.name = name
        self._kind = kind
        self._error = error

    def parsed(self) -> Any:
        """Return the content from ruamel's round-trip loader, which records line numbers."""
        try:
            with Path(self.name).open("rb") as file:
                data = file.read(_LIMIT_BYTES + 1)  # a device or a pipe may have no end
        except (OSError, ValueError) as error:
            raise self._error(
                f"the {self._kind} {self.name!r} cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from None
        if len(data) > _LIMIT_BYTES:
            raise self._error(
                f"the {self._kind} {self.name!r} has more than {_LIMIT_BYTES:,} bytes"
            )
        try:
            text = data.decode("utf-8-sig")
            self._check_events(text)
            # The round-trip loader records line numbers, and creates only plain values.
            root = YAML(typ="rt", pure=True).load(text)
            self.plain(root)  # a mapping that merges itself fails only when it is read
            return root
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            what = str(error.problem or error.context)
            self.fail_at(line, f"not YAML: {what}", _hint_on(what))
        except WeighbridgeError:
            raise
        except _NOT_YAML as error:
            self.fail_at(1, f"not YAML: {' '.join(str(error).split())[:200]}")

    def _check_events(self, text: str) -> None:
        """Refuse tags, and what would take long to parse: deep nesting and too many nodes."""
        depth = count = 0
        for event in YAML(typ="rt", pure=True).parse(text):
            line = event.start_mark.line + 1
            tag = getattr(event, "tag", None)
            if tag and str(tag) not in _PLAIN_TAGS:
                hint = f"remove the tag: a {self._kind} has texts, numbers, lists and objects only"
                self.fail_at(line, f"the tag {str(tag)[:80]!r} is not allowed", hint)
            count += isinstance(event, NodeEvent)
            if count > 2 * _NODES_LIMIT:  # of a mapping's entries, `plain` does not count the keys
                self._fail_at_size()
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if depth > DEPTH_LIMIT:
                self.fail_at(line, f"nested deeper than {DEPTH_LIMIT} levels")

    def plain(self, value: Any) -> Any:
        """Return plain Python data of limited size, since aliases may expand a lot."""
        count = 0

        def copy(node: Any) -> Any:
            nonlocal count
            count += 1
            if count > _NODES_LIMIT:
                self._fail_at_size()
            if isinstance(node, Mapping):
                return {key_text(key): copy(item) for key, item in node.items()}
            if isinstance(node, (list, tuple)):
                return [copy(item) for item in node]
            return _scalar(node)

        try:
            return copy(value)
        except RecursionError:
            raise self._error(
                f"the {self._kind} is nested too deeply, or an alias in it refers to itself"
            ) from None

    def _fail_at_size(self) -> NoReturn:
        raise self._error(f"the {self._kind} is too large, or an alias in it expands to too much")

    def fail(self, message: str, node: Any, key: Any = None, hint: str = "") -> NoReturn:
        """Raise the error with the line number of a key or an item."""
        self.fail_at(line_in(node, key), message, hint)

    def fail_at(self, line: int, message: str, hint: str = "") -> NoReturn:
        """Raise the error with a line number."""
        raise self._error(f"{self.name}, line {line}: {message}", hint)


def _hint_on(problem: str) -> str:
    """Return a hint for YAML errors that are often caused by a glob or a colon."""
    signs = (
        "alias",
        "anchor",
        "node content",
        "',' or '",
        "mapping values",
        "cannot start any token",
    )
    return _QUOTE if any(sign in problem for sign in signs) else ""


def line_in(node: Any, key: Any = None) -> int:
    """Return the line number of a key or item, from 1, or of the whole node if it is unknown."""
    if not isinstance(node, (CommentedMap, CommentedSeq)):
        return 1
    try:
        position = node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key)
        return int(position[0]) + 1
    except (KeyError, TypeError, AttributeError):
        return int(node.lc.line or 0) + 1


def key_text(key: Any) -> str:
    """Return a key in its JSON form."""
    # YAML parses the key `true:` as a boolean; in JSON it is a string.
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(node: Any) -> Any:
    if isinstance(node, ScalarBoolean):  # one with an anchor, which is no bool
        return bool(node)
    for kind in (bool, str, int, float):
        if isinstance(node, kind):
            return kind(node)
    return None if node is None else str(node)
