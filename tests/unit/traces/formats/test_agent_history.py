"""AG2's and Magentic-One's histories: the speakers, and the calls in text by the frameworks' own rules."""

from __future__ import annotations

import pytest

from support.trace_examples.multi_agent_frameworks import AGENT_HISTORY
from weighbridge.traces import Step, Usage, read_trace


def test_code_that_the_executor_ran_is_a_call_of_the_message_that_has_it():
    trace = read_trace(AGENT_HISTORY)
    history = AGENT_HISTORY["history"]
    assert trace.format == "agent-history"
    assert trace.id == "q-1"
    ran = history[2]["content"]
    assert trace.steps == (
        Step(id="s1", type="user", name="Data_Expert", output="You are given a task."),
        Step(id="s2", type="llm", name="Data_Expert", output=history[1]["content"]),
        Step(
            id="call_1",
            type="tool",
            parent_id="s2",
            name="execute_code",
            arguments={"code": "print(2)\n", "language": "python"},
            output=ran,
            error=ran,
        ),
        Step(id="s4", type="llm", name="Check_Expert", output="Two."),
        Step(id="s5", type="other", name="Computer_terminal", output=history[4]["content"]),
    )
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}
    assert trace.not_carried == ("record field 'system_prompt' (1)",)


def magentic(*messages):
    ask = {"role": "human", "content": "How many?"}
    return read_trace({"history": [ask, *messages], "question": "How many?"})


def said(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("report", "name", "arguments"),
    [
        ("I typed 'a 'b' c' into the browser search bar.", "web_search", {"query": "a 'b' c"}),
        ("I typed 'http://x' into the browser address bar.", "visit_url", {"url": "http://x"}),
        ("I typed 'a' into 'Search'.", "input_text", {"text_value": "a", "target": "Search"}),
        ("I clicked 'PDF'.", "click", {"target": "PDF"}),
        ("I clicked the control.", "click", {}),
        ("I clicked the browser back button.", "history_back", {}),
        ("I scrolled down one page in the browser.", "page_down", {}),
        ("I hovered over 'Menu'.", "hover", {"target": "Menu"}),
    ],
)
def test_what_web_surfer_says_that_it_did_is_a_call(report, name, arguments):
    trace = magentic(said("WebSurfer", f"{report}\n\nHere is a screenshot."))
    [call] = trace.steps_of("tool")
    assert (call.name, call.arguments) == (name, arguments)
    assert call.output.startswith(report)
    assert "tool_calls" not in trace.missing


@pytest.mark.parametrize("role", ["FileSurfer", "WebSurfer"])
def test_what_an_agent_with_tools_tells_in_its_own_words_leaves_its_calls_unknown(role):
    trace = magentic(said(role, "Address: file:///a"))
    assert [step.type for step in trace.steps] == ["user", "llm"]
    assert "tool_calls" in trace.missing


def test_the_orchestrators_thoughts_are_model_calls_and_what_it_hands_on_is_none():
    trace = magentic(
        said("Orchestrator (thought)", "Initial plan: count."),
        said("Orchestrator (-> WebSurfer)", "Count."),
        said("WebSurfer", "I clicked 'A'."),
        said("Orchestrator (termination condition)", "Agent is done."),
    )
    assert [(step.type, step.name) for step in trace.steps] == [
        ("user", None),
        ("llm", "Orchestrator"),
        ("other", "Orchestrator (-> WebSurfer)"),
        ("llm", "WebSurfer"),
        ("tool", "click"),
        ("other", "Orchestrator (termination condition)"),
    ]


def test_a_chats_result_tells_its_tokens_and_the_frameworks_own_calls():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    trace = read_trace(
        {
            "chat_id": 1,
            "chat_history": [
                {"role": "assistant", "content": "Go.", "name": "user_proxy"},
                {"role": "user", "content": None, "name": "bot", "tool_calls": [call]},
                {
                    "role": "tool",
                    "content": "1",
                    "name": "user_proxy",
                    "tool_responses": [{"tool_call_id": "c", "role": "tool", "content": "1"}],
                },
            ],
            "cost": {
                "usage_including_cached_inference": {
                    "total_cost": 0.5,
                    "m": {"cost": 0.5, "prompt_tokens": 3, "completion_tokens": 1},
                }
            },
        }
    )
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Go."),
        ("llm", None),
        ("tool", "1"),
    ]
    assert (trace.usage, trace.cost_usd) == (Usage(3, 1), 0.5)


def test_what_the_terminal_ran_is_a_call_and_what_it_refused_is_none():
    history = [
        {"role": "human", "content": "Count."},
        {"role": "Assistant", "content": "```sh\nwc x\n```"},
        {"role": "ComputerTerminal", "content": "The script ran, then exited with Unix exit code: 1\nIts output was:\nno x"},
        {"role": "ComputerTerminal", "content": "No code block detected in the messages. Please provide one."},
        {"role": "WebSurfer", "content": "I input '12/31/2010'.\n\nHere is a screenshot."},
    ]  # fmt: skip
    trace = read_trace({"history": history})
    ran, typed = trace.steps_of("tool")
    assert (ran.name, ran.arguments, ran.error) == (
        "execute_code",
        {"code": "wc x\n", "language": "sh"},
        ran.output,
    )
    assert (typed.name, typed.arguments) == ("input_text", {"text_value": "12/31/2010"})
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "other", "llm", "tool"]


def test_code_that_no_answer_holds_is_a_call_without_a_step_of_its_own_above_it():
    history = [
        {"role": "user", "name": "Planner", "content": "Run:\n```python\nprint(1)\n```"},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 0 (execution succeeded)\nCode output: 1"},
    ]  # fmt: skip
    trace = read_trace({"history": history})
    assert [(step.type, step.parent_id) for step in trace.steps] == [("user", None), ("tool", None)]


@pytest.mark.parametrize(
    ("thought", "kind"),
    [
        ("Next speaker WebSurfer", "other"),
        ("Request satisfied.", "other"),
        ("Stalled.... Replanning...", "other"),
        ("Replan counter exceeded... Terminating.", "other"),
        ("Updated Ledger:\n{}", "llm"),
        ("Next speaker is the one that has a browser.", "llm"),
        ("Stalled.... Replanning...\norchestrator.py:184: UserWarning: model mismatch", "other"),
    ],
)
def test_what_the_orchestrator_writes_itself_is_no_model_call(thought, kind):
    trace = magentic(said("Orchestrator (thought)", thought), said("WebSurfer", "I clicked 'A'."))
    assert (trace.steps[1].type, trace.steps[1].output) == (kind, thought)
    assert "llm_calls" not in trace.missing


def test_a_plan_makes_the_number_of_model_calls_a_lower_bound_and_a_final_answer_is_one():
    for plan in ("Initial plan:\nFind x.", "New plan:\nFind y."):
        trace = magentic(
            said("Orchestrator (thought)", plan), said("Orchestrator (final answer)", "x")
        )
        assert [(step.name, step.output) for step in trace.steps_of("llm")] == [
            ("Orchestrator", plan),
            ("Orchestrator", "x"),
        ]
        assert "several model calls" in trace.missing["llm_calls"]


def test_messages_of_magentic_one_are_read_without_what_stands_around_them():
    history = [
        {"role": "human", "content": "Find x."},
        {"role": "Orchestrator (thought)", "content": "Plan."},
        {"role": "WebSurfer", "content": "I clicked 'x'."},
    ]
    assert read_trace(history) == read_trace({"history": history})
    assert read_trace(history).format == "agent-history"
