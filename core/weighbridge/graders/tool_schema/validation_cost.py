"""Upper bound of the cost of validation with a schema, which cannot be interrupted.

A short schema can take very long: references that double at each of thirty levels, patterns with thousands of states,
arrays checked against each branch of a long `anyOf`. So the cost is estimated first, and calls beyond an allowance are
not judged. The unit is a comparison of about 100 nanoseconds; texts are counted in states times characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.tool_schema.json_data import lengths_of_texts
from weighbridge.graders.tool_schema.schema_graph import ANY_KEY

if TYPE_CHECKING:
    from weighbridge.graders.tool_schema.json_data import Shape
    from weighbridge.graders.tool_schema.schema_graph import Node, SchemaGraph

BACKTRACK_LIMIT = 5_000
_BACKTRACKING_COMPARISONS = 1_750  #: cost of reaching the backtracking limit
_LOOK_AROUND_COMPARISONS = 0.02  #: cost of looking from one character to another

_COMPARISONS_LIMIT = 10_000_000  #: allowed for one trace: a second
_CONFIGURED_LIMIT = 5_000_000  #: allowed for compiling the configured schemas
_COMPARISONS_PER_CALL = 100  #: allowed in addition per call
_COMPARISONS_PER_BYTE = 4  #: allowed in addition per byte of arguments
_SHARE_AT_ONCE = 0.25  #: of those, for data not measured by depth
_TEXT_COMPARISONS = 1 / 6  #: cost of a state times a character
#: cost in time and memory of recording one evaluated member, with 32 bytes
_EVALUATED_COMPARISONS = 5
_ERROR_COMPARISONS = 100  #: cost of describing one error
_FRAMES_LIMIT = 2_000  #: limit of a validator's recursion, at 1 KiB each on a stack of 8 MiB

_ERRORS_LIMIT_BYTES = 128 * 1024 * 1024  #: memory limit for the errors of one call
#: Memory per error, per value in its copy of the data, and per character there, as a copy and as text.
_ERROR_BYTES, _VALUE_BYTES, _CHARACTER_BYTES = 500, 250, 5
_FILLING_COMPARISONS = 0.025  #: cost of writing a byte of it


class EndlessSchemaError(Exception):
    """A schema applies itself to the same value recursively without end."""


class ValidationCost:
    """Upper bounds of the cost of one schema."""

    def __init__(self, graph: SchemaGraph) -> None:
        """Compute the costs of a schema's graph; raises EndlessSchemaError."""
        nodes = self._nodes = graph.nodes
        self._order = _inner_first(nodes)
        self._chain = _longest_chain(nodes, self._order)
        self._errors = _ByDepth(self, [node.errors for node in nodes])
        self._inner_errors = _ByDepth(self, [node.inner_errors for node in nodes])
        self._quoted = _ByDepth(self, [node.quoted for node in nodes])
        self._errors_of_names = _ByDepth(self, self._errors_of_each_name())
        self._evaluated = _ByDepth(self, self._applied_with_notes())
        self._divisions = _ByDepth(self, [node.divisions for node in nodes])
        self._comparisons = _ByDepth(self, [node.comparisons for node in nodes])
        self._states = _ByDepth(self, [node.states for node in nodes])
        self._backtracking = _ByDepth(self, [node.backtracking for node in nodes])
        self.may_backtrack = any(node.backtracking for node in nodes)
        self._keys = graph.keys_to_backtracking() if self.may_backtrack else frozenset()
        #: total cost per character, if no part is applied to a value more than once
        self.at_once: float | None = None
        if not (graph.repeats or self.may_backtrack):
            self.at_once = sum(
                # Each value takes at least a character and a comma.
                (node.comparisons + node.divisions) / 2 + node.states * _TEXT_COMPARISONS
                for node in nodes
            )

    def fits_stack(self, shape: Shape) -> bool:
        """Return whether data of this depth can be validated without a stack overflow."""
        return self.at_once is not None or self._chain * len(shape.values) <= _FRAMES_LIMIT

    def of(self, value: Any, shape: Shape) -> float:
        """Return an upper bound of the cost for data of this shape, in comparisons."""
        depths = range(len(shape.values))
        members = [*shape.values[1:], 0]
        comparisons = sum(
            shape.values[depth] * self._comparisons.at(depth)
            + members[depth] * self._evaluated.at(depth) * _EVALUATED_COMPARISONS
            + shape.extreme[depth] * self._divisions.at(depth)
            + shape.characters[depth] * self._states.at(depth) * _TEXT_COMPARISONS
            for depth in depths
        )
        if self.may_backtrack:
            steps = sum(
                _BACKTRACKING_COMPARISONS + length * length * _LOOK_AROUND_COMPARISONS
                for length in lengths_of_texts(value, self._keys, ANY_KEY)
            )
            comparisons += steps * max(map(self._backtracking.at, depths))
        return comparisons

    def of_errors(self, shape: Shape) -> float | None:
        """Return an upper bound of the cost of describing all errors in data of this shape, in comparisons.

        None if the errors could take too much memory: each contains a copy of the invalid value.
        """
        errors = size = 0.0
        for depth, values in enumerate(shape.values):
            own, inner = self._errors.at(depth), self._inner_errors.at(depth)
            inside, characters = shape.inside(depth)
            copy = inside * _VALUE_BYTES + characters * _CHARACTER_BYTES
            # The error for a key contains the whole object.
            of_names = self._errors_of_names.at(depth) * shape.members[depth]
            size += (own + inner + of_names) * copy + values * self._quoted.at(depth)
            errors += values * own + (inside - values) * inner
        size += errors * _ERROR_BYTES
        if size > _ERRORS_LIMIT_BYTES:
            return None
        return errors * _ERROR_COMPARISONS + size * _FILLING_COMPARISONS

    def _errors_of_each_name(self) -> list[float]:
        """Return the number of errors that each subschema itself may find in one key."""
        in_a_name = self._sums_here([node.errors for node in self._nodes])
        return [sum(in_a_name[index] for index in node.names) for node in self._nodes]

    def _applied_with_notes(self) -> list[float]:
        """Return how often subschemas that record evaluated members are applied to a value."""
        applied = self._sums_here([1.0] * len(self._nodes))
        notes = zip(self._nodes, applied, strict=True)
        return [times if node.keeps_evaluated else 0.0 for node, times in notes]

    def _sums_here(self, own: list[float]) -> list[float]:
        """Return the cost of each subschema for a value without members."""
        return self.row(own, None)

    def row(self, own: list[float], above: list[float] | None) -> list[float]:
        """Return the cost of each subschema at a depth below a value, given the row for the previous depth."""
        row = [0.0] * len(self._nodes)
        for index in self._order:
            node = self._nodes[index]
            if above is None:
                cost = own[index]
            else:
                cost = max((above[inner] for inner in node.one), default=0.0)
                cost += sum(above[inner] for inner in node.each)
            cost += node.here_repeats * sum(row[inner] for inner in node.here)
            # Only one of them applies, and a later one in the order would be a cycle.
            row[index] = cost + max((row[inner] for inner in node.dynamic), default=0.0)
        return row


class _ByDepth:
    """The cost of a schema's root at each depth, computed on demand."""

    def __init__(self, work: ValidationCost, own: list[float]) -> None:
        self._work = work
        self._own = own
        self._is_free = not any(own)
        self._known: tuple[tuple[float, ...], list[float] | None] = ((), None)

    def at(self, depth: int) -> float:
        if self._is_free:
            return 0.0
        roots, row = self._known
        while len(roots) <= depth:
            row = self._work.row(self._own, row)
            roots = (*roots, row[0])
            self._known = roots, row  # one assignment, which is atomic for other threads
        return roots[depth]


def _inner_first(nodes: list[Node]) -> list[int]:
    """Return the subschemas in topological order: each after those that it applies to the same value."""
    order: list[int] = []
    state = [0] * len(nodes)  # 1: started, 2: done
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            index = stack[-1]
            if state[index] == 0:
                state[index] = 1
                for inner in nodes[index].here:
                    if state[inner] == 1:
                        raise EndlessSchemaError
                    if state[inner] == 0:
                        stack.append(inner)
                continue
            stack.pop()
            if state[index] == 1:
                state[index] = 2
                order.append(index)
    return order


def _longest_chain(nodes: list[Node], order: list[int]) -> int:
    """Return the maximum depth of subschemas applied to one value."""
    chain = [1] * len(nodes)
    for index in order:
        chain[index] += max((chain[inner] for inner in nodes[index].here), default=0)
    return max(chain)


class Allowance:
    """The allowed cost of judging one trace, in comparisons, and its remainder."""

    def __init__(self, calls: int) -> None:
        self._left = float(_COMPARISONS_LIMIT + calls * _COMPARISONS_PER_CALL)
        self._left_at_once = self._left * _SHARE_AT_ONCE

    @classmethod
    def to_configure(cls) -> Allowance:
        """Return the allowance for compiling all schemas of a configuration."""
        allowance = cls(0)
        allowance._left = float(_CONFIGURED_LIMIT)
        return allowance

    def grow(self, size: int) -> None:
        """Increase the allowance by the size of a call's arguments in bytes."""
        self._left += size * _COMPARISONS_PER_BYTE

    @property
    def may_compile(self) -> bool:
        """Return whether another schema may be compiled."""
        return self._left > 0

    def take_compilation(self, comparisons: float) -> None:
        """Deduct the cost of a compiled schema; only later ones are refused."""
        self._left -= comparisons

    def take_at_once(self, at_once: float, size: int) -> bool:
        """Deduct the maximum cost of a schema without references for `size` bytes; return whether it was left."""
        comparisons = at_once * (size + 2)
        if comparisons > self._left_at_once:
            return False
        self._left_at_once -= comparisons
        return True

    def take(self, comparisons: float) -> bool:
        """Deduct a cost, and return whether it was left; a cost of 0 always is."""
        if comparisons > max(self._left, 0):
            return False
        self._left -= comparisons
        return True
