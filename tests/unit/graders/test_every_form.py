"""One run in every format gets the same verdicts and evidence, except for step ids and data that a format lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from support.trace_forms import (
    as_anthropic,
    as_atif,
    as_jaeger,
    as_openai_chat,
    as_openai_responses,
    as_openinference,
    as_otlp,
)
from weighbridge.graders import BudgetGrader, LoopGrader, ToolSchemaGrader
from weighbridge.traces import Step, ToolDefinition, Trace, Usage, read_trace
from weighbridge.traces.formats.native import to_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.graders import GraderResult, TraceGrader

SECOND = 10**9
NOON = 1_735_732_800 * SECOND  #: 2025-01-01T12:00:00Z
SEARCH = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "page": {"type": "integer"}},
    "required": ["q"],
}
FORMS: dict[str, Callable[[Trace], Any]] = {
    "native": to_native,
    "OpenAI chat": as_openai_chat,
    "OpenAI Responses": as_openai_responses,
    "Anthropic": as_anthropic,
    "ATIF": as_atif,
    "OTLP, new names": as_otlp,
    "OTLP, old names": lambda trace: as_otlp(trace, "old"),
    "OpenInference": as_openinference,
    "Jaeger": as_jaeger,
}
#: Duration of a loop, which is missing in formats without times of steps.
_SECONDS = re.compile(r", [\d.,]+ s\b")
Asked = tuple[str, dict[str, Any], str]


def run(*calls: Asked) -> Trace:
    """Return a run whose model makes one call after the other, and then answers."""
    steps = [Step(id="u", type="user", output="Look for it.")]
    for number, (name, arguments, result) in enumerate(calls):
        start = NOON + 4 * number * SECOND
        model = {"model": "gpt-4o", "usage": Usage(100 + 10 * number, 20, 120 + 10 * number, 0)}
        times = {"started_at": start, "ended_at": start + SECOND}
        steps.append(Step(id=f"m{number}", type="llm", output=f"Look {number}.", **model, **times))
        times = {"started_at": start + SECOND, "ended_at": start + 3 * SECOND}
        told = {"name": name, "arguments": arguments, "output": result, "parent_id": f"m{number}"}
        steps.append(Step(id=f"c{number}", type="tool", **told, **times))
    end = NOON + 400 * SECOND
    last = {"started_at": end, "ended_at": end + SECOND, "usage": Usage(500, 50, 550, 0)}
    steps.append(Step(id="m", type="llm", output="Here it is.", model="gpt-4o", **last))
    tools = (
        ToolDefinition("search", SEARCH, "S."),
        ToolDefinition("mail", {"type": "object"}, "M."),
    )
    return Trace(id="run", steps=tuple(steps), format="native", tools=tools)


RUNS = {
    "honest": run(*(("search", {"q": "lamp", "page": page}, f"page {page} of 5: {page * 7} lamps") for page in range(1, 6))),
    "stuck": run(*[("search", {"q": "lamp"}, "no answer")] * 6),
    "to and fro": run(*[("search", {"q": "lamp"}, "nothing"), ("mail", {"to": "a"}, "no such address")] * 4),
    "wrong arguments": run(("search", {"page": "two"}, "bad"), ("search", {"q": "lamp"}, "found"), ("serch", {"q": "x"}, "no such tool")),
    "no calls": run(),
}  # fmt: skip
GRADERS: dict[str, TraceGrader] = {
    "tokens": BudgetGrader(config={"max_tokens": 900, "max_input_tokens": 10_000, "max_output_tokens": 60}),
    "calls": BudgetGrader(config={"max_tool_calls": 5, "max_llm_calls": 4, "max_tool_calls_per_tool": {"search": 3}}),
    "loop": LoopGrader(),
    "tool-schema": ToolSchemaGrader(),
}  # fmt: skip


def with_common_ids(result: GraderResult, trace: Trace) -> dict[str, Any]:
    """Return a result in which each step id is replaced by the step's type and its number among these."""
    counts: dict[str, int] = {}
    names = {}
    for step in trace.steps:
        counts[step.type] = counts.get(step.type, 0) + 1
        names[step.id] = f"<{step.type} {counts[step.type]}>"
    # ATIF numbers its steps: other numbers in a description are not their ids.
    ids = re.compile(
        "|".join(
            rf"(?<=at step ){name}\b"
            if name.isdecimal() and len(name) < 4
            else rf"\b{re.escape(name)}\b"
            for name in sorted(names, key=len, reverse=True)
        )
    )

    def renamed(text: str) -> str:
        return ids.sub(lambda found: names[found[0]], _SECONDS.sub("", text))

    evidence = [
        {
            **entry,
            "step_ids": [names[step_id] for step_id in entry["step_ids"]],
            "description": renamed(entry["description"]),
        }
        for entry in result["evidence"]
    ]
    return {"verdict": result["verdict"], "evidence": evidence}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("judged", GRADERS)
def test_a_run_is_judged_alike_in_every_form(judged: str, name: str, form: str) -> None:
    grader, trace = GRADERS[judged], RUNS[name]
    written = read_trace(FORMS[form](trace))
    expected = with_common_ids(grader.grade(trace), trace)
    assert with_common_ids(grader.grade(written), written) == expected


def test_the_runs_are_such_that_every_verdict_is_at_stake() -> None:
    verdicts = {
        (judged, grader.grade(trace)["verdict"]) for judged, grader in GRADERS.items() for trace in RUNS.values()
    }  # fmt: skip
    assert verdicts == {(judged, verdict) for judged in GRADERS for verdict in ("pass", "fail")}


@pytest.mark.parametrize(
    ("form", "limit"),
    [
        ("OpenAI chat", "max_duration_ms"),
        ("Anthropic", "max_duration_ms"),
        ("ATIF", "max_step_latency_ms"),
    ],
)
def test_what_a_format_cannot_carry_is_ungradable_and_the_reason_is_reported(
    form: str, limit: str
) -> None:
    grader = BudgetGrader(config={limit: 10**9})
    trace = RUNS["honest"]
    assert grader.grade(trace)["verdict"] == "pass"
    bare = FORMS[form](trace)
    if form == "OpenAI chat":  # the API's messages have no times, though some programs add them
        for message in bare["messages"]:
            message.pop("timestamp", None)
    result = grader.grade(bare)
    assert result["verdict"] == "ungradable"
    assert any(not entry["passed"] and entry["description"] for entry in result["evidence"])


def test_chat_messages_alone_tell_no_tokens() -> None:
    messages = [{key: value for key, value in message.items() if key in {"role", "content", "tool_calls", "tool_call_id"}} for message in as_openai_chat(RUNS["honest"])["messages"]]  # fmt: skip
    result = GRADERS["tokens"].grade(messages)
    assert result["verdict"] == "ungradable"
    assert "no token counts" in str(result["evidence"])
    assert GRADERS["loop"].grade(messages)["verdict"] == "pass"
