"""Writers of one run in the formats of agents' frameworks and benchmarks, with the calls and tokens that each carries."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from support.agent_log_forms import START, asked_by, at, said_in, tokens_of
from support.trace_forms import as_openai_chat, known, turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.traces import Step, Trace


def chat_call(call: Step) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def chat_usage(step: Step) -> dict[str, Any]:
    sent, received, cached = tokens_of(step)
    return {
        "prompt_tokens": sent,
        "completion_tokens": received,
        "total_tokens": sent + received,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def as_trae(trace: Trace) -> dict[str, Any]:
    """Write a run as a Trae trajectory, in which every answer is an interaction and a step."""
    interactions, steps = [], []
    for number, turn in enumerate(turns(trace)[0], 1):
        sent, received, cached = tokens_of(turn.step)
        calls = [
            {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            for call in turn.calls
        ]
        results = [
            {"call_id": call.id, "success": not call.error, "result": call.output, "error": call.error}
            for call in turn.calls
        ]  # fmt: skip
        usage = {"input_tokens": sent, "output_tokens": received, "cache_read_input_tokens": cached}
        answer = {"content": turn.step.output, "model": "m", "tool_calls": calls}
        interactions.append(
            {
                "timestamp": at(number),
                "provider": "openai",
                "input_messages": [{"role": "user", "content": said.output} for said in turn.said],
                "response": {**answer, "usage": usage},
            }
        )
        about = {"step_number": number, "timestamp": at(number), "state": "completed"}
        steps.append(
            {**about, "llm_response": answer, "tool_calls": calls, "tool_results": results}
        )
    head = {"task": "Go.", "provider": "openai", "model": "m", "max_steps": 9}
    return {**head, "llm_interactions": interactions, "agent_steps": steps}


def as_tool_eval(trace: Trace) -> dict[str, Any]:
    """Write a run as a prediction of ToolEval: a chain with a node for each answer, or for each call of one."""
    nodes: list[dict[str, Any]] = [{"role": "system", "message": ""}]
    for turn in turns(trace)[0]:
        if not turn.calls:
            nodes.append({"role": "assistant", "message": turn.step.output})
        for call in turn.calls:
            arguments = json.dumps(call.arguments)
            told = {"name": call.name, "arguments": arguments, "response": call.output}
            nodes.append({"role": "tool", "message": str(told)})
    for before, after in pairwise(nodes):
        before["next"] = [after]
    answer = {"method": "CoT@1", "total_steps": len(nodes), "answer_details": nodes[:1]}
    return {"7": {"query": "Go.", "available_tools": [], "answer": answer}}


def as_inspect(trace: Trace) -> dict[str, Any]:
    """Write a run as a log of Inspect: one sample, whose messages its events of model calls repeat."""
    messages: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace)):
        message = {"id": f"m{number}", "role": kind, "content": step.output}
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            calls = [
                {"id": call.id, "function": call.name, "arguments": call.arguments}
                for call in asked_by(trace, step)
            ]
            message |= {"role": "assistant", "tool_calls": calls}
            usage = {"input_tokens": sent - cached, "input_tokens_cache_read": cached}
            usage |= {"output_tokens": received, "total_tokens": sent + received}
            output = {"model": "m", "choices": [{"message": message}], "usage": usage}
            events.append(
                {"event": "model", "timestamp": at(number), "model": "m", "output": output}
            )
        elif kind == "result":
            message |= {"role": "tool", "tool_call_id": step.id, "function": step.name}
            if step.error:
                message["error"] = {"type": "unknown", "message": step.error}
        messages.append(message)
    sample = {"id": 1, "epoch": 1, "input": "Go.", "target": "", "messages": messages}
    about = {"version": 2, "status": "success", "eval": {"eval_id": "e", "task": "t", "model": "m"}}
    return {**about, "samples": [{**sample, "events": events}]}


def as_openhands(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as events of OpenHands: each action of an answer repeats the whole response, a message has totals."""
    events: list[dict[str, Any]] = []
    total = dict.fromkeys(("prompt_tokens", "completion_tokens", "cache_read_tokens"), 0)

    def add(source: str, **more: Any) -> int:
        metrics = {"llm_metrics": {"accumulated_token_usage": dict(total)}}
        head = {"id": len(events), "timestamp": at(len(events)), "source": source}
        events.append(head | (metrics if source == "agent" and "action" in more else {}) | more)
        return len(events) - 1

    for turn in turns(trace)[0]:
        for said in turn.said:
            add("user", action="message", args={"content": said.output})
        calls = [chat_call(call) for call in turn.calls]
        message = {"role": "assistant", "content": turn.step.output, "tool_calls": calls or None}
        response = {"id": turn.step.id, "model": "m", "choices": [{"message": message}]}
        response["usage"] = chat_usage(turn.step)
        for name, count in zip(total, tokens_of(turn.step), strict=True):
            total[name] += count
        if not calls:
            add("agent", action="message", args={"content": turn.step.output})
        for call in turn.calls:
            metadata = {"function_name": call.name, "tool_call_id": call.id}
            metadata |= {"model_response": response, "total_calls_in_response": len(calls)}
            cause = add("agent", action="run", args=call.arguments, tool_call_metadata=metadata)
            seen = "error" if call.error else "run"
            told = {"content": call.output, "cause": cause, "extras": {}}
            add("agent", observation=seen, tool_call_metadata=metadata, **told)
    return events


def as_openhands_sdk(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as events of OpenHands' SDK, which has the usage of the whole run only."""
    events: list[dict[str, Any]] = []
    sent = received = cached = 0

    def add(kind: str, source: str, **more: Any) -> None:
        head = {"kind": kind, "id": f"e{len(events)}", "timestamp": at(len(events))}
        events.append(head | {"source": source} | more)

    for turn in turns(trace)[0]:
        for said in turn.said:
            content = [{"type": "text", "text": said.output}]
            add("MessageEvent", "user", llm_message={"role": "user", "content": content})
        one, two, three = tokens_of(turn.step)
        sent, received, cached = sent + one, received + two, cached + three
        thought = [{"type": "text", "text": turn.step.output}]
        if not turn.calls:
            add("MessageEvent", "agent", llm_message={"role": "assistant", "content": thought})
        for call in turn.calls:
            told = {"tool_call_id": call.id, "tool_name": call.name}
            asked = {"id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
            response = {"llm_response_id": turn.step.id, "thought": thought, "tool_call": asked}
            add("ActionEvent", "agent", action={"kind": "A"}, **told, **response)
            thought = []
        for call in turn.calls:
            told = {"tool_call_id": call.id, "tool_name": call.name}
            if call.error:
                add("AgentErrorEvent", "agent", error=call.error, **told)
            else:
                content = [{"type": "text", "text": call.output}]
                add("ObservationEvent", "environment", observation={"content": content}, **told)
    usage = {"prompt_tokens": sent, "completion_tokens": received, "cache_read_tokens": cached}
    metrics = {"agent": {"accumulated_token_usage": usage}}
    value = {"usage_to_metrics": metrics}
    add("ConversationStateUpdateEvent", "environment", key="stats", value=value)
    return events


def as_opencode(trace: Trace) -> dict[str, Any]:
    """Write a run as an export of opencode: each answer a message with a step."""
    messages: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace)):
        info = {"id": f"m{number}", "role": "user", "time": {"created": (START + number) * 1000}}
        parts: list[dict[str, Any]] = [{"id": f"t{number}", "type": "text", "text": step.output}]
        if kind == "result":
            continue
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            tokens = {"input": sent - cached, "output": received, "reasoning": 0}
            tokens["cache"] = {"read": cached, "write": 0}
            info |= {"role": "assistant", "modelID": "m"}
            parts = [
                {"type": "step-start"},
                *parts,
                *(_opencode_call(call) for call in asked_by(trace, step)),
                {"type": "step-finish", "tokens": tokens},
            ]
        messages.append({"info": info, "parts": parts})
    return {"info": {"id": "s", "title": "t"}, "messages": messages}


def _opencode_call(call: Step) -> dict[str, Any]:
    state = {"status": "error" if call.error else "completed", "input": call.arguments}
    state |= {"error": call.error} if call.error else {"output": call.output}
    return {
        "id": f"p{call.id}",
        "type": "tool",
        "callID": call.id,
        "tool": call.name,
        "state": state,
    }


def as_weave(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as calls of Weave, whose outermost call repeats the usage of those in it."""
    calls: list[dict[str, Any]] = []
    usages: list[dict[str, Any]] = []

    def add(op: str, **more: Any) -> None:
        number = len(calls)
        times = {"started_at": at(number), "ended_at": at(number + 1)}
        head = {"id": f"c{number}", "trace_id": "t", "parent_id": "c0" if number else None}
        calls.append(head | {"op_name": f"weave:///e/p/op/{op}:v1"} | times | more)

    add("run", inputs={}, output=None)
    heard: list[dict[str, Any]] = []
    for kind, step in said_in(trace):
        if kind == "user":
            heard.append({"role": "user", "content": step.output})
        elif kind == "answer":
            asked = [chat_call(call) for call in asked_by(trace, step)]
            message = known(role="assistant", content=step.output, tool_calls=asked or None)
            usages.append(chat_usage(step))
            output = {"model": "m", "choices": [{"message": message}], "usage": chat_usage(step)}
            summary = {"usage": {"m": chat_usage(step)}}
            add(
                "openai.chat.completions.create",
                inputs={"model": "m", "messages": list(heard)},
                output=output,
                summary=summary,
            )
            heard.append(message)
        else:
            failed = {"exception": step.error} if step.error else {}
            attributes = {"weave": {"kind": "tool"}}
            output = None if step.error else step.output
            add(
                str(step.name),
                inputs=step.arguments,
                output=output,
                attributes=attributes,
                **failed,
            )
            heard.append({"role": "tool", "tool_call_id": step.id, "content": step.output})
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    total = {name: sum(usage[name] for usage in usages) for name in names}
    calls[0]["summary"] = {"usage": {"m": total}}
    return calls


def as_smolagents(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as steps of smolagents' memory."""
    steps: list[dict[str, Any]] = []
    for turn in turns(trace)[0]:
        steps += [{"task": said.output} for said in turn.said]
        sent, received, _ = tokens_of(turn.step)
        results = [call.output for call in turn.calls]
        steps.append(
            {
                "step_number": len(steps),
                "timing": {"start_time": START + len(steps), "end_time": START + len(steps) + 1},
                "model_output": turn.step.output,
                "tool_calls": [chat_call(call) for call in turn.calls],
                "observations": "\n".join(str(result) for result in results) or None,
                "token_usage": {"input_tokens": sent, "output_tokens": received},
                "error": None,
            }
        )
    return steps


def as_ai_sdk_stream(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as the chunks of a UI message stream, which has the usage of the whole run only."""
    chunks: list[dict[str, Any]] = [{"type": "start", "messageId": "m"}]
    sent = received = 0
    for turn in turns(trace)[0]:
        one, two, _ = tokens_of(turn.step)
        sent, received = sent + one, received + two
        chunks.append({"type": "start-step"})
        text = str(turn.step.output)
        chunks += [{"type": "text-delta", "id": turn.step.id, "delta": word} for word in text]
        for call in turn.calls:
            asked = {"toolCallId": call.id, "toolName": call.name}
            chunks.append({"type": "tool-input-start"} | asked)
            written = json.dumps(call.arguments)
            for piece in (written[:3], written[3:]):
                delta = {"toolCallId": call.id, "inputTextDelta": piece}
                chunks.append({"type": "tool-input-delta"} | delta)
            chunks.append({"type": "tool-input-available", "input": call.arguments} | asked)
            told = {"type": "tool-output-available", "toolCallId": call.id, "output": call.output}
            if call.error:
                told = {"type": "tool-output-error", "toolCallId": call.id, "errorText": call.error}
            chunks.append(told)
        chunks.append({"type": "finish-step"})
    usage = {"inputTokens": sent, "outputTokens": received}
    return [*chunks, {"type": "finish", "messageMetadata": {"totalUsage": usage}}]


def as_bfcl(trace: Trace) -> dict[str, Any]:
    """Write a run as a result of BFCL with one turn, whose failures stand in the results."""
    result, log, sent, received = [], {}, [], []
    for number, turn in enumerate(turns(trace)[0]):
        one, two, _ = tokens_of(turn.step)
        sent.append(one)
        received.append(two)
        asked = [{str(call.name): json.dumps(call.arguments)} for call in turn.calls]
        result.append(asked or turn.step.output)
        contents = [
            json.dumps({"error": call.error}) if call.error else call.output for call in turn.calls
        ]
        log[f"step_{number}"] = [{"role": "tool", "content": content} for content in contents]
    begun: list[Any] = [{"begin_of_turn_query": [{"role": "user", "content": "Go."}], **log}]
    counts = {"input_token_count": [sent], "output_token_count": [received]}
    return {"id": "multi_turn_0", "result": [result], "inference_log": begun, **counts}


def as_crewai(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as events of CrewAI's bus."""
    events: list[dict[str, Any]] = []

    def add(kind: str, **more: Any) -> None:
        number = len(events)
        head = {"type": kind, "event_id": f"e{number}", "timestamp": at(number)}
        events.append(head | {"source_fingerprint": "f"} | more)

    for kind, step in said_in(trace):
        if kind == "user":
            add("task_started", task={"description": step.output})
        elif kind == "answer":
            add("llm_call_started")
            add("llm_call_completed", response=step.output, model="m", usage=chat_usage(step))
        else:
            told = {"tool_name": step.name, "tool_args": json.dumps(step.arguments)}
            add("tool_usage_started", **told)
            if step.error:
                add("tool_usage_error", error=step.error, **told)
            else:
                add("tool_usage_finished", output=step.output, **told)
    return events


def as_codex_exec(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as events of `codex exec`, which counts no model calls; items begin before they end."""
    events: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}]
    sent = received = cached = 0
    events.append({"type": "turn.started"})
    for kind, step in said_in(trace):
        if kind == "answer":
            one, two, three = tokens_of(step)
            sent, received, cached = sent + one, received + two, cached + three
            item = {"id": step.id, "type": "agent_message", "text": step.output}
            events.append({"type": "item.completed", "item": item})
        elif kind == "result":
            item = {"id": step.id, "type": "mcp_tool_call", "tool": step.name}
            item |= {"server": "s", "arguments": step.arguments, "status": "in_progress"}
            events.append({"type": "item.started", "item": item})
            done = {"status": "failed", "error": {"message": step.error}}
            if not step.error:
                content = [{"type": "text", "text": step.output}]
                done = {"status": "completed", "result": {"content": content}}
            events.append({"type": "item.completed", "item": item | done})
    usage = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": received}
    return [*events, {"type": "turn.completed", "usage": usage}]


def as_tau_bench(trace: Trace) -> dict[str, Any]:
    """Write a run as a result of tau-bench, whose chat has no usage."""
    messages = as_openai_chat(trace)["messages"]
    for message in messages:
        message.pop("usage", None)
        message.pop("error", None)
    return {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": messages}


def as_tau2(trace: Trace) -> dict[str, Any]:
    """Write a run as a simulation of tau2."""
    messages: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace)):
        message = {
            "role": kind,
            "content": step.output,
            "turn_idx": number,
            "timestamp": at(number),
        }
        if kind == "answer":
            sent, received, _ = tokens_of(step)
            calls = [
                {"id": c.id, "name": c.name, "arguments": c.arguments, "requestor": "assistant"}
                for c in asked_by(trace, step)
            ]
            usage = {"prompt_tokens": sent, "completion_tokens": received}
            message |= {"role": "assistant", "tool_calls": calls or None, "usage": usage}
        elif kind == "result":
            message |= {"role": "tool", "id": step.id, "requestor": "assistant"}
            message["error"] = bool(step.error)
        messages.append(message)
    times = {"start_time": at(0), "end_time": at(59), "termination_reason": "user_stop"}
    return {"id": "s", "task_id": "1", **times, "messages": messages}


def as_tau2_voice(trace: Trace) -> dict[str, Any]:
    """Write a run as a voice simulation of tau2: a tick for each thing said, and one for the calls."""
    ticks: list[dict[str, Any]] = []

    def add(**more: Any) -> None:
        number = len(ticks)
        ticks.append({"tick_id": number, "timestamp": f"2025-01-01T12:00:{number:02}", **more})

    records = []
    for turn in turns(trace)[0]:
        for said in turn.said:
            add(user_chunk={"content": said.output, "contains_speech": True})
        sent, received, cached = tokens_of(turn.step)
        records.append(
            {"input_tokens": sent, "output_tokens": received, "input_cached_tokens": cached}
        )
        text = str(turn.step.output)
        for piece in (text[:3], text[3:]):
            add(agent_chunk={"content": piece, "contains_speech": True})
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls]
        results = [
            {"id": call.id, "content": call.output, "error": bool(call.error)}
            for call in turn.calls
        ]
        add(agent_tool_calls=calls, agent_tool_results=results)
    return {"id": "v", "task_id": "1", "ticks": ticks, "agent_usage": {"records": records}}


def as_openai_agents(trace: Trace) -> dict[str, Any]:
    """Write a run as a run state of OpenAI's Agents SDK."""
    responses: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for turn in turns(trace)[0]:
        sent, received, cached = tokens_of(turn.step)
        text = {"type": "output_text", "text": turn.step.output}
        output: list[dict[str, Any]] = [
            {"type": "message", "role": "assistant", "content": [text]},
            *(
                {
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                }
                for call in turn.calls
            ),
        ]
        usage = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
        usage["input_tokens_details"] = [{"cached_tokens": cached}]
        responses.append({"response_id": turn.step.id, "output": output, "usage": usage})
        items += [{"raw_item": item} for item in output]
        items += [
            {"raw_item": {"type": "function_call_output", "call_id": c.id, "output": c.output}}
            for c in turn.calls
        ]
    state = {"$schemaVersion": "1.12", "original_input": "Go.", "model_responses": responses}
    return {**state, "generated_items": items, "session_items": list(items)}


def as_assistants(trace: Trace) -> dict[str, Any]:
    """Write a run as pages of the Assistants API, latest first; a step with calls has no text."""
    messages: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    clock = 0
    sent = received = 0

    def head(kind: str, name: str) -> dict[str, Any]:
        nonlocal clock
        clock += 1
        return {"id": name, "object": kind, "created_at": START + clock, "thread_id": "t"}

    for number, turn in enumerate(turns(trace)[0]):
        for said in turn.said:
            content = [{"type": "text", "text": {"value": said.output}}]
            messages.append(
                head("thread.message", f"u{number}") | {"role": "user", "content": content}
            )
        one, two, _ = tokens_of(turn.step)
        sent, received = sent + one, received + two
        usage = {"prompt_tokens": one, "completion_tokens": two, "total_tokens": one + two}
        step = head("thread.run.step", turn.step.id) | {"run_id": "r", "usage": usage}
        calls = [chat_call(call) for call in turn.calls]
        for call, held in zip(turn.calls, calls, strict=True):
            held["function"]["output"] = call.output
        details: dict[str, Any] = {"tool_calls": calls}
        if not calls:
            content = [{"type": "text", "text": {"value": turn.step.output}}]
            message = head("thread.message", f"a{number}") | {"role": "assistant", "run_id": "r"}
            messages.append(message | {"content": content})
            details = {"message_creation": {"message_id": f"a{number}"}}
        steps.append(step | {"step_details": details})
    usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    run = head("thread.run", "r") | {"model": "m", "usage": usage}
    pages = {"messages": messages[::-1], "runs": [run], "steps": steps[::-1]}
    return {name: {"object": "list", "data": listed} for name, listed in pages.items()}


_TOKENS = ("input_tokens", "output_tokens", "total_tokens")
_CALLS = ("llm_calls", "tool_calls")


def as_managed_agents(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as events of a session of Claude Managed Agents."""
    events: list[dict[str, Any]] = []

    def add(kind: str, **more: Any) -> None:
        number = len(events)
        events.append({"id": f"sevt_{number}", "type": kind, "processed_at": at(number), **more})

    for turn in turns(trace)[0]:
        for said in turn.said:
            add("user.message", content=[{"type": "text", "text": said.output}])
        sent, received, cached = tokens_of(turn.step)
        usage = {"input_tokens": sent - cached, "output_tokens": received}
        usage |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": 0}
        add("span.model_request_start")
        add("agent.message", content=[{"type": "text", "text": turn.step.output}])
        for call in turn.calls:
            add("agent.tool_use", name=call.name, input=call.arguments)
            events[-1]["id"] = call.id
        add("span.model_request_end", model_usage=usage)
        for call in turn.calls:
            content = [{"type": "text", "text": call.output}]
            told = {"tool_use_id": call.id, "is_error": bool(call.error)}
            add("agent.tool_result", content=content, **told)
    return events


class Form(NamedTuple):
    """A format that a run can be written in, and what it carries of the run."""

    write: Callable[[Trace], Any]
    counts: tuple[str, ...] = (*_TOKENS, *_CALLS)
    has_errors: bool = True  #: whether it says which calls failed
    records: tuple[str, ...] | None = None  #: the keys to the list of records that have ids


#: Forms by the id of their importer.
FORMS: dict[str, Form] = {
    "ai-sdk-stream": Form(as_ai_sdk_stream),
    "bfcl": Form(as_bfcl),
    "codex-exec": Form(as_codex_exec, (*_TOKENS, "tool_calls"), records=()),
    "crewai": Form(as_crewai, records=()),
    "inspect": Form(as_inspect, records=("samples", "0", "messages")),
    "managed-agents": Form(as_managed_agents, records=()),
    "openai-agents": Form(as_openai_agents, has_errors=False, records=("generated_items",)),
    "openai-assistants": Form(as_assistants, has_errors=False, records=("steps", "data")),
    "opencode": Form(as_opencode, records=("messages",)),
    "openhands": Form(as_openhands, records=()),
    "openhands, SDK": Form(as_openhands_sdk, records=()),
    "smolagents": Form(as_smolagents, has_errors=False),
    "tau-bench": Form(as_tau_bench, _CALLS, has_errors=False),
    "tau2": Form(as_tau2),
    "tau2-voice": Form(as_tau2_voice, (*_TOKENS, "tool_calls")),
    "tool-eval": Form(as_tool_eval, ("tool_calls",), has_errors=False),
    "trae": Form(as_trae),
    "weave": Form(as_weave, records=()),
}


def records_of(form: Form, written: Any) -> list[Any]:
    """Return the list of records with ids in a written run."""
    found = written
    for key in form.records or ():
        found = found[int(key)] if key.isdigit() else found[key]
    records: list[Any] = found
    return records
