"""Logs with a request and its response on each line, as files of traces."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import orjson
import pytest

from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces import exchange_lines


def exchange(*texts: str, answer: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a request that says texts of the user and the model in turn, with its answer."""
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    message = {"role": "assistant", "content": answer}
    response = None if answer is None else {"choices": [{"message": message}]}
    return {"request": {"model": "m", "messages": said}, "response": response, **fields}


FIRST = exchange("Find x.", answer="Where?", id="r1")
SECOND = exchange("Find x.", "Where?", "Here.", answer="Found.", id="r2")
OTHER = exchange("Else.", answer="No.", id="r3")


def lines_of(data: bytes) -> list[Any]:
    return list(Source(io.BytesIO(data), Settings()))


def jsonl(*values: Any) -> bytes:
    return b"".join(orjson.dumps(value) + b"\n" for value in values)


def cases_of(data: bytes) -> list[tuple[str, Any]]:
    found = [orjson.loads(line.raw) for line in lines_of(data) if line.raw.strip()]
    return [(case["custom_id"], case["inputs"]["trace"]) for case in found if "inputs" in case]


def test_the_lines_of_a_conversation_are_one_case():
    [(name, trace)] = cases_of(jsonl(FIRST, SECOND))
    assert trace == [FIRST, SECOND]
    assert [step.output for step in read_trace(trace).steps_of("llm")] == ["Where?", "Found."]
    assert name not in {"r1", "r2"}


def test_conversations_may_be_interleaved_and_a_line_that_nothing_continues_keeps_its_name():
    again = exchange("Go.", answer="Where?")
    more = exchange("Go.", "Where?", "There.", answer="Gone.")
    found = cases_of(jsonl(FIRST, again, OTHER, SECOND, more))
    assert [trace for _, trace in found] == [[FIRST, SECOND], [again, more], OTHER]
    names = [name for name, _ in found]
    assert names[2] == "r3"
    assert [name.rsplit(":", 1)[-1] for name in names[:2]] == ["1", "2"]


def test_lines_that_no_other_continues_are_the_traces_that_they_are_alone():
    found = cases_of(jsonl(FIRST, OTHER))
    assert found == [("r1", FIRST), ("r3", OTHER)]


@pytest.mark.parametrize(
    "other",
    [
        b"null\n",
        b"7\n",
        b'"text"\n',
        b"[]\n",
        b"{}\n",
        b"not JSON\n",
        b'{"request": null, "response": null}\n',
        b'{"request": {"method": "GET", "body": null}, "response": {"body": {"data": []}}}\n',
        b'{"messages": [{"role": "user", "content": "Else."}]}\n',
    ],
)
def test_a_line_that_is_no_exchange_is_read_alone_and_parts_no_conversation(other):
    data = jsonl(FIRST) + other + jsonl(SECOND)
    lines = [line for line in lines_of(data) if line.raw.strip() or line.fault]
    assert orjson.loads(lines[0].raw)["inputs"]["trace"] == [FIRST, SECOND]
    assert len(lines) == 2
    assert sum(line.size for line in lines_of(data)) == len(data)


def test_blank_lines_and_a_last_line_that_was_cut_off_leave_the_others_joined():
    data = b"\n".join((jsonl(FIRST), jsonl(SECOND), b'{"request": {"mes'))
    [(_, trace)] = cases_of(data.removesuffix(b'{"request": {"mes'))
    assert trace == [FIRST, SECOND]
    assert orjson.loads(lines_of(data)[0].raw)["inputs"]["trace"] == [FIRST, SECOND]
    assert sum(line.size for line in lines_of(data)) == len(data)


def test_a_conversation_keeps_its_json_however_deep_it_is():
    deep = b"[" * 400 + b"]" * 400
    first = orjson.dumps(FIRST)[:-1] + b',"deep":' + deep + b',"n":1e2,"half":"\\ud83d"}'
    [line] = [line for line in lines_of(first + b"\n" + jsonl(SECOND)) if line.raw.strip()]
    assert deep in line.raw
    assert b'"n":1e2,"half":"\\ufffd"' in line.raw.lower()


def test_a_log_beyond_the_limit_is_read_line_by_line(monkeypatch):
    data = jsonl(FIRST, SECOND)
    monkeypatch.setattr(exchange_lines, "DOCUMENT_LIMIT_BYTES", len(data) - 1)
    assert cases_of(data) == [("r1", FIRST), ("r2", SECOND)]


def test_a_request_that_failed_and_its_retries_are_one_conversation():
    failed = {**exchange("Find x."), "response": {"error": {"message": "Overloaded"}}}
    [(_, trace)] = cases_of(jsonl(failed, failed, FIRST, SECOND))
    assert trace == [failed, failed, FIRST, SECOND]
    assert [step.error for step in read_trace(trace).steps_of("llm")] == [*["Overloaded"] * 2, None, None]  # fmt: skip
    assert [trace for _, trace in cases_of(jsonl(FIRST, FIRST))] == [FIRST, FIRST]
    assert [trace for _, trace in cases_of(jsonl(failed, FIRST, FIRST))] == [[failed, FIRST], FIRST]


def test_what_is_kept_of_many_requests_is_less_than_three_times_their_size():
    data = jsonl(*(exchange(f"{at}: " + "word " * 40, answer="Yes.") for at in range(10_000)))
    tracemalloc.start()
    for _ in Source(io.BytesIO(data), Settings()):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(data)
