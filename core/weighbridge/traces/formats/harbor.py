"""Harbor: the `result.json` of a trial, one for each attempt at a task of Terminal-Bench 2 or another benchmark.

It has the agent's tokens, cost and times, and errors, but not its calls. These are in the agent's logs beside it, in
`agent/trajectory.json` (ATIF) if the agent supports that. A task of several steps has a result for each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    added,
    cost_of,
    counted,
    missing_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Usage

#: Keys of every trial.
_KEYS = frozenset({"task_name", "trial_name", "task_checksum", "agent_info"})
_CARRIED = frozenset(
    {
        *("id", "task_name", "trial_name", "trial_uri", "task_id", "source", "task_checksum"),
        *("config", "agent_info", "agent_result", "verifier_result", "exception_info"),
        *("started_at", "finished_at", "environment_setup", "agent_setup", "agent_execution"),
        *("verifier", "verifier_environment_mode", "step_results", "schema_version"),
        *("reward_valid",),
    }
)
#: Fields of an agent's result; `model_usage` divides the same tokens by model.
_OF_AGENT = frozenset(
    {"n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd", "model_usage"}
)
#: Prefixes of the names of exceptions that are raised after the agent has ended.
_OF_VERIFIER = ("Verifier", "Reward", "DownloadVerifier")
_NO_CALLS = "a trial's result has no calls: the agent's own logs have them (agent/trajectory.json)"
_REASONS: dict[Capability, str] = {
    "llm_calls": _NO_CALLS,
    "tool_calls": _NO_CALLS,
    "token_usage": "the agent reported no tokens to Harbor",
    "timing": "this trial has no times of the agent's execution",
    "cost": "the agent reported neither cost nor tokens to Harbor",
    "tool_definitions": "a trial's result does not list the tools",
}


def _matches(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() >= _KEYS
        and type(value["agent_info"]) is dict
        and ("agent_result" in value or "step_results" in value)
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    notes, ids = Notes(), StepIds()
    notes.add_fields(value, _CARRIED, "trial")
    agent = object_of(value["agent_info"])
    parts = objects_of(value.get("step_results"))
    if type(value.get("agent_result")) is dict or not parts:
        parts = [{**value, "step_name": None}]
    elif type(value.get("exception_info")) is dict:
        parts = [*parts, {"exception_info": value["exception_info"], "agent_result": None}]
    steps: list[Step] = []
    for part in parts:
        notes.add_fields(object_of(part.get("agent_result")), _OF_AGENT, "agent result")
        steps += _steps_of(part, agent, ids, len(steps) + 1)
    usages = [_usage(part.get("agent_result")) for part in parts if "step_name" in part]
    costs = [_cost(part.get("agent_result")) for part in parts if "step_name" in part]
    usage = counted(added(usages))
    cost_usd = sum(filter(None, costs)) if costs and None not in costs else None
    missing = missing_of(steps, _REASONS, usage=usage, cost_usd=cost_usd)
    rewards = scalars(**_rewards_of(value))
    trace = Trace(
        id=string_of(value.get("id")) or string_of(value.get("trial_name")),
        steps=tuple(steps),
        format="harbor",
        metadata={
            **scalars(
                trial_name=value.get("trial_name"),
                task_name=value.get("task_name"),
                source=value.get("source"),
                agent=agent.get("name"),
                agent_version=agent.get("version"),
                model=object_of(agent.get("model_info")).get("name"),
            ),
            **({"rewards": rewards} if rewards else {}),
        },
        usage=usage,
        cost_usd=cost_usd,
        totals_from="agent_result" if usage or cost_usd is not None else "",
        missing={"llm_calls": _NO_CALLS, "tool_calls": _NO_CALLS, **missing},
        not_carried=notes.summaries(),
    )
    return [trace]


def _steps_of(part: dict[str, Any], agent: dict[str, Any], ids: StepIds, number: int) -> list[Step]:
    """Return the agent's execution as a step, followed by the verification if that failed."""
    failure = object_of(part.get("exception_info"))
    kind = word_of(failure.get("exception_type"))
    said = string_of(failure.get("exception_message"))
    error = (f"{kind}: {said}" if said and kind else said or kind or "error") if failure else None
    is_of_verifier = kind.startswith(_OF_VERIFIER)
    times = object_of(part.get("agent_execution"))
    of_agent = Step(
        id=ids.take(part.get("step_name"), number),
        type="agent",
        name=string_of(agent.get("name")),
        model=string_of(object_of(agent.get("model_info")).get("name")),
        error=None if is_of_verifier else error,
        started_at=time_of(times.get("started_at")),
        ended_at=time_of(times.get("finished_at")),
    )
    if not is_of_verifier:
        return [of_agent]
    return [of_agent, Step(ids.take(None, number + 1), "other", name="verifier", error=error)]


def _usage(result: Any) -> Usage | None:
    recorded = object_of(result)
    return usage_of(
        recorded.get("n_input_tokens"),  # includes cached tokens
        recorded.get("n_output_tokens"),
        cached_tokens=recorded.get("n_cache_tokens"),
    )


def _cost(result: Any) -> float | None:
    return cost_of(object_of(result).get("cost_usd"))


def _rewards_of(value: dict[str, Any]) -> dict[str, Any]:
    rewards = object_of(object_of(value.get("verifier_result")).get("rewards"))
    return {name: reward for name, reward in rewards.items() if type(name) is str}


IMPORTER = Importer(
    id="harbor",
    name="Harbor trial results",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "id; of a step of a task with several, step_name"),
        (
            "type",
            "the agent's execution is agent; a verification that failed is other, named verifier",
        ),
        ("name, model", "agent_info.name, agent_info.model_info.name"),
        ("error", "exception_info.exception_type and exception_message"),
        ("started_at, ended_at", "agent_execution.started_at, finished_at"),
        (
            "usage of the run",
            "agent_result.n_input_tokens (with cached ones), n_output_tokens, n_cache_tokens; the sum of step_results",
        ),
        ("cost_usd of the run", "agent_result.cost_usd; the sum of step_results"),
        (
            "metadata",
            "trial_name, task_name, source, agent_info.name, version and model_info.name, verifier_result.rewards",
        ),
    ),
    lacks="the agent's calls and messages, which are in its own logs beside the result",
    tried_on="real results of trials; made results of tasks with several steps",
)
