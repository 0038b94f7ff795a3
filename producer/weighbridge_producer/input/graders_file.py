"""A file of graders: YAML (or JSON) that names graders, their configurations and labels.

graders:
- tool-schema
- grader: budget
label: cheap
config:
max_tokens: 5000
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from weighbridge.errors import ConfigError, ConfigTypeError, UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.model import GraderSpec, parse_specs
from weighbridge.settings import MIB
from weighbridge.text import closest, did_you_mean

_LIMIT_BYTES = MIB
_NODES_LIMIT = 100_000  #: more than any honest file has; an alias can stand for millions
_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map")
)
#: What the YAML library raises for values that contradict their form, such as `!!bool maybe` or `0x_`.
_NOT_YAML = (
    *(YAMLError, RecursionError, ValueError, LookupError),
    *(TypeError, AttributeError, OverflowError),
)
_KEYS = ("grader", "config", "label")
_SHAPE = "write a list of grader ids, or of {grader, config, label}, under `graders:`"
_QUOTE = 'quote what begins with *, [, {, & or %, or has a colon in it: ["*_delete"]'


def read_graders(path: str | Path) -> tuple[GraderSpec, ...]:
    """Return the graders that a file names.

    Raises ConfigError, with the file's line, for anything in it that is wrong. A grader that is not installed here is
    left to whoever grades.
    """
    return _Reader(str(path)).read()


def line_naming(path: str | Path, grader_id: str) -> int | None:
    """Return the line of a file of graders that names a grader; None if none does."""
    return _Reader(str(path)).line_naming(grader_id)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def line_naming(self, grader_id: str) -> int | None:
        listed = self._listed()
        for index, entry in enumerate(listed):
            if entry == grader_id:
                return _line_in(listed, index)
            if isinstance(entry, CommentedMap) and entry.get("grader") == grader_id:
                return _line_in(entry, "grader")
        return None

    def _listed(self) -> CommentedSeq:
        root = self._parsed()
        listed = root
        if isinstance(root, CommentedMap):
            for key in root:
                if key != "graders":
                    meant = did_you_mean(closest(str(key), ["graders"]))
                    self._fail(f"unknown key {str(key)[:80]!r}{meant}", root, key, _SHAPE)
            listed = root.get("graders")
        if isinstance(listed, str):
            instead = f"{'graders: ' if isinstance(root, CommentedMap) else ''}[{listed[:80]}]"
            self._fail("the graders are not a list", root, "graders", f"write {instead}")
        if not isinstance(listed, CommentedSeq) or not listed:
            self._fail("there is no list of graders", root, hint=_SHAPE)
        return listed

    def read(self) -> tuple[GraderSpec, ...]:
        listed = self._listed()
        specs = [self._spec(listed, index) for index in range(len(listed))]
        labels: dict[str, int] = {}
        for index, spec in enumerate(specs):
            if spec.label in labels:
                self._fail(
                    f"two graders are labelled {spec.label!r}; give one another label",
                    listed,
                    index,
                )
            labels[spec.label] = index
        return parse_specs(specs)

    def _parsed(self) -> Any:
        try:
            data = Path(self._name).read_bytes()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the graders file {self._name!r} cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from None
        if len(data) > _LIMIT_BYTES:
            raise ConfigError(
                f"the graders file {self._name!r} has more than {_LIMIT_BYTES:,} bytes"
            )
        try:
            text = data.decode("utf-8-sig")
            self._refuse_tags(text)
            # The round-trip loader knows lines, and makes nothing but plain values.
            root = YAML(typ="rt", pure=True).load(text)
            _plain(root)  # a mapping that merges itself fails where it is read
            return root
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            what = str(error.problem or error.context)
            self._fail_at(line, f"not YAML: {what}", _hint_on(what))
        except ConfigError:
            raise
        except _NOT_YAML as error:
            self._fail_at(1, f"not YAML: {' '.join(str(error).split())[:200]}")

    def _refuse_tags(self, text: str) -> None:
        for event in YAML(typ="rt", pure=True).parse(text):
            tag = getattr(event, "tag", None)
            if tag and str(tag) not in _PLAIN_TAGS:
                line = event.start_mark.line + 1
                hint = "remove the tag: a graders file has texts, numbers, lists and objects only"
                self._fail_at(line, f"the tag {str(tag)[:80]!r} is not allowed", hint)

    def _spec(self, listed: CommentedSeq, index: int) -> GraderSpec:
        entry = listed[index]
        if isinstance(entry, str):
            entry_map: Mapping[str, Any] = {"grader": entry}
        elif isinstance(entry, CommentedMap):
            entry_map = entry
        else:
            self._fail(
                "a grader is an id, or an object with 'grader', 'config' and 'label'",
                listed,
                index,
                _SHAPE,
            )
        for key in entry_map:
            if key not in _KEYS:
                meant = did_you_mean(closest(str(key), _KEYS))
                self._fail(f"unknown key {str(key)[:80]!r}{meant}", entry, key)
        grader, config, label = (_plain(entry_map.get(key)) for key in _KEYS)
        for key, value in (("grader", grader), ("label", label)):
            if not (isinstance(value, str) and value) and not (key == "label" and value is None):
                self._fail(
                    f"{key!r} must be a text",
                    entry if isinstance(entry, CommentedMap) else listed,
                    key,
                )
        if config is not None and not isinstance(config, dict):
            self._fail("'config' must be an object", entry, "config")
        try:
            spec = parse_specs([GraderSpec(str(grader), config, label or "")])[0]
            default_registry().create(spec.grader, config)
        except UnknownGraderError:
            return spec
        except (ConfigError, ConfigTypeError) as error:
            where = entry.get("config") if isinstance(entry, CommentedMap) else None
            self._fail_at(_line_of(where, error.path) or _line_in(listed, index), error.message)
        return spec

    def _fail(self, message: str, node: Any, key: Any = None, hint: str = "") -> NoReturn:
        self._fail_at(_line_in(node, key), message, hint)

    def _fail_at(self, line: int, message: str, hint: str = "") -> NoReturn:
        raise ConfigError(f"{self._name}, line {line}: {message}", hint)


def _hint_on(problem: str) -> str:
    """Return what would help with YAML's own complaints that a glob or a colon in a list leads to."""
    signs = (
        "alias",
        "anchor",
        "node content",
        "',' or '",
        "mapping values",
        "cannot start any token",
    )
    return _QUOTE if any(sign in problem for sign in signs) else ""


def _line_in(node: Any, key: Any = None) -> int:
    """Return the line of a key or an item, from 1; of the whole, where that is not known."""
    if not isinstance(node, (CommentedMap, CommentedSeq)):
        return 1
    try:
        position = node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key)
    except (KeyError, TypeError, AttributeError):
        return int(node.lc.line or 0) + 1
    return int(position[0]) + 1


def _line_of(node: Any, path: Sequence[str | int]) -> int | None:
    """Return the line of what a path leads to, or of the last place on it that is there."""
    line = None
    for key in path:
        if isinstance(node, CommentedMap):
            written = next((name for name in node if _key(name) == str(key)), None)
        elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
            written = key
        else:
            break
        if written is None:
            break
        line, node = _line_in(node, written), node[written]
    return line


def _plain(value: Any) -> Any:
    """Return plain Python data, of bounded size: an alias may stand for very much."""
    count = 0

    def copy(node: Any) -> Any:
        nonlocal count
        count += 1
        if count > _NODES_LIMIT:
            raise ConfigError(
                "the graders file holds too much, or an alias in it stands for too much"
            )
        if isinstance(node, Mapping):
            return {_key(key): copy(item) for key, item in node.items()}
        if isinstance(node, (list, tuple)):
            return [copy(item) for item in node]
        return _scalar(node)

    try:
        return copy(value)
    except RecursionError:
        raise ConfigError(
            "the graders file is nested too deeply, or an alias in it holds itself"
        ) from None


def _key(key: Any) -> str:
    # YAML reads `true:` as a boolean; in JSON it is a text.
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(node: Any) -> Any:
    for kind in (bool, str, int, float):
        if isinstance(node, kind):
            return kind(node)
    return None if node is None else str(node)
