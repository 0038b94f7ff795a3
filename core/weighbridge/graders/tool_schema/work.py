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
_COMPARISONS_PER_CALL = 100  #: that are allowed besides
_TEXT_LIMIT = 150_000_000  #: states times characters that are allowed: two seconds and a half
_ERRORS_LIMIT = 300_000  #: that may be described, and looked for in vain: three seconds
_COMPILED_LIMIT = 20_000_000  #: comparisons in the time of compiling the schemas: two seconds
_FRAMES_LIMIT = 2_000  #: of a validator's recursion: 1 KiB each at most, on a stack of 8 MiB


class EndlessSchemaError(Exception):
    """A schema applies itself to the same value, without end."""


class Work:
    """Bounds the work that one schema makes."""

    def __init__(self, graph: SchemaGraph) -> None:
        """Take a schema's graph; raise EndlessSchemaError."""
        nodes = self._nodes = graph.nodes
        self._order = _inner_first(nodes)
        self._chain = _longest_chain(nodes, self._order)
        self._errors = _ByDepth(self, [node.errors for node in nodes])
        self._comparisons = _ByDepth(self, [node.comparisons for node in nodes])
        self._states = _ByDepth(self, [node.states for node in nodes])
        self._backtracking = _ByDepth(self, [node.backtracking for node in nodes])
        self.may_backtrack = any(node.backtracking for node in nodes)
        self._keys = graph.keys_to_backtracking() if self.may_backtrack else frozenset()
        #: all comparisons and states, of a schema whose every part is applied to a value once at most
        self.at_once: tuple[float, float] | None = None
        if not (graph.repeats or self.may_backtrack):
            self.at_once = (
                sum(node.comparisons for node in nodes),
                sum(node.states for node in nodes),
            )

    def fits_stack(self, shape: Shape) -> bool:
        """Whether data nested so deeply can be judged without a stack overflow."""
        return self.at_once is not None or self._chain * len(shape.values) <= _FRAMES_LIMIT

    def of(self, value: Any, shape: Shape) -> tuple[float, float]:
        """Return an upper bound of the comparisons with such data, and of the states times characters."""
        depths = range(len(shape.values))
        comparisons = sum(shape.values[depth] * self._comparisons.at(depth) for depth in depths)
        text = sum(shape.characters[depth] * self._states.at(depth) for depth in depths)
        if self.may_backtrack:
            steps = sum(
                _BACKTRACKING_COMPARISONS + length * length * _LOOK_AROUND_COMPARISONS
                for length in lengths_of_texts(value, self._keys, ANY_KEY)
            )
            comparisons += steps * max(map(self._backtracking.at, depths))
        return comparisons, text

    def errors(self, shape: Shape) -> float:
        """Return an upper bound of the errors in such data."""
        return sum(values * self._errors.at(depth) for depth, values in enumerate(shape.values))

    def row(self, own: list[float], above: list[float] | None) -> list[float]:
        """Return what each subschema costs at some depth below a value, given the row for one level less."""
        row = [0.0] * len(self._nodes)
        for place in self._order:
            node = self._nodes[place]
            if above is None:
                cost = own[place]
            else:
                cost = max((above[inner] for inner in node.one), default=0.0)
                cost += sum(above[inner] for inner in node.each)
            cost += node.here_repeats * sum(row[inner] for inner in node.here)
            # Only one of them applies, and one that comes later in the order would close a circle.
            row[place] = cost + max((row[inner] for inner in node.dynamic), default=0.0)
        return row


class _ByDepth:
    """What a schema's root costs at each depth, computed as far as it was asked."""

    def __init__(self, work: Work, own: list[float]) -> None:
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
            place = stack[-1]
            if state[place] == 0:
                state[place] = 1
                for inner in nodes[place].here:
                    if state[inner] == 1:
                        raise EndlessSchemaError
                    if state[inner] == 0:
                        stack.append(inner)
                continue
            stack.pop()
            if state[place] == 1:
                state[place] = 2
                order.append(place)
    return order


def _longest_chain(nodes: list[Node], order: list[int]) -> int:
    """Return how many subschemas at most are inside each other while judging one value."""
    chain = [1] * len(nodes)
    for place in order:
        chain[place] += max((chain[inner] for inner in nodes[place].here), default=0)
    return max(chain)


class Allowance:
    """What judging one trace may cost, and how much of it is left."""

    def __init__(self, calls: int) -> None:
        comparisons = float(_COMPARISONS_LIMIT + calls * _COMPARISONS_PER_CALL)
        self._comparisons = self._comparisons_at_once = comparisons
        self._text = self._text_at_once = float(_TEXT_LIMIT)
        self._errors = float(_ERRORS_LIMIT)
        self._compiled = float(_COMPILED_LIMIT)

    @property
    def may_compile(self) -> bool:
        """Whether another schema may be compiled."""
        return self._compiled > 0

    def take_compilation(self, comparisons: float) -> None:
        """Take the cost of a schema that was compiled; only what comes after it is refused."""
        self._compiled -= comparisons

    def take_at_once(self, at_once: tuple[float, float], size: int) -> bool:
        """Take the most that a schema without references costs on data of a size in bytes; say whether it was left."""
        comparisons = at_once[0] * (size / 2 + 1)  # each value takes a character, and a comma
        text = at_once[1] * size
        if comparisons > self._comparisons_at_once or text > self._text_at_once:
            return False
        self._comparisons_at_once -= comparisons
        self._text_at_once -= text
        return True

    def take(self, comparisons: float, text: float) -> bool:
        """Take the cost of judging some data; say whether it was left."""
        if comparisons > self._comparisons or text > self._text:
            return False
        self._comparisons -= comparisons
        self._text -= text
        return True

    def take_errors(self, errors: float) -> bool:
        """Take the cost of describing so many errors; say whether it was left."""
        if errors > self._errors:
            return False
        self._errors -= errors
        return True
