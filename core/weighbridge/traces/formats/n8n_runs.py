"""Runs of the nodes of an n8n workflow, and what the workflow says of its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    object_of,
    objects_of,
    parse_arguments,
    string_of,
    time_after,
    time_of,
    word_of,
)
from weighbridge.traces.spans.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.flatted import Held

MODEL, TOOL = "ai_languageModel", "ai_tool"  #: how a node is connected to the one that uses it
_CONNECTED = "ai_"  #: the beginning of all such names
#: Ends of the types of nodes that call a model by themselves, and their resources and operations that do; None is the default.
_CALLERS = (".openAi", ".anthropic", ".googleGemini", ".ollama")
_RESOURCES = frozenset({None, "text", "chat", "assistant"})
_OPERATIONS = frozenset({None, "message", "complete", "response", "classify"})
_HELD = {dict, type(None)}  #: types of what a run has of a kind
_MODEL_KEYS = ("model", "modelName", "modelId")


class Run:
    """One run of a node."""

    def __init__(self, node: str, number: int, held: Held, calls_model: bool) -> None:
        self.node = node
        self.number = number  #: among the runs of the node
        self._held = held
        start, index = held["startTime"].shallow, held["executionIndex"].shallow
        passed = held["executionTime"].shallow
        self.order = tuple(each if type(each) is int else 0 for each in (start, index))
        self.started_at = time_of(start, "ms")
        seconds = passed / 1000 if type(passed) in {int, float} else passed
        self.ended_at = time_after(self.started_at, seconds)
        #: Whether what it was and did is recorded; where nodes ran at the same time, n8n may leave a gap in a list of runs.
        self.is_readable = type(held.shallow) is dict and type(held["data"].shallow) in _HELD
        kinds = {
            key
            for name in ("data", "inputOverride")
            for key, _ in held[name].items()
            if key.startswith(_CONNECTED)
        }
        self.is_connected = bool(
            kinds
        )  #: to a node that used it; otherwise it is of the workflow itself
        self.is_tool = TOOL in kinds
        has_ended = held["data"]["main"].shallow or held["error"].shallow
        self.calls_model = calls_model and not kinds and bool(has_ended)
        self.is_call = self.is_tool or self.calls_model or MODEL in kinds
        self.is_step = self.is_call or not kinds  #: whether it is a call, or may be an agent
        self.starts_other = held["metadata"]["subExecution"].shallow is not None
        source = held["source"].first()
        self.source = (source["previousNode"].shallow, source["previousNodeRun"].shallow)

    @property
    def error(self) -> str | None:
        """Why it failed."""
        error = self._held["error"]
        if not error.shallow and self._held["executionStatus"].shallow != "error":
            return None
        texts = (error[key].shallow for key in ("message", "description", "name"))
        return (
            next(filter(None, map(string_of, texts)), None) or string_of(error.shallow) or "error"
        )

    def sent(self, kind: str) -> Any:
        """Return what the node was given by the one that used it."""
        return self._held["inputOverride"][kind].first().first()["json"].whole()

    def results(self, kind: str) -> list[Any]:
        """Return what the node returned, a value of JSON for each item; none if it failed, as it then has what it was given."""
        if self._held["error"].shallow:
            return []
        branches = self._held["data"][kind].each()
        return [item["json"].whole() for branch in branches for item in branch.each()]


def spans_of(runs: Sequence[Run]) -> list[Span]:
    """Return the runs as spans, of which that of a connected node is part of the run that it names as its source."""
    places = {(run.node, run.number): str(index) for index, run in enumerate(runs)}
    spans = []
    for index, run in enumerate(runs):
        node, number = run.source
        parent = None
        if run.is_connected and type(node) is str:
            of_first = places.get((node, 0))
            parent = places.get((node, number), of_first) if type(number) is int else of_first
        spans.append(Span("", str(index), parent, run.node, run.started_at, run.ended_at, {}))
    return spans


class Nodes:
    """The nodes of a workflow by their names, as far as it is kept with the execution."""

    def __init__(self, workflow: Any) -> None:
        held = object_of(workflow)
        self.workflow = held.get("name")
        self._nodes = {
            node["name"]: node
            for node in objects_of(held.get("nodes"))
            if type(node.get("name")) is str
        }

    def is_chat(self, node: str) -> bool:
        """Return whether a node is the trigger of a chat."""
        return self._type(node).endswith(".chatTrigger")

    def calls_model(self, node: str) -> bool:
        """Return whether a node calls a model by itself."""
        held = self._parameters(node)
        resource, operation = held.get("resource"), held.get("operation")
        return (
            self._type(node).endswith(_CALLERS)
            and (None if resource is None else word_of(resource)) in _RESOURCES
            and (None if operation is None else word_of(operation)) in _OPERATIONS
        )

    def model(self, node: str) -> str | None:
        """Return the model that is set in a node; a value that begins with = is an expression."""
        for held in map(self._parameters(node).get, _MODEL_KEYS):
            name = string_of(object_of(held).get("value")) or string_of(held)
            if name and not name.startswith("="):
                return name.removeprefix("models/")
        return None

    def called(self, node: str, sent: Any) -> tuple[str, Any]:
        """Return the name of a tool and its arguments; a node with several tools was given the name of one of them."""
        if type(sent) is not dict:
            return node, sent
        arguments = {key: held for key, held in sent.items() if key != "toolCallId"}
        tool, name = arguments.get("tool"), node
        is_told = type(tool) is dict and "query" in arguments
        if is_told or (type(tool) is str and "mcp" in self._type(node).lower()):
            del arguments["tool"]
            name = string_of(object_of(tool).get("name")) or string_of(tool) or node
        if arguments.keys() == {"query"}:
            queried = parse_arguments(arguments["query"])
            arguments = queried if type(queried) is dict else arguments
        return name, arguments

    def _type(self, node: str) -> str:
        return word_of(self._nodes.get(node, {}).get("type"))

    def _parameters(self, node: str) -> dict[str, Any]:
        return object_of(self._nodes.get(node, {}).get("parameters"))
