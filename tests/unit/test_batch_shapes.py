"""Batches as JSON: what the service writes is what the client reads, and says what the command line prints."""

from dataclasses import asdict

import msgspec

from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Counts, GraderSummary, Outcome
from weighbridge.store import BatchOptions, Durability
from weighbridge.store.audit import Action, Actor, Entry
from weighbridge_producer.batch_shapes import (
    AuditEntry,
    BatchDetails,
    BatchSummary,
    ResultsPage,
    SubmissionOptions,
    SubmittedBatch,
)

EACH = {outcome.value: 2**place for place, outcome in enumerate(Outcome)}
STATE = BatchState(
    batch_id="b1",
    status=BatchStatus.CANCELLING,
    counts=Counts(total=100, **EACH),
    created_at=1.5,
    expires_at=2.5,
    ended_at=None,
    sealed=True,
    chunks=3,
    lines=102,
    input_bytes=4096,
    duplicates=2,
    nondeterministic=1,
    grading_seconds=0.25,
    epoch=1,
    closing=BatchStatus.CANCELLED,
    reason="",
    paused=True,
    arrived_at=1.75,
)
SUMMARY = GraderSummary("l", "g", **EACH, vacuous=1, causes=(("why", 2), ("another", 1)))
OPTIONS = BatchOptions(
    graders=(GraderSpec("budget", {"max_tool_calls": 3}), GraderSpec("loop", label="loops")),
    source="cases.jsonl",
    metadata={"run": "7"},
    project="alpha",
    submitted_by="local",
)
ENTRY = Entry(Action.CANCEL, Actor("ann", "k1"), "alpha", "b1", {"status": "cancelled"}, at=1.125)
DURABILITY = Durability(disk=True, replicas=1, connected_replicas=2, append_only=True)


DOCUMENT = BatchDetails.of(
    STATE,
    graders=[SUMMARY.as_dict()],
    options=SubmissionOptions.of(OPTIONS),
    history=[AuditEntry.of(ENTRY)],
)


def test_what_the_service_writes_is_what_the_client_reads() -> None:
    read = msgspec.json.decode(msgspec.json.encode(DOCUMENT), type=BatchDetails)
    assert read.state() == STATE
    assert [row.summary() for row in read.graders] == [SUMMARY]
    assert read.options.options() == OPTIONS
    assert [entry.entry() for entry in read.history] == [ENTRY]


def test_the_durability_of_a_submitted_batch_survives_the_way() -> None:
    written = msgspec.json.encode(SubmittedBatch.of(STATE, durability=DURABILITY.as_dict()))
    read = msgspec.json.decode(written, type=SubmittedBatch)
    assert read.durability.text == str(DURABILITY)
    assert read.durability.durability() == DURABILITY


def test_a_state_says_over_http_what_the_command_line_prints_and_more() -> None:
    document = asdict(BatchSummary.of(STATE))
    more = {name: document.pop(name) for name in ("chunks", "epoch", "closing")}
    assert list(document.items()) == list(STATE.as_dict().items())
    assert more == {"chunks": 3, "epoch": 1, "closing": "cancelled"}


def test_counts_and_summaries_have_every_outcome_in_order() -> None:
    for document, shown in (
        (BatchSummary.of(STATE).counts, STATE.counts.as_dict()),
        (DOCUMENT.graders[0], SUMMARY.as_dict()),
    ):
        assert list(asdict(document).items()) == list(shown.items())


def test_a_batch_without_metadata_has_an_empty_object() -> None:
    assert SubmissionOptions.of(BatchOptions()).metadata == {}


def test_result_lines_keep_their_bytes() -> None:
    line = b'{"b": 1.0,  "a": "\\u00e9"}'
    written = msgspec.json.encode(ResultsPage([msgspec.Raw(line)], None, complete=True))
    assert written == b'{"results":[' + line + b'],"next_cursor":null,"complete":true}'
    [read] = msgspec.json.decode(written, type=ResultsPage).results
    assert bytes(read) == line
