"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.8.

Later versions add images in messages (1.6), sub-agents in the same file (1.7) and audio (1.8). A trajectory that continues
in another file is read from a list of both trajectories, in order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.text import shorten
from weighbridge.traces.fields import (
    counts_of,
    missing_of,
    object_of,
    scalars,
    string_of,
    word_of,
)
from weighbridge.traces.formats.atif_steps import AGENTS, TrajectoryReader
from weighbridge.traces.formats.atif_totals import cost_of_run, usage_of_run
from weighbridge.traces.formats.coding_agent_results import with_failures_of_coding_agents
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import COUNTED, Trace
from weighbridge.traces.text_actions import missing_calls

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

#: Key of the trajectories of one run, each of which continues in the next.
SEGMENTS = "atif_segments"
#: Key, beside the first, of sub-agents' trajectories from other files.
SUB_AGENTS = "atif_sub_agents"
_VERSION = "ATIF-v"
_BARE_VERSION = re.compile(r"1\.\d{1,2}")  #: version as some converters write it
_LOOKED_AT = 20  #: number of steps examined if the version does not name the format
_NAME_CHARACTERS = 60  #: maximum length of a file's name in a note
_SOURCES = AGENTS | {"user", "system"}
_REASONS: dict[Capability, str] = {
    "token_usage": "neither the metrics of the steps nor final_metrics have tokens above zero",
    "timing": "no step of this trajectory has a timestamp",
    "cost": "neither the steps nor final_metrics have a cost, or tokens above zero",
    "tool_definitions": "the agent of this trajectory has no tool_definitions",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict:
        return False
    segments = value.get(SEGMENTS)
    if type(segments) is list and segments:
        return all(map(_is_trajectory, segments))
    return _is_trajectory(value)


def _is_trajectory(value: Any) -> bool:
    if type(value) is not dict or type(value.get("steps")) is not list:
        return False
    version = value.get("schema_version")
    if type(version) is not str:
        return False
    is_bare = _BARE_VERSION.fullmatch(version) is not None
    return version.startswith(_VERSION) or (is_bare and _are_steps(value["steps"][:_LOOKED_AT]))


def _are_steps(steps: list[Any]) -> bool:
    return bool(steps) and all(
        type(step) is dict
        and "step_id" in step
        and (
            (word_of(step.get("source")) in _SOURCES and "message" in step)
            or type(object_of(step.get("message")).get("role")) is str
        )
        for step in steps
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    segments = value.get(SEGMENTS) or [value]
    for version in (segment["schema_version"] for segment in segments):
        if not version.startswith((f"{_VERSION}1.", "1.")):
            known = "the versions known are ATIF-v1.0 to ATIF-v1.8"
            raise TraceError(f"this is {version[:40]}", known)
    reader = TrajectoryReader(value.get(SUB_AGENTS))
    reader.segments(segments)
    steps = with_failures_of_coding_agents(reader.steps)
    tools = tuple(reader.tools.values())
    totals = (steps, reader.mains, reader.others)
    usage, cost_usd = usage_of_run(*totals), cost_of_run(*totals)
    first, agent = segments[0], object_of(segments[0].get("agent"))
    trace = Trace(
        id=string_of(first.get("trajectory_id")) or string_of(first.get("session_id")),
        steps=steps,
        format="atif",
        tools=tools,
        metadata=scalars(
            schema_version=first["schema_version"],
            session_id=first.get("session_id"),
            agent=agent.get("name"),
            agent_version=agent.get("version"),
        ),
        usage=usage,
        cost_usd=cost_usd,
        counts=counts_of(steps=len(steps) + reader.steps_left if reader.steps_left else None),
        totals_from="final_metrics",
        missing={
            **_missing_rest(segments[-1]),
            **missing_calls(steps, reader.notes),
            **missing_of(steps, _REASONS, tools=tools, usage=usage, cost_usd=cost_usd),
        },
        not_carried=reader.notes.summaries(),
    )
    return [trace]


def _missing_rest(last: dict[str, Any]) -> dict[Capability, str]:
    """Return all totals as missing if a trajectory continues in a file that was not read; empty if it does not."""
    goes_on = string_of(last.get("continued_trajectory_ref"))
    if goes_on is None:
        return {}
    name = shorten(goes_on, _NAME_CHARACTERS)
    return dict.fromkeys(COUNTED, f"the trajectory goes on in {name!r}, which was not read")


IMPORTER = Importer(
    id="atif",
    name="ATIF trajectories",
    matches=_matches,
    read=_read,
    tried_on="real trajectories of Harbor",
    fields=(
        ("id", "trajectory_id, or session_id; of a step step_id, of a tool call tool_call_id"),
        (
            "parent_id",
            "a tool call's step; a sub-agent's steps are part of the call that started it",
        ),
        (
            "type",
            "source: agent is llm, or other where llm_call_count is 0; a sub-agent is agent; where other steps of the agent have metrics or model_name, one of results alone is none",
        ),
        (
            "tool calls of a chat message",
            "its tool_calls; the output from a tool message by tool_call_id",
        ),
        ("name", "tool_calls[].function_name; agent.name of a sub-agent"),
        ("arguments", "tool_calls[].arguments"),
        (
            "output",
            "message; of a tool call, observation.results[].content by source_call_id, or of its step",
        ),
        ("error", "extra.is_error of a result; a result that states that its call failed"),
        ("model", "model_name of the step, or of the agent"),
        (
            "usage",
            "metrics.prompt_tokens, completion_tokens, cached_tokens, which count beside the prompt where the numbers or extra.total_tokens show it; of the run final_metrics",
        ),
        ("cost_usd", "metrics.cost_usd; of the run final_metrics.total_cost_usd"),
        ("counts", "final_metrics.total_steps, where it is more than there are steps"),
        ("started_at", "timestamp"),
        ("tools", "agent.tool_definitions, those of sub-agents too"),
        ("metadata", "schema_version, session_id, agent.name, agent.version"),
    ),
    lacks="when a step ended, the times of tool calls, and whether they failed",
)
