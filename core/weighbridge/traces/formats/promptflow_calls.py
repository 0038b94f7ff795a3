"""Calls that PromptFlow traced, as spans: requests of models and embeddings, and the functions around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.stream_apis import streamed_answer
from weighbridge.traces.fields import (
    counted,
    id_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.importer import objects_in
from weighbridge.traces.spans.messages import messages_in
from weighbridge.traces.spans.records import recorded_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.traces.model import Step, Usage
    from weighbridge.traces.spans.spans import Span

FLOW = "Flow"
_FUNCTIONS = frozenset({"Function", "Tool"})  #: types of functions, now and in 2023
#: Kinds of spans, by the type of a call. Embeddings had the type of model calls before they had their own.
_KINDS = {"LLM": "llm", "Embedding": "embedding", "Retrieval": "retriever"}
_EMBEDS = "embedding"
_LANGCHAIN = "LangChain"
#: Keys of the inputs of LangChain's models and tools.
_OF_LANGCHAIN = {"prompts": "llm", "input_str": "tool"}
#: Keys of what a model is given, and the ones by which it is read.
_SENT = {"messages": "messages", "prompt": "prompt", "prompts": "prompt"}
_MODELS = ("model", "engine", "deployment_id")
_TOOLS = ("tools", "functions")
_PRINTED = re.compile(r"<[\w. ]{1,100} object .{0,100} at 0x[0-9a-fA-F]{1,20}>$")
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


@dataclass(slots=True)
class _Call:
    """A traced call with its number, and that of the call around it."""

    held: dict[str, Any]
    number: int
    above: int | None

    @property
    def sent(self) -> dict[str, Any]:
        return object_of(self.held.get("inputs"))

    @property
    def kind(self) -> str:
        """The kind of its span, without regard to what models requested."""
        recorded = word_of(self.held.get("type"))
        if recorded == _LANGCHAIN:
            return next((kind for key, kind in _OF_LANGCHAIN.items() if key in self.sent), "chain")
        kind = _KINDS.get(recorded, "chain")
        embeds = kind == "llm" and _EMBEDS in word_of(self.held.get("name")).lower()
        return "embedding" if embeds else kind

    @property
    def tool(self) -> str:
        """The name of its function, without the class."""
        return word_of(self.held.get("name")).rpartition(".")[2]


class CallReader:
    """Reader of the calls of one run, whose clock differs from UTC by `shift` nanoseconds."""

    def __init__(self, trace_id: str, roots: Sequence[dict[str, Any]], shift: int) -> None:
        self.estimates = 0  #: number of model calls whose tokens PromptFlow estimated
        self.vectors = 0  #: number of calls that returned embeddings
        self.unread_answers = 0  #: number of answers that may ask for tools and were not recorded
        self._partial: set[str] = set()  #: IDs of calls whose estimate leaves out a part
        self._trace_id = trace_id
        self._shift = shift
        calls = list(_each(roots))
        self._answers = {call.number: _answer(call.held) for call in calls if call.kind == "llm"}
        self._asked = {number: _names_asked(held) for number, held in self._answers.items()}
        #: Names of the tools that models requested. A function with such a name is the tool.
        self._tools = {name for names in self._asked.values() for name in names}
        self._ids = [id_of(call.held.get("id")) or f"call-{call.number + 1}" for call in calls]
        self.spans = [self._span(call) for call in calls]

    def _kind(self, call: _Call) -> str:
        is_tool = word_of(call.held.get("type")) in _FUNCTIONS and call.tool in self._tools
        return "tool" if is_tool else call.kind

    def _span(self, call: _Call) -> Span:
        held, kind = call.held, self._kind(call)
        facts: dict[str, Any] = {"sent": call.sent or None, "answered": held.get("output")}
        if kind == "llm":
            facts = self._facts_of_model(call)
        elif kind == "embedding":
            facts = self._facts_of_embedding(call)
        return recorded_span(
            self._trace_id,
            self._ids[call.number],
            None if call.above is None else self._ids[call.above],
            call.tool if kind == "tool" else string_of(held.get("name")),
            kind,
            error=error_of(held.get("error")),
            started_at=self._time(held.get("start_time")),
            ended_at=self._time(held.get("end_time")),
            **facts,
        )

    def _facts_of_model(self, call: _Call) -> dict[str, Any]:
        answered = self._answers[call.number]
        tools = next(filter(None, map(call.sent.get, _TOOLS)), None)
        may_ask = tools is not None or call.held.get("type") == _LANGCHAIN
        self.unread_answers += answered is None and not call.held.get("error") and may_ask
        return {
            "sent": {key: call.sent[name] for name, key in _SENT.items() if name in call.sent},
            "answered": answered,
            "model": _model(answered, call),
            "usage": self._usage(call, answered),
            "tools": tools,
        }

    def _facts_of_embedding(self, call: _Call) -> dict[str, Any]:
        answered = call.held.get("output")
        self.vectors += answered is not None
        usage = counted(read_usage(object_of(answered).get("usage")))
        if usage is not None and usage.output_tokens is None:
            usage = structs.replace(usage, output_tokens=0)  # an embedding has none
        return {"sent": call.sent.get("input"), "model": _model(answered, call), "usage": usage}

    def _time(self, recorded: Any) -> int | None:
        time = time_of(recorded)
        return None if time is None else time_of(time + self._shift, "ns")

    def _usage(self, call: _Call, answered: Any) -> Usage | None:
        """Return the tokens of an answer, or PromptFlow's estimate for one that was streamed."""
        held = object_of(answered)
        stated = held.get("usage", object_of(held.get("llm_output")).get("token_usage"))
        usage = counted(read_usage(stated))
        if usage is not None or call.held.get("type") != "LLM":
            return usage
        estimated = object_of(call.held.get("system_metrics"))
        usage = counted(read_usage({key: estimated.get(key) for key in _COUNTS}))
        if usage is None:
            return None
        self.estimates += 1
        # The estimate is of texts, without the calls that an answer asks for.
        if not usage.output_tokens or self._asked[call.number]:
            self._partial.add(self._ids[call.number])
        return usage

    def with_partial_usage(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        """Return steps with the usage of those marked as partial of which PromptFlow estimated only a part."""
        return tuple(
            structs.replace(step, usage=structs.replace(step.usage, is_partial=True))
            if step.usage and step.id in self._partial
            else step
            for step in steps
        )


def has_steps(roots: Sequence[dict[str, Any]]) -> bool:
    """Return whether a model, an embedding or another step is among calls, and not only functions."""
    return any(call.kind != "chain" for call in _each(roots))


def error_of(recorded: Any) -> str | None:
    """Return the reason of a failure with its type; None if there is none."""
    held = object_of(recorded)
    said = [text for name in ("type", "message") if (text := string_of(held.get(name)))]
    return ": ".join(said) or string_of(recorded) or ("error" if held else None)


def _each(roots: Sequence[dict[str, Any]]) -> Iterator[_Call]:
    """Yield calls, each before the calls in it."""
    pending: list[tuple[dict[str, Any], int | None]] = [(call, None) for call in reversed(roots)]
    number = 0
    while pending:
        held, above = pending.pop()
        yield _Call(held, number, above)
        inner = objects_in(held.get("children"), "a call in a call, number")
        pending += [(child, number) for child in reversed(inner)]
        number += 1


def _model(answered: Any, call: _Call) -> str | None:
    names = (object_of(answered).get("model"), *map(call.sent.get, _MODELS))
    return next(filter(None, map(string_of, names)), None)


def _answer(held: dict[str, Any]) -> Any:
    """Return the answer of a model call, put together if it was streamed; None if it was not recorded.

    Streams that nobody read are empty. What is no JSON, such as a generator, is printed.
    """
    output = held.get("output")
    if type(output) is list:
        pieces = objects_of(output)
        if not pieces:
            return "".join(text for text in output if type(text) is str) or None
        # Azure begins with a piece that has neither a kind nor a choice.
        said = [piece for piece in pieces if piece.get("choices") or piece.get("usage")]
        return streamed_answer(said) or _streamed_completion(said)
    is_printed = type(output) is str and (
        held.get("type") == _LANGCHAIN or _PRINTED.match(output) is not None
    )
    return None if is_printed else output


def _streamed_completion(pieces: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the answer in pieces of the completions API; None if they are something else."""
    choices = [choice for piece in pieces for choice in objects_of(piece.get("choices"))]
    first = [choice for choice in choices if not choice.get("index")]
    texts = [choice["text"] for choice in first if type(choice.get("text")) is str]
    if not texts:
        return None
    ended = [choice["finish_reason"] for choice in first if choice.get("finish_reason")]
    usages = [piece["usage"] for piece in pieces if piece.get("usage")]
    return {
        "model": next((piece["model"] for piece in pieces if piece.get("model")), None),
        "usage": usages[-1] if usages else None,
        "choices": [{"text": "".join(texts), "finish_reason": ended[-1] if ended else None}],
    }


def _names_asked(answer: Any) -> set[str]:
    """Return the names of the tools that an answer asks for."""
    said = messages_in(answer, "assistant")
    return {call.name for message in said for call in message.calls if call.name}
