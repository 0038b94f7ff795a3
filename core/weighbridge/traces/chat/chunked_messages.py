"""Assembly of LangChain's chunks of streamed messages, with the result of adding them: text, calls and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CHUNK_SUFFIX = "chunk"  #: suffix of the type, or the class, of a chunk


def whole_messages(
    messages: Sequence[Any], fields_of: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Iterator[Any]:
    """Yield messages, with one for each series of chunks with the same ID.

    `fields_of` returns the object with a message's fields.
    """
    run: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for message in messages:
        fields = fields_of(message) if is_chunk(message) else None
        if fields is None:
            yield from _whole(run)
            run = []
            yield message
            continue
        if run and _is_other(run[-1][1].get("id"), fields.get("id")):
            yield from _whole(run)
            run = []
        run.append((message, fields))
    yield from _whole(run)


def is_chunk(message: Any) -> bool:
    """Return whether a message is a chunk of a streamed message."""
    if type(message) is not dict:
        return False
    kind, path = message.get("type"), message.get("id")
    if kind == "constructor" and type(path) is list and path:
        kind = path[-1]
    return type(kind) is str and kind.lower().endswith(_CHUNK_SUFFIX)


def _is_other(before: Any, after: Any) -> bool:
    """Return whether two chunks are of different messages: both have an ID, and the IDs differ."""
    return bool(before) and bool(after) and before != after


def _whole(
    run: list[tuple[dict[str, Any], dict[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yield the message assembled from chunks; a single chunk is returned unchanged."""
    if len(run) < 2:
        yield from (message for message, _ in run)
        return
    every = [fields for _, fields in run]
    recorded: dict[str, Any] = {}
    for fields in every:
        recorded |= {key: item for key, item in fields.items() if item not in (None, "", [], {})}
    recorded["type"] = run[0][1].get("type", "AIMessageChunk")
    recorded["content"] = _content(every)
    recorded["tool_calls"] = _calls(every)
    recorded["usage_metadata"] = _usage(every)
    for key in ("invalid_tool_calls", "additional_kwargs"):
        recorded.pop(key, None)  # these fields of single chunks hold pieces, too
    if "lc" in run[0][0]:
        yield {**run[0][0], "kwargs": recorded}
    elif "content" in run[0][0]:
        yield recorded
    else:
        yield {**run[0][0], "data": recorded}


def _content(every: list[dict[str, Any]]) -> Any:
    texts: list[str] = []
    others: list[Any] = []
    for fields in every:
        held = fields.get("content")
        for part in held if type(held) is list else [held]:
            text = part.get("text") if type(part) is dict else part
            if type(text) is str:
                texts.append(text)
            elif type(part) is dict and "tool" not in str(part.get("type")):
                others.append(part)  # chunks of calls are separate from the content
    said = "".join(texts)
    return [{"type": "text", "text": said}, *others] if others else said


def _calls(every: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls assembled from pieces by index; if there are no pieces, the whole calls, each ID once."""
    pieces: dict[Any, dict[str, Any]] = {}
    whole: list[dict[str, Any]] = []
    known: set[str] = set()
    for fields in every:
        for position, piece in enumerate(objects_of(fields.get("tool_call_chunks"))):
            _add_piece(pieces, piece, position)
        for call in objects_of(fields.get("tool_calls")):
            own_id = string_of(call.get("id"))
            if call.get("name") and (own_id is None or own_id not in known):
                known.add(own_id or "")
                whole.append(call)
    if not pieces:
        return whole
    return [{**call, "args": "".join(call["args"])} for call in pieces.values()]


def _add_piece(pieces: dict[Any, dict[str, Any]], piece: dict[str, Any], position: int) -> None:
    index = piece.get("index")
    key = str(index) if index is not None else f"#{position}"
    own_id = string_of(piece.get("id"))
    call = pieces.get(key)
    if call is not None and own_id and call["id"] not in {None, own_id}:
        pieces[f"{key} before {own_id}"] = pieces.pop(key)
        call = None
    if call is None:
        call = pieces[key] = {"id": None, "name": None, "type": "tool_call", "args": []}
    call["id"] = call["id"] or own_id
    call["name"] = call["name"] or string_of(piece.get("name"))
    if type(piece.get("args")) is str:
        call["args"].append(piece["args"])


def _usage(every: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the sum of the chunks' usage, as LangChain does: later chunks hold increments."""
    total: dict[str, Any] = {}
    for fields in every:
        usage = object_of(fields.get("usage_metadata"))
        _add(total, usage)
    return total or None


def _add(total: dict[str, Any], usage: dict[str, Any]) -> None:
    for key, count in usage.items():
        if type(count) is int:
            before = total.get(key)
            total[key] = count + (before if type(before) is int else 0)
        elif type(count) is dict:
            held = total.setdefault(key, {})
            if type(held) is dict:
                for name, inner in count.items():
                    known = held.get(name)
                    if type(inner) is int:
                        held[name] = inner + (known if type(known) is int else 0)
