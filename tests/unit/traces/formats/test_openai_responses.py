"""OpenAI Responses: items in a list, whole responses, and Codex's lines."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import TraceError
from weighbridge.graders import BudgetGrader
from weighbridge.traces import Counts, Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, session_id, single_traces

NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z
USER = {"role": "user", "content": "Find x."}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def says(told, kind="output_text"):
    part = {"type": kind, "refusal" if kind == "refusal" else "text": told}
    return {"type": "message", "role": "assistant", "content": [part]}


def call(call_id="c1", arguments='{"q": "x"}', **facts):
    item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "search"}
    return item | {"arguments": arguments} | facts


def result(call_id="c1", output="found", **facts):
    return {"type": "function_call_output", "call_id": call_id, "output": output} | facts


def response(*output, number=1, **facts):
    told = {"id": f"resp_{number}", "object": "response", "model": "gpt", "status": "completed"}
    return told | {"output": list(output)} | facts


def shape(value):
    return [(step.type, step.output) for step in read_trace(value).steps]


def test_consecutive_items_of_the_model_are_one_call_of_it():
    trace = read_trace(
        [
            USER,
            REASONING,
            says("Looking."),
            call(),
            call("c2"),
            result(),
            result("c2"),
            says("Here."),
        ]
    )
    assert trace.format == "openai-responses"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="Looking."),
        Step(
            id="c1",
            type="tool",
            parent_id="s2",
            name="search",
            arguments={"q": "x"},
            output="found",
        ),
        Step(
            id="c2",
            type="tool",
            parent_id="s2",
            name="search",
            arguments={"q": "x"},
            output="found",
        ),
        Step(id="s5", type="llm", output="Here."),
    )
    assert trace.not_carried == ("items of type 'reasoning' (1)",)
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


def test_a_user_who_speaks_between_ends_the_models_turn():
    assert shape([USER, says("a"), says("b"), USER, says("c")]) == [
        ("user", "Find x."),
        ("llm", "a\nb"),
        ("user", "Find x."),
        ("llm", "c"),
    ]


@pytest.mark.parametrize("key", ["items", "data"])
def test_the_items_of_a_conversation_are_read(key):
    assert shape({"object": "list", key: [USER, says("Here.")]}) == [
        ("user", "Find x."),
        ("llm", "Here."),
    ]


def test_all_items_of_one_response_are_one_call_with_its_usage_and_times():
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 2,
        "total_tokens": 12,
    }
    trace = read_trace(
        response(
            REASONING,
            call(),
            says("Here."),
            input="Find x.",
            instructions="Be brief.",
            created_at=NOON,
            completed_at=NOON + 2,
            usage=usage,
            tools=[{"type": "function", "name": "search", "parameters": {"type": "object"}}],
            metadata={"run": "7"},
        )
    )
    assert trace.id == "resp_1"
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool"]
    [model] = trace.steps_of("llm")
    assert (model.id, model.model, model.output) == ("resp_1", "gpt", "Here.")
    assert model.usage == Usage(10, 2, 12, 4)
    assert (model.started_at, model.ended_at) == (NOON * 10**9, (NOON + 2) * 10**9)
    assert trace.tools == (ToolDefinition("search", {"type": "object"}),)
    assert trace.metadata == {"run": "7"}


def test_responses_one_after_another_do_not_repeat_what_their_input_repeats():
    first = response(call(), input=[USER], instructions="Be brief.")
    stateless = [USER, call(), result(), {"role": "user", "content": "And y?"}]
    second = response(says("Here."), number=2, input=stateless, instructions="Be brief.")
    expected = [
        ("system", "Be brief."),
        ("user", "Find x."),
        ("llm", None),
        ("tool", "found"),
        ("user", "And y?"),
        ("llm", "Here."),
    ]
    assert shape([first, second]) == expected
    assert shape([first, second | {"input": stateless[2:]}]) == expected
    asked = {key: second[key] for key in ("input", "instructions")}
    answered = {key: item for key, item in second.items() if key not in asked}
    assert shape([first, {"request": asked, "response": answered}]) == expected


@pytest.mark.parametrize(
    ("item", "name", "arguments", "output", "error"),
    [
        (
            {"type": "mcp_call", "name": "lookup", "arguments": '{"a": 1}', "output": "ok"},
            *("lookup", {"a": 1}, "ok", None),
        ),
        (
            {"type": "mcp_call", "name": "lookup", "arguments": "{}", "error": "refused"},
            *("lookup", {}, None, "refused"),
        ),
        (
            {"type": "mcp_call", "name": "lookup", "error": {"content": [{"text": "refused"}]}},
            *("lookup", {}, None, "refused"),
        ),
        (
            {"type": "web_search_call", "status": "completed", "action": {"query": "x"}},
            *("web_search", {"query": "x"}, None, None),
        ),
        (
            {"type": "web_search_call", "status": "failed", "action": {"query": "x"}},
            *("web_search", {"query": "x"}, None, "failed"),
        ),
        (
            {"type": "file_search_call", "queries": ["x"], "results": [{"text": "hit"}]},
            *("file_search", {"queries": ["x"]}, "hit", None),
        ),
        (
            {"type": "code_interpreter_call", "code": "1+1", "outputs": [{"logs": "2"}]},
            *("code_interpreter", {"code": "1+1"}, [{"logs": "2"}], None),
        ),
        (
            {"type": "image_generation_call", "revised_prompt": "a cat", "result": "iVBOR"},
            *("image_generation", {"prompt": "a cat"}, "iVBOR", None),
        ),
        (
            {"type": "custom_tool_call", "name": "apply", "input": "*** Begin"},
            *("apply", {"input": "*** Begin"}, None, None),
        ),
        (
            {"type": "apply_patch_call", "operation": {"path": "a"}},
            *("apply_patch", {"path": "a"}, None, None),
        ),
    ],
)
def test_each_kind_of_call_is_a_tool_step(item, name, arguments, output, error):
    trace = read_trace([USER, {"id": "x1"} | item, says("Here.")])
    [tool] = trace.steps_of("tool")
    assert (tool.id, tool.name, tool.arguments) == ("x1", name, arguments)
    assert (tool.output, tool.error) == (output, error)
    assert [step.output for step in trace.steps_of("llm")] == ["Here."]


@pytest.mark.parametrize(
    ("called", "answered", "output"),
    [
        (
            {"type": "local_shell_call", "action": {"command": ["ls"]}},
            {"type": "local_shell_call_output", "output": "a"},
            "a",
        ),
        (
            {"type": "custom_tool_call", "name": "apply", "input": "x"},
            {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "a"}]},
            "a",
        ),
        (
            {"type": "computer_call", "action": {"type": "click"}},
            {"type": "computer_call_output", "output": {"type": "computer_screenshot"}},
            {"type": "computer_screenshot"},
        ),
    ],
)
def test_the_output_of_a_call_may_be_an_item_of_its_own(called, answered, output):
    call_id = {"call_id": "c1"}
    trace = read_trace([USER, called | call_id, answered | call_id])
    assert [(tool.id, tool.output) for tool in trace.steps_of("tool")] == [("c1", output)]


def test_a_refusal_is_what_the_model_said():
    assert shape([USER, call(), result(), says("No.", "refusal")])[-1] == ("llm", "No.")


def test_arguments_that_are_no_object_stay_as_they_are():
    [tool] = read_trace([USER, call(arguments='{"q": ')]).steps_of("tool")
    assert tool.arguments == '{"q": '


def test_mcp_servers_tell_tools_too():
    listed = {"type": "mcp_list_tools", "tools": [{"name": "lookup", "input_schema": {}}]}
    assert read_trace([USER, listed, says("Here.")]).tools == (ToolDefinition("lookup", {}),)


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"status": "failed", "error": {"code": "x", "message": "overloaded"}}, "overloaded"),
        ({"status": "failed", "error": None}, "failed"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "incomplete"}, None),
    ],
)
def test_a_response_that_failed_is_a_failed_model_call(facts, error):
    [step] = read_trace(response(**facts)).steps
    assert (step.type, step.error) == ("llm", error)


def test_items_of_unknown_types_are_noted():
    trace = read_trace([USER, call(), {"type": "item_reference", "id": "x"}])
    assert trace.not_carried == ("items of type 'item_reference' (1)",)
    with pytest.raises(TraceError, match="an item is not an object"):
        read_trace([USER, call(), 7])


def test_the_lines_of_a_codex_session_are_read():
    def line(kind, second, **payload):
        stamp = f"2025-01-01T12:00:{second:02}.000Z"
        return {"timestamp": stamp, "type": kind, "payload": payload}

    told = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2, "total_tokens": 12}
    lines = [
        line("session_meta", 0, id="S"),
        line("turn_context", 0, model="gpt-codex"),
        line("response_item", 1, type="message", **USER),
        line("event_msg", 1, type="user_message", message="Find x."),
        line("response_item", 3, **call()),
        line("event_msg", 3, type="token_count", info=None),
        line("event_msg", 3, type="token_count", info={"last_token_usage": told}),
        line("response_item", 5, **result()),
        line("compacted", 6),
    ]
    trace = read_trace("\n".join(map(json.dumps, lines)))
    assert (trace.id, trace.not_carried) == ("S", ("lines of type 'compacted' (1)",))
    user, model, tool = trace.steps
    assert (user.output, user.started_at) == ("Find x.", (NOON + 1) * 10**9)
    assert (model.model, model.usage) == ("gpt-codex", Usage(10, 2, 12, 4))
    assert model.ended_at == tool.started_at == (NOON + 3) * 10**9
    assert (tool.output, tool.ended_at) == ("found", (NOON + 5) * 10**9)


@pytest.mark.parametrize(
    ("end", "error"),
    [
        ({"type": "exec_command_end", "exit_code": 128, "status": "failed"}, "found"),
        ({"type": "exec_command_end", "exit_code": 1}, "found"),
        ({"type": "exec_command_end", "exit_code": -1, "status": "declined"}, "found"),
        ({"type": "exec_command_end", "exit_code": 0, "status": "completed"}, None),
        ({"type": "patch_apply_end", "success": False}, "found"),
        ({"type": "patch_apply_end", "success": True, "status": "completed"}, None),
        ({"type": "mcp_tool_call_end", "result": {"Err": "timed out"}}, "found"),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"isError": True}}}, "found"),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": []}}}, None),
        ({"type": "exec_command_begin", "exit_code": 1}, None),
        ({"type": ["exec_command_end"], "exit_code": "1", "result": 7, "status": {}}, None),
    ],
)
def test_a_call_whose_end_codex_records_as_a_failure_has_failed(end, error):
    of_call = {"type": "event_msg", "payload": {"call_id": "call_1", **end}}
    items = [call(call_id="call_1"), result(call_id="call_1")]
    lines = [{"type": "response_item", "payload": item} for item in items]
    for trace in (read_trace([*lines, of_call]), read_trace([lines[0], of_call, lines[1]])):
        [tool] = trace.steps_of("tool")
        assert (tool.output, tool.error) == ("found", error)


def test_each_count_of_a_codex_session_is_of_an_answer_of_its_own():
    def line(kind, **payload):
        return {"type": kind, "payload": payload}

    def counted(sent):
        told = {"input_tokens": sent, "output_tokens": 2}
        return line("event_msg", type="token_count", info={"last_token_usage": told})

    search = {"type": "web_search_call", "id": "ws_1", "action": {"query": "x"}}
    # Before each answer the count of the one before comes again.
    first = [line("response_item", **search), counted(10), counted(10)]
    second = [line("response_item", **says("Here.")), counted(20)]
    trace = read_trace([line("response_item", type="message", **USER), *first, *second])
    assert [(step.output, step.usage) for step in trace.steps_of("llm")] == [
        (None, Usage(10, 2)),
        ("Here.", Usage(20, 2)),
    ]


def test_the_total_that_codex_counts_is_the_sessions_own():
    def counted(last, total):
        info = {"last_token_usage": {"input_tokens": last, "output_tokens": 1}}
        info["total_token_usage"] = {"input_tokens": total, "output_tokens": 9}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    item = {"type": "response_item", "payload": says("Here.")}
    trace = read_trace([item, counted(10, 10), counted(10, 400)])
    assert (trace.usage, trace.totals_from) == (Usage(400, 9), "token_count")
    assert trace.steps[0].usage == Usage(10, 1)


def test_a_count_of_tokens_without_items_is_a_model_call_that_codex_does_not_record():
    def counted(total):
        info = {"total_token_usage": {"input_tokens": total, "output_tokens": 1}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    item = {"type": "response_item", "payload": says("Here.")}
    trace = read_trace([item, counted(10), counted(10), counted(25)])
    assert (len(trace.steps_of("llm")), trace.counts) == (1, Counts(llm_calls=2))
    assert read_trace([item, counted(10), counted(10)]).counts is None


def test_a_codex_session_of_nothing_but_counts_has_their_number_of_model_calls():
    def counted(total):
        info = {"total_token_usage": {"input_tokens": total, "output_tokens": 1}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    head = {"type": "session_meta", "payload": {"id": "S"}}
    trace = read_trace([head, counted(10), counted(10), counted(25)])
    assert (trace.id, trace.steps, trace.counts) == ("S", (), Counts(llm_calls=2))
    assert trace.usage == Usage(25, 1)
    assert set(trace.missing) == {"tool_calls", "timing", "cost", "tool_definitions"}
    within = BudgetGrader(config={"max_llm_calls": 2, "max_tokens": 30}).grade(trace)
    assert (within["verdict"], len(within["evidence"])) == ("pass", 2)
    assert BudgetGrader(config={"max_llm_calls": 1}).grade(trace)["verdict"] == "fail"


def codex_count(last, total):
    """Return Codex's count of the input of the last answer and of all answers."""
    info = {"last_token_usage": {"input_tokens": last, "output_tokens": 1}}
    info["total_token_usage"] = {"input_tokens": total, "output_tokens": 1}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def test_a_codex_session_that_ends_before_its_last_count_has_at_least_the_tokens_of_its_answers():
    item = {"type": "response_item", "payload": says("Here.")}
    user = {"type": "response_item", "payload": {"type": "message", **USER}}
    trace = read_trace([item, codex_count(10, 10), user, item])
    assert trace.usage is None
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(10, 1), None]
    # A larger total has more than these answers, and is kept.
    assert read_trace([item, codex_count(10, 90), user, item]).usage == Usage(90, 1)


def test_a_count_that_codex_repeats_between_unfinished_answers_is_not_used_again():
    item, broken = ({"type": "response_item", "payload": says(text)} for text in ("Here.", "I beg"))
    user = {"type": "response_item", "payload": {"type": "message", **USER}}
    again = [user, broken, codex_count(10, 10), item, codex_count(20, 30)]
    trace = read_trace([item, codex_count(10, 10), *again])
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(10, 1), None, Usage(20, 1)]
    assert trace.usage == Usage(30, 1)


def test_answers_that_use_more_than_the_total_of_codex_are_the_least_and_the_difference_is_stated():
    item = {"type": "response_item", "payload": says("Here.")}
    user = {"type": "response_item", "payload": {"type": "message", **USER}}
    trace = read_trace([item, codex_count(40, 10), user, item])
    details = BudgetGrader(config={"max_tokens": 100}).grade(trace)["details"]
    assert (details["total_tokens"], "total_tokens" in details["at_least"]) == (41, True)
    assert {"of": "total_tokens", "by_source": 11, "by_steps": 41} in [
        {name: held for name, held in found.items() if name != "where"}
        for found in details["differences"]
    ]


def test_a_call_that_only_a_later_input_tells_of_is_a_step():
    first = response(says("Which?"), input="Find x.")
    told = [USER, says("Which?"), call("c7"), result("c7"), {"role": "user", "content": "Go on."}]
    second = response(says("Here."), number=2, input=told)
    third = response(says("Bye."), number=3, input=[*told, says("Here."), USER])
    trace = read_trace([first, second, third])
    assert [(step.id, step.output) for step in trace.steps_of("tool")] == [("c7", "found")]
    assert [step.output for step in trace.steps_of("user")] == ["Find x.", "Go on.", "Find x."]


def test_responses_without_ids_do_not_repeat_their_input_either():
    first = {"object": "response", "output": [call()], "input": [USER]}
    second = {
        "object": "response",
        "output": [says("Here.")],
        "input": [USER, call(), result()],
    }
    trace = read_trace([first, second])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm"]
    assert trace.steps_of("tool")[0].output == "found"


def test_calls_without_ids_are_told_apart_by_what_they_are():
    unnamed = {"type": "function_call", "name": "search", "arguments": "{}"}
    first = response(unnamed, input="Find x.")
    second = response(says("Here."), number=2, input=[unnamed, unnamed])
    assert len(read_trace([first, second]).steps_of("tool")) == 2


@pytest.mark.parametrize(
    "hidden",
    [
        {"tool_calls": [{"id": "c9", "function": {"name": "rm", "arguments": "{}"}}]},
        {"content": [{"type": "tool_use", "id": "c9", "name": "rm", "input": {}}]},
        {"function_call": {"name": "rm", "arguments": "{}"}},
    ],
)
@pytest.mark.parametrize("role", ["assistant", "user"])
def test_a_message_of_a_chat_among_the_items_keeps_its_calls(hidden, role):
    trace = read_trace([USER, call(), result(), {"role": role, "content": "So.", **hidden}])
    names = [step.name for step in trace.steps if step.parent_id]
    assert names == ["search", "rm"]


def test_a_response_among_items_is_read_as_one():
    trace = read_trace([USER, call(), result(), response(call("c2"))])
    assert [step.id for step in trace.steps_of("tool")] == ["c1", "c2"]


def test_the_first_line_of_an_older_codex_session_opens_it():
    head = {"id": "s", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": None}
    lines = [
        head,
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
    ]
    assert opens_session(head)
    assert session_id(lines) == "s"
    assert [step.type for step in read_trace(lines).steps] == ["user", "llm", "tool"]


def test_a_listed_conversation_of_messages_alone_is_one_trace():
    def message(role, text, kind):
        return {"id": f"msg_{text}", "type": "message", "role": role, "status": "completed", "content": [{"type": kind, "text": text}]}  # fmt: skip

    listed = {"object": "list", "data": [message("user", "Hi.", "input_text"), message("assistant", "Hello.", "output_text")], "has_more": False}  # fmt: skip
    assert single_traces(listed) == [(None, listed)]
    assert [step.type for step in read_trace(listed).steps] == ["user", "llm"]


def test_a_result_of_a_client_within_a_response_divides_its_answers():
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    facts = {"usage": usage, "created_at": NOON, "completed_at": NOON + 9}
    output = [call(), call("c2"), result(), result("c2"), says("Here.")]
    trace = read_trace(response(*output, **facts))
    assert [step.type for step in trace.steps] == ["llm", "tool", "tool", "llm"]
    assert [step.output for step in trace.steps_of("tool")] == ["found", "found"]
    first, last = trace.steps_of("llm")
    assert (first.id, first.usage, first.started_at) == ("resp_1", None, NOON * 10**9)
    assert (last.usage, last.model, last.ended_at) == (None, "gpt", (NOON + 9) * 10**9)
    assert trace.usage == Usage(7, 3, 10, is_partial=True)


def test_a_message_of_a_user_within_a_response_is_a_step_between_answers():
    trace = read_trace(response(says("Which?"), {"type": "message", **USER}, says("Here.")))
    assert [step.type for step in trace.steps] == ["llm", "user", "llm"]


def test_calls_that_the_provider_runs_are_within_one_answer():
    called = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}
    answered = {"type": "shell_call_output", "call_id": "c1", "output": "a"}
    trace = read_trace(response(called, answered, says("Here.")))
    assert [step.type for step in trace.steps] == ["llm", "tool"]


def test_a_search_for_tools_and_what_it_found_have_no_common_id_and_are_one_call():
    asked = {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "arguments": {"paths": []}}
    tools = [{"type": "function", "name": "get_weather"}]
    found = {"type": "tool_search_output", "id": "tso_1", "call_id": None, "tools": tools}
    trace = read_trace(response(asked, found, call()))
    assert [step.name for step in trace.steps_of("tool")] == ["tool_search", "search"]
    assert trace.steps_of("tool")[0].output == tools
    assert "tool_calls" not in trace.missing


def test_a_request_and_its_response_side_by_side_are_one():
    asked = {"model": "gpt", "input": "Find x.", "tools": [{"type": "function", "name": "search"}]}
    exchange = {"request": asked, "response": response(call(), tools=[]), "took": 3}
    trace = read_trace(exchange)
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]
    assert trace.tools == (ToolDefinition("search"),)
    assert trace.not_carried == ("exchange field 'took' (1)",)


def rollout(*output, number=1, **facts):
    asked = {"input": [USER], "tools": [{"type": "function", "name": "search"}]}
    answered = response(*output, number=number, usage={"total_tokens": 0})
    return {"responses_create_params": asked, "response": answered, "reward": 0.5, **facts}


def test_a_rollout_of_nemo_gym_is_a_trace_with_its_reward():
    about = {"agent_ref": {"name": "a"}, "_ng_task_index": 2, "judge": "x"}
    trace = read_trace(rollout(says("Looking."), says("More."), call(), result(), **about))
    assert [step.type for step in trace.steps] == ["user", "llm", "llm", "tool"]
    assert (trace.id, trace.usage) == ("resp_1", None)
    assert trace.metadata == {"reward": 0.5, "agent": "a", "task_index": 2}
    assert trace.not_carried == ("rollout field 'judge' (1)",)


def test_rollouts_in_a_list_are_a_trace_each():
    listed = [rollout(says("a")), rollout(says("b"), number=2)]
    assert [part["reward"] for _, part in single_traces(listed)] == [0.5, 0.5]


def test_a_response_that_begins_with_a_users_message_has_no_answer_before_it():
    asked = {"type": "message", "role": "user", "content": "Go."}
    usage = {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}
    trace = read_trace(response(asked, says("Done."), usage=usage))
    assert [(step.type, step.output) for step in trace.steps] == [("user", "Go."), ("llm", "Done.")]
    assert (trace.steps[1].id, trace.steps[1].usage) == ("resp_1", Usage(7, 1, 8))
    assert trace.usage is None or not trace.usage.is_partial


def test_a_response_that_begins_with_a_result_answers_the_call_of_its_input():
    value = response(result("c0"), says("Done."), input=[call("c0")])
    trace = read_trace(value)
    assert [step.type for step in trace.steps] == ["llm", "tool", "llm"]
    assert (trace.steps[1].output, trace.steps[2].id) == ("found", "resp_1")


def test_a_response_without_an_item_of_the_model_is_a_call_of_it_at_the_end():
    trace = read_trace(response(result("c0"), input=[call("c0")]))
    assert [step.type for step in trace.steps] == ["llm", "tool", "llm"]
    assert trace.steps[2].id == "resp_1"


def test_rows_of_the_agents_sdks_sessions_are_a_trace_for_each():
    question = {"role": "user", "content": "Find x."}
    call = {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "x"}
    rows = [
        {"id": number, "session_id": name, "message_data": json.dumps(item), "created_at": "2025-01-01 12:00:00"}
        for number, (name, item) in enumerate([("s", question), ("t", question), ("s", call), ("s", result)])
    ]  # fmt: skip
    first, second = read_traces(rows)
    assert (first.format, first.id, second.id) == ("openai-responses", "s", "t")
    assert [step.type for step in first.steps] == ["user", "llm", "tool"]
    assert [step.type for step in second.steps] == ["user"]
    assert [name for name, _ in single_traces(rows)] == ["s", "t"]
    for unread in ("{", '{"__enc__": 1, "payload": "x"}'):
        damaged, _ = read_traces([rows[0] | {"message_data": unread}, *rows[1:]])
        assert {"llm_calls", "tool_calls"} <= damaged.missing.keys()


def of_javascript(*items):
    """Return items as the Agents SDK for JavaScript names them."""
    told = [{"callId" if key == "call_id" else key: held for key, held in item.items()} for item in items]  # fmt: skip
    for item in told:
        if item.get("type") == "function_call_output":
            item |= {"type": "function_call_result", "status": item.get("status", "completed")}
    return told


def test_items_of_the_agents_sdk_for_javascript_read_the_same():
    items = [USER, call(), call("c2"), result(), result("c2"), says("Here.")]
    told = of_javascript(*items)
    told[3]["output"] = {"type": "text", "text": "found"}
    told[4]["output"] = [{"type": "input_text", "text": "found"}]
    trace = read_trace(told)
    assert trace.format == "openai-responses"
    assert trace.steps == read_trace(items).steps
    assert trace.not_carried == ()
    assert shape(of_javascript(call(), result())) == [("llm", None), ("tool", "found")]


def test_calls_of_hosted_tools_and_programs_of_the_agents_sdk_are_calls():
    hosted = {"type": "hosted_tool_call", "name": "web_search_call", "id": "w", "output": "a page"}
    program = {"type": "program", "callId": "p", "code": "1 + 1"}
    ran = {"type": "program_output", "callId": "p", "output": "2", "status": "completed"}
    calls = read_trace([USER, hosted, program, ran, says("2")]).steps_of("tool")
    assert [(step.name, step.output) for step in calls] == [("web_search_call", "a page"), ("program", "2")]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "error"), [("completed", None), ("incomplete", "aborted"), ("failed", "failed")]
)
@pytest.mark.parametrize("named", [of_javascript, lambda *items: list(items)])
def test_the_status_of_a_result_says_whether_the_call_failed(named, status, error):
    [step] = read_trace(named(USER, call(), result(output="aborted", status=status))).steps_of("tool")  # fmt: skip
    assert (step.output, step.error) == ("aborted", error)
