"""Calls and results in the traces of Amazon Bedrock Agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import json_in, object_of, objects_of, string_of, word_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ACTION = "actionGroupInvocationInput"
LOOKUP = "knowledgeBaseLookupInput"
COLLABORATOR = "agentCollaboratorInvocationInput"
#: Keys of calls' inputs, with the keys of their outputs.
OUTPUTS = {
    ACTION: "actionGroupInvocationOutput",
    LOOKUP: "knowledgeBaseLookupOutput",
    "codeInterpreterInvocationInput": "codeInterpreterInvocationOutput",
    COLLABORATOR: "agentCollaboratorInvocationOutput",
}
_TYPED = frozenset({"integer", "number", "boolean", "array", "object"})


def call_of(kind: str, given: dict[str, Any]) -> tuple[str | None, Any]:
    """Return the name and the arguments of a call."""
    if kind == ACTION:
        return action_name(given), action_arguments(given)
    if kind == COLLABORATOR:
        return string_of(given.get("agentCollaboratorName")), object_of(given.get("input"))
    tool = "knowledge_base" if kind == LOOKUP else "code_interpreter"
    return tool, {key: held for key, held in given.items() if key != "traceId"}


def action_name(given: dict[str, Any]) -> str | None:
    """Return the name of an action: its function, or its method and path, or else the name of its group."""
    verb = string_of(given.get("verb")) or string_of(given.get("httpMethod"))
    method = " ".join(filter(None, (verb, string_of(given.get("apiPath")))))
    name = string_of(given.get("function")) or method
    return name or string_of(given.get("actionGroupName")) or string_of(given.get("actionGroup"))


def action_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action: its parameters, and the properties of its body."""
    arguments: dict[str, Any] = {}
    body = object_of(object_of(given.get("requestBody")).get("content"))
    for listed in (given.get("parameters"), *body.values()):
        properties = listed.get("properties") if type(listed) is dict else listed
        for each in objects_of(properties):
            name = string_of(each.get("name"))
            if name is not None:
                arguments[name] = _value_of(each)
    return arguments


def _value_of(parameter: dict[str, Any]) -> Any:
    """Return a parameter's value, which is recorded as text, in the parameter's JSON type."""
    value = parameter.get("value")
    if type(value) is not str or word_of(parameter.get("type")).lower() not in _TYPED:
        return value
    try:
        return json_in(value)
    except ValueError:
        return value


def output_name(kind: str, held: dict[str, Any]) -> str:
    """Return a name that the input and the output of a call share: its kind, with the collaborator's name if it has one."""
    name = string_of(held.get("agentCollaboratorName"))
    return f"{kind} of {name}" if name else kind


def output_of(kind: str, given: dict[str, Any]) -> tuple[Any, str | None]:
    """Return the output of a call and its error."""
    if kind == "knowledgeBaseLookupOutput":
        references = given.get("retrievedReferences")
        return "\n".join(_texts(references)) or references, None
    if kind == "codeInterpreterInvocationOutput":
        timed_out = "timeout" if given.get("executionTimeout") is True else None
        error = string_of(given.get("executionError")) or timed_out
        return string_of(given.get("executionOutput")) or error, error
    if kind == "agentCollaboratorInvocationOutput":
        output = object_of(given.get("output"))
        return output.get("text", output.get("returnControlPayload")), None
    return given.get("text"), None


def _texts(references: Any) -> Iterator[str]:
    for each in objects_of(references):
        text = string_of(object_of(each.get("content")).get("text"))
        if text:
            yield text
