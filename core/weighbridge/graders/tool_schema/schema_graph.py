"""A JSON Schema as a graph: the subschemas that are applied to a value, and those applied to its members."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson
import referencing
from referencing.exceptions import Unresolvable

from weighbridge.graders.tool_schema.json_data import is_extreme
from weighbridge.graders.tool_schema.patterns import (
    backtracks,
    compiled_states_of,
    matching_states_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referencing._core import Resolver
    from referencing.jsonschema import SchemaResource

    _Resolver = Resolver[Any] | None  #: None in a schema without references

_PATTERNS_LIMIT = 200_000  #: characters of all patterns; a quarter of a second to examine
SUBSCHEMAS_LIMIT = 15_000  #: per schema; about half a second to examine
ANY_KEY = ""  #: means any key
#: Repeated application of the same subschemas by a validator; 2.7 times as measured.
_UNEVALUATED_REPEATS = 3
_EXACT_COMPARISON = 25  #: cost of comparing numbers that may be fractions
_DIVISION = 40  #: cost of a division by a number that may be a fraction
_EXTREME_DIVISION = 600  #: cost of a division by a fraction if one of the numbers is far from 1
#: Keywords that find at most one error in a value.
_ASSERTIONS = frozenset(
    [
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "contains",
        "maxContains",
        "minContains",
        "maxProperties",
        "minProperties",
        "anyOf",
        "oneOf",
        "not",
        "additionalProperties",
        "additionalItems",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
        "$ref",
    ]
)
#: Keywords whose values are quoted in error messages.
_QUOTED_KEYWORDS = (
    "enum",
    "const",
    "pattern",
)
_KEYS_LIMIT = 20  #: distinct keys per subschema
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class _Way(NamedTuple):
    """How a keyword applies the subschemas in its value."""

    to: Literal["here", "one", "each"]  #: the value itself, one of its members, or each
    #: the key of the target: the last one, or a new one
    key: Literal["same", "own", "any"] = "same"
    has_members: bool = False  #: True if the subschemas are members of an object


_WAYS = {
    **dict.fromkeys(("not", "if", "then", "else", "allOf", "anyOf", "oneOf"), _Way("here")),
    **dict.fromkeys(("dependentSchemas", "dependencies"), _Way("here", has_members=True)),
    **dict.fromkeys(("items", "prefixItems", "additionalItems"), _Way("one")),
    "properties": _Way("one", "own", has_members=True),
    "additionalProperties": _Way("one", "any"),
    **dict.fromkeys(("contains", "unevaluatedItems"), _Way("each")),
    **dict.fromkeys(("unevaluatedProperties", "propertyNames"), _Way("each", "any")),
    "patternProperties": _Way("each", "any", has_members=True),
}


class SchemaTooLargeError(Exception):
    """A schema has too many parts to examine in a short time; the message says of which kind."""


class SchemaReferenceError(Exception):
    """A schema has a reference without a target in it."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


@dataclass(slots=True)
class Node:
    """One subschema."""

    #: errors that its own keywords may find in a value; each contains a copy of the value
    errors: float = 0.0
    inner_errors: float = 0.0  #: errors that they may find in each member, if `false` forbids it
    quoted: float = 0.0  #: bytes of the schema quoted in the messages of these errors
    comparisons: float = 0.0  #: cost of its own keywords for a value
    divisions: float = 0.0  #: cost of dividing an extreme number
    states: float = 0.0  #: active states of its patterns per character
    backtracking: float = 0.0  #: number of its patterns that may backtrack
    here_repeats: int = 1  #: how often each of `here` is applied
    #: True if all of `here` record the members that they have evaluated
    keeps_evaluated: bool = False
    names: list[int] = field(default_factory=list)  #: the subschemas that apply to each key
    here: list[int] = field(default_factory=list)  #: the subschemas that apply to the same value
    #: Subschemas of which one applies, depending on context.
    dynamic: list[int] = field(default_factory=list)
    one: list[int] = field(default_factory=list)  #: subschemas of which one applies to each member
    each: list[int] = field(default_factory=list)  #: subschemas that may all apply to each member
    by_key: list[tuple[str, int]] = field(default_factory=list)
    """Those of `one` and `each` that only a key leads to."""
    #: Subschemas that apply to members by position.
    by_position: list[int] = field(default_factory=list)


@dataclass(slots=True)
class SchemaGraph:
    """All subschemas that a schema can apply; the first is its root."""

    nodes: list[Node]
    repeats: bool  #: True if any of them may be applied to a value more than once
    patterns: int
    states: int  #: total states of all compiled patterns

    def keys_to_backtracking(self) -> frozenset[str]:
        """Return the keys of texts that are matched with possibly backtracking patterns."""
        leading: list[set[str]] = [set() for _ in self.nodes]
        pending = [(0, ANY_KEY)]
        while pending:
            index, key = pending.pop()
            known = leading[index]
            if key in known or ANY_KEY in known:
                continue
            if len(known) >= _KEYS_LIMIT:
                key = ANY_KEY
            known.add(key)
            node = self.nodes[index]
            pending += ((inner, key) for inner in (*node.here, *node.dynamic, *node.by_position))
            pending += ((inner, next_key) for next_key, inner in node.by_key)
        chosen = (keys for node, keys in zip(self.nodes, leading, strict=True) if node.backtracking)
        return frozenset().union(*chosen)


def graph_of(schema: dict[str, Any], specification: Any, text: bytes) -> SchemaGraph:
    """Return the graph of a schema that is valid by its metaschema; raises SchemaReferenceError.

    `text` is the schema as JSON.
    """
    builder = _Builder(specification, len(text))
    if any(f'"{keyword}"'.encode() in text for keyword in _REFERENCES):
        return builder.build(schema, specification.create_resource(schema))
    return builder.build(schema)  # a resolver takes longer than everything else


class _Builder:
    def __init__(self, specification: Any, size: int) -> None:
        self._specification = specification
        self._size = size  #: size of the schema in bytes
        self._nodes: list[Node] = []
        self._indices: dict[int, int] = {}  # by `id()` of a subschema, which the schema keeps alive
        self._pending: list[tuple[int, dict[str, Any], _Resolver]] = []
        self._anchored: dict[str, list[int]] = {}
        self._dynamic: list[tuple[Node, str]] = []
        self._repeats = False
        self._patterns = self._pattern_characters = self._states = 0

    def build(self, schema: dict[str, Any], root: SchemaResource | None = None) -> SchemaGraph:
        resolver = referencing.Registry().resolver_with_root(root) if root else None
        self._index_of(schema, resolver)
        while self._pending:
            index, subschema, inner = self._pending.pop()
            self._read(self._nodes[index], subschema, inner)
            for anchor in _anchors(subschema):
                self._anchored.setdefault(anchor, []).append(index)
        for node, anchor in self._dynamic:
            node.dynamic = self._anchored.get(anchor, [])
        return SchemaGraph(self._nodes, self._repeats, self._patterns, self._states)

    def _index_of(self, schema: dict[str, Any], resolver: _Resolver) -> int:
        index = self._indices.get(id(schema))
        if index is None:
            index = self._indices[id(schema)] = len(self._nodes)
            if index >= SUBSCHEMAS_LIMIT:
                raise SchemaTooLargeError(f"more than {SUBSCHEMAS_LIMIT:,} subschemas")
            self._nodes.append(Node())
            self._pending.append((index, schema, resolver))
        return index

    def _read(self, node: Node, schema: dict[str, Any], resolver: _Resolver) -> None:
        node.errors, node.inner_errors = _errors_of(schema)
        node.quoted = self._quoted_by(schema)
        node.comparisons = _parts_of(schema) + _slow_comparisons(schema)
        node.divisions = _EXTREME_DIVISION if _divides(schema) else 0
        for keyword, value in schema.items():
            way = _WAYS.get(keyword)
            if way:
                for key, subschema in _parts(way, value):
                    self._add(node, way, key, subschema, resolver)
                if keyword == "propertyNames":
                    node.names += node.each[-1:] if type(value) is dict else []
            elif keyword in _REFERENCES and resolver:
                self._follow(node, keyword, value, resolver)
            elif keyword == "pattern":
                self._match(node, value)
        for pattern in schema.get("patternProperties", ()):
            self._match(node, pattern)
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            node.here_repeats = _UNEVALUATED_REPEATS
            node.keeps_evaluated = self._repeats = True

    def _quoted_by(self, schema: dict[str, Any]) -> int:
        quoted = [schema[keyword] for keyword in _QUOTED_KEYWORDS if keyword in schema]
        size = sum(len(orjson.dumps(value)) for value in quoted)
        return size + (self._size if "not" in schema else 0)

    def _add(self, node: Node, way: _Way, key: str, schema: Any, resolver: _Resolver) -> None:
        if type(schema) is not dict:  # a boolean, or a list of names in `dependencies`
            return
        if resolver and ("$id" in schema or "id" in schema):
            resolver = resolver.in_subresource(self._specification.create_resource(schema))
        index = self._index_of(schema, resolver)
        if way.to == "here":
            node.here.append(index)
            return
        (node.one if way.to == "one" else node.each).append(index)
        if way.key == "same":
            node.by_position.append(index)
        else:
            node.by_key.append((key if way.key == "own" else ANY_KEY, index))

    def _follow(self, node: Node, keyword: str, reference: Any, resolver: Resolver[Any]) -> None:
        self._repeats = True
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError, LookupError) as error:
            raise SchemaReferenceError(reference) from error
        if type(found.contents) is dict:
            node.here.append(self._index_of(found.contents, found.resolver))
        if keyword != "$ref":
            self._dynamic.append((node, reference.rpartition("#")[2]))

    def _match(self, node: Node, pattern: str) -> None:
        self._patterns += 1
        self._pattern_characters += len(pattern)
        if self._pattern_characters > _PATTERNS_LIMIT:
            raise SchemaTooLargeError(f"patterns of more than {_PATTERNS_LIMIT:,} characters")
        self._states += compiled_states_of(pattern)
        if backtracks(pattern):
            node.backtracking += 1
        else:
            node.states += matching_states_of(pattern)


def _parts(way: _Way, value: Any) -> Iterable[tuple[str, Any]]:
    """Return the subschemas in a keyword's value, each with its key if there is one."""
    if type(value) is list:
        return ((ANY_KEY, item) for item in value)
    return value.items() if way.has_members else ((ANY_KEY, value),)


def _anchors(schema: dict[str, Any]) -> Iterator[str]:
    if "$dynamicAnchor" in schema:
        yield schema["$dynamicAnchor"]
    if schema.get("$recursiveAnchor") is True:
        yield ""


def _parts_of(schema: dict[str, Any]) -> int:
    """Return the number of a subschema's keywords and of the members of their lists and objects."""
    containers = (value for value in schema.values() if type(value) is list or type(value) is dict)
    return len(schema) + sum(map(len, containers))


def _errors_of(schema: dict[str, Any]) -> tuple[int, int]:
    """Return the number of errors that a subschema's own keywords may find in a value, and in each member."""
    errors = len(schema.keys() & _ASSERTIONS) + _names_required_by(schema)
    inner = 0
    for keyword in schema.keys() & _WAYS.keys():
        way = _WAYS[keyword]
        forbidden = sum(part is False for _, part in _parts(way, schema[keyword]))
        if way.to == "here":
            errors += forbidden
        else:
            inner += forbidden
    return errors, inner


def _names_required_by(schema: dict[str, Any]) -> int:
    lists = [schema.get("required", ())]
    for keyword in ("dependentRequired", "dependencies"):
        lists += schema.get(keyword, {}).values()
    return sum(len(names) for names in lists if type(names) is list)


def _divides(schema: dict[str, Any]) -> bool:
    """Return whether a number is divided by a fraction, with exact arithmetic."""
    divisor = schema.get("multipleOf", 1)
    return type(divisor) is float and not divisor.is_integer()


def _slow_comparisons(schema: dict[str, Any]) -> int:
    """Return the cost of slow keywords for one value, beyond one comparison per part."""
    options = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    return sum(map(_slowness, options)) + _slowness_of_division(schema.get("multipleOf"))


def _slowness_of_division(divisor: float | None) -> int:
    if divisor is None:
        return 0
    return _EXTREME_DIVISION if is_extreme(divisor) and divisor < 1 else _DIVISION


def _slowness(option: Any) -> int:
    if type(option) is list or type(option) is dict:
        return len(orjson.dumps(option))
    return 0 if type(option) is str else _EXACT_COMPARISON
