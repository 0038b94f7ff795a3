"""Codex's rollouts: failures that results state, reviews, and agents that the agent started."""

from __future__ import annotations

import contextlib

import pytest

from weighbridge.errors import TraceError
from weighbridge.graders.budget import BudgetGrader
from weighbridge.traces import Counts, Usage, read_trace
from weighbridge.traces.unread_counts import OTHER_AGENTS, with_unread_lines

NO_CALLS = {"llm_calls", "tool_calls", "token_usage", "cost"}


def item(**payload):
    return {"type": "response_item", "payload": payload}


def event(kind, **payload):
    return {"type": "event_msg", "payload": {"type": kind, **payload}}


def says(text, role="assistant"):
    return item(type="message", role=role, content=[{"type": "output_text", "text": text}])


def call(call_id="c1", name="shell_command", output=None):
    """Return a call, and its result if there is one."""
    asked = item(type="function_call", call_id=call_id, name=name, arguments="{}")
    told = item(type="function_call_output", call_id=call_id, output=output)
    return [asked] if output is None else [asked, told]


def count(last, total):
    """Return the count of the input of the last answer and of all answers."""
    sizes = {"last_token_usage": last, "total_token_usage": total}
    info = {name: {"input_tokens": size, "output_tokens": 1} for name, size in sizes.items()}
    return event("token_count", info=info)


@pytest.mark.parametrize(
    ("output", "has_failed"),
    [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1\nWall time: 0\n", False),
        ("Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 128\nOutput:\n", True),
        ("Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", True),
        ("Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n", False),
        ("Chunk ID: 1f\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\n", False),
        ("Command: a\nb\nChunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\n", True),
        ("Command: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n1", False),
        ("Command: a\nOutput:\n1 passed", False),
        ('{"output":"\\"metadata\\":{\\"exit_code\\":1}}"}', False),
        ('{"output":"no","metadata":{"exit_code":true}}', False),
        ('{"output":"no","metadata":{"exit_code":1}', False),
        ('{"output":"no","metadata":{"exit_code":1},"also":1}', False),
        ("apply_patch verification failed: Failed to find expected lines in a.py", True),
        ("failed to parse function arguments: missing field `cmd`", True),
        ("unsupported call: open", True),
        ("failed in sandbox: Operation not permitted", True),
        ("failed in sandbox None with execution error: command timed out", True),
        ("failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error", True),
        ("command timed out after 1000 milliseconds", True),
        ("command timed out after 1000 milliseconds, says the log", False),
        ("exec command rejected: outside of the project", True),
        ("patch rejected: outside of the project", True),
        ("error: Failed to find expected lines in /a.py:\nx = 1", True),
        ("error: invalid hunk at line 4, '' is not a valid hunk header", True),
        ('err: "tool call error: timed out"', True),
        ("errors: none", False),
        ("aborted", True),
        ("unsupported custom tool call: open", True),
        ("request_user_input is unavailable in Default mode", True),
        ("The tool is unavailable in Default mode", False),
        ("update_plan handler received unsupported payload", True),
        ('execution error: Io(Os { code: 2, kind: NotFound, message: "No such file" })', True),
        ("exec_command failed for `/bin/sh -c 'ls'`: CreateProcess { message: \"no\" }", True),
        ("exec command rejected by user", True),
        ("patch rejected by user", True),
        ("aborted by user after 3.2s", True),
        ("Wall time: 3.2 seconds\naborted by user", True),
        ("aborted by user after 3.2s, as the log says", False),
        ("exec command rejected by user interfaces", False),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nfailed in sandbox: no", False),
        ("My process exited with code 1", False),
        ("found", False),
        ("Script failed\nWall time 0.3 seconds\nOutput:\nScript error:\nno", True),
        ("Script completed\nWall time 0.3 seconds\nOutput:\nScript failed\nWall time 1", False),
        ("Script terminated\nWall time 0.3 seconds\nOutput:\n", False),
        ("Script running with cell ID 1\nWall time 10.0 seconds\nOutput:\n", False),
        ("Script failed, says the log", False),
        ([{"type": "input_text", "text": 7}], False),
        ([7], False),
        ([], False),
        ({"exit_code": 1}, False),
        (7, False),
    ],
)
@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
def test_a_call_whose_result_states_a_failure_has_failed(kind, output, has_failed):
    asked = item(type=kind, call_id="c1", name="shell")
    trace = read_trace([asked, item(type=f"{kind}_output", call_id="c1", output=output)])
    [tool] = trace.steps_of("tool")
    assert tool.error == (output if has_failed else None)


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ('{"output":"no\\n","metadata":{"exit_code":1,"duration_seconds":0.3}}', ("no\n", "exit code 1")),
        ('{"output": "", "metadata": {"exit_code": 101, "duration_seconds": 6.7}}', ("", "exit code 101")),
        ('{"output":"ok","metadata":{"exit_code":0,"duration_seconds":0.0}}\n', ("ok", None)),
        ('{"output":"ok","metadata":{"exit_code":0}}', ("ok", None)),
    ],
)  # fmt: skip
def test_an_exit_code_beside_the_output_of_a_command_is_read_apart_from_it(output, read):
    trace = read_trace(call(output=output))
    [tool] = trace.steps_of("tool")
    assert (tool.output, tool.error) == read
    assert not trace.not_carried


def test_what_else_stands_beside_the_output_of_a_command_is_noted():
    output = '{"output":"ok","metadata":{"exit_code":0,"signal":"HUP"}}'
    assert read_trace(call(output=output)).not_carried == ("metadata field 'signal' (1)",)


@pytest.mark.parametrize(
    ("name", "output", "has_failed"),
    [
        ("spawn_agent", '{"agent_id":"a"}', False),
        ("spawn_agent", "Agent depth limit reached. Solve the task yourself.", True),
        ("wait_agent", '{"status":{},"timed_out":true}', False),
        ("close_agent", "agent with id a not found", True),
        ("send_input", "", False),
        ("request_user_input", '{"answers":{}}', False),
        ("update_plan", "Plan updated", False),
        ("update_plan", "update_plan is a checklist tool and is not allowed in Plan mode", True),
        ("web_search", "Nothing", False),
    ],
)
def test_a_tool_with_one_form_of_result_has_failed_if_it_says_something_else(
    name, output, has_failed
):
    [tool] = read_trace(call(name=name, output=output)).steps_of("tool")
    assert bool(tool.error) == has_failed


@pytest.mark.parametrize(
    ("name", "output", "has_failed"),
    [
        ("mcp__x__lint", "error: 0 problems", False),
        ("grep_files", "error: in src/a.py", False),
        ("mcp__x__apply", "patch rejected: it was merged", False),
        ("web.fetch", "approval policy is documented here", False),
        ("read_docs", "err: is a prefix", False),
        ("read_docs", "unsupported call: is what Codex says", False),
        ("open", "unsupported call: open", True),
        ("mcp__x__lint", 'err: "tool call error: timed out"', True),
        ("mcp__x__lint", "err: EOF while parsing a value at line 1 column 0", True),
        ("mcp__x__lint", "aborted by user after 3.2s", True),
        ("read_docs", "Exit code: 1\nWall time: 0 seconds\nOutput:\n", True),
    ],
)
def test_only_results_of_codex_s_own_tools_fail_by_how_they_begin(name, output, has_failed):
    [tool] = read_trace(call(name=name, output=output)).steps_of("tool")
    assert bool(tool.error) == has_failed


def test_a_tool_of_a_server_with_the_name_of_one_of_codex_has_results_of_its_own_form():
    asked, told = call(name="spawn_agent", output="started")
    of_server = item(**asked["payload"], namespace="mcp__swarm__")
    assert [step.error for step in read_trace([of_server, told]).steps_of("tool")] == [None]
    assert [step.error for step in read_trace([asked, told]).steps_of("tool")] == ["started"]


def test_a_command_of_the_local_shell_that_was_refused_has_failed():
    action = {"type": "exec", "command": ["ls"]}
    asked = item(type="local_shell_call", call_id="c1", status="completed", action=action)
    told = item(type="function_call_output", call_id="c1", output="failed in sandbox: no")
    [tool] = read_trace([asked, told]).steps_of("tool")
    assert tool.error == tool.output


def test_a_script_has_failed_whose_result_says_so_in_its_first_part():
    def parts(*texts):
        return [{"type": "input_text", "text": text} for text in texts]

    failed = parts("Script failed\nWall time 0.3 seconds\nOutput:\n", "Script error:\nno file")
    ended = parts("Script completed\nWall time 0.3 seconds\nOutput:\n", "Script failed\nWall time")
    lines = []
    for call_id, output in (("c1", failed), ("c2", ended)):
        lines += [
            item(type="custom_tool_call", call_id=call_id, name="exec", input="text(1)"),
            item(type="custom_tool_call_output", call_id=call_id, output=output),
        ]
    first, second = read_trace(lines).steps_of("tool")
    assert first.error == first.output
    assert "no file" in first.output
    assert second.error is None


OPENING = {"id": "session-1", "timestamp": "2025-08-01T00:00:00Z", "instructions": None}
STATE = {"record_type": "state"}
THOUGHT = {"type": "reasoning", "id": "", "summary": [], "content": []}


def bare(line):
    """Return an item as on a line of its own, without the session's envelope."""
    return line["payload"]


def ran(call_id, output="Plan updated"):
    asked = item(type="function_call", call_id=call_id, name="shell", arguments="{}")
    return [bare(asked), bare(item(type="function_call_output", call_id=call_id, output=output))]


def test_items_between_the_state_lines_of_an_older_rollout_are_of_one_response():
    user, said = bare(says("Hi", "user")), bare(says("Done."))
    lines = [OPENING, STATE, user, STATE, STATE, *ran("c1"), THOUGHT, STATE, STATE]
    lines += [*ran("c2"), *ran("c3"), STATE, said, STATE, user, STATE, THOUGHT, said]
    trace = read_trace(lines)
    assert trace.id == "session-1"
    assert [step.type for step in trace.steps] == [
        *("user", "llm", "tool", "llm", "tool", "tool", "llm", "user", "llm"),
    ]
    assert [step.error for step in trace.steps_of("tool")] == [None] * 3


@pytest.mark.parametrize("is_one_document", [True, False])
def test_failures_of_an_older_rollout_are_read(is_one_document):
    items = [*ran("c1", "error: invalid hunk"), *ran("c2", '{"output":"x"}')]
    items += ran("c3", '{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.0}}')
    trace = read_trace(
        {"session": OPENING, "items": items} if is_one_document else [OPENING, *items]
    )
    assert trace.id == "session-1"
    assert [bool(step.error) for step in trace.steps_of("tool")] == [True, False, True]
    assert not trace.not_carried


def test_items_of_the_api_alone_have_no_failures_in_their_texts():
    [tool] = read_trace(ran("c1", "error: none")).steps_of("tool")
    assert tool.error is None


@pytest.mark.parametrize("odd", [7, [], {"session": 7}, {"type": 7, "role": []}, STATE])
def test_odd_lines_of_an_older_rollout_end_in_a_trace_or_an_error(odd):
    with contextlib.suppress(TraceError):
        read_trace([OPENING, STATE, *ran("c1"), odd])


def script(call_id="c1", text="await tools.exec_command({cmd: 'ls'})"):
    output = [{"type": "input_text", "text": "Script completed\nWall time 1 seconds\n"}]
    return [
        item(type="custom_tool_call", call_id=call_id, name="exec", input=text),
        item(type="custom_tool_call_output", call_id=call_id, output=output),
    ]


def test_calls_that_a_script_made_count_as_far_as_their_ends_are_recorded():
    asked, told = script()
    ran = event("exec_command_end", call_id="exec-1", command=["ls"], stdout="no", exit_code=1)
    changes = {"a.py": {"type": "add", "content": "x"}}
    patched = event("patch_apply_end", call_id="exec-2", success=True, changes=changes)
    sought = {"server": "s", "tool": "find", "arguments": {"q": "x"}}
    found = {"Ok": {"content": [{"type": "text", "text": "y"}]}}
    searched = event("mcp_tool_call_end", call_id="exec-3", invocation=sought, result=found)
    lines = [asked, ran, patched, ran, told, searched, event("web_search_end", call_id="exec-4")]
    trace = read_trace([*lines, says("Done.")])
    whole, first, second, third, last = trace.steps_of("tool")
    assert (whole.name, whole.error) == ("exec", None)
    assert (first.name, first.arguments, first.output) == (
        "exec_command",
        {"command": ["ls"]},
        "no",
    )
    assert first.error == "no"
    assert (second.name, second.arguments) == ("apply_patch", {"changes": changes})
    assert (third.name, third.arguments, third.output) == ("find", {"q": "x"}, "y")
    assert (last.name, last.error) == ("web_search", None)
    assert len(trace.steps_of("llm")) == 2
    assert "scripts" in trace.missing["tool_calls"]


def test_calls_are_a_lower_bound_where_a_script_may_have_made_some():
    assert "scripts" in read_trace([*script()]).missing["tool_calls"]
    assert "tool_calls" not in read_trace(script(text="text(1)")).missing


def test_an_end_of_a_call_that_the_model_made_is_none_of_a_script():
    [asked, told] = call("exec-1", output="x")
    trace = read_trace([asked, event("exec_command_end", call_id="exec-1", exit_code=2), told])
    [tool] = trace.steps_of("tool")
    assert (tool.name, tool.error) == ("shell_command", "x")
    assert "tool_calls" not in trace.missing


def test_times_of_calls_stay_with_them_beside_the_calls_of_a_script():
    lines = [*script("c1"), *script("c2")]
    lines.insert(1, event("exec_command_end", call_id="exec-1", exit_code=0))
    stamped = [
        line | {"timestamp": f"2026-03-02T10:00:{second:02}Z"} for second, line in enumerate(lines)
    ]
    steps = read_trace(stamped).steps_of("tool")
    assert [step.id for step in steps] == ["c1", "exec-1", "c2"]
    assert [bool(step.started_at) for step in steps] == [True, False, True]


def review(*totals):
    """Return the lines of a review whose answers have those totals, each of which Codex counts twice."""
    lines, before = [event("entered_review_mode")], 0
    for total in totals:
        lines += [count(total - before, total)] * 2
        before = total
    return [*lines, event("exited_review_mode")]


def test_the_answers_of_a_review_count_and_the_total_after_it_is_that_from_before():
    before = [says("Go.", "user"), *call(output="x"), count(10, 10), says("Here."), count(20, 30)]
    after = [says("Review done.", "user"), says("Two bugs."), count(20, 30), says("Bye.")]
    lines = [*before, *review(5, 12), *after, count(30, 60)]
    trace = read_trace(lines)
    answers = [(step.output, step.usage.input_tokens) for step in trace.steps_of("llm")]
    assert answers == [(None, 10), ("Here.", 20), (None, 5), ("Two bugs.", 7), ("Bye.", 30)]
    assert trace.counts is None
    assert trace.usage == Usage(60, 1)
    assert trace.missing["tool_calls"] == "the session does not hold the calls that a review made"


def test_a_review_of_one_answer_has_no_tools_and_is_an_answer_even_if_no_text_follows():
    trace = read_trace([*call(output="x"), count(10, 10), *review(5), says("Go.", "user")])
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [10, 5]
    assert "tool_calls" not in trace.missing
    going_on = [*call(output="x"), count(10, 10), *review(5, 12)[:-1]]
    assert read_trace(going_on).usage == Usage(10, 1)


@pytest.mark.parametrize(
    "lines",
    [
        [*call(output="{}"), event("collab_agent_spawn_end", call_id="c1", new_thread_id="t")],
        call(name="spawn_agent", output='{"agent_id":"t","nickname":"Ada"}'),
    ],
)
def test_all_counts_are_lower_bounds_if_the_agent_started_others(lines):
    trace = read_trace([*lines, count(10, 10), count(20, 30)])
    reason = OTHER_AGENTS
    assert {name for name in NO_CALLS if trace.missing.get(name) == reason} == NO_CALLS
    assert trace.counts is None


def test_an_agent_that_was_not_started_lacks_nothing():
    refused = event("collab_agent_spawn_end", call_id="c1", new_thread_id=None)
    trace = read_trace([*call(name="spawn_agent", output="refused"), refused, count(10, 10)])
    assert not NO_CALLS & trace.missing.keys()


def test_the_number_of_model_calls_is_that_of_the_counts():
    trace = read_trace([says("Here."), count(10, 10), count(20, 30)])
    assert (trace.counts, trace.totals_from) == (Counts(llm_calls=2), "token_count")


def at(second, line):
    return {**line, "timestamp": f"2025-01-01T12:00:{second:02}Z"}


INTERRUPTED = [
    at(0, says("Go.", "user")),
    at(2, says("Here.")),
    at(2, count(10, 10)),
    at(5, count(20, 30)),  # an answer without items
]


COMPACTED = {"type": "compacted", "payload": {"message": ""}}


@pytest.mark.parametrize(
    ("after", "is_least"),
    [(count(0, 10), True), (count(4, 14), False)],
    ids=["not in the total", "in the total"],
)
def test_a_summary_whose_tokens_are_in_no_total_makes_all_counts_lower_bounds(after, is_least):
    lines = [says("I look."), count(10, 10), COMPACTED, after, says("Done."), count(5, 19)]
    trace = read_trace(lines)
    lacking = {"llm_calls", "token_usage", "cost"} & trace.missing.keys()
    assert lacking == ({"llm_calls", "token_usage", "cost"} if is_least else set())


def test_a_call_that_left_only_a_count_between_other_lines_leaves_the_duration_exact():
    trace = read_trace([*INTERRUPTED, at(7, says("Go on.", "user"))])
    assert trace.counts == Counts(llm_calls=2)
    details = BudgetGrader(config={"max_duration_ms": 7000}).judge(trace)["details"]
    assert (details["duration_ms"], "duration_ms" in details["at_least"]) == (7000, False)
    assert with_unread_lines(trace, 1).ended_at is None


@pytest.mark.parametrize(
    "lines", [INTERRUPTED, [*INTERRUPTED[:3], count(20, 30), at(7, says("Go on.", "user"))]]
)
def test_a_call_that_left_only_a_count_after_all_items_or_without_a_time_leaves_the_end_open(lines):
    trace = read_trace(lines)
    assert (trace.counts, trace.ended_at) == (Counts(llm_calls=2), None)


def test_a_call_of_a_review_after_all_items_leaves_the_end_open():
    lines = [*INTERRUPTED, at(7, says("Go on.", "user")), *(at(9, line) for line in review(5))]
    trace = read_trace(lines)
    assert (trace.counts, trace.ended_at) == (Counts(llm_calls=3), None)
    assert read_trace([*lines, at(10, says("It is good."))]).ended_at is not None


def timed_id(second):
    """Return an id of a session or a turn that was made at a second."""
    time = f"{1_700_000_000_000 + second * 1000:012x}"
    return f"{time[:8]}-{time[8:]}-7000-8000-000000000000"


def meta(second=10, **facts):
    return {"type": "session_meta", "payload": {"id": timed_id(second), **facts}}


def turn(second):
    """Return the lines that open a turn."""
    opens = {"type": "turn_context", "payload": {"turn_id": timed_id(second), "model": "m"}}
    return [event("task_started", turn_id=timed_id(second)), opens]


COPIES = [meta(1), *turn(2), *call(output="x"), count(10, 10), says("Here."), count(20, 30)]
OWN = [*turn(11), *call("c2", output="y"), count(40, 70), says("Bye."), count(50, 120)]
SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": timed_id(1)}}}
FORKS = [{"forked_from_id": timed_id(1)}, {"source": SPAWNED}]
COPIED = "lines copied from the session that this one was forked from"


@pytest.mark.parametrize("facts", FORKS)
def test_lines_that_a_fork_has_copied_do_not_count(facts):
    trace = read_trace([meta(**facts), *COPIES, *OWN])
    assert trace.id == timed_id(10)
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [40, 50]
    assert [step.id for step in trace.steps_of("tool")] == ["c2"]
    assert (trace.usage.input_tokens, trace.counts) == (90, None)
    assert trace.totals_from == "the last total_token_usage less that of the copied lines"
    assert f"{COPIED} ({1 + len(COPIES)})" in trace.not_carried


@pytest.mark.parametrize("facts", FORKS)
def test_a_fork_without_a_turn_of_its_own_is_read_whole(facts):
    trace = read_trace([meta(**facts), *COPIES])
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [10, 20]
    assert any("all of them count" in lost for lost in trace.not_carried)


def test_a_count_that_a_fork_repeats_before_its_first_answer_is_of_no_answer():
    trace = read_trace([meta(**FORKS[0]), *COPIES, *turn(11), count(20, 30), *OWN[2:]])
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [40, 50]


def test_a_total_that_is_lower_than_that_of_the_copies_is_not_stated():
    trace = read_trace([meta(**FORKS[0]), *COPIES, *turn(11), says("Bye."), count(5, 5)])
    assert (trace.usage, trace.totals_from) == (None, "")
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [5]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([meta(forked_from_id="p"), *COPIES[3:], *OWN[2:]], id="no turns"),
        pytest.param([meta(source=SPAWNED), meta(1), *COPIES[3:], *OWN[2:]], id="another session"),
        pytest.param(
            [
                {"type": "session_meta", "payload": {"id": "x", "forked_from_id": "p"}},
                *COPIES,
                *OWN,
            ],
            id="no time of its own",
        ),
    ],
)
def test_a_fork_that_does_not_show_its_copies_counts_them_and_says_so(lines):
    trace = read_trace(lines)
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [10, 20, 40, 50]
    said = f"which lines are copied from the session that this one was forked from: all of them count ({len(lines)})"
    assert said in trace.not_carried


@pytest.mark.parametrize(
    "head",
    [
        meta(),
        meta(source=SPAWNED),
        meta(source="cli", forked_from_id=None),
        meta(source={"subagent": "review"}),
        {"type": "session_meta", "payload": None},
    ],
)
def test_a_session_that_has_copied_nothing_counts_whole(head):
    first = [*call(output="x"), count(10, 10)]
    trace = read_trace([head, says("Be kind.", "developer"), *first, *OWN])
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [10, 40, 50]
    assert not any("copied" in lost for lost in trace.not_carried)
