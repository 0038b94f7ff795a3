"""MetaGPT: the saved state of a team (`storage/team/team.json`), with the messages that its roles observed.

The context of newer versions has the cost of the run; no version has the model calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    cost_of,
    counted,
    id_of,
    json_in,
    missing_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_KEYS = frozenset({"env", "investment", "idea"})
_CARRIED = _KEYS | {"context"}
_OF_MESSAGE = frozenset({"id", "content", "role", "cause_by", "sent_from", "send_to"})
_HUMAN = "UserRequirement"  #: action recorded as the cause of a person's message
_NO_CALLS = "a team's state has the messages of its roles, not the calls of their models and tools"
_REASONS: dict[Capability, str] = {
    "token_usage": "this state has no context with the tokens of the run",
    "timing": "a team's state has no times",
    "cost": "this state has no context with the cost of the run",
    "tool_definitions": "a team's state does not list tools",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or not value.keys() >= _KEYS:
        return False
    roles = object_of(value["env"]).get("roles")
    return (
        type(roles) is dict
        and bool(roles)
        and all("rc" in object_of(role) and "actions" in object_of(role) for role in roles.values())
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    notes, ids = Notes(), StepIds()
    notes.add_fields(value, _CARRIED, "team")
    steps: list[Step] = []
    for message in _messages(value["env"]["roles"]):
        notes.add_fields(message, _OF_MESSAGE, "message")
        is_asked = word_of(message.get("cause_by")).endswith(_HUMAN)
        steps.append(
            Step(
                id=ids.take(message.get("id"), len(steps) + 1),
                type="user" if is_asked else "agent",
                name=None if is_asked else string_of(message.get("role")),
                output=message.get("content"),
            )
        )
    if not any(step.type == "user" for step in steps) and string_of(value["idea"]):
        steps.insert(0, Step(ids.take(None, 1), "user", output=value["idea"]))
    spent = _spent(value)
    usage = counted(
        usage_of(spent.get("total_prompt_tokens"), spent.get("total_completion_tokens"))
    )
    cost_usd = cost_of(spent.get("total_cost")) or None
    missing = missing_of(steps, _REASONS, usage=usage, cost_usd=cost_usd)
    return [
        Trace(
            id=None,
            steps=tuple(steps),
            format="metagpt",
            metadata=scalars(idea=value["idea"], investment=value["investment"]),
            usage=usage,
            cost_usd=cost_usd,
            totals_from="context.cost_manager" if usage or cost_usd else "",
            missing={"llm_calls": _NO_CALLS, "tool_calls": _NO_CALLS, **missing},
            not_carried=notes.summaries(),
        )
    ]


def _messages(roles: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages in the memories of all roles, each once; each role that observed a message has it."""
    memories = [
        objects_of(object_of(object_of(role["rc"]).get("memory")).get("storage"))
        for role in roles.values()
    ]
    known: set[str] = set()
    found = []
    for message in (each for memory in sorted(memories, key=len, reverse=True) for each in memory):
        name = id_of(message.get("id"))
        if name is None or name not in known:
            found.append(message)
            known.update([name] if name else [])
    return found


def _spent(value: dict[str, Any]) -> dict[str, Any]:
    """Return the tokens and the cost of the run, which are recorded as JSON text."""
    held = object_of(value.get("context")).get("cost_manager")
    try:
        return object_of(json_in(held) if type(held) is str else held)
    except ValueError:
        return {}


IMPORTER = Importer(
    id="metagpt",
    name="MetaGPT teams",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "id of a message"),
        (
            "type",
            "env.roles.*.rc.memory.storage: a message caused by UserRequirement is user, others agent",
        ),
        ("name, output", "role and content of a message"),
        (
            "usage, cost_usd of the run",
            "context.cost_manager: total_prompt_tokens, total_completion_tokens, total_cost",
        ),
        ("metadata", "idea, investment"),
    ),
    lacks="model calls, tool calls, times, and in older versions tokens and cost",
    tried_on="the state of a run in a public repository; made states with a context",
)
