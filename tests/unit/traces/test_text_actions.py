"""No tool call is lost: all spellings are imported, and a run with calls in text is not reported as having none."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.budget import BudgetGrader
from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.traces import Step, read_trace

ASK = {"role": "user", "content": "Where is parcel P1?"}
ARGUMENTS = {"parcel": "P1"}
FUNCTION = {"name": "track", "arguments": json.dumps(ARGUMENTS)}
USUAL = {"id": "c1", "type": "function", "function": FUNCTION}
LANGCHAIN = {"name": "track", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "in Graz"}


def assistant(**fields):
    return {"role": "assistant", **fields}


GEMINI = [
    {"role": "user", "parts": [{"text": "Where is parcel P1?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "track", "args": ARGUMENTS}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "track", "response": "in Graz"}}]},
]
VERCEL = [
    ASK,
    assistant(content=[{"type": "tool-call", "toolCallId": "c1", "toolName": "track", "input": ARGUMENTS}]),
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "track",
                "output": {"type": "text", "value": "in Graz"},
            }
        ],
    },
]  # fmt: skip
VERCEL_UI = [
    ASK,
    assistant(
        content="Looking.",
        parts=[
            {"type": "text", "text": "Looking."},
            {"type": "tool-track", "toolCallId": "c1", "input": ARGUMENTS, "output": "in Graz"},
        ],
    ),
]
VERCEL_INVOCATION = [
    ASK,
    assistant(
        content="",
        parts=[
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "track",
                    "args": ARGUMENTS,
                    "result": "in Graz",
                },
            }
        ],
    ),
]
BEDROCK = [
    {"role": "user", "content": [{"text": "Where is parcel P1?"}]},
    assistant(content=[{"toolUse": {"toolUseId": "c1", "name": "track", "input": ARGUMENTS}}]),
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "in Graz"}]}}],
    },
]
SPELLINGS = {
    "OpenAI": [ASK, assistant(content=None, tool_calls=[USUAL]), ANSWER],
    "camel case": [
        ASK,
        assistant(content="", toolCalls=[USUAL]),
        {"role": "tool", "toolCallId": "c1", "content": "in Graz"},
    ],
    "LangChain's extras": [
        ASK,
        assistant(content="", additional_kwargs={"tool_calls": [USUAL]}),
        ANSWER,
    ],
    "LangChain's both": [
        ASK,
        assistant(
            content="", tool_calls=[LANGCHAIN], additional_kwargs={"tool_calls": [USUAL], "x": 1}
        ),
        ANSWER,
    ],
    "LangChain on Anthropic": [
        ASK,
        assistant(
            content=[{"type": "tool_use", "id": "c1", "name": "track", "input": ARGUMENTS}],
            tool_calls=[LANGCHAIN],
        ),
        ANSWER,
    ],
    "both of OpenAI's": [
        ASK,
        assistant(content=None, tool_calls=[USUAL], function_call=FUNCTION),
        ANSWER,
    ],
    "Gemini": GEMINI,
    "Vercel": VERCEL,
    "Vercel's interface": VERCEL_UI,
    "Vercel's older interface": VERCEL_INVOCATION,
    "Bedrock": BEDROCK,
    "Bedrock's request": {"system": [{"text": "Be brief."}], "messages": BEDROCK},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_call_is_carried_once_in_whichever_spelling_it_stands(spelling):
    trace = read_trace(SPELLINGS[spelling])
    [tool] = trace.steps_of("tool")
    assert (tool.name, tool.arguments, tool.output) == ("track", ARGUMENTS, "in Graz")
    assert "tool_calls" not in trace.missing
    assert [step.type for step in trace.steps if step.type != "system"] == ["user", "llm", "tool"]


def test_a_call_that_langchain_could_not_parse_is_a_call():
    bad = {"name": "track", "args": "{oops", "id": "c2", "type": "invalid_tool_call"}
    trace = read_trace([ASK, assistant(content="", tool_calls=[], invalid_tool_calls=[bad])])
    [tool] = trace.steps_of("tool")
    assert (tool.name, tool.arguments) == ("track", "{oops")


def test_two_calls_that_are_alike_stay_two_where_one_spelling_tells_both():
    unnamed = {"function": FUNCTION}
    message = assistant(content="", tool_calls=[unnamed, unnamed], toolCalls=[unnamed, unnamed])
    assert len(read_trace([ASK, message]).steps_of("tool")) == 2


def test_different_calls_in_different_spellings_are_all_carried():
    other = {"id": "c2", "function": {"name": "mail", "arguments": "{}"}}
    message = assistant(content=[{"functionCall": {"name": "ring"}}], tool_calls=[USUAL])
    trace = read_trace([ASK, message | {"toolCalls": [other]}])
    assert [step.name for step in trace.steps_of("tool")] == ["track", "mail", "ring"]


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_a_call_among_the_parts_is_the_agents_whoever_is_said_to_have_made_it(role):
    hidden = {"role": role, "content": [{"functionCall": {"name": "rm", "args": {}}}]}
    trace = read_trace([ASK, assistant(content=None, tool_calls=[USUAL]), hidden])
    assert [step.name for step in trace.steps_of("tool")] == ["track", "rm"]


def test_a_failed_result_says_so_in_each_spelling():
    failed = {"toolResult": {"toolUseId": "c1", "content": [{"text": "no"}], "status": "error"}}
    trace = read_trace([*BEDROCK[:2], {"role": "user", "content": [failed]}])
    assert trace.steps_of("tool")[0].error == "no"


def test_calls_inside_a_tools_result_are_part_of_the_call():
    inner = [
        {"type": "text", "text": "Done."},
        {"type": "tool_use", "id": "t2", "name": "delete", "input": {"path": "/x"}},
        {"type": "tool_result", "tool_use_id": "t2", "content": "gone"},
    ]
    trace = read_trace(
        [
            assistant(content=[{"type": "tool_use", "id": "t1", "name": "delegate", "input": {}}]),
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": inner}],
            },
        ]
    )
    assert trace.steps[1:] == (
        Step("t1", "tool", "s1", "delegate", arguments={}, output="Done."),
        Step("t2", "tool", "t1", "delete", arguments={"path": "/x"}, output="gone"),
    )


def test_results_without_any_call_are_of_calls_that_nobody_tells():
    trace = read_trace([ASK, assistant(content="Looking."), ANSWER])
    assert "does not have" in trace.missing["tool_calls"]
    assert trace.not_carried == ("tool results of no call (1)",)


def test_a_result_without_its_call_makes_the_number_of_calls_a_lower_bound():
    def asked(call_id):
        function = {"name": "look", "arguments": "{}"}
        return [{"id": call_id, "type": "function", "function": function}]

    def told(call_id):
        return {"role": "tool", "tool_call_id": call_id, "content": "x"}

    calls = [
        message
        for call_id in ("c1", "c2", "c3")
        for message in (assistant(content="", tool_calls=asked(call_id)), told(call_id))
    ]
    whole = read_trace([ASK, *calls])
    assert "tool_calls" not in whole.missing
    cut = read_trace([ASK, told("c0"), *calls])
    assert len(cut.steps_of("tool")) == 3
    assert "does not have" in cut.missing["tool_calls"]


def test_calls_in_a_field_of_their_own_are_not_known():
    called = {"role": "user", "tool": {"tool": "look", "args": {"at": "x"}}}
    trace = read_trace([ASK, assistant(content="Looking."), called])
    assert "not read" in trace.missing["tool_calls"]
    assert "message field 'tool' (1)" in trace.not_carried
    for held in ({"name": "look"}, "look", ["look"]):
        named = called | {"tool": held}
        assert "tool_calls" not in read_trace([ASK, assistant(content="x"), named]).missing


@pytest.mark.parametrize("field", ["tool_calls", "toolCalls", "function_call", "tool_use"])
def test_a_native_step_that_holds_calls_in_a_field_of_its_own_does_not_claim_to_have_none(field):
    step = {"type": "llm", "output": "", field: [{"name": "track"}]}
    trace = read_trace({"steps": [step]})
    assert "tool_calls" in trace.missing
    assert trace.not_carried == (f"step field {field!r} (1)",)
    with_steps = read_trace({"steps": [step, {"type": "tool", "name": "track"}]})
    assert "tool_calls" not in with_steps.missing


def run(said, answer):
    return [ASK, assistant(content=said), {"role": "user", "content": answer}]


IN_TEXT = {
    "ReAct": run("Thought: look\nAction: search[parcel]", "Observation: none"),
    "ReAct, with an input": run('Thought: look\nAction: search\nAction Input: {"q": 1}', "Observation: none"),
    "ReAct in capitals": run("THOUGHT: look\nACTION: go to desk 1", "OBSERVATION: a desk"),
    "ReAct, never answered": [ASK, *[assistant(content="Action: look(P1)\nObservation: none")] * 2],
    "LangChain's JSON": run('Action:\n```json\n{"action": "s", "action_input": "x"}\n```', "Observation: none"),
    "a scratchpad": [ASK, assistant(content="Thought 1: a\nAction 1: s[x]\nObservation 1: b\nAction 2: s[y]\nObservation 2: c")],
    "tags": run('<tool_call>\n{"name": "track", "arguments": {}}\n</tool_call>', "<tool_response>\n{}\n</tool_response>"),
    "tags, and nothing else": [ASK, assistant(content='<tool_call>\n{"name": "track", "arguments": {}}\n</tool_call>')],
    "functions as tags": run("<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>", "EXECUTION RESULT of [execute_bash]:\na"),
    "JSON": [ASK, *[assistant(content='{"tool": "track", "args": {"parcel": "P1"}}')] * 2],
    "JSON, an action by its type": [ASK, *[assistant(content='{"state": {"goal": "in"}, "action": {"type": "goto", "url": "x"}}')] * 2],
    "JSON, a list of actions": [ASK, *[assistant(content='{"actions": [ {"name": "click", "id": "B1"}]}')] * 2],
    "mini-SWE-agent, by a rule of its own": run("THOUGHT: look\n\n```sh\nls\n```", "<returncode>0</returncode>\n<output>\na\n</output>"),
    "code": run("Thought: count\nCode:\n```py\nprint(1)\n```", "Observation:\n1"),
    "elements of a page": [ASK, *[assistant(content="Thought: look\n\nAction: Click [7]")] * 2],
    "an observation behind rules": run("Thought: look\nAction: GoBack", "Do not repeat yourself. Observation: a screenshot"),
    "WebArena": [ASK, *[assistant(content="In summary, the next action is ```click [1234]```")] * 2],
    "AgentBench": run("Act: bash\n\n```bash\nls\n```", "The output of the OS:\na"),
    "a line in capitals": [ASK, *[assistant(content="I look.\n----BEGIN_FUNCTION_CALL----\nls\n----END_FUNCTION_CALL----")] * 2],
    "a line in capitals, and an error": run("<<<TOOL_CALL>>>\nls", "Error executing 'ls': no such path"),
    "a result of a tool by its name": run("I look.\n```sh\nls\n```", "Tool 'ls' returned:\na"),
    "an element, and one of results": run("<think>who</think><search> who </search>", "<information>Doc 1</information>"),
    "an element of a name of its own": run("<thought>x</thought><action>go north</action>", "<obs>You are north</obs>"),
    "a tag that names the tool": run('<tool name="track"><parcel>P1</parcel></tool>', "in Graz"),
    "DeepSeek's marks": run('<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="track">\n</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>', "in Graz"),
    "OpenAI's marks": [*run("<|channel|>analysis to=python code<|message|>print(1)<|call|>", "1"), *run("<|channel|>analysis to=python code<|message|>print(2)<|call|>", "2")[1:]],
    "Qwen-Agent's marks": [ASK, assistant(content="✿FUNCTION✿: track\n✿ARGS✿: {}\n✿RESULT✿: in Graz\n✿RETURN✿: In Graz.")],
    "calls in Python's syntax": run('[track(parcel="P1")]', '[{"place": "Graz"}]'),
    "a block of code for a tool": run("```tool_code\nprint(track())\n```", "```tool_outputs\nin Graz\n```"),
    "a scratchpad with one observation": [ASK, assistant(content="Thought: x\nAction: track\nAction Input: P1\nObservation: in Graz\nFinal Answer: In Graz.")],
    "JSON, and a label that says what the call gave": run('{"tool": "track", "args": {}}', "API output: in Graz"),
    "JSON behind a label": run('I track it.\nTool call: {"name": "track", "arguments": {}}', '{"place": "Graz"}'),
    "JSON with other keys before": run('{\n  "thoughts": {"text": "I look."},\n  "command": {\n    "name": "track",\n    "args": {"id": 1}\n  }\n}', "Command track returned: in Graz"),
    "JSON, and replies with a label of their own": [*run('{"action": {"type": "goto", "url": "x"}}', "The page now: red"), *run('{"action": {"type": "click"}}', "The page now: blue")[1:]],
    "JSON, and replies without any form": [ASK, *[message for _ in range(3) for message in run('{"action": {"type": "goto"}}', "red")[1:]]],
    "Cline, with another tool": run("<list_files>\n<path>.</path>\n</list_files>", "[list_files for '.'] Result:\na"),
    "Cline, a question": run("<ask_followup_question><question>Which?</question></ask_followup_question>", "<answer>P1</answer>"),
    "tags behind a sentence": run('I look.\n<tool_call>\n{"name": "track", "arguments": {}}\n</tool_call>', "in Graz"),
    "tags behind a sentence, never answered": [ASK, assistant(content='I look.\n<tool_call>\n{"name": "track", "arguments": {}}\n</tool_call>')],
    "an element of an action, and an observation behind rules": run("I look.\n<action>\ntool: track\n</action>", "Do not stop. Observation: in Graz"),
    "elements of actions, and replies without any form": [ASK, *[message for _ in range(3) for message in run("I look.\n<action>go north</action>", "You see a desk")[1:]]],
    "tags before a template's mark": run('I look.\n<tool_call>\n{"name": "track", "arguments": {}}\n</tool_call><|im_end|>', "in Graz"),
    "JSON of a thought, a tool and its arguments": run('{"thought": "I look.", "tool": "track", "args": {}}', "API output: in Graz"),
    "tags of an agent's own tool": run("I look.\n<execute_bash>\nls\n</execute_bash>", "a"),
    "OpenAI's marks, once": run("<|channel|>commentary to=functions.track <|constrain|>json<|message|>{}<|call|>", "in Graz"),
    "OpenAI's marks, behind an analysis": run("<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.track<|message|>{}<|call|>", "in Graz"),
    "Llama's mark": run('<|python_tag|>track.call(parcel="P1")<|eom_id|>', "in Graz"),
    "Mistral's mark": run('I look.\n[TOOL_CALLS][{"name": "track", "arguments": {}}]', "in Graz"),
    "JSON of a thought and a command": [ASK, *[message for _ in range(3) for message in run('{"thought": "I look.", "command": "ls"}', "a")[1:]]],
    "a thought, and an action in words": [ASK, *[message for _ in range(3) for message in run("Thought: I look.\nAction: go north", "You see a desk")[1:]]],
    "blocks of code, and observations": [*run("I count.\n```py\nprint(1)\n```", "Observation: 1"), *run("I count on.\n```py\nprint(2)\n```", "Observation: 2")[1:]],
    "JSON behind a colon, and replies as JSON": [*run('I send:\n{"name": "track", "arguments": {}}\nI wait.', '{"place": "Graz"}'), *run('I send:\n{"name": "track", "arguments": {}}\nI wait.', '["Graz"]')[1:]],
    "Cline": run("I look.\n<read_file>\n<path>a</path>\n</read_file>", "[read_file for 'a'] Result:\n1"),
}  # fmt: skip


@pytest.mark.parametrize("form", IN_TEXT)
def test_a_run_whose_actions_stand_in_its_text_does_not_claim_to_have_no_calls(form):
    reason = "the agent's actions are written as text, which is not read as tool calls"
    assert read_trace(IN_TEXT[form]).missing["tool_calls"] == reason


FENCED = (
    "ReAct goes so:\n```\nThought: look\nAction: search[x]\nObservation: y\n```\nDoes that help?"
)
ORDINARY = {
    "small talk": run("Hello! How can I help?", "Nothing, thanks."),
    "one example to a reader": run("Write `Action: search[x]` or\nAction: search[x]", "Thanks."),
    "an example of tags to a reader": run('<tool_call>{"name": "f"}</tool_call> is the form.', "Thanks."),
    "examples in code": [*run(FENCED, "Yes."), *run(FENCED, "And again?")],
    "minutes of a meeting": [*run("Action: Ann writes (by Friday)\nAction: Bob", "Fine."), *run("Action: none", "Bye.")],
    "a shell command": [*run("Run this:\n```bash\nls\n```", "It says: a"), *run("Then:\n```bash\nrm a\n```", "Done")],
    "errors that a user reports": [*run("Run this:\n```bash\nls\n```", "Error executing 'ls': no such path"), *run("Then use `ls`.", "Error executing 'ls': again")],
    "a heading in capitals": run("TOOL CALLS\nThese are ...", "Thanks."),
    "placeholders": [*run("Action: Email [Ann]", "Yes."), *run("Action: Call [Bob]", "No.")],
    "markup": [*run("Use <b> and <tool>.", "Yes."), *run("Write <function> here", "Yes.")],
    "JSON with a word for an action": [*run('{"action": "none", "tool_call": null}', "Next."), *run('{"actions": []}', "Done.")],
    "observations of a user": [*run("Noted.", "Observation: the fever is gone"), *run("Good.", "Observation: none")],
    "results that a user reports": [*run("ok", "Tool result: 5"), *run("Call track again.", "Function 'track' returned 3"), *run("ok", "Tool output: 6")],
    "JSON in a sentence": [*run('Use {"name": "get", "arguments": {"q": 1}}', "Another."), *run('Use {"name": "put", "arguments": {"q": 2}}', "Thanks.")],
    "tags in a sentence": [*run("In HTML write <function_call> to", "Yes."), *run("and <tool_call> for, or <|python_tag|> in", "No.")],
    "an object with an action in it": [*run('{"action": {"type": "alert"}}', "Next."), *run('{"actions": [{"type": "email"}]}', "Thanks.")],
    "elements of an answer": [*run("<think>x</think><answer>Graz</answer>", "Observation: it is not"), *run("<answer>Linz</answer>", "<results>none</results>")],
    "JSON that a reader is shown, who shows what it gave": run('Send this:\n{"action": "run", "input": "x"}', '{"error": "bad"}'),
    "JSON that a reader is shown, who tells what it gave": run('Post **this:**\n\n{"name": "bob", "parameters": {"a": 1}}', "Server response: 400"),
    "JSON that a reader is told about": run('{"name": "bob", "parameters": {"a": 1}}\nis what to post.', "Server response: 400"),
    "tags that a reader is shown": run('Write:\n<tool_call>{"name": "x", "arguments": {}}</tool_call>', "The result: nothing happened"),
    "tags in a quotation": run('The manual has this.\n> <tool_call>\n> {"name": "x", "arguments": {}}\n> </tool_call>', "Thanks."),
    "a mark that a reader is shown": run('Llama writes:\n<|python_tag|>f.call(a="b")', "Thanks."),
    "an element, and an observation in a sentence": run("Use a <div>hello</div>", "Nothing. My observation is no. Observation: it is blue"),
    "code, and an observation of the reader's": run("Try this:\n```python\nprint(1)\n```", "Observation: it prints 1"),
    "an action in words, and an observation of a user's": [*run("Assessment: flu.\nAction: rest and fluids.", "Observation: 38 degrees"), assistant(content="Action: paracetamol")],
    "JSON of a thought and a command, once": run('{"thought": "x", "command": "ls"}', "Thanks."),
    "JSON output": [*run('{"name": "Ann", "age": 5}', "Next."), *run('{"name": "Bob", "age": 6}', "Done.")],
}  # fmt: skip


@pytest.mark.parametrize("talk", ORDINARY)
def test_an_ordinary_chat_has_the_capability_and_no_calls(talk):
    trace = read_trace(ORDINARY[talk])
    assert "tool_calls" not in trace.missing
    assert trace.steps_of("tool") == []


def test_text_is_not_looked_into_where_calls_were_read():
    messages = [*IN_TEXT["ReAct"], assistant(content=None, tool_calls=[USUAL]), ANSWER]
    assert "tool_calls" not in read_trace(messages).missing


@pytest.mark.parametrize("text", ["Action " * 50_000, "```" * 50_000, '"name":' * 50_000, "<" * 200_000, "BEGIN_CALL" * 20_000, "-" * 200_000 + " CALL", "\n```\n" * 50_000, "<tool_call>" + "</tool_call>  " * 50_000 + ".", " <tool_call" * 50_000, "x" * 200_000 + '{"keystrokes":', "</x>" * 50_000, "result " * 50_000, "`<|python_tag|>x" * 50_000, '{"thought":"","command":""' + "}" * 200_000 + ".", "Send:\n" * 50_000 + '{"name":"x","args":1}'+ "\n" * 200_000 + "!"])  # fmt: skip
def test_looking_for_actions_in_long_text_takes_no_long_time(text):
    assert "tool_calls" not in read_trace(run(text, "Fine.")).missing


def test_what_stands_beside_a_wrapped_trace_is_kept_by_messages_and_else_noted():
    messages = [ASK, assistant(content="In Graz.")]
    tool = {"type": "function", "function": {"name": "track"}}
    beside = read_trace({"conversation": messages, "tools": [tool], "model": "m", "score": 1})
    assert [tool.name for tool in beside.tools] == ["track"]
    assert (beside.steps[1].model, beside.not_carried) == ("m", ("run field 'score' (1)",))
    as_text = read_trace({"messages": json.dumps(messages), "tools": json.dumps([tool])})
    assert [tool.name for tool in as_text.tools] == ["track"]
    wrapped = read_trace({"trace": {"messages": messages}, "tool_calls": [USUAL], "path": "x"})
    assert wrapped.not_carried == ("wrapper field 'path' (1)", "wrapper field 'tool_calls' (1)")
    assert "tool_calls" in wrapped.missing


def test_integers_of_more_than_64_bits_stay_what_they_are():
    number = 2**70 + 1
    call = {"id": "c1", "function": {"name": "track", "arguments": f'{{"id": {number}}}'}}
    text = json.dumps([ASK, assistant(content=None, tool_calls=[call])])
    assert read_trace(text).steps_of("tool")[0].arguments == {"id": number}
    assert read_trace(json.dumps({"steps": [{"type": "tool", "arguments": {"id": number}}]})).steps[
        0
    ].arguments == {"id": number}


def test_graders_of_calls_do_not_judge_actions_in_text_and_the_loop_grader_reads_them():
    messages = [{"role": "user", "content": "Find x."}]
    for number in range(5):
        messages.append(assistant(content=f"Thought: look\nAction: search[page {number}]"))
        messages.append({"role": "user", "content": f"Observation: result {number}{number}"})
    assert ToolSchemaGrader().grade(messages)["verdict"] == "ungradable"
    assert BudgetGrader(config={"max_tool_calls": 9}).grade(messages)["verdict"] == "ungradable"
    assert LoopGrader().grade(messages)["verdict"] == "pass"
    assert LoopGrader(config={"step_types": ["tool"]}).grade(messages)["verdict"] == "ungradable"
    assert LoopGrader().grade([*messages, *messages[-2:] * 6])["verdict"] == "fail"
