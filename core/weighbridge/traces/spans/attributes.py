"""Names of the attributes in which spans keep their facts: those of the GenAI conventions, old and new, and of others.

If a span has several names of one fact, the first one in the list counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import finish_reason_of, parse_arguments, string_of
from weighbridge.traces.spans.usage import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.traces.spans.spans import Span

Kind = Literal["llm", "tool", "agent", "other", "group", "none"]
"""The kind of a span: a step's type, `group` for a span around others, or `none` for a span that is not a step (HTTP)."""

MONOCLE_TYPE = "span.type"  #: Monocle's name for the kind of a span
GENKIT_TYPE = "genkit:type"  #: an attribute that each of Genkit's spans has
_KIND_NAMES = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "gen_ai.span.kind",
    "llm.request.type",
    "mlflow.spanType",
    "langfuse.observation.type",
    "langsmith.span.kind",
    "agentops.span.kind",
    "ai.operationId",
    "mcp.method.name",
)
_WORDS: dict[Kind, str] = {
    "llm": "llm call_llm chat chat_model generation completion text_completion generate_content response responses "
    "ai.generatetext.dogenerate ai.streamtext.dostream ai.generateobject.dogenerate ai.streamobject.dostream",
    "tool": "tool execute_tool ai.toolcall tools/call",
    "agent": "agent invoke_agent invoke_workflow",
    "other": "retriever retrieval embedding embeddings reranker rerank guardrail evaluator "
    "ai.embed.doembed ai.embedmany.doembed",
    "group": "chain workflow task prompt parser session operation create_agent "
    "ai.generatetext ai.streamtext ai.generateobject ai.streamobject ai.embed ai.embedmany",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_AGENT_NAMES = ("gen_ai.agent.name", "agent_name", "gen_ai.agent.id", "agent.name")
_MODELS = (
    *("gen_ai.response.model", "llm.response.model_name", "ai.response.model"),
    *("gen_ai.request.model", "llm.request.model_name", "llm.model_name", "ai.model.id"),
    *("langfuse.observation.model.name", "mlflow.llm.model", "embedding.model_name"),
    *("reranker.model_name", "llm.request.model", "llm.model", "model_name"),
)
_CALL_MODELS = _MODELS[:-1]  #: the last of `_MODELS` is also an attribute of pydantic-ai's agents
#: Attributes that a span may have without being a model call: the name of the requested model, the conversation, the user.
_BESIDE_MODEL = frozenset(
    {
        *("gen_ai.request.model", "llm.request.model_name", "llm.model_name", "ai.model.id"),
        *("llm.request.model", "llm.model"),
        *("gen_ai.conversation.id", "gen_ai.user.name", "gen_ai.user.id"),
    }
)
_KINDS_AND_TYPES = frozenset({*_KIND_NAMES, MONOCLE_TYPE, GENKIT_TYPE})
#: Prefixes of the attributes that describe a call.
_ABOUT_CALLS = (
    *("gen_ai.", "llm.", "ai.", "input.", "output.", "traceloop.", "mlflow.", "langfuse."),
    *("gcp.", "genkit:", "http.", "server."),
)
_TOOL_NAMES = (
    *("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"),
    *("mcp.tool.name", "tool_name"),
)
_HANDOFF = "handoff to "  #: OpenInference's name for the span of a handoff, before the agent's name
_NOT_IN_TOOL_NAMES = re.compile(r"[^a-zA-Z0-9_]")
#: Tool name that Google's ADK gives to a span around parallel calls, which have spans of their own.
_MERGED_TOOLS = "(merged tools)"
_TOOL_PREFIXES = ("execute_tool ", "tools/call ", "running tool: ", "tool: ")
_CALL_IDS = (
    *("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id", "tool_call_id"),
    "gen_ai.tool.call_id",
)
_ARGUMENTS = (
    *("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args"),
    *("ai.toolCall.input", "tool_arguments", "gen_ai.tool.arguments", "gen_ai.tool.input"),
    *("tool_call.function.arguments", "input.value", "tool.arguments", "gen_ai.tool.args"),
)
_UNCERTAIN_ARGUMENTS = (
    *("traceloop.entity.input", "mlflow.spanInputs", "langfuse.observation.input"),
    *("tool.parameters", "gen_ai.tool.parameters", "mcp.request.argument"),
)
_RESULTS = (
    *("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result"),
    *("ai.toolCall.output", "tool_response", "gen_ai.tool.output", "gen_ai.tool.result"),
    *("output.value", "tool.result", "traceloop.entity.output", "mlflow.spanOutputs"),
    *("langfuse.observation.output", "mcp.response.value", "gen_ai.completion", "gen_ai.output"),
)
_FINISH_KEYS = (
    *("gen_ai.response.finish_reasons", "gen_ai.completion.0.finish_reason"),
    *("ai.response.finishReason", "llm.response.finish_reason", "llm.response.stop_reason"),
    *("llm.finish_reason", "ai.finishReason"),
)


#: Attributes of steps: a span without any of them is not a step.
_STEP_ATTRIBUTES = frozenset(
    {
        *(*_KIND_NAMES, *_CALL_MODELS, *_AGENT_NAMES[:2], *COUNTS),
        *("gen_ai.tool.name", "tool.name", *_CALL_IDS[:2], "gcp.vertex.agent.llm_request"),
    }
)
#: The same in recorded spans: also the attributes that are translated to other names.
_SOURCE_STEP_ATTRIBUTES = _STEP_ATTRIBUTES | {MONOCLE_TYPE, GENKIT_TYPE}


def may_be_step(names: Iterable[str]) -> bool:
    """Return whether a span whose attributes have these names may be a step."""
    return not _SOURCE_STEP_ATTRIBUTES.isdisjoint(names)


def creates_agent(attributes: dict[str, Any]) -> bool:
    """Return whether a span with these attributes creates an agent, which is not part of a run."""
    return attributes.get("gen_ai.operation.name") == "create_agent"


def kind_of(span: Span) -> Kind:
    """Return the kind of a span: the recorded one, or else the one its attributes imply."""
    attributes = span.attributes
    if _STEP_ATTRIBUTES.isdisjoint(attributes):
        return "none"
    if attributes.get("gen_ai.tool.name") == _MERGED_TOOLS:
        return "group"
    if handed_to(span):
        return "tool"
    recorded: Kind = "none"
    for name in _KIND_NAMES:
        value = attributes.get(name)
        if type(value) is str:
            kind = _kind(value)
            if kind not in {"none", "group"}:
                return kind
            recorded = kind if kind == "group" else recorded
    return recorded if recorded == "group" else _evident_kind(attributes)


def only_names_model(span: Span) -> bool:
    """Return whether a span names a model but records no call of it: no tokens, messages or finish reason."""
    return (
        span.status != "error"
        and _KINDS_AND_TYPES.isdisjoint(span.attributes)
        and not any(event.name.startswith("gen_ai.") for event in span.events)
        and _BESIDE_MODEL.issuperset(
            name for name in span.attributes if name.startswith(_ABOUT_CALLS)
        )
    )


def handed_to(span: Span) -> str | None:
    """Return the agent to which a span of OpenAI's Agents SDK hands the run over, as a tool call requested; None if none."""
    attributes = span.attributes
    agent = string_of(attributes.get("gen_ai.handoff.to_agent"))
    if agent or attributes.get("openinference.span.kind") != "TOOL" or "tool.name" in attributes:
        return agent
    if not span.name.startswith(_HANDOFF):
        return None
    agent = span.name.removeprefix(_HANDOFF)
    return agent if attributes.get("output.value") in (None, agent) else None


def kind_in_words(span: Span) -> str:
    """Return the recorded name of a span's kind, such as "evaluator"; empty if it records none that is known."""
    recorded = (span.attributes.get(name) for name in _KIND_NAMES)
    words = (_word(value) for value in recorded if type(value) is str)
    return next((word for word in words if _KINDS.get(word, "group") != "group"), "")


def _kind(value: str) -> Kind:
    word = _word(value)
    if word.startswith("invoke_"):  # a swarm, a graph
        return "agent"
    return _KINDS.get(word, "none")


def _word(value: str) -> str:
    return value.strip('"').lower().removeprefix("gen_ai.")


def _evident_kind(attributes: dict[str, Any]) -> Kind:
    if first_of(attributes, ("gen_ai.tool.name", *_CALL_IDS[:2])) is not None:
        return "tool"
    if attributes.get("gcp.vertex.agent.llm_request", "{}") != "{}":
        return "llm"
    has_model = first_of(attributes, _CALL_MODELS) is not None
    has_usage = first_of(attributes, COUNTS) is not None
    if not (has_model or has_usage):
        return "none" if attributes.get("tool.name") is None else "tool"
    names_agent = first_of(attributes, _AGENT_NAMES[:2]) is not None
    return "agent" if names_agent and not (has_model and has_usage) else "llm"


def model_of(span: Span) -> str | None:
    """Return the model that answered, else the one that was asked; MLflow writes it as JSON."""
    names = (string_of(span.attributes.get(key)) for key in _MODELS)
    return next((name.strip('"') for name in names if name), None)


def error_of(span: Span) -> str | None:
    """Return the error of a failed span, or None.

    If an answer asks for several handoffs, one takes place. Its span has an error status, which is ignored.
    """
    if handed_to(span) and "handoff" in (span.status_message or _HANDOFF).lower():
        return None
    attributes = span.attributes
    raised = next((event for event in span.events if event.name == "exception"), None)
    status = first_of(attributes, ("gen_ai.tool.status", "tool.status"))
    recorded = attributes.get("error.type") is not None or attributes.get("error") in (True, "true")
    recorded = recorded or attributes.get("status.ok") in (False, "false")
    level = attributes.get("langfuse.observation.level")
    failed = span.status == "error" or recorded or status == "error" or level == "ERROR"
    # OpenTelemetry's names of an exception are those of an event; some programs write them to the span.
    own = [attributes.get(name) for name in ("exception.message", "exception.type")]
    has_raised = raised is not None or any(type(text) is str and text for text in own)
    if not failed and (not has_raised or span.status == "ok"):
        return None
    texts = [span.status_message, attributes.get("error.message")]
    if raised is not None:
        texts += [
            raised.attributes.get("exception.message"),
            raised.attributes.get("exception.type"),
        ]
    texts += own
    texts += [attributes.get("langfuse.observation.status_message"), attributes.get("error.type")]
    return next((text for text in texts if type(text) is str and text), "error")


def agent_name_of(span: Span) -> str | None:
    """Return an agent's name: the one in the span's attributes, or else the span's own name."""
    name = string_of(first_of(span.attributes, (*_AGENT_NAMES, "traceloop.entity.name")))
    return name or span.name.removeprefix("invoke_agent ") or None


def tool_name_of(span: Span) -> str | None:
    """Return the name of the tool that a span ran: from its attributes, or else from the span's own name."""
    name = string_of(first_of(span.attributes, _TOOL_NAMES))
    if name:
        return name
    agent = handed_to(span)
    if agent:  # as OpenAI's Agents SDK names the tool
        return _NOT_IN_TOOL_NAMES.sub("_", f"transfer_to_{agent}").lower()
    for prefix in _TOOL_PREFIXES:
        if span.name.startswith(prefix):
            return span.name[len(prefix) :] or None
    return span.name.removesuffix(".tool") or None


def names_tool(span: Span) -> bool:
    """Return whether the attributes of a tool span have the tool's name."""
    return string_of(first_of(span.attributes, _TOOL_NAMES)) is not None


def call_id_of(span: Span) -> str | None:
    """Return the id of the call that a tool span answers."""
    return string_of(first_of(span.attributes, _CALL_IDS))


def arguments_of(span: Span) -> Any:
    """Return a tool call's arguments: an object, or else text; None if the span has none."""
    if handed_to(span):  # the input is the name of the agent before
        return None
    recorded = None
    for name in _ARGUMENTS:
        held = parse_arguments(span.attributes.get(name))
        if type(held) is dict:
            return _unwrapped_arguments(held)
        # A stream leaves an empty text if there were no arguments, or before they arrived.
        recorded = recorded or (recorded if held is None else held)
    if recorded is not None:
        return recorded
    for name in _UNCERTAIN_ARGUMENTS:
        held = parse_arguments(span.attributes.get(name))
        if type(held) is dict and not _is_schema(held):
            return _unwrapped_arguments(held)
    return None


def _is_schema(held: dict[str, Any]) -> bool:
    """Return whether an object is the schema of the parameters; some libraries use one name for it, others for the values."""
    if held.get("type") == "object" and "properties" in held:
        return True
    return bool(held) and all(type(item) is dict and "type" in item for item in held.values())


def _unwrapped_arguments(held: dict[str, Any]) -> Any:
    """Return the tool's arguments from a decorator's or callback's record of its own function call."""
    if "input_str" in held and held.keys() <= {"input_str", "inputs", "tags", "metadata", "kwargs"}:
        inputs = held.get("inputs")
        return inputs if type(inputs) is dict else parse_arguments(held["input_str"])
    extra = {"args", "kwargs", "sanitize_inputs_outputs"}
    if type(held.get("kwargs")) is dict and not held.get("args") and held.keys() <= extra:
        return held["kwargs"]
    return held


def result_of_span(span: Span) -> Any:
    """Return the result recorded in a tool span; None if there is none."""
    agent = handed_to(span)
    if agent:
        return agent
    recorded = first_of(span.attributes, _RESULTS)
    held = json_of(recorded)
    if type(held) is dict and "output" in held and held.keys() <= {"output", "kwargs"}:
        return held["output"]  # as a callback records it
    return recorded


def finish_reason_of_span(span: Span) -> str | None:
    """Return why a model call ended, as the attributes of its span record it."""
    return finish_reason_of(json_of(first_of(span.attributes, _FINISH_KEYS)))


def ended_for_tools(span: Span) -> bool | None:
    """Return whether a model call ended so that tools be called; None if the span does not record how it ended."""
    recorded = json_of(first_of(span.attributes, _FINISH_KEYS))
    if recorded is None:
        return None
    reasons = recorded if type(recorded) is list else [recorded]
    return any(
        type(reason) is str and ("tool" in reason.lower() or "function" in reason.lower())
        for reason in reasons
    )
