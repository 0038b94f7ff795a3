"""Chat histories of the Grok CLI."""

from __future__ import annotations

import pytest

from weighbridge.traces import Step
from weighbridge.traces.formats.grok_cli import IMPORTER


def user(text, **fields):
    return {"type": "user", "content": [{"type": "text", "text": text}], **fields}


def answer(text, *calls, **fields):
    return {"type": "assistant", "content": text, "tool_calls": list(calls), "model_id": "grok", **fields}  # fmt: skip


def hosted(tool, call_id, **fields):
    kind = {"tool_type": tool, "id": call_id, "status": "completed", **fields}
    return {"type": "backend_tool_call", "kind": kind}


REASONING = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]}
READ = {"id": "c1", "name": "read_file", "arguments": '{"path": "a.md"}'}
FOUND = {"type": "url", "url": "https://a.example"}
GROK_CLI = [
    {"type": "system", "content": "Be brief."},
    user("<user_info>macOS</user_info>", synthetic_reason="project_instructions"),
    user("Read a.md.", prompt_index=0),
    REASONING,
    hosted("web_search", "w1", action={"type": "search", "query": "a.md", "sources": [FOUND]}),
    REASONING,
    answer("I read.", READ),
    {"type": "tool_result", "tool_call_id": "c1", "content": "# A"},
    answer("It is a heading.", model_fingerprint="fp"),
]


def read(lines):
    (trace,) = IMPORTER.read(lines)
    return trace


def test_items_become_steps_and_hosted_calls_are_the_answers():
    trace = read(GROK_CLI)
    assert IMPORTER.matches(GROK_CLI)
    assert IMPORTER.is_line(GROK_CLI[0])
    assert IMPORTER.is_line(GROK_CLI[1])
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", output="Read a.md."),
        Step(id="s3", type="llm", output="I read.", model="grok"),
        Step(id="w1", type="tool", parent_id="s3", name="web_search", arguments={"type": "search", "query": "a.md"}, output=[FOUND]),
        Step(id="c1", type="tool", parent_id="s3", name="read_file", arguments={"path": "a.md"}, output="# A"),
        Step(id="s6", type="llm", output="It is a heading.", model="grok"),
    )  # fmt: skip
    assert trace.not_carried == (
        "messages that Grok CLI added for the model (1)",
        "parts of the model's reasoning (2)",
    )
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


def test_hosted_tools_have_their_own_arguments_and_results():
    searched = hosted("x_search", "x1", name="x_keyword_search", input='{"query": "a"}')
    ran = hosted("code_interpreter", "k1", code="1 + 1", outputs=[{"type": "logs", "logs": "2"}])
    failed = hosted("web_search", "w1", action={"type": "open_page", "url": "u"}) | {}
    failed["kind"]["status"] = "failed"
    tools = [step for step in read([GROK_CLI[2], searched, ran, failed]).steps if step.type == "tool"]  # fmt: skip
    assert [(step.name, step.arguments, step.output, step.error) for step in tools] == [
        ("x_keyword_search", {"query": "a"}, None, None),
        ("code_interpreter", {"code": "1 + 1"}, [{"type": "logs", "logs": "2"}], None),
        ("web_search", {"type": "open_page", "url": "u"}, None, "error"),
    ]


def test_an_answer_that_broke_off_is_one_call_of_the_model():
    trace = read([GROK_CLI[2], REASONING, GROK_CLI[4], user("Stop.", prompt_index=1)])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "user"]


def test_what_users_and_agents_write_during_a_turn_is_a_request():
    trace = read([GROK_CLI[2], user("Faster.", synthetic_reason="interjection")])
    assert [step.output for step in trace.steps] == ["Read a.md.", "Faster."]


def test_other_items_are_counted():
    assert read([*GROK_CLI, {"type": "new"}]).not_carried[0] == "items of type 'new' (1)"


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        GROK_CLI[:1],
        [REASONING],
        [{"type": "user", "message": {"role": "user", "content": "Hi."}}],
        [user("Hi.", synthetic_reason="x", uuid="u")],
        [*GROK_CLI[:2], {"type": "human", "content": "Hi."}],
        [answer("Hi.", {"id": "c", "function": {"name": "f"}})],
        [answer(["Hi."])],
        [{"type": "assistant", "content": "Hi."}],
        [{"type": "backend_tool_call", "kind": []}],
        [{"type": ["user"]}],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize("bad", [None, 3, "x", [], {}, [{}], {"a": [1]}, -1.5])
def test_fields_of_other_types_are_not_followed(bad):
    for index, whole in enumerate(GROK_CLI):
        for key in whole:
            IMPORTER.read([*GROK_CLI[:index], whole | {key: bad}, *GROK_CLI[index + 1 :]])
            inner = whole[key]
            for name in inner if type(inner) is dict else ():
                changed = whole | {key: inner | {name: bad}}
                IMPORTER.read([*GROK_CLI[:index], changed, *GROK_CLI[index + 1 :]])
