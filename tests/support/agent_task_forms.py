"""Writers of one run in formats whose agents call one tool at a time, in text or in a log that tells little of tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.agent_log_forms import START, asked_by, at, said_in, tokens_of
from support.trace_forms import as_openai_responses, turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces import Step, Trace


def attempts(trace: Trace) -> Iterator[tuple[Step, Step | None]]:
    """Yield each answer with its call, or None; an answer with parallel calls once for each of them."""
    for turn in turns(trace)[0]:
        for call in turn.calls or [None]:
            yield turn.step, call


def as_swe_agent(trace: Trace) -> dict[str, Any]:
    """Write a run as a SWE-agent trajectory, whose history repeats its turns and whose totals are of the run."""
    entries, history = [], [{"role": "user", "content": "Go."}]
    sent = received = 0
    for answer, call in attempts(trace):
        one, two, _ = tokens_of(answer)
        sent, received = sent + one, received + two
        action = f"{call.name} {call.arguments['q']}" if call else ""
        seen = call.output if call else ""
        entries.append({"action": action, "observation": seen, "response": answer.output})
        history.append({"role": "assistant", "content": answer.output, "action": action})
        history.append({"role": "user", "content": seen})
    stats = {"tokens_sent": sent, "tokens_received": received, "api_calls": len(entries)}
    return {"trajectory": entries, "history": history, "info": {"model_stats": stats}}


def as_toolbench(trace: Trace) -> dict[str, Any]:
    """Write a run as a chain of ToolBench: a thought, and an action with its input for each call."""
    chain: list[dict[str, Any]] = []
    for answer, call in attempts(trace):
        chain.append({"node_type": "Thought", "description": answer.output})
        if call:
            chain.append({"node_type": "Action", "description": call.name})
            node = {"node_type": "Action Input", "description": json.dumps(call.arguments)}
            node |= {"observation": call.output, "observation_code": 1 if call.error else 0}
            chain.append(node)
    told = {"query": "Go.", "query_count": sum(1 for _ in attempts(trace)), "function": []}
    return {"win": True, "trys": [{"chain": chain}], "answer_generation": told}


def as_ag2(trace: Trace) -> dict[str, Any]:
    """Write a run as a chat of AG2, in which an executor runs the code of the message before it."""
    history = [{"role": "user", "name": "user", "content": "Go."}]
    for answer, call in attempts(trace):
        code = f"\n```python\n{call.name}({call.arguments['q']!r})\n```" if call else ""
        said = f"{answer.output}{code}"
        history.append({"role": "assistant", "name": "coder", "content": said})
        if call:
            report = f"exitcode: {1 if call.error else 0} (done)\nCode output: {call.output}"
            history.append({"role": "user", "name": "terminal", "content": report})
    return {"history": history}


def as_cline(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as messages of Cline's page, which shows a command for approval and again after it."""
    shown: list[dict[str, Any]] = []

    def add(kind: str, what: str, text: str | None) -> None:
        about = {"modelInfo": {"providerId": "anthropic"}}
        shown.append({"ts": (START + len(shown)) * 1000, "type": kind, kind: what, "text": text, **about})  # fmt: skip

    add("say", "text", "Go.")
    for answer, call in attempts(trace):
        sent, received, cached = tokens_of(answer)
        usage = {"tokensIn": sent - cached, "tokensOut": received, "cacheReads": cached}
        add("say", "api_req_started", json.dumps(usage))
        add("say", "text", answer.output)
        if call:
            command = f"{call.name} {call.arguments['q']}"
            add("ask", "command", command)
            add("say", "command", command)
            add("say", "command_output", call.output)
    return shown


def as_google_adk_eval(trace: Trace) -> dict[str, Any]:
    """Write a run as a case of an eval set, whose only turn lists calls and their results."""
    uses, responses = [], []
    for _, call in attempts(trace):
        if call:
            told = {"id": call.id, "name": call.name}
            uses.append(told | {"args": call.arguments})
            given = {"error": call.error} if call.error else {"result": call.output}
            responses.append(told | {"response": given})
    between = {"tool_uses": uses, "tool_responses": responses}
    turn = {"user_content": {"parts": [{"text": "Go."}]}, "intermediate_data": between}
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]}


def as_codex_session(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as a rollout of Codex, whose events repeat the messages and count the tokens of each answer."""
    lines: list[dict[str, Any]] = []
    total = dict.fromkeys(("input_tokens", "output_tokens", "cached_input_tokens"), 0)

    def add(kind: str, payload: dict[str, Any]) -> None:
        lines.append({"timestamp": at(len(lines)), "type": kind, "payload": payload})

    add("session_meta", {"id": "s"})
    add("turn_context", {"model": "m"})
    answers = [step for kind, step in said_in(trace) if kind == "answer"]
    for response, answer in zip(as_openai_responses(trace), answers, strict=False):
        for item in response["input"]:
            add("response_item", {"type": "message", **item} if "role" in item else item)
        for item in response["output"]:
            add("response_item", item)
        add("event_msg", {"type": "agent_message", "message": answer.output})
        used = dict(zip(total, tokens_of(answer), strict=True))
        total = {name: total[name] + count for name, count in used.items()}
        info = {"last_token_usage": used, "total_token_usage": dict(total)}
        add("event_msg", {"type": "token_count", "info": info})
    for call in asked_by(trace, answers[-1]):
        output = {"type": "function_call_output", "call_id": call.id, "output": call.output}
        add("response_item", output)
    return lines


def as_general_agentbench(trace: Trace) -> dict[str, Any]:
    """Write a run as a result of General-AgentBench: a chat, and a round with the tokens of each answer."""
    messages: list[dict[str, Any]] = []
    rounds: list[dict[str, Any]] = []
    for turn in turns(trace)[0]:
        messages += [{"role": "user", "content": said.output} for said in turn.said]
        sent, received, _ = tokens_of(turn.step)
        told = {"prompt_tokens": sent, "output_tokens": received}
        told |= {"round_total_tokens": sent + received, "tools_executed": len(turn.calls)}
        rounds.append(told | {"reasoning": turn.step.output})
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in turn.calls
        ]
        answer = {"role": "assistant", "content": turn.step.output}
        messages.append(answer | ({"tool_calls": calls} if calls else {}))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": call.output} for call in turn.calls
        ]
    return {"benchmark": "b", "trace": {"messages": messages, "rounds": rounds, "steps": []}}
