"""Calls of voice agents: Vapi, Retell and ElevenLabs."""

from __future__ import annotations

from typing import Any

ELEVENLABS = {
    "agent_id": "a",
    "conversation_id": "e",
    "status": "done",
    "metadata": {"start_time_unix_secs": 1735732800, "cost": 300},
    "transcript": [
        {"role": "agent", "message": "Hello!", "tool_calls": [], "tool_results": [], "time_in_call_secs": 0, "llm_usage": None},
        {"role": "user", "message": "Is it open?", "tool_calls": [], "tool_results": [], "time_in_call_secs": 3},
        {"role": "agent", "message": None, "tool_calls": [{"request_id": "c1", "tool_name": "hours", "params_as_json": '{"day": 1}'}], "tool_results": [], "time_in_call_secs": 5, "llm_usage": {"model_usage": {"m": {"input": {"tokens": 10, "price": 0.1}, "input_cache_read": {"tokens": 20}, "output_total": {"tokens": 3}}}}},
        {"role": "agent", "message": None, "tool_calls": [], "tool_results": [{"request_id": "c1", "tool_name": "hours", "result_value": "no such day", "is_error": True}], "time_in_call_secs": 6},
        {"role": "agent", "message": "I cannot say.", "tool_calls": [], "tool_results": [], "time_in_call_secs": 7, "llm_usage": {"model_usage": {"m": {"input": {"tokens": 11}, "output_total": {"tokens": 4}}}}},
    ],
}  # fmt: skip

RETELL = {
    "call_id": "r",
    "agent_id": "a",
    "start_timestamp": 1735732800000,
    "end_timestamp": 1735732820000,
    "disconnection_reason": "user_hangup",
    "transcript_object": [{"role": "agent", "content": "Let me look."}],
    "transcript_with_tool_calls": [
        {"role": "user", "content": "Is it open?", "words": [{"word": "Is", "start": 1.5, "end": 1.75}]},
        {"role": "agent", "content": "Let me", "words": []},
        {"role": "agent", "content": "look."},
        {"role": "tool_call_invocation", "tool_call_id": "c1", "name": "hours", "arguments": '{"day": 1}'},
        {"role": "tool_call_result", "tool_call_id": "c1", "content": "no such day", "successful": False},
        {"role": "node_transition"},
        {"role": "tool_call_invocation", "tool_call_id": "c2", "name": "end_call", "arguments": "{}"},
    ],
    "llm_token_usage": {"values": [60, 70], "average": 65, "num_requests": 2},
    "call_cost": {"combined_cost": 12.5},
}  # fmt: skip

VAPI = {
    "id": "v",
    "orgId": "o",
    "startedAt": "2025-01-01T12:00:00Z",
    "endedAt": "2025-01-01T12:00:20Z",
    "endedReason": "customer-ended-call",
    "cost": 0.5,
    "costBreakdown": {"llmPromptTokens": 100, "llmCompletionTokens": 9, "llmCachedPromptTokens": 40},
    "messages": [
        {"role": "system", "message": "Be brief.", "time": 1735732800000},
        {"role": "user", "message": "Is it open?", "time": 1735732801000, "endTime": 1735732802000},
        {"role": "bot", "message": "Let me", "time": 1735732803000, "endTime": 1735732804000},
        {"role": "bot", "message": "look.", "time": 1735732804000, "endTime": 1735732805000},
        {"role": "tool_calls", "message": "", "time": 1735732805000, "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "hours", "arguments": '{"day": 1}'}}]},
        {"role": "tool_call_result", "name": "hours", "toolCallId": "c1", "result": "closed", "time": 1735732806000},
        {"role": "bot", "message": "It is closed.", "time": 1735732807000, "endTime": 1735732808000},
    ],
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "elevenlabs": ELEVENLABS,
    "retell": RETELL,
    "vapi": VAPI,
}
