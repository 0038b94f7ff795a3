"""Chat sessions of VS Code: rounds of the model, or what is shown of them."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.copilot import VSCODE_CHAT
from weighbridge.graders.budget import BudgetGrader
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, session_id
from weighbridge.traces.unread_counts import with_unread_lines


def at(second):
    return time_of(f"2025-01-01T12:00:{second:02}Z")


def session(*requests, **about):
    return {"sessionId": "s", "responderUsername": "x", "requests": [*requests], **about}


def request(*parts, **more):
    return {"requestId": "r", "message": {"text": "Go."}, "response": [*parts], **more}


def test_requests_become_steps():
    trace = read_trace(VSCODE_CHAT)
    assert (trace.format, trace.id, trace.started_at) == ("vscode-chat", "s", at(0))
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=at(1)),
        Step(id="a1", type="llm", output="I search.", model="m", ended_at=at(2)),
        Step(id="c1", type="tool", parent_id="a1", name="grep_search", arguments={"query": "x"}, output="No matches found", started_at=at(2)),
        Step(id="a2", type="llm", output="Not there.", model="m", usage=Usage(30, 3), ended_at=at(5)),
        Step(id="s5", type="user", output="Run the tests.", started_at=at(10)),
        Step(id="s6", type="llm", output="I run `a.py`", model="m"),
        Step(id="c2", type="tool", parent_id="s6", name="run_in_terminal", arguments={"command": "pytest"}, output="1 failed", error="1 failed"),
        Step(id="s8", type="llm", output="One failed.", model="m"),
    )  # fmt: skip
    assert trace.not_carried == ("parts of the model's reasoning (2)",)


def test_a_result_may_be_a_tree_of_what_was_sent_to_the_model():
    tree = {"node": {"type": 1, "children": [{"text": "a "}, {"children": [{"text": "b"}]}]}}
    given = copy.deepcopy(VSCODE_CHAT)
    results = given["requests"][0]["result"]["metadata"]["toolCallResults"]
    results["c1"] = {"content": [{"value": tree}, {"value": "!"}]}
    (call, _) = read_trace(given).steps_of("tool")
    assert call.output == "a b!"


def test_parallel_invocations_follow_one_answer_and_have_their_latest_state():
    def invoked(name, **more):
        return {"kind": "toolInvocationSerialized", "toolCallId": name, "toolId": "fetch", **more}

    done = {
        "input": '{"url": "u"}',
        "output": [{"type": "embed", "value": "page"}],
        "isError": True,
    }
    reading = {"value": "Reading [](file:///x/a.py)"}
    parts = [
        {"value": "I look."},
        invoked("c1"),
        invoked("c2", invocationMessage=reading),
        invoked("c1", resultDetails=done),
    ]
    trace = read_trace(session(request(*parts)))
    assert [(step.type, step.arguments, step.output, step.error) for step in trace.steps[1:]] == [
        ("llm", None, "I look.", None),
        ("tool", {"url": "u"}, "page", "page"),
        ("tool", {"invocationMessage": "Reading [](file:///x/a.py)"}, None, None),
    ]


def test_what_failed_or_was_cancelled_says_so():
    failed = {"errorDetails": {"message": "no quota"}}
    trace = read_trace(session(request(result=failed, isCanceled=True)))
    assert [(step.type, step.error) for step in trace.steps] == [
        ("user", None),
        ("other", "no quota"),
    ]
    assert trace.not_carried == ("requests that the user cancelled (1)",)


def test_an_invocation_without_an_id_keeps_its_result():
    def invoked(tool, **more):
        return {"kind": "toolInvocationSerialized", "toolId": tool, **more}

    shown = invoked("b", resultDetails={"output": [{"value": "B"}]})
    calls = read_trace(session(request(invoked("a"), shown))).steps_of("tool")
    assert [(call.name, call.output) for call in calls] == [("a", None), ("b", "B")]


def test_the_answer_that_is_shown_after_the_last_round_counts():
    rounds = [
        {
            "id": "r",
            "response": "I look.",
            "toolCalls": [{"id": "c", "name": "g", "arguments": "{}"}],
        }
    ]
    recorded = {
        "toolCallRounds": rounds,
        "toolCallResults": {},
        "promptTokens": 9,
        "outputTokens": 2,
    }
    parts = [
        {"value": "I look."},
        {"kind": "toolInvocationSerialized", "toolCallId": "v"},
        {"value": "It is 7."},
    ]
    trace = read_trace(session(request(*parts, result={"metadata": recorded})))
    assert [(step.type, step.output, step.usage) for step in trace.steps[1:]] == [
        ("llm", "I look.", None),
        ("tool", None, None),
        ("llm", "It is 7.", Usage(9, 2)),
    ]
    assert trace.counts is None
    trace = read_trace(session(request(parts[0], result={"metadata": recorded})))
    assert [step.output for step in trace.steps_of("llm")] == ["I look."]


def test_tools_that_are_shown_beside_the_rounds_are_calls_that_are_missing():
    rounds = [{"id": "r", "toolCalls": [{"id": "c", "name": "runSubagent", "arguments": "{}"}]}]
    parts = [{"kind": "toolInvocationSerialized", "toolCallId": name} for name in "vwx"]
    inner = {"kind": "toolInvocationSerialized", "toolCallId": "y", "toolId": "fetch_internal"}
    result = {"metadata": {"toolCallRounds": rounds}}
    trace = read_trace(session(request(*parts, inner, result=result)))
    assert trace.counts == Counts(tool_calls=3)
    assert (
        trace.missing["tool_calls"]
        == "what is shown of tools states 3 tool calls, of which 1 were read"
    )


@pytest.mark.parametrize(
    "recorded",
    [
        {"usage": {"promptTokens": 9, "completionTokens": 2}},
        {"completionTokens": 2, "result": {"metadata": {"promptTokens": 9, "outputTokens": None}}},
    ],
)
def test_tokens_stand_in_several_places(recorded):
    given = request({"value": "Hi."}, **recorded)
    given["message"] = {"parts": [{"text": "Say "}, {"text": "hi."}]}
    trace = read_trace(session(given))
    assert (trace.steps[0].output, trace.steps[1].usage) == ("Say hi.", Usage(9, 2))


def test_an_impossible_time_is_none():
    result = {"timings": {"totalElapsed": 10**15}}
    trace = read_trace(session(request({"value": "Hi."}, timestamp=1735732801000, result=result)))
    assert trace.steps[1].ended_at is None


def test_changes_of_what_a_journal_does_not_have_are_noted():
    lines = [
        {"kind": 0, "v": session(request({"value": "Hi."}))},
        {"kind": 1, "k": ["requests", 5, "response"], "v": []},
        {"kind": 2, "k": ["requests", 0, "message"], "v": ["x"]},
        {"kind": 1, "k": ["requests", 9], "v": {}},
        {"kind": 1, "k": [], "v": {}},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": " You."}]},
        {"kind": 1, "k": ["requests", 1], "v": request({"value": "Bye."})},
    ]
    trace = read_trace(lines)
    assert [step.output for step in trace.steps] == ["Go.", "Hi. You.", "Go.", "Bye."]
    assert trace.not_carried == ("changes to fields that the session lacks (4)",)


def test_requests_that_a_journal_loses_are_calls_that_are_missing():
    lines = [{"kind": 0, "v": session()}, {"kind": 2, "v": [request({"value": "Hi."})]}]
    assert "tool_calls" in read_trace(lines).missing
    lines[1]["k"] = ["requests"]
    assert "tool_calls" not in read_trace(lines).missing


def took(seconds, name="r"):
    """Return a request at noon that took some seconds, with a call that is shown but not recorded."""
    shown = {"kind": "toolInvocationSerialized", "toolCallId": "v"}
    rounds = {"toolCallRounds": [{"id": name, "response": "Hi."}]}
    result = {"timings": {"totalElapsed": 1000 * seconds}, "metadata": rounds}
    return request(shown, timestamp=at(0) // 10**6, result=result)


def test_calls_that_are_only_shown_lie_within_their_requests_so_that_the_duration_is_exact():
    trace = read_trace(session(took(9)))
    assert (trace.started_at, trace.ended_at) == (at(0), at(9))
    details = BudgetGrader(config={"max_duration_ms": 9000}).judge(trace)["details"]
    assert details["tool_calls"] > len(trace.steps_of("tool"))
    assert (details["duration_ms"], "duration_ms" in details["at_least"]) == (9000, False)
    assert read_trace(session(took(9), request())).ended_at is None


@pytest.mark.parametrize(
    "lost", [{"kind": 2, "v": [request()]}, {"kind": 2, "k": ["requests"], "v": [took(9, "q")]}]
)
def test_the_end_of_a_session_that_has_lost_requests_is_not_known(lost):
    trace = read_trace([{"kind": 0, "v": session(took(5))}, lost])
    assert trace.ended_at == (at(9) if "k" in lost else None)
    assert with_unread_lines(trace, 1).ended_at is None


@pytest.mark.parametrize(
    "line",
    [
        {"kind": 0, "v": session()},
        {"kind": 1, "k": ["customTitle"], "v": "x"},
        {"kind": 2, "k": ["requests"], "v": []},
    ],
)
def test_each_line_of_a_journal_belongs_to_a_session(line):
    assert opens_session(line)


def test_a_whole_session_is_no_line_of_one():
    assert not opens_session(VSCODE_CHAT)
    assert session_id([{"kind": 0, "v": session()}]) == "s"


def in_terminal(call_id, command, *, exit_code=None, **more):
    """Return the invocation of a command as it is shown."""
    shown = {"kind": "terminal", "commandLine": {"original": command}}
    shown |= {"terminalCommandState": {"exitCode": exit_code}}
    return {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": call_id, "toolSpecificData": shown, **more}  # fmt: skip


def rounds(*calls, results=None):
    """Return the result of a request with one round of calls, each of an id, a name and arguments."""
    listed = [
        {"id": call_id, "name": name, "arguments": arguments} for call_id, name, arguments in calls
    ]
    told = {name: {"content": [{"value": text}]} for name, text in (results or {}).items()}
    first = {"id": "a", "response": "I look.", "toolCalls": listed}
    return {"metadata": {"toolCallRounds": [first], "toolCallResults": told}}


def test_calls_of_rounds_have_failed_if_they_are_shown_to_have_failed():
    parts = [
        in_terminal("u1", "make", exit_code=0),
        in_terminal("u2", "make", exit_code=2),
        in_terminal("u3", "ls", resultDetails={"isError": True}),
        {"kind": "toolInvocationSerialized", "toolCallId": "c4", "resultDetails": {"isError": True}},
        {"kind": "toolInvocationSerialized", "toolCallId": "c5", "resultDetails": {"isError": False}},
        in_terminal("u6", "rm x", exit_code=1, subAgentInvocationId="c4"),
    ]  # fmt: skip
    calls = [
        ("c1__vscode-1", "run_in_terminal", '{"command": "make"}'),
        ("c2__vscode-2", "run_in_terminal", '{"command": "make"}'),
        ("c3__vscode-3", "run_in_terminal", '{"command": "ls"}'),
        ("c4__vscode-4", "fetch", "{}"),
        ("c5__vscode-5", "fetch", "[]"),
        ("c6__vscode-6", "run_in_terminal", '{"command": "rm x"}'),
    ]
    raised = "ERROR while calling tool: no such page"
    results = {"c1__vscode-1": "built", "c2__vscode-2": "no rule", "c6__vscode-6": "gone"}
    results |= {"c5__vscode-5": raised}
    trace = read_trace(session(request(*parts, result=rounds(*calls, results=results))))
    errors = [None, "no rule", "error", "error", raised, None]
    assert [step.error for step in trace.steps_of("tool")] == errors


@pytest.mark.parametrize(
    "part",
    [
        in_terminal("u2", "ls", subAgentInvocationId="u1"),
        {
            "kind": "toolInvocationSerialized",
            "toolCallId": "u1",
            "toolSpecificData": {"kind": "subagent"},
        },
    ],
)
def test_the_model_calls_of_a_sub_agent_are_not_recorded(part):
    reason = "the session does not hold the answers of its sub-agents"
    lacking = {"llm_calls", "token_usage", "cost"}
    usage = {"promptTokens": 9, "completionTokens": 2}
    for result in (rounds(("c1", "runSubagent", "{}")), None):
        trace = read_trace(session(request(part, result=result, usage=usage)))
        assert {name for name in lacking if trace.missing.get(name) == reason} == lacking
    assert "llm_calls" not in read_trace(VSCODE_CHAT).missing
