"""An entry of a trace that is no object may have been a call or an answer: the trace is refused, and not read without it."""

from __future__ import annotations

from typing import Any

import pytest

from support.trace_examples import EXAMPLES
from weighbridge.errors import TraceError
from weighbridge.traces import read_traces

#: By format: the keys that lead to an entry of its example with a call or an answer.
ENTRIES: dict[str, tuple[str | int, ...]] = {
    "browser-use": ("history", 0),
    "codex-exec": (5,),
    "cursor-cli": (4,),
    "elevenlabs": ("transcript", 2),
    "gemini-cli": ("messages", 1),
    "google-adk-eval": ("eval_cases", 0, "conversation", 0, "intermediate_data", "tool_uses", 0),
    "jupyter-chat": ("messages", 1, "metadata", "tool_calls", 0),
    "openai-assistants": ("steps", 0),
    "opencode": ("messages", 1, "parts", 1),
    "promptflow": ("flow_runs", 0, "api_calls", 0),
    "smolagents": (2,),
    "tau2-voice": ("ticks", 3),
    "tool-eval": ("588", "answer", "answer_details", 0, "next", 0),
    "toolbench": ("tree", "tree", "children", 1),
    "trae": ("llm_interactions", 0),
    "vapi": ("messages", 6),
}


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """Return a copy of a JSON value with another value in place of the object at a path."""
    if not path:
        assert isinstance(value, dict)
        return new
    copied = value.copy()
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


@pytest.mark.parametrize("damaged", [None, 5, "x"])
@pytest.mark.parametrize("source", ENTRIES)
def test_a_trace_with_an_entry_that_is_no_object_is_refused(source: str, damaged: Any) -> None:
    assert read_traces(EXAMPLES[source])
    with pytest.raises(TraceError, match="is not an object"):
        read_traces(replaced(EXAMPLES[source], ENTRIES[source], damaged))


#: Formats that are recognised by their first entries, and the key of these.
LISTS = {"agno-events": None, "agent-framework": "messages", "llama-index-events": None}


@pytest.mark.parametrize("source", LISTS)
def test_a_list_with_an_entry_that_is_no_object_after_the_first_is_refused(source: str) -> None:
    key = LISTS[source]
    listed = EXAMPLES[source][key] if key else EXAMPLES[source]
    listed = [*listed, *listed[-1:] * 20]
    assert read_traces(listed)
    with pytest.raises(TraceError, match="is not an object"):
        read_traces([*listed, None])


def test_a_row_of_mastra_that_is_no_object_leaves_the_counts_open() -> None:
    rows = EXAMPLES["mastra"]["rows"]
    [trace] = read_traces({**EXAMPLES["mastra"], "rows": [*rows, None]})
    assert "damaged" in trace.missing["tool_calls"]


@pytest.mark.parametrize("number", ["2", 2.5, [2]])
def test_a_step_of_smolagents_without_its_number_is_not_left_out(number: Any) -> None:
    step = EXAMPLES["smolagents"][2]
    with pytest.raises(TraceError, match="step_number"):
        read_traces(replaced(EXAMPLES["smolagents"], (2,), {**step, "step_number": number}))


@pytest.mark.parametrize("damaged", [None, 5, {}, []])
def test_a_call_of_bfcl_that_is_neither_an_object_nor_text_is_not_left_out(damaged: Any) -> None:
    with pytest.raises(TraceError, match="neither an object nor text"):
        read_traces(replaced(EXAMPLES["bfcl"], ("result", 0, 0, 0), damaged))
