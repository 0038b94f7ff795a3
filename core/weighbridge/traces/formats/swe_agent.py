"""SWE-agent `.traj` files, and the data of its web demo: the agent's thoughts, actions and observations, turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    cost_of,
    counted,
    counts_of,
    id_of,
    missing_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    text_of,
    usage_of,
)
from weighbridge.traces.formats import da_agent, swe_agent_demo
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.model import Step, Trace
from weighbridge.traces.text_actions import missing_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.traces.model import Capability, StepType, Usage

_FILE_FIELDS = frozenset({"trajectory", "history", "info", "environment", "replay_config"})
_INFO_FIELDS = frozenset({"model_stats", "exit_status"})
_TURN_FIELDS = frozenset({"response", "thought", "action", "observation"})
#: Texts with which SWE-agent itself ends a run: actions in older versions, responses in newer ones.
_ENDING_ACTIONS = frozenset(
    {"exit_context", "exit_cost", "exit_error", "exit_format", "exit_api", "exit_early"}
)
_ENDING_RESPONSES = ("Exit due to ", "Exiting due to ")
#: Keys of the cost; the last one may cover several runs.
_COSTS = ("instance_cost", "task_cost", "total_cost")
_REASONS: dict[Capability, str] = {
    "token_usage": "no tokens were counted: model_stats is absent or all 0, as after a replay",
    "timing": "SWE-agent writes no times of day, at most how long each action ran",
    "cost": "no cost was counted: model_stats is absent or all 0, as after a replay",
    "tool_definitions": "SWE-agent describes its tools in the prompt, not as definitions",
}


class _Turn(Struct, frozen=True):
    response: str
    action: str
    observation: Any
    functions: tuple[Call, ...] = ()  #: calls in a history that has no action

    @property
    def calls(self) -> bool:
        """Return whether the agent took an action in this turn."""
        return bool(self.action or self.functions) and not self.is_ending

    @property
    def is_ending(self) -> bool:
        """Return whether SWE-agent wrote the turn itself, to end the run."""
        if self.action:
            return not self.response and self.action in _ENDING_ACTIONS
        return self.response.startswith(_ENDING_RESPONSES)


def _matches(value: Any) -> bool:
    if da_agent.matches(value):  # its observations are those before the actions
        return False
    if _demo_runs(value):
        return True
    if type(value) is list:
        value = {"trajectory": value}
    if type(value) is not dict:
        return False
    entries = value.get("trajectory")
    if type(entries) is list and entries:
        return type(entries[0]) is dict and "action" in entries[0] and "observation" in entries[0]
    # A file made for replaying may have only the history.
    history = objects_of(value.get("history"))
    return not entries and any("action" in item and "role" in item for item in history)


def _demo_runs(value: Any) -> list[dict[str, Any]]:
    """Return the runs of the web demo in a value; empty if it has others."""
    runs = value if type(value) is list else [value]
    return runs if runs and all(map(swe_agent_demo.is_run, runs)) else []


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the runs of a list of the web demo's."""
    runs = _demo_runs(value) if type(value) is list else []
    return [(id_of(run.get("instance_id")), run) for run in runs] if len(runs) > 1 else []


def _read(value: Any) -> list[Trace]:
    if runs := _demo_runs(value):
        return [trace for run in runs for trace in _read(swe_agent_demo.as_trajectory(run))]
    if type(value) is list:
        value = {"trajectory": value}
    notes = Notes()
    notes.add_fields(value, _FILE_FIELDS, "file")
    history, info = objects_of(value.get("history")), object_of(value.get("info"))
    notes.add_fields(info, _INFO_FIELDS, "info")
    stats, config = object_of(info.get("model_stats")), _config(value)
    turns = list(_turns(value.get("trajectory") or [], notes))
    from_history = list(_turns_of(history))
    if not any(turn.calls for turn in turns) and any(turn.calls for turn in from_history):
        turns = from_history
    model = string_of(object_of(object_of(config.get("agent")).get("model")).get("name"))
    steps = tuple(_steps(_prompts(history, notes), turns, model))
    usage, cost_usd = _totals(stats)
    _compare(turns, from_history, history, notes)
    trace = Trace(
        id=string_of(object_of(config.get("problem_statement")).get("id")),
        steps=steps,
        format="swe-agent",
        metadata=scalars(
            environment=value.get("environment"),
            exit_status=info.get("exit_status"),
            api_calls=stats.get("api_calls"),
        ),
        usage=usage,
        cost_usd=cost_usd,
        counts=counts_of(llm_calls=stats.get("api_calls")),
        totals_from="info.model_stats",
        missing={
            **missing_calls(steps, notes),
            **missing_of(steps, _REASONS, usage=usage, cost_usd=cost_usd),
        },
        not_carried=notes.summaries(),
    )
    return [trace]


def _config(value: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the run, which some versions write as JSON in a string."""
    config = value.get("replay_config")
    if type(config) is str:
        try:
            config = orjson.loads(config)
        except ValueError:
            return {}
    return object_of(config)


def _totals(stats: dict[str, Any]) -> tuple[Usage | None, float | None]:
    """Return the tokens and the cost of the run; a cost of 0 is returned only if tokens were counted."""
    usage = counted(usage_of(stats.get("tokens_sent"), stats.get("tokens_received")))
    costs = (cost_of(stats.get(name)) for name in _COSTS)
    cost_usd = next((cost for cost in costs if cost is not None), None)
    return usage, cost_usd if usage or cost_usd else None


def _turns(entries: list[Any], notes: Notes) -> Iterator[_Turn]:
    for number, entry in enumerate(entries, 1):
        action = object_of(entry).get("action")
        if type(entry) is not dict or type(action) not in {str, type(None)}:
            raise damaged(f"entry {number} of the trajectory has no text as its action")
        notes.add_fields(entry, _TURN_FIELDS, "turn")
        response = string_of(entry.get("response")) or string_of(entry.get("thought"))
        yield _Turn(response or "", (action or "").strip(), entry.get("observation"))


def _turns_of(history: list[dict[str, Any]]) -> Iterator[_Turn]:
    """Yield the turns in a history; the observation is the message after an action."""
    for item, after in zip(history, [*history[1:], {}], strict=False):
        if item.get("role") == "assistant" and not item.get("is_demo"):
            action = (string_of(item.get("action")) or "").strip()
            yield _Turn(
                text_of(item.get("content")) or "",
                action,
                None if after.get("role") == "assistant" else text_of(after.get("content")),
                () if action else tuple(calls_of(item)),
            )


def _compare(
    turns: list[_Turn], from_history: list[_Turn], history: list[dict[str, Any]], notes: Notes
) -> None:
    """Note the data in the history that is missing from the turns."""
    calls = sum(len(objects_of(item.get("tool_calls"))) for item in history)
    carried = sum(len(turn.functions) for turn in turns)
    if calls > carried:
        notes.add("function calls of the history, which the actions represent", calls - carried)
    recorded, done = (sum(turn.calls for turn in some) for some in (from_history, turns))
    if recorded > done:
        notes.add("actions of the history that no turn shows", recorded - done)
        notes.calls_left += recorded


def _prompts(history: list[dict[str, Any]], notes: Notes) -> Iterator[tuple[StepType, str | None]]:
    """Yield the messages at the beginning of the run, without demonstrations of other runs."""
    for item in history:
        if item.get("is_demo"):
            notes.add("messages of a demonstration")
        elif item.get("role") == "assistant":
            return
        else:
            yield "system" if item.get("role") == "system" else "user", text_of(item.get("content"))


def _steps(
    prompts: Iterable[tuple[StepType, str | None]], turns: Iterable[_Turn], model: str | None
) -> Iterator[Step]:
    ids, number = StepIds(), 0
    for kind, text in prompts:
        number += 1
        yield Step(id=ids.take(None, number), type=kind, output=text)
    for turn in turns:
        number += 1
        step_id = ids.take(None, number)
        if turn.is_ending:
            said = turn.response or turn.observation
            yield Step(id=step_id, type="other", name=turn.action or None, output=said)
            continue
        yield Step(id=step_id, type="llm", output=turn.response, model=model)
        if turn.action:
            number += 1
            name = turn.action.split(maxsplit=1)[0]
            yield Step(
                id=ids.take(None, number),
                type="tool",
                parent_id=step_id,
                name=name,
                arguments=_arguments(turn.action, name),
                output=turn.observation,
            )
        for index, call in enumerate(turn.functions):
            number += 1
            yield Step(
                id=ids.take(call.id, number),
                type="tool",
                parent_id=step_id,
                name=call.name,
                arguments={} if call.arguments is None else call.arguments,
                output=None if index else turn.observation,
            )


def _arguments(action: str, name: str) -> dict[str, str]:
    """Return the text after a command's name; its indentation matters, as in the lines of an edit."""
    rest = action[len(name) + 1 :]
    return {"argument": rest} if rest else {}


IMPORTER = Importer(
    id="swe-agent",
    name="SWE-agent trajectories",
    matches=_matches,
    read=_read,
    parts=_parts,
    tried_on="real trajectories of SWE-agent, with demonstrations; real runs of its web demo",
    fields=(
        (
            "id",
            "replay_config.problem_statement.id, or instance_id; of a step its number: s1, s2, ...",
        ),
        (
            "type",
            "each turn is llm, and its action tool; the prompts of history are system and user",
        ),
        ("name of a tool call", "the first word of action"),
        ("arguments of a tool call", 'the rest of action, as {"argument": ...}'),
        (
            "output",
            "response, or thought; of a tool call, observation, or output_terminal or output_editor of the web demo",
        ),
        ("model", "replay_config.agent.model.name, or model"),
        ("usage of the run", "info.model_stats.tokens_sent and tokens_received, where not 0"),
        ("cost_usd of the run", "info.model_stats.instance_cost, task_cost or total_cost"),
        ("counts of the run", "info.model_stats.api_calls, where not 0"),
        ("metadata", "environment, info.exit_status, info.model_stats.api_calls"),
    ),
    lacks="times, tool definitions, and the tokens of each model call",
)
