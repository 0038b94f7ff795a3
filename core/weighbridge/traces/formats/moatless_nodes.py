"""Nodes of Moatless's searches: each is a message, or the agent's next actions, with their completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import object_of, objects_of, string_of, text_of, time_of
from weighbridge.traces.importer import damaged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.formats.moatless_run import MoatlessRun

_BUILT, _EXECUTED = "build_action", "execute_action"
#: Keys of the completions for decisions about a node, by their names in the node's `completions`.
_DECISIONS = {
    "value_function": "reward",
    "selector": "selection",
    "feedback": "feedback_data",
    "discriminator": "discriminator_result",
}
_CLASS = "action_args_class"
_NO_ACTION = "ActionError"  #: class recorded for an answer without an action
_SUFFIXES = ("ActionArguments", "Arguments", "Args")
_APART = frozenset({_CLASS, "thoughts"})


def all_nodes(roots: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a search, each before its children; raise TraceError for an item that is not a node."""
    pending = roots[::-1]
    while pending:
        node = pending.pop()
        if type(node) is not dict or "node_id" not in node:
            raise damaged("a node of the search is not an object with a node_id")
        yield node
        children = node.get("children")
        pending += children[::-1] if type(children) is list else []


def add_node(node: dict[str, Any], run: MoatlessRun) -> None:
    """Add the steps of a node."""
    message = string_of(node.get("user_message")) or string_of(node.get("message"))
    if message:
        run.say("user", message)
    actions = _action_steps(node)
    completions = _completions(node, actions)
    executions = [_execution(action) for action in actions]
    if _EXECUTED in completions:
        kept = completions.pop(_EXECUTED)
        if executions and not any(executions):
            executions[-1] = kept
    built = completions.pop(_BUILT, None)
    failed = next((action for action in actions if _name(action) == _NO_ACTION), None)
    parent_id = None
    if built or actions:
        error = string_of(object_of(object_of(failed).get("action")).get("error"))
        parent_id = run.complete(built, said=_said(node, actions), error=error)
    if node.get("is_duplicate") is True and actions:
        run.notes.add("actions of nodes that repeat another one, which did not run", len(actions))
    for action, execution in zip(actions, executions, strict=True):
        if _name(action) != _NO_ACTION:
            _act(action, parent_id, run)
        if execution:
            run.complete(execution, _EXECUTED)
    for name, completion in completions.items():
        run.complete(completion, name)
    for name, key in _DECISIONS.items():
        decided = object_of(node.get(key)).get("completion")
        if decided and name not in completions:
            run.complete(decided, name)
    if string_of(node.get("error")):
        run.say("other", None, node["error"])


def _action_steps(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the actions of a node; older versions keep the last one beside the list, or have only that one."""
    steps = objects_of(node.get("action_steps"))
    alone = object_of(node.get("action"))
    if not alone:
        return steps
    if not steps:
        return [{"action": alone, "observation": node.get("output")}]
    if _CLASS not in object_of(steps[-1].get("action")):
        steps[-1] = {**steps[-1], "action": alone}
    return steps


def _completions(node: dict[str, Any], actions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the completions of a node by name; some versions repeat them in each action."""
    found: dict[str, Any] = {}
    for holder in (node, *actions):
        for name, completion in object_of(holder.get("completions")).items():
            if completion:
                found.setdefault(name, completion)
    return found


def _execution(action: dict[str, Any]) -> Any:
    """Return the completion for running an action: the action's, or else the observation's."""
    observation = object_of(action.get("observation"))
    return action.get("completion") or observation.get("execution_completion")


def _name(action: dict[str, Any]) -> str | None:
    path = string_of(object_of(action.get("action")).get(_CLASS))
    if path is None:
        return None
    name = path.rpartition(".")[2]
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name


def _said(node: dict[str, Any], actions: list[dict[str, Any]]) -> str | None:
    thoughts = node.get("thoughts")
    said = string_of(node.get("assistant_message")) or text_of([thoughts])
    held = (string_of(object_of(action.get("action")).get("thoughts")) for action in actions)
    return said or next(filter(None, held), None)


def _act(action: dict[str, Any], parent_id: str | None, run: MoatlessRun) -> None:
    asked, observation = object_of(action.get("action")), object_of(action.get("observation"))
    failure = object_of(observation.get("properties")).get("fail_reason")
    run.act(
        parent_id,
        _name(action),
        {key: value for key, value in asked.items() if key not in _APART},
        first_of(observation, ("message", "summary")),
        error=string_of(observation.get("error")) or string_of(failure),
        started_at=time_of(action.get("start_time")),
        ended_at=time_of(action.get("end_time")),
    )
