"""Results of letta-evals: a line for each sample, with the messages of Letta's API that its agent wrote in each turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.fields import id_of, object_of, objects_of, scalars, string_of, word_of
from weighbridge.traces.formats import letta
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import COUNTED
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: number of lines by which the format is recognised
_OTHERS = {"header": "suite", "summary": "metrics"}  #: other lines, each with a field that it has
_ID = "letta-evals"
_FAILED: dict[Capability, str] = dict.fromkeys(
    COUNTED, "the sample failed, and its messages were not kept"
)


def _matches(value: Any) -> bool:
    rows = value[:_LOOKED_AT] if type(value) is list else [value]
    return all(map(_is_line, rows)) and any(_turns(row) is not None for row in rows)


def _is_line(value: Any) -> bool:
    kind = word_of(value.get("type")) if type(value) is dict else ""
    return _OTHERS[kind] in value if kind in _OTHERS else _turns(value) is not None


def _turns(value: Any) -> list[Any] | None:
    """Return the turns of a sample, which has none if it failed; None for another value."""
    line = object_of(value)
    result = object_of(line.get("result"))
    turns = result.get("trajectory")
    if line.get("type") != "result" or "sample" not in result or type(turns) is not list:
        return None
    return turns if all(map(letta.IMPORTER.matches, turns)) else None


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    rows = value if type(value) is list else [value]
    results = [object_of(row.get("result")) for row in objects_of(rows) if _turns(row) is not None]
    return [(_name(result), {"type": "result", "result": result}) for result in results]


def _name(result: dict[str, Any]) -> str | None:
    recorded = object_of(result.get("sample")).get("id")
    return str(recorded) if type(recorded) is int else id_of(recorded)


def _read(value: Any) -> list[Trace]:
    return [_trace(part["result"]) for _, part in _parts(value)]


def _trace(result: dict[str, Any]) -> Trace:
    (trace,) = letta.IMPORTER.read([*_messages(result)])
    model = string_of(result.get("model_name"))
    steps = tuple(
        [structs.replace(step, model=model) if step.type == "llm" else step for step in trace.steps]
    )
    metadata = {**trace.metadata, **scalars(agent=result.get("agent_id"))}
    trace = replace(trace, id=_name(result), format=_ID, steps=steps, metadata=metadata)
    return trace if result["trajectory"] else with_unknown_part(trace, _FAILED)


def _messages(result: dict[str, Any]) -> Iterator[Any]:
    """Yield the messages of all turns, each after its input, and the usage beside them."""
    given = object_of(result.get("sample")).get("input")
    inputs = given if type(given) is list else [given]
    for number, turn in enumerate(result["trajectory"] or [[]]):
        said = inputs[number] if number < len(inputs) else None
        if string_of(said) and not any(
            word_of(each.get("message_type")) == "user_message" for each in objects_of(turn)
        ):
            yield {"message_type": "user_message", "id": f"input-{number + 1}", "content": said}
        yield from turn
    yield from objects_of(result.get("agent_usage"))


IMPORTER = Importer(
    id=_ID,
    name="Letta evaluation results",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        ("id", "id of the sample"),
        ("type", "as for Letta messages; input of the sample is user"),
        ("steps", "trajectory, the messages of each turn"),
        ("model", "model_name"),
        ("usage", "agent_usage"),
    ),
    tried_on="a real file of letta-evals; synthetic ones",
    lacks="tokens, unless agent_usage stands beside the messages",
)
