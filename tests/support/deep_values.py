"""Values and schemas so deep that recursion over them would overflow a stack."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from weighbridge.child_process import collect_garbage_seldom
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.traces import Step, Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


def _nested(depth: int, leaf: Any, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


_SCHEMAS = (
    *({}, True, {"$ref": "#"}, {"properties": {"a": {"$ref": "#"}}}),
    {"additionalProperties": {"$ref": "#"}},
    {"properties": {"a": {"items": {"$ref": "#"}}}},
    *({"uniqueItems": True}, {"const": {"a": 1}}),
    {"oneOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"type": "string"}}}]},
    {"$dynamicAnchor": "x", "additionalProperties": {"$dynamicRef": "#x"}},
    {"unevaluatedProperties": {"$ref": "#"}},
    _nested(5_000, {}, lambda inner: {"not": inner}),
    _nested(250, {}, lambda inner: {"oneOf": [inner]}),
    _nested(120, {}, lambda inner: {"properties": {"a": inner}}),
)


def judge_deep_values(sender: Connection) -> None:
    """Judge them in the main thread and in another, and send each time how many were judged."""
    collect_garbage_seldom()  # as a worker's children do
    values = [
        _nested(depth, leaf, wrap)
        for depth in (100, 200, 254, 5_000, 100_000)
        for leaf in (1, {})
        for wrap in (lambda x: {"a": x}, lambda x: {"a": [x]}, lambda x: [x])
    ]

    def judge() -> None:
        judged = 0
        for schema in _SCHEMAS:
            try:
                grader = ToolSchemaGrader(config={"schemas": {"t": schema}})
            except ValueError:
                continue
            for value in values:
                arguments = value if isinstance(value, dict) else {"a": value}
                step = Step(id="a", type="tool", name="t", arguments=arguments)
                result = grader.grade(Trace(id=None, format="x", steps=(step,)))
                judged += result["verdict"] in {"pass", "fail", "ungradable"}
        sender.send(judged)

    judge()
    thread = threading.Thread(target=judge)
    thread.start()
    thread.join()
