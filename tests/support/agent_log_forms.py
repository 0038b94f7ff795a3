"""Writers of one run in the formats of agents' and tracing services' logs, with the same calls, results and tokens.

Times are invented in ascending order, because some formats require them. Each writer returns a list of records, or a
document whose list of records `records_of` finds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.trace_forms import known, turns

if TYPE_CHECKING:
    from weighbridge.traces import Step, Trace

START = 1_735_732_800  #: 2025-01-01T12:00:00Z


def at(second: int) -> str:
    return f"2025-01-01T12:{second // 60:02}:{second % 60:02}Z"


def said_in(trace: Trace) -> list[tuple[str, Step]]:
    """Return the user messages, answers and results of a run in order, each as its kind and step."""
    found, rest = turns(trace)
    events: list[tuple[str, Step]] = []
    for turn in found:
        events += [("user", step) for step in turn.said]
        events.append(("answer", turn.step))
        events += [("result", call) for call in turn.calls]
    return events + [("user", step) for step in rest]


def asked_by(trace: Trace, answer: Step) -> list[Step]:
    return [step for step in trace.steps if step.type == "tool" and step.parent_id == answer.id]


def tokens_of(step: Step) -> tuple[int, int, int]:
    assert step.usage is not None
    usage = step.usage
    return usage.input_tokens or 0, usage.output_tokens or 0, usage.cached_tokens or 0


def as_google_adk(trace: Trace) -> dict[str, Any]:
    """Write a run as an ADK session."""
    events = []
    for number, (kind, step) in enumerate(said_in(trace)):
        more: dict[str, Any] = {}
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            more = {
                "modelVersion": step.model,
                "usageMetadata": {
                    "promptTokenCount": sent,
                    "candidatesTokenCount": received,
                    "cachedContentTokenCount": cached,
                    "totalTokenCount": sent + received,
                },
            }
            parts: list[Any] = [{"text": step.output}]
            parts += [
                {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
                for call in asked_by(trace, step)
            ]
        elif kind == "result":
            given = {"error": step.error} if step.error else {"result": step.output}
            answer = {"id": step.id, "name": step.name, "response": given}
            parts = [{"functionResponse": answer}]
        else:
            parts = [{"text": step.output}]
        events.append(
            {
                "id": f"e{number}",
                "invocationId": "i",
                "author": "user" if kind == "user" else "root",
                "timestamp": START + number,
                "content": {"role": "user" if kind == "user" else "model", "parts": parts},
            }
            | more
        )
    return {"id": "s", "appName": "app", "userId": "u", "state": {}, "events": events}


def as_pydantic_ai(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as Pydantic AI's history."""
    history: list[dict[str, Any]] = []
    for kind, step in said_in(trace):
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            usage = {"input_tokens": sent, "output_tokens": received, "cache_read_tokens": cached}
            parts: list[Any] = [{"part_kind": "text", "content": step.output}]
            parts += [
                {
                    "part_kind": "tool-call",
                    "tool_name": call.name,
                    "args": json.dumps(call.arguments),
                    "tool_call_id": call.id,
                }
                for call in asked_by(trace, step)
            ]
            history.append(
                {"kind": "response", "model_name": step.model, "usage": usage, "parts": parts}
            )
            continue
        part: dict[str, Any] = {"part_kind": "user-prompt", "content": step.output}
        if kind == "result":
            part = {
                "part_kind": "retry-prompt" if step.error else "tool-return",
                "tool_name": step.name,
                "content": step.output,
                "tool_call_id": step.id,
            }
        history.append({"kind": "request", "parts": [part]})
    return history


def as_autogen(trace: Trace) -> dict[str, Any]:
    """Write a run as the result of an AutoGen team."""
    messages: list[dict[str, Any]] = []
    for kind, step in said_in(trace):
        if kind == "user":
            messages.append({"type": "TextMessage", "source": "user", "content": step.output})
        elif kind == "answer":
            sent, received, _ = tokens_of(step)
            spent = {"prompt_tokens": sent, "completion_tokens": received}
            calls = asked_by(trace, step)
            asking = [
                {"id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
                for call in calls
            ]
            bot = {"source": "bot", "models_usage": spent}
            if calls:
                messages.append({"type": "ThoughtEvent", "source": "bot", "content": step.output})
                messages.append({"type": "ToolCallRequestEvent", "content": asking} | bot)
            else:
                messages.append({"type": "TextMessage", "content": step.output} | bot)
        else:
            result = {"call_id": step.id, "name": step.name, "content": step.output}
            done = [result | {"is_error": bool(step.error)}]
            messages.append({"type": "ToolCallExecutionEvent", "source": "bot", "content": done})
    return {"messages": messages, "stop_reason": "done"}


def as_openclaw(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as the lines of an OpenClaw session."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at(0), "cwd": "/x"}
    ]
    for number, (kind, step) in enumerate(said_in(trace), 1):
        content: list[Any] = [{"type": "text", "text": step.output}]
        message: dict[str, Any] = {"role": "user", "content": content}
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            usage = {
                "input": sent - cached,
                "output": received,
                "cacheRead": cached,
                "cacheWrite": 0,
                "totalTokens": sent + received,
            }
            content += [
                {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
                for call in asked_by(trace, step)
            ]
            message = {"role": "assistant", "content": content, "model": step.model, "usage": usage}
        elif kind == "result":
            about = {"toolCallId": step.id, "toolName": step.name, "isError": bool(step.error)}
            message = {"role": "toolResult", "content": content} | about
        entry = {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}"}
        lines.append(entry | {"timestamp": at(number), "message": message})
    return lines


def as_gemini_cli(trace: Trace) -> dict[str, Any]:
    """Write a run as a gemini-cli session, whose answers contain their calls with results."""
    messages: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace), 1):
        if kind == "result":
            continue
        message = {"id": f"m{number}", "type": "user", "timestamp": at(number)}
        message["content"] = step.output
        if kind == "answer":
            sent, received, cached = tokens_of(step)
            spent = {"input": sent, "output": received, "cached": cached, "thoughts": 0, "tool": 0}
            message |= {"type": "gemini", "model": step.model}
            message["tokens"] = spent | {"total": sent + received}
            message["toolCalls"] = [_gemini_call(call) for call in asked_by(trace, step)]
        messages.append(message)
    about = {"sessionId": "s", "projectHash": "h", "startTime": at(0), "lastUpdated": at(59)}
    return about | {"messages": messages}


def _gemini_call(call: Step) -> dict[str, Any]:
    given = {"error": call.error} if call.error else {"output": call.output}
    return {
        "id": call.id,
        "name": call.name,
        "args": call.arguments,
        "status": "error" if call.error else "success",
        "result": [{"functionResponse": {"id": call.id, "response": given}}],
    }


def as_langfuse(trace: Trace) -> dict[str, Any]:
    """Write a run as a Langfuse export."""
    observations: list[dict[str, Any]] = [_observed(0, "SPAN", "run")]
    heard: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace), 1):
        if kind == "user":
            heard.append({"role": "user", "content": step.output})
        elif kind == "answer":
            sent, received, cached = tokens_of(step)
            asking = [_function(call) for call in asked_by(trace, step)]
            answer = {"role": "assistant", "content": step.output}
            answer |= known(tool_calls=asking or None)
            spent = {"input": sent - cached, "input_cache_read": cached, "output": received}
            about = {"model": step.model, "usageDetails": spent | {"total": sent + received}}
            seen = _observed(number, "GENERATION", "chat") | about
            observations.append(seen | {"input": {"messages": list(heard)}, "output": answer})
            heard.append(answer)
        else:
            failed = {"level": "ERROR", "statusMessage": step.error} if step.error else {}
            seen = _observed(number, "TOOL", str(step.name)) | failed
            observations.append(seen | {"input": step.arguments, "output": step.output})
            heard.append({"role": "tool", "tool_call_id": step.id, "content": step.output})
    return {
        "id": "t",
        "name": "run",
        "latency": 2.0,
        "htmlPath": "/x",
        "observations": observations,
    }


def _function(call: Step) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _observed(number: int, kind: str, name: str) -> dict[str, Any]:
    times = {"startTime": at(number), "endTime": at(number)}
    parent = {"parentObservationId": "o0"} if number else {}
    return {"id": f"o{number}", "traceId": "t", "type": kind, "name": name} | times | parent


def as_langsmith(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as a list of LangSmith runs."""
    runs: list[dict[str, Any]] = [_ran(0, "chain", "agent")]
    heard: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace), 1):
        if kind == "user":
            heard.append({"role": "user", "content": step.output})
        elif kind == "answer":
            sent, received, cached = tokens_of(step)
            usage = {"input_tokens": sent, "output_tokens": received}
            usage |= {"total_tokens": sent + received}
            usage["input_token_details"] = {"cache_read": cached}
            calls = [
                {"name": call.name, "args": call.arguments, "id": call.id}
                for call in asked_by(trace, step)
            ]
            kwargs = {"content": step.output, "tool_calls": calls, "usage_metadata": usage}
            ai = {"lc": 1, "type": "constructor", "kwargs": kwargs}
            ai["id"] = ["langchain", "schema", "messages", "AIMessage"]
            run = _ran(number, "llm", "ChatOpenAI") | {"inputs": {"messages": [list(heard)]}}
            run["extra"] = {"metadata": {"ls_model_name": step.model}}
            runs.append(run | {"outputs": {"generations": [[{"text": "", "message": ai}]]}})
            heard.append({"role": "assistant", "content": step.output})
        else:
            failed = {"error": step.error} if step.error else {"outputs": {"output": step.output}}
            run = _ran(number, "tool", str(step.name)) | {"inputs": step.arguments}
            runs.append(run | failed)
    return runs


def _ran(number: int, kind: str, name: str) -> dict[str, Any]:
    times = {"start_time": at(number), "end_time": at(number), "inputs": {}, "outputs": {}}
    parent = {"trace_id": "r0", "parent_run_id": "r0" if number else None}
    return {"id": f"r{number}", "name": name, "run_type": kind} | times | parent


def as_goose(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as the lines of a Goose session, which has total token counts only."""
    messages: list[dict[str, Any]] = []
    sent = received = 0
    for number, (kind, step) in enumerate(said_in(trace), 1):
        content: list[Any] = [{"type": "text", "text": step.output}]
        if kind == "answer":
            one, other, _ = tokens_of(step)
            sent, received = sent + one, received + other
            for call in asked_by(trace, step):
                asked = {"name": call.name, "arguments": call.arguments}
                wrapped = {"status": "success", "value": asked}
                content.append({"type": "toolRequest", "id": call.id, "toolCall": wrapped})
        elif kind == "result":
            value = [{"type": "text", "text": step.output}]
            result: dict[str, Any] = {"status": "success", "value": value}
            if step.error:
                result = {"status": "error", "error": step.error}
            content = [{"type": "toolResponse", "id": step.id, "toolResult": result}]
        role = "assistant" if kind == "answer" else "user"
        messages.append({"role": role, "created": START + number, "content": content})
    about = {"description": "x", "working_dir": "/x", "message_count": len(messages)}
    about |= {"accumulated_input_tokens": sent, "accumulated_output_tokens": received}
    return [about | {"accumulated_total_tokens": sent + received}, *messages]


def as_copilot(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as the events of a Copilot session, with the tokens of each model call."""
    start = {"sessionId": "s", "producer": "copilot-agent", "copilotVersion": "1"}
    told: list[tuple[str, dict[str, Any]]] = [("session.start", start)]
    for kind, step in said_in(trace):
        if kind == "user":
            told.append(("user.message", {"content": step.output}))
        elif kind == "answer":
            sent, received, cached = tokens_of(step)
            asked = [
                {"toolCallId": call.id, "name": call.name, "arguments": call.arguments}
                for call in asked_by(trace, step)
            ]
            message = {"messageId": step.id, "content": step.output, "outputTokens": received}
            spent = {"inputTokens": sent, "outputTokens": received, "cacheReadTokens": cached}
            told.append(
                ("assistant.message", message | {"toolRequests": asked, "model": step.model})
            )
            told.append(("assistant.usage", spent | {"model": step.model}))
        else:
            named = {"toolCallId": step.id, "toolName": step.name}
            told.append(("tool.execution_start", named | {"arguments": step.arguments}))
            done = {"success": not step.error, "result": {"content": step.output}}
            if step.error:
                done["error"] = {"message": step.error}
            told.append(("tool.execution_complete", {"toolCallId": step.id} | done))
    return [
        {"type": kind, "id": f"e{number}", "parentId": None, "timestamp": at(number), "data": data}
        for number, (kind, data) in enumerate(told)
    ]


def as_vscode_chat(trace: Trace) -> dict[str, Any]:
    """Write a run as a chat session of VS Code, whose requests have the rounds of the model and the results of their calls."""
    requests: list[dict[str, Any]] = []
    for number, (kind, step) in enumerate(said_in(trace)):
        if kind == "user" or not requests:
            asked = {"text": step.output if kind == "user" else ""}
            recorded: dict[str, Any] = {"toolCallRounds": [], "toolCallResults": {}}
            about = {"requestId": f"r{number}", "timestamp": (START + number) * 1000}
            result = {"metadata": recorded}
            requests.append(about | {"message": asked, "response": [], "result": result})
        recorded = requests[-1]["result"]["metadata"]
        if kind == "answer":
            calls = [
                {"id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
                for call in asked_by(trace, step)
            ]
            one = {"id": step.id, "response": step.output, "toolCalls": calls}
            recorded["toolCallRounds"].append(one)
        elif kind == "result":
            recorded["toolCallResults"][step.id] = {"content": [{"value": step.output}]}
    return {"version": 3, "sessionId": "s", "responderUsername": "x", "requests": requests}


def as_journal(session: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a chat session of VS Code as the journal in which each request grows."""
    lines = [{"kind": 0, "v": session | {"requests": []}}]
    for number, request in enumerate(session["requests"]):
        place = ["requests", number, "result"]
        recorded = request["result"]["metadata"]
        lines.append({"kind": 2, "k": ["requests"], "v": [request | {"result": None}]})
        lines.append(
            {"kind": 1, "k": place, "v": {"metadata": {"toolCallRounds": [{"id": "draft"}]}}}
        )
        place = [*place, "metadata"]
        rounds = recorded["toolCallRounds"]
        lines.append({"kind": 2, "k": [*place, "toolCallRounds"], "i": 0, "v": rounds[:1]})
        lines.append({"kind": 2, "k": [*place, "toolCallRounds"], "v": rounds[1:]})
        lines.append(
            {"kind": 1, "k": [*place, "toolCallResults"], "v": recorded["toolCallResults"]}
        )
        lines.append({"kind": 3, "k": ["requests", number, "shouldBeRemovedOnSend"]})
    return lines


FORMS = {
    "autogen": as_autogen,
    "copilot": as_copilot,
    "gemini-cli": as_gemini_cli,
    "google-adk": as_google_adk,
    "goose": as_goose,
    "langfuse": as_langfuse,
    "langsmith": as_langsmith,
    "openclaw": as_openclaw,
    "pydantic-ai": as_pydantic_ai,
}
#: Location of the records with ids in each form, for which repeats can be detected.
NAMED = {
    "copilot": "",
    "gemini-cli": "messages",
    "google-adk": "events",
    "langfuse": "observations",
    "langsmith": "",
    "openclaw": "",
}


def records_of(form: str, written: Any) -> list[Any]:
    """Return the list of records in a written form."""
    records: list[Any] = written[NAMED[form]] if NAMED[form] else written
    return records
