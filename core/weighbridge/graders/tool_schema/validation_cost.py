"""How much work a validator may have with a schema: an upper bound, because nothing can interrupt it.

A short schema can make endless work: references that double at each of thirty levels, patterns with thousands of
states, arrays checked against every branch of a long `anyOf`. So work is estimated first, and beyond an allowance a
call is not judged. The unit is a comparison, of about 100 nanoseconds; texts are counted in states times characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.tool_schema.json_data import lengths_of_texts
from weighbridge.graders.tool_schema.schema_graph import ANY_KEY

if TYPE_CHECKING:
    from weighbridge.graders.tool_schema.json_data import Shape
    from weighbridge.graders.tool_schema.schema_graph import Node, SchemaGraph

BACKTRACK_LIMIT = 5_000
_BACKTRACKING_COMPARISONS = 1_750  #: in the time that so many steps back take
_LOOK_AROUND_COMPARISONS = 0.02  #: in the time of looking from one character to another

_COMPARISONS_LIMIT = 10_000_000  #: that are allowed for one trace: a second
_CONFIGURED_LIMIT = 5_000_000  #: that are allowed for compiling what is configured
_COMPARISONS_PER_CALL = 100  #: that are allowed besides
_COMPARISONS_PER_BYTE = 4  #: of arguments, that are allowed besides
_SHARE_AT_ONCE = 0.25  #: of those, for data that are not measured depth by depth
_TEXT_COMPARISONS = 1 / 6  #: in the time of a state times a character
_EVALUATED_COMPARISONS = (
    5  #: in the time and memory of noting one evaluated member; it takes 32 bytes
)
_ERROR_COMPARISONS = 100  #: in the time of describing one error
_FRAMES_LIMIT = 2_000  #: of a validator's recursion: 1 KiB each at most, on a stack of 8 MiB

_ERRORS_LIMIT_BYTES = 128 * 1024 * 1024  #: of memory, for the errors of one call
#: Memory of an error, of each value in the copy that it holds, and of each character there: as a copy, and as text.
_ERROR_BYTES, _VALUE_BYTES, _CHARACTER_BYTES = 500, 250, 5
_FILLING_COMPARISONS = 0.025  #: in the time of filling a byte of it


class EndlessSchemaError(Exception):
    """A schema applies itself to the same value, without end."""


class ValidationCost:
    """Bounds the work that one schema makes."""

    def __init__(self, graph: SchemaGraph) -> None:
        """Take a schema's graph; raise EndlessSchemaError."""
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
        #: all comparisons and states, of a schema whose every part is applied to a value once at most
        self.at_once: float | None = None
        if not (graph.repeats or self.may_backtrack):
            self.at_once = sum(
                # Each value takes a character, and a comma.
                (node.comparisons + node.divisions) / 2 + node.states * _TEXT_COMPARISONS
                for node in nodes
            )

    def fits_stack(self, shape: Shape) -> bool:
        """Whether data nested so deeply can be judged without a stack overflow."""
        return self.at_once is not None or self._chain * len(shape.values) <= _FRAMES_LIMIT

    def of(self, value: Any, shape: Shape) -> float:
        """Return an upper bound of the comparisons with such data, matching texts counted as comparisons."""
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
        """Return an upper bound of the comparisons in the time of describing all errors in such data.

        None where the errors could take too much memory: each holds a copy of the value that is wrong.
        """
        errors = size = 0.0
        for depth, values in enumerate(shape.values):
            own, inner = self._errors.at(depth), self._inner_errors.at(depth)
            inside, characters = shape.inside(depth)
            copy = inside * _VALUE_BYTES + characters * _CHARACTER_BYTES
            # The error in a key holds the whole object.
            of_names = self._errors_of_names.at(depth) * shape.members[depth]
            size += (own + inner + of_names) * copy + values * self._quoted.at(depth)
            errors += values * own + (inside - values) * inner
        size += errors * _ERROR_BYTES
        if size > _ERRORS_LIMIT_BYTES:
            return None
        return errors * _ERROR_COMPARISONS + size * _FILLING_COMPARISONS

    def _errors_of_each_name(self) -> list[float]:
        """Return how many errors each subschema may find in one key, other than the subschemas in it."""
        in_a_name = self._sums_here([node.errors for node in self._nodes])
        return [sum(in_a_name[index] for index in node.names) for node in self._nodes]

    def _applied_with_notes(self) -> list[float]:
        """Return how often subschemas are applied to a value that note which of its members they have judged."""
        applied = self._sums_here([1.0] * len(self._nodes))
        notes = zip(self._nodes, applied, strict=True)
        return [times if node.keeps_evaluated else 0.0 for node, times in notes]

    def _sums_here(self, own: list[float]) -> list[float]:
        """Return what each subschema costs for a value that has nothing inside."""
        return self.row(own, None)

    def row(self, own: list[float], above: list[float] | None) -> list[float]:
        """Return what each subschema costs at some depth below a value, given the row for one level less."""
        row = [0.0] * len(self._nodes)
        for index in self._order:
            node = self._nodes[index]
            if above is None:
                cost = own[index]
            else:
                cost = max((above[inner] for inner in node.one), default=0.0)
                cost += sum(above[inner] for inner in node.each)
            cost += node.here_repeats * sum(row[inner] for inner in node.here)
            # Only one of them applies, and one that comes later in the order would close a circle.
            row[index] = cost + max((row[inner] for inner in node.dynamic), default=0.0)
        return row


class _ByDepth:
    """What a schema's root costs at each depth, computed as far as it was asked."""

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
            self._known = roots, row  # at once, for other threads
        return roots[depth]


def _inner_first(nodes: list[Node]) -> list[int]:
    """Return the subschemas in an order in which each comes after those that it applies to the same value."""
    order: list[int] = []
    state = [0] * len(nodes)  # 1: begun, 2: done
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
    """Return how many subschemas at most are inside each other while judging one value."""
    chain = [1] * len(nodes)
    for index in order:
        chain[index] += max((chain[inner] for inner in nodes[index].here), default=0)
    return max(chain)


class Allowance:
    """What judging one trace may cost, in comparisons, and how much of it is left."""

    def __init__(self, calls: int) -> None:
        self._left = float(_COMPARISONS_LIMIT + calls * _COMPARISONS_PER_CALL)
        self._left_at_once = self._left * _SHARE_AT_ONCE

    @classmethod
    def to_configure(cls) -> Allowance:
        """Return what compiling all schemas of a configuration may cost."""
        allowance = cls(0)
        allowance._left = float(_CONFIGURED_LIMIT)
        return allowance

    def grow(self, size: int) -> None:
        """Allow for the size of a call's arguments, in bytes."""
        self._left += size * _COMPARISONS_PER_BYTE

    @property
    def may_compile(self) -> bool:
        """Whether another schema may be compiled."""
        return self._left > 0

    def take_compilation(self, comparisons: float) -> None:
        """Take the cost of a schema that was compiled; only what comes after it is refused."""
        self._left -= comparisons

    def take_at_once(self, at_once: float, size: int) -> bool:
        """Take the most that a schema without references costs on data of a size in bytes; say whether it was left."""
        comparisons = at_once * (size + 2)
        if comparisons > self._left_at_once:
            return False
        self._left_at_once -= comparisons
        return True

    def take(self, comparisons: float) -> bool:
        """Take the cost of judging or explaining; say whether it was left. What costs nothing is always left."""
        if comparisons > max(self._left, 0):
            return False
        self._left -= comparisons
        return True
