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
    "elevenlabs": ("transcript", 2),
    "gemini-cli": ("messages", 1),
    "openai-assistants": ("steps", 0),
    "opencode": ("messages", 1, "parts", 1),
    "smolagents": (2,),
    "tau2-voice": ("ticks", 3),
    "toolbench": ("tree", "tree", "children", 1),
    "trae": ("llm_interactions", 0),
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


@pytest.mark.parametrize("number", ["2", 2.5, [2]])
def test_a_step_of_smolagents_without_its_number_is_not_left_out(number: Any) -> None:
    step = EXAMPLES["smolagents"][2]
    with pytest.raises(TraceError, match="step_number"):
        read_traces(replaced(EXAMPLES["smolagents"], (2,), {**step, "step_number": number}))
