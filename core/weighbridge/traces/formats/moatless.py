"""Moatless's trajectories: transitions between an agent's states, or since late 2024, a search's nodes, as tree or list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import (
    cost_of,
    counts_of,
    missing_of,
    object_of,
    scalars,
    string_of,
)
from weighbridge.traces.formats.moatless_nodes import add_node, all_nodes
from weighbridge.traces.formats.moatless_run import MoatlessRun
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.model import Trace
from weighbridge.traces.text_actions import missing_calls

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_LOOKED_AT = 20  #: number of nodes and transitions by which the format is recognised
_TRANSITIONS = frozenset({"transitions", "initial_message", "info"})
_NODE = frozenset(
    {"node_id", "visits", "action_steps", "possible_actions", "completions", "user_message"}
)
_NODE_KEYS_NEEDED = 3  #: minimum number of these keys in a node
_RETRY = "retry"  #: trigger of an action that could not be run
_UNRECORDED = "the completions of some actions are not recorded"
_REASONS: dict[Capability, str] = {
    "token_usage": "no completion of this trajectory records its tokens",
    "timing": "no completion of this trajectory records its time",
    "cost": "no completion of this trajectory records its cost or tokens",
    "tool_definitions": "Moatless's trajectories do not have the definitions of the actions",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if value.keys() >= _TRANSITIONS:
        return type(value["transitions"]) is list and all(
            map(_is_transition, value["transitions"][:_LOOKED_AT])
        )
    if "root" in value:
        return _is_node(value["root"])
    nodes = value.get("nodes")
    return type(nodes) is list and bool(nodes) and all(map(_is_node, nodes[:_LOOKED_AT]))


def _is_transition(value: Any) -> bool:
    return type(value) is dict and "id" in value and type(value.get("name")) is str


def _is_node(value: Any) -> bool:
    return (
        type(value) is dict
        and "node_id" in value
        and len(_NODE & value.keys()) >= _NODE_KEYS_NEEDED
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    run = MoatlessRun()
    info = object_of(first_of(value, ("info", "metadata")))
    if "transitions" in value:
        _add_transitions(value, run)
    else:
        nodes = [value["root"]] if "root" in value else value["nodes"]
        for node in all_nodes(nodes):
            add_node(node, run)
    calls = sum(step.type == "llm" for step in run.steps)
    cost_usd = cost_of(info.get("total_cost")) or None
    trace = Trace(
        id=string_of(info.get("instance_id")) or string_of(value.get("trajectory_id")),
        steps=tuple(run.steps),
        format="moatless",
        metadata=scalars(
            **{key: info.get(key) for key in ("evaluation_name", "status", "resolved", "duration")}
        ),
        cost_usd=cost_usd,
        # If the completions of some actions are not recorded, the number of calls is not known.
        counts=counts_of(calls + run.retries) if run.retries and not run.unrecorded else None,
        totals_from="info.total_cost"
        if cost_usd
        else "retries of completions"
        if run.retries
        else "",
        missing={
            **(_unrecorded(cost_usd) if run.unrecorded else {}),
            **missing_calls(run.steps, run.notes),
            **missing_of(run.steps, _REASONS, cost_usd=cost_usd),
        },
        not_carried=run.notes.summaries(),
    )
    return [trace]


def _unrecorded(cost_usd: float | None) -> dict[Capability, str]:
    """Return the missing capabilities of a run without the completions of some actions."""
    lacking: list[Capability] = ["llm_calls", "token_usage"]
    return dict.fromkeys(lacking if cost_usd else [*lacking, "cost"], _UNRECORDED)


def _add_transitions(value: dict[str, Any], run: MoatlessRun) -> None:
    if string_of(value.get("initial_message")):
        run.say("user", value["initial_message"])
    for number, transition in enumerate(value["transitions"], 1):
        actions = object_of(transition).get("actions") or []
        if type(transition) is not dict or type(actions) is not list:
            raise damaged(f"transition {number} is not an object with an array of actions")
        for action in actions:
            if type(action) is not dict:
                raise damaged(f"an action of transition {number} is not an object")
            _add_action(string_of(transition.get("name")), action, run)


def _add_action(state: str | None, action: dict[str, Any], run: MoatlessRun) -> None:
    request, response = action.get("request"), object_of(action.get("response"))
    completion, parent_id = action.get("completion"), None
    if completion:
        parent_id = run.complete(completion, said=object_of(request).get("scratch_pad"))
    else:
        run.notes.add("actions whose completion is not recorded")
        run.unrecorded += 1
    retry = string_of(response.get("retry_message"))
    output = response.get("output")
    run.act(
        parent_id,
        state,
        request,
        retry if output is None else output,
        error=retry if response.get("trigger") == _RETRY else None,
    )


IMPORTER = Importer(
    id="moatless",
    name="Moatless trajectories",
    matches=_matches,
    read=_read,
    fields=(
        ("id of the trace", "info.instance_id, metadata.instance_id or trajectory_id"),
        (
            "type",
            "a completion is llm, or each of its attempts; an entry of transitions[].actions, or of action_steps of a node, is tool; initial_message and user_message are user",
        ),
        (
            "which nodes",
            "all of the tree, depth first, also those that the search gave up",
        ),
        (
            "name of a tool call",
            "name of the transition; action_args_class of the action without Args",
        ),
        ("arguments", "request; action without thoughts and action_args_class"),
        (
            "output",
            "text of completion.response, assistant_message, thoughts or scratch_pad; of a tool call, response.output or retry_message, or observation.message",
        ),
        (
            "error",
            "retry_message, observation.error, properties.fail_reason, failure_reason, error",
        ),
        ("name of a model call", "its key in completions, apart from build_action"),
        ("model", "completion.model"),
        (
            "usage",
            "completion.usage, or completion.response.usage where that has more detail; usage of an attempt",
        ),
        ("cost_usd", "completion_cost, where not 0; of the run info.total_cost"),
        ("counts of the run", "the model calls that were read, and retries"),
        ("started_at, ended_at", "start_time and end_time; created of a response"),
        ("metadata", "evaluation_name, status, resolved and duration of info or metadata"),
    ),
    tried_on="real trajectories of transitions and of trees in public repositories; lists of nodes by the source",
    lacks="tool definitions, the messages that were sent to the model; in transitions the model calls of replayed actions",
)
