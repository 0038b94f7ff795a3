"""Assembly of models' answers from the pieces in which providers stream them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_END_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_START_EVENTS = frozenset({"response.created", "response.in_progress", "response.queued"})
_TEXT_EVENTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ARGUMENT_EVENTS = frozenset(
    {
        *("response.function_call_arguments.delta", "response.mcp_call_arguments.delta"),
        "response.custom_tool_call_input.delta",
    }
)


def completions_of(chunks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the chat completions assembled from OpenAI's chunks, one for each ID, in order; each has its first choice."""
    found: dict[Any, _Completion] = {}
    for chunk in chunks:
        found.setdefault(string_of(chunk.get("id")), _Completion()).add(chunk)
    return [each.body() for each in found.values()]


class _Completion:
    def __init__(self) -> None:
        self._recorded_so_far: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[Any, dict[str, Any]] = {}  #: calls by index
        self._function: dict[str, Any] | None = None  #: the call in the older field `function_call`
        self._others: set[Any] = set()  #: indices of further choices
        self._ended: Any = None  #: why the first choice ended

    def add(self, chunk: dict[str, Any]) -> None:
        """Add a chunk; the last recorded usage counts, since some servers send it in every chunk."""
        for key in ("id", "model", "created", "usage"):
            if chunk.get(key) is not None:
                self._recorded_so_far[key] = chunk[key]
        for choice in objects_of(chunk.get("choices")):
            if choice.get("index"):
                self._others.add(str(choice["index"]))
            else:
                self._delta(object_of(choice.get("delta")))
                self._ended = choice.get("finish_reason") or self._ended

    def _delta(self, delta: dict[str, Any]) -> None:
        for key in ("content", "refusal"):
            if type(delta.get(key)) is str:
                self._texts.setdefault(key, []).append(delta[key])
        for position, piece in enumerate(objects_of(delta.get("tool_calls"))):
            index = piece.get("index", position)
            self._add_call(index if type(index) is int else position, piece)
        if type(delta.get("function_call")) is dict:
            self._function = self._function or {"arguments": []}
            _add_pieces(self._function, delta["function_call"])

    def _add_call(self, index: int, piece: dict[str, Any]) -> None:
        own_id = string_of(piece.get("id"))
        call = self._calls.get(index)
        if call is not None and own_id and call["id"] not in {None, own_id}:
            # Some servers give every call the index 0; only the IDs distinguish the calls.
            self._calls[f"{index} before {own_id}"] = self._calls.pop(index)
            call = None
        if call is None:
            call = self._calls[index] = {"id": None, "type": "function", "function": {"arguments": []}}  # fmt: skip
        call["id"] = own_id or call["id"]
        _add_pieces(call["function"], object_of(piece.get("function")))

    def body(self) -> dict[str, Any]:
        """Return the whole completion."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {key: "".join(pieces) for key, pieces in self._texts.items()}
        if self._calls:
            message["tool_calls"] = [
                {**call, "function": _whole(call["function"])} for call in self._calls.values()
            ]
        if self._function:
            message["function_call"] = _whole(self._function)
        first = {"message": message, "finish_reason": self._ended}
        choices = [first, *({"index": other} for other in sorted(self._others))]
        return {**self._recorded_so_far, "choices": choices}


def _add_pieces(held: dict[str, Any], piece: dict[str, Any]) -> None:
    if type(piece.get("name")) is str and piece["name"]:
        held["name"] = piece["name"]
    if type(piece.get("arguments")) is str:
        held["arguments"].append(piece["arguments"])


def _whole(function: dict[str, Any]) -> dict[str, Any]:
    return {**function, "arguments": "".join(function["arguments"])}


def messages_of(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages assembled from Anthropic's events, each as the API returns it without streaming."""
    messages: list[dict[str, Any]] = []
    #: Pieces of a block's input in the last message, by block index.
    pieces: dict[Any, list[str]] = {}
    blocks: dict[Any, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            _end_inputs(blocks, pieces)
            blocks, pieces = {}, {}
            started = object_of(event.get("message"))
            messages.append({"type": "message", "role": "assistant", **started, "content": []})
        elif kind == "content_block_start" and messages:
            block = {**object_of(event.get("content_block"))}
            blocks[str(event.get("index"))] = block
            messages[-1]["content"].append(block)
        elif kind == "content_block_delta":
            index = str(event.get("index"))
            _add_delta(blocks.get(index), object_of(event.get("delta")), pieces, index)
        elif kind == "message_delta" and messages:
            _add_end(messages[-1], event)
    _end_inputs(blocks, pieces)
    for message in messages:
        for block in message["content"]:
            for key in ("text", "thinking"):
                if type(block.get(key)) is list:
                    block[key] = "".join([piece for piece in block[key] if type(piece) is str])
    return messages


def _add_delta(
    block: dict[str, Any] | None, delta: dict[str, Any], pieces: dict[Any, list[str]], index: str
) -> None:
    if block is None:
        return
    for key in ("text", "thinking"):
        if type(delta.get(key)) is str:
            if type(block.get(key)) is not list:
                block[key] = [string_of(block.get(key)) or ""]
            block[key].append(delta[key])
    if type(delta.get("partial_json")) is str:
        pieces.setdefault(index, []).append(delta["partial_json"])


def _add_end(message: dict[str, Any], event: dict[str, Any]) -> None:
    """Add the data of a message's last event: its token counts cover the whole message; some may be missing."""
    usage = object_of(event.get("usage"))
    recorded = {key: held for key, held in usage.items() if held is not None}
    message["usage"] = {**object_of(message.get("usage")), **recorded}
    message |= object_of(event.get("delta"))


def _end_inputs(blocks: dict[Any, dict[str, Any]], pieces: dict[Any, list[str]]) -> None:
    for index, held in pieces.items():
        text = "".join(held)
        if text:
            blocks[index]["input"] = text


def responses_of(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the responses in OpenAI's events; a response that did not end has the items so far."""
    responses: list[dict[str, Any]] = []
    items: dict[Any, dict[str, Any]] = {}
    for event in events:
        kind = str(event.get("type"))
        if kind in _START_EVENTS or kind in _END_EVENTS:
            recorded = object_of(event.get("response"))
            is_known = bool(responses) and responses[-1].get("id") == recorded.get("id")
            if not is_known:
                responses.append({})
                items = {}
            responses[-1].update(recorded)
            if not objects_of(recorded.get("output")):
                responses[-1]["output"] = list(items.values())
        elif kind in {"response.output_item.added", "response.output_item.done"}:
            if not responses:
                responses.append({"object": "response"})
            items[str(event.get("output_index"))] = {**object_of(event.get("item"))}
            responses[-1]["output"] = list(items.values())
        else:
            _add_piece(items.get(str(event.get("output_index"))), kind, event.get("delta"))
    for response in responses:
        for item in objects_of(response.get("output")):
            _join(item)
    return responses


def _add_piece(item: dict[str, Any] | None, kind: str, delta: Any) -> None:
    if item is None or type(delta) is not str:
        return
    if kind in _ARGUMENT_EVENTS:
        item.setdefault("pieces", []).append(delta)
    elif kind in _TEXT_EVENTS:
        item.setdefault("text pieces", []).append(delta)


def _join(item: dict[str, Any]) -> None:
    """Join the pieces of an item that was never sent whole, and set them as its arguments or content."""
    arguments, texts = item.pop("pieces", None), item.pop("text pieces", None)
    if arguments:
        item["input" if item.get("type") == "custom_tool_call" else "arguments"] = "".join(
            arguments
        )
    if texts:
        item["content"] = [{"type": "output_text", "text": "".join(texts)}]
