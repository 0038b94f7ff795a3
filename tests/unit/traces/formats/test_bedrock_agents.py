"""Traces of Amazon Bedrock Agents: the parts of steps, collaborators, and what the console shows."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.vendor_sdks import BEDROCK_AGENTS
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.split import opens_session

NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z
ASKED, ANSWERED, RATIONALE, CALLED, RESULT, *_ = BEDROCK_AGENTS


def at(second):
    return (NOON + second) * 10**9


def parts(**held):
    return {"agentId": "A1", "trace": {"orchestrationTrace": held}}


def action(**held):
    return parts(invocationInput={"actionGroupInvocationInput": {"actionGroupName": "g", **held}})


def test_parts_become_steps():
    trace = read_trace(BEDROCK_AGENTS)
    assert (trace.format, trace.id) == ("bedrock-agents", "s")
    assert trace.steps == (
        Step(id="s1", type="llm", model="m", output="I look.", usage=Usage(9, 5), started_at=at(0), ended_at=at(1)),
        Step(id="s2", type="tool", parent_id="s1", name="get /find", arguments={"q": "x", "n": 2}, output="none", started_at=at(2), ended_at=at(3)),
        Step(id="s3", type="llm", model="m", usage=Usage(12, 3), started_at=at(4), ended_at=at(5)),
        Step(id="s4", type="tool", parent_id="s3", name="Reader", arguments={"text": "Read.", "type": "TEXT"}, output="Read it.", started_at=at(5), ended_at=at(8)),
        Step(id="s5", type="llm", parent_id="s4", model="m", output="Read it.", usage=Usage(4, 2), started_at=at(6), ended_at=at(7)),
        Step(id="s6", type="llm", model="m", output="Not there.", usage=Usage(20, 4), started_at=at(8), ended_at=at(9)),
    )  # fmt: skip
    assert (trace.metadata, trace.not_carried) == ({"agents": 2}, ())


def test_events_may_be_parts_alone_or_lines():
    expected = read_trace(BEDROCK_AGENTS)
    events = BEDROCK_AGENTS[:-1]
    assert read_trace([event["trace"] for event in events]) == expected
    assert read_trace("\n".join(map(json.dumps, events))) == expected
    assert read_trace({"sessionId": "s", "completion": events}) == expected
    assert opens_session(ASKED)


def test_the_steps_of_the_console_have_several_parts():
    held = [event["trace"]["trace"]["orchestrationTrace"] for event in BEDROCK_AGENTS[:5]]
    step = {key: item for parts in held for key, item in parts.items()}
    step |= {key: [step[key]] for key in ("invocationInput", "observation")}
    trace = read_trace([{"agentId": "A1", "callerChain": [], **step}])
    assert [(each.type, each.output) for each in trace.steps] == [
        ("llm", "I look."),
        ("tool", "none"),
    ]


def test_older_traces_have_no_outputs_of_models():
    events = [ASKED, RATIONALE, CALLED, RESULT, BEDROCK_AGENTS[5], BEDROCK_AGENTS[-2]]
    trace = read_trace(events)
    assert [step.type for step in trace.steps] == ["llm", "tool", "llm"]
    assert trace.missing["token_usage"] == "no output of a model records its usage"


def test_an_output_that_comes_after_what_it_led_to_counts_once():
    (answer,) = read_trace([ASKED, RATIONALE, CALLED, ANSWERED, RESULT]).steps_of("llm")
    assert (answer.output, answer.usage) == ("I look.", Usage(9, 5))


@pytest.mark.parametrize(
    ("given", "found", "output", "error"),
    [
        ("knowledgeBaseLookup", {"retrievedReferences": [{"content": {"text": "A"}}, {"content": {"text": "B"}}]}, "A\nB", None),
        ("codeInterpreterInvocation", {"executionOutput": "1"}, "1", None),
        ("codeInterpreterInvocation", {"executionError": "no x"}, "no x", "no x"),
        ("codeInterpreterInvocation", {"executionTimeout": True}, "timeout", "timeout"),
    ],
)  # fmt: skip
def test_results_are_read_by_their_kind(given, found, output, error):
    events = [
        parts(invocationInput={f"{given}Input": {"text": "x"}}),
        parts(observation={f"{given}Output": found}),
    ]
    (step,) = read_trace(events).steps
    assert (step.output, step.error) == (output, error)


def test_parallel_calls_are_answered_in_order():
    calls = [action(function="f", parameters=[]), action(function="h")]
    results = [parts(observation={"actionGroupInvocationOutput": {"text": text}}) for text in "ab"]
    trace = read_trace([ASKED, ANSWERED, *calls, *results])
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [("f", "a"), ("h", "b")]


def test_a_body_has_arguments_too():
    body = {"content": {"application/json": [{"name": "on", "type": "boolean", "value": "true"}]}}
    (step,) = read_trace([action(apiPath="/x", verb="post", requestBody=body)]).steps
    assert (step.name, step.arguments) == ("post /x", {"on": True})


def test_a_call_that_the_caller_carries_out_counts_once():
    inputs = [{"functionInvocationInput": {"actionGroup": "g", "function": "f", "parameters": []}}]
    control = {"returnControl": {"invocationId": "i", "invocationInputs": inputs}}
    traced = action(function="f", executionType="RETURN_CONTROL", invocationId="i")
    for events in ([traced, control], [ASKED, ANSWERED, control]):
        assert [step.name for step in read_trace(events).steps_of("tool")] == ["f"]


def test_failures_are_errors():
    failure = {"trace": {"failureTrace": {"failureReason": "no model"}}}
    asked_again = parts(observation={"repromptResponse": {"source": "PARSER", "text": "no answer"}})
    refused = parts(observation={"repromptResponse": {"source": "ACTION_GROUP", "text": "no q"}})
    broken = {"throttlingException": {"message": "too many"}}
    assert [(s.type, s.error) for s in read_trace([failure]).steps] == [("other", "no model")]
    for events, found in (
        ([ASKED, {**failure, "trace": {**ASKED["trace"], **failure}}], [("llm", "no model")]),
        ([ASKED, ANSWERED, asked_again], [("llm", "no answer")]),
        ([action(function="f"), refused], [("tool", "no q")]),
        ([ASKED, ANSWERED, broken], [("llm", None), ("other", "too many")]),
    ):
        assert [(step.type, step.error) for step in read_trace(events).steps] == found


def test_calls_of_another_kind_are_missing():
    event = parts(invocationInput={"invocationType": "BROWSER", "browserInvocationInput": {}})
    assert "tool_calls" in read_trace([ASKED, ANSWERED, event]).missing


def test_results_answer_the_calls_of_their_steps():
    calls = [parts(invocationInput={"traceId": f"t-{at}", "actionGroupInvocationInput": {"function": name}}) for at, name in enumerate("fg")]  # fmt: skip
    result = parts(observation={"traceId": "t-1", "actionGroupInvocationOutput": {"text": "of g"}})
    trace = read_trace([ASKED, ANSWERED, *calls, result])
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [
        ("f", None),
        ("g", "of g"),
    ]
    refused = parts(
        observation={"traceId": "t-1", "repromptResponse": {"source": "ACTION_GROUP", "text": "no"}}
    )
    trace = read_trace([ASKED, ANSWERED, *calls, refused])
    assert [step.error for step in trace.steps_of("tool")] == [None, "no"]


def test_a_collaborators_answer_is_the_result_of_the_call_of_it():
    def named(kind, name, **more):
        return {f"agentCollaboratorInvocation{kind}": {"agentCollaboratorName": name, **more}}

    calls = [parts(invocationInput={"traceId": "t", **named("Input", name)}) for name in "AB"]
    results = [
        parts(observation={"traceId": "t", **named("Output", name, output={"text": f"of {name}"})})
        for name in "BA"
    ]
    trace = read_trace([ASKED, ANSWERED, *calls, *results])
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [
        ("A", "of A"),
        ("B", "of B"),
    ]


def test_events_that_stand_twice_count_once():
    expected = read_trace(BEDROCK_AGENTS).steps
    assert read_trace([event for event in BEDROCK_AGENTS for _ in range(2)]).steps == expected
    assert read_trace(BEDROCK_AGENTS * 2).steps == expected
    inputs = [{"functionInvocationInput": {"actionGroup": "g", "function": "f"}}]
    control = {"returnControl": {"invocationId": "i", "invocationInputs": inputs}}
    assert len(read_trace([ASKED, ANSWERED, control, control]).steps_of("tool")) == 1


def test_calls_of_custom_orchestration_are_missing():
    custom = {"agentId": "A1", "trace": {"customOrchestrationTrace": {"event": {"text": "{}"}}}}
    assert "tool_calls" in read_trace([custom]).missing


def test_answers_of_which_only_the_rationale_or_the_text_is_recorded_count():
    def step(number, name):
        call = {"function": name}
        return [
            parts(rationale={"traceId": f"t-{number}", "text": f"I call {name}."}),
            parts(invocationInput={"traceId": f"t-{number}", "actionGroupInvocationInput": call}),
            parts(observation={"traceId": f"t-{number}", "actionGroupInvocationOutput": {"text": name}}),
        ]  # fmt: skip

    final = parts(observation={"traceId": "t-2", "finalResponse": {"text": "Done."}})
    trace = read_trace([*step(0, "f"), *step(1, "g"), final])
    expected = [
        ("llm", "I call f."),
        ("tool", "f"),
        ("llm", "I call g."),
        ("tool", "g"),
        ("llm", "Done."),
    ]
    assert [(each.type, each.output) for each in trace.steps] == expected
    late = [
        ASKED,
        ANSWERED,
        *step(0, "f")[1:],
        parts(rationale={"traceId": "t", "text": "I look."}),
    ]
    assert [each.type for each in read_trace(late).steps] == ["llm", "tool"]


def test_a_router_that_passes_on_what_a_collaborator_brought_asks_its_model_once():
    def routed(**held):
        return {"agentId": "A1", "trace": {"routingClassifierTrace": held}}

    name, text = {"agentCollaboratorName": "Reader"}, {"text": "Read it."}
    events = [
        routed(modelInvocationInput={"foundationModel": "m"}),
        routed(modelInvocationOutput={"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1}}}),
        routed(invocationInput={"agentCollaboratorInvocationInput": name}),
        routed(observation={"agentCollaboratorInvocationOutput": {**name, "output": text}}),
        routed(observation={"finalResponse": text}),
    ]  # fmt: skip
    assert [step.type for step in read_trace(events).steps] == ["llm", "tool"]
