"""Generated runs in the log formats of agents and tracing services: each call, result and token is counted once.

The runs have parallel calls, retries and failures, and the logs have the kinds of damage that real logs have.
"""

from __future__ import annotations

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_log_forms import (
    FORMS,
    NAMED,
    as_gemini_cli,
    as_google_adk,
    as_journal,
    as_vscode_chat,
    records_of,
)
from support.drawn_runs import counts, runs
from support.generated import examples
from weighbridge.traces import Trace, read_trace


def calls_of(trace: Trace) -> list[tuple[object, ...]]:
    return [(step.name, step.arguments, bool(step.error)) for step in trace.steps_of("tool")]


def read(written: object) -> Trace:
    return read_trace(json.loads(json.dumps(written)))


@given(runs(), st.sampled_from(sorted(FORMS)))
@settings(deadline=None, max_examples=examples(40))
def test_every_form_has_the_calls_and_counts_of_the_native_one(run: Trace, form: str) -> None:
    written = FORMS[form](run)
    found = read(written)
    assert found.format == form
    assert calls_of(found) == calls_of(run)
    assert counts(written) == counts(run)


@given(runs(), st.sampled_from(sorted(NAMED)), st.data())
@settings(deadline=None, max_examples=examples(40))
def test_a_record_that_stands_twice_counts_once(run: Trace, form: str, data: st.DataObject) -> None:
    written = FORMS[form](run)
    records = records_of(form, written)
    place = data.draw(st.integers(0, len(records) - 1))
    records.insert(place + 1, copy.deepcopy(records[place]))
    assert calls_of(read(written)) == calls_of(run)
    assert counts(written) == counts(run)


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(20))
def test_pieces_of_a_streamed_event_count_with_the_whole(run: Trace, data: st.DataObject) -> None:
    written = as_google_adk(run)
    events = written["events"]
    answers = [at for at, event in enumerate(events) if "usageMetadata" in event]
    place = data.draw(st.sampled_from(answers))
    text = events[place]["content"]["parts"][0]["text"]
    parts = [{"text": text[: data.draw(st.integers(1, len(text)))]}]
    piece = {**events[place], "id": "piece", "partial": True, "content": {"parts": parts}}
    events.insert(place, piece)
    assert calls_of(read(written)) == calls_of(run)
    assert counts(written) == counts(run)


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(20))
def test_a_message_that_is_told_again_as_it_grows_counts_as_it_is_last(
    run: Trace, data: st.DataObject
) -> None:
    about = as_gemini_cli(run)
    lines = [{key: value for key, value in about.items() if key != "messages"}]
    for message in about["messages"]:
        begun = {**message, "tokens": None, "toolCalls": []}
        if message["type"] == "gemini" and data.draw(st.booleans()):
            lines.append(begun)
        lines.append(message)
    assert calls_of(read(lines)) == calls_of(run)
    assert counts(lines) == counts(run)


@given(runs())
@settings(deadline=None, max_examples=examples(20))
def test_a_chat_session_and_the_journal_of_its_changes_are_the_same_run(run: Trace) -> None:
    written = as_vscode_chat(run)
    journal = as_journal(written)
    found, before = read(written), copy.deepcopy(journal)
    assert found == read_trace(journal)
    assert journal == before
    assert found.format == "vscode-chat"
    assert [step[:2] for step in calls_of(found)] == [step[:2] for step in calls_of(run)]
    outputs = [step.output or "" for step in run.steps_of("tool")]
    assert [step.output or "" for step in found.steps_of("tool")] == outputs
