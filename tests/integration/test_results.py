"""Search for results by their content, on a real server with a real worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
import pytest

from support.cases import hazard_case, true_false_cases
from support.grading import grade_open_chunks
from weighbridge.errors import (
    InvalidFilterError,
    NoSuchResultError,
    ResultsFreedError,
    StaleCursorError,
)
from weighbridge.settings import Settings
from weighbridge.store.result_filter import PAGE_LIMIT, ResultFilter
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.jobs.chunk import ChunkId
    from weighbridge.store.result_filter import ResultPage
    from weighbridge_producer.client.redis_batch import RedisBatch

Row = dict[str, Any]
AMPLE_SECONDS = 30.0
UNKNOWN = b"77:1-2.0123456789abcdef"  #: the name of no chunk
UNHURRIED = Settings(chunk_limit_jobs=20)
GRADERS = ["true-false", {"grader": "string-match", "label": "exact"}]
RESPONSES = ["yes", "no", 'said "maybe"', "Grüße aus KÖLN", "back\\slash", "tab\there"]


def mixed_lines() -> Iterator[bytes]:
    """Yield cases that pass, fail, cannot be graded, err, and contradict each other."""
    for number in range(120):
        inputs = {
            "agent_response": RESPONSES[number % len(RESPONSES)],
            "expected_output": "perhaps" if number % 11 == 3 else "true",
        }
        yield orjson.dumps({"custom_id": f"m{number}", "inputs": inputs}) + b"\n"
        if number % 13 == 5:
            yield b'{"custom_id": "broken\n'
        if number % 17 == 6:
            yield orjson.dumps({"custom_id": "m2", "inputs": {"agent_response": number}}) + b"\n"
        if number % 29 == 7:
            yield orjson.dumps({"custom_id": f"x{number}", "inputs": {}}) + b"\n"


@pytest.fixture(scope="module")
def mixed(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[RedisBatch]:
    """A graded batch of many chunks with every kind of result; do not change it."""
    with RedisClient(server.url, settings=UNHURRIED) as client:
        batch = client.submit(mixed_lines(), graders=GRADERS)
        batch.wait(60)
        assert batch.status().chunks > 4
        yield batch


def pages(
    batch: RedisBatch, wanted: ResultFilter, limit: int, seconds: float = AMPLE_SECONDS
) -> Iterator[ResultPage]:
    cursor = None
    while True:
        page = batch.search(wanted, cursor, limit, seconds)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def found(batch: RedisBatch, limit: int = 50, **wanted: str) -> list[Row]:
    """Return all that a filter lets through, page by page."""
    lines = (line for page in pages(batch, ResultFilter(**wanted), limit) for line in page.lines)
    return [orjson.loads(line) for line in lines]


def finished(client: RedisClient, batch: RedisBatch) -> list[ChunkId]:
    """Return the names of a batch's chunks that have results."""
    return sorted((chunk for chunk, _ in client.store.records(batch.id)), key=lambda c: c.number)


def all_results(batch: RedisBatch) -> list[Row]:
    return list(batch.results(follow=False))


def verdict(row: Row) -> str:
    return row["result"]["verdict"] if row["result"] else ""


def text_of(row: Row) -> str:
    return orjson.dumps(row).decode()


CHECKS: list[tuple[dict[str, str], Callable[[Row], bool]]] = [
    ({}, lambda _: True),
    ({"verdict": "fail"}, lambda row: verdict(row) == "fail"),
    ({"verdict": "ungradable"}, lambda row: verdict(row) == "ungradable"),
    ({"status": "graded"}, lambda row: row["status"] == "graded"),
    ({"status": "errored"}, lambda row: row["status"] == "errored"),
    ({"status": "cancelled"}, lambda _: False),
    ({"status": "errored", "verdict": "pass"}, lambda _: False),
    ({"label": "exact"}, lambda row: row["label"] == "exact"),
    ({"label": "exac"}, lambda _: False),
    ({"grader": "true-false"}, lambda row: row["grader"] == "true-false"),
    ({"grader": "true-false", "label": "exact"}, lambda _: False),
    (
        {"label": "true-false", "verdict": "pass"},
        lambda row: row["label"] == "true-false" and verdict(row) == "pass",
    ),
    ({"cause": "ID_CONFLICT"}, lambda row: (row["error"] or {}).get("code") == "ID_CONFLICT"),
    (
        {"cause": "MISSING_FIELD", "label": "exact"},
        lambda row: row["label"] == "exact" and (row["error"] or {}).get("code") == "MISSING_FIELD",
    ),
    (
        {"cause": "boolean_match: false negative"},
        lambda row: (
            row["label"] == "true-false"
            and verdict(row) == "fail"
            and row["result"]["evidence"][0].get("cause") == "false negative"
        ),
    ),
    (
        {"cause": "boolean_match"},
        lambda row: (
            verdict(row) == "fail" and row["result"]["evidence"][0]["check"] == "boolean_match"
        ),
    ),
    ({"cause": "boolean"}, lambda _: False),
    ({"cause": "no such reason"}, lambda _: False),
    ({"text": "köln"}, lambda row: "köln" in text_of(row).casefold()),
    (
        {"text": "kÖLN", "verdict": "fail"},
        lambda row: "KÖLN" in text_of(row) and verdict(row) == "fail",
    ),
    ({"text": 'said "MAYBE"'}, lambda row: r"said \"maybe\"" in text_of(row)),
    ({"text": r"said \"maybe\""}, lambda row: r"said \"maybe\"" in text_of(row)),
    ({"text": "back\\slash"}, lambda row: r"back\\slash" in text_of(row)),
    ({"text": "tab\there"}, lambda row: r"tab\there" in text_of(row)),
    ({"text": '"LABEL":"Exact"'}, lambda row: row["label"] == "exact"),
    ({"text": "m2"}, lambda row: "m2" in text_of(row)),
    ({"text": "nowhere at all"}, lambda _: False),
    ({"custom_id": "m2"}, lambda row: row["custom_id"] == "m2"),
    ({"custom_id": "m1"}, lambda row: row["custom_id"] == "m1"),
    (
        {"custom_id": "m2", "label": "exact"},
        lambda row: (row["custom_id"], row["label"]) == ("m2", "exact"),
    ),
    ({"custom_id": "M2"}, lambda _: False),
]


class TestFilters:
    @pytest.mark.parametrize(
        ("wanted", "matches"), CHECKS, ids=[str(wanted) for wanted, _ in CHECKS]
    )
    @pytest.mark.parametrize("limit", [3, 5000])
    def test_exactly_what_matches_is_found_in_the_order_of_the_log(
        self,
        mixed: RedisBatch,
        wanted: dict[str, str],
        matches: Callable[[Row], bool],
        limit: int,
    ) -> None:
        expected = [row for row in all_results(mixed) if matches(row)]
        assert found(mixed, limit, **wanted) == expected

    def test_the_filters_above_are_worth_trying(self, mixed: RedisBatch) -> None:
        rows = all_results(mixed)
        let_through = [sum(map(matches, rows)) for _, matches in CHECKS]
        assert sum(count > 0 for count in let_through) > 18

    def test_every_cause_that_the_summary_names_is_found_as_often_as_it_says(
        self, mixed: RedisBatch
    ) -> None:
        causes = [
            (group.label, cause, count)
            for group in mixed.summary()
            for cause, count in group.causes
        ]
        assert len(causes) > 4
        for label, cause, count in causes:
            assert len(found(mixed, label=label, cause=cause)) == count

    def test_a_pass_that_rests_on_no_facts_is_found_as_vacuous(
        self, client: RedisClient, worker: WorkerProcess
    ) -> None:
        empty = {"custom_id": "empty", "inputs": {"trace": {"steps": []}}, "grader": "tool-schema"}
        batch = client.submit([empty, *true_false_cases(3)])
        batch.wait(30)
        assert sum(group.vacuous for group in batch.summary()) == 1
        assert [row["custom_id"] for row in found(batch, cause="vacuous")] == ["empty"]

    @pytest.mark.parametrize(
        "wanted",
        [
            {"verdict": "good"},
            {"status": "done"},
            {"text": "x" * 1001},
            {"label": "x" * 257},
            {"custom_id": "\ud800"},
        ],
        ids=str,
    )
    def test_what_no_result_can_have_is_refused(self, wanted: dict[str, str]) -> None:
        with pytest.raises(InvalidFilterError) as refused:
            ResultFilter(**wanted)
        assert refused.value.hint

    def test_an_unknown_verdict_is_told_the_known_ones(self) -> None:
        with pytest.raises(InvalidFilterError, match="pass, fail, ungradable"):
            ResultFilter(verdict="passed")

    @pytest.mark.parametrize("limit", [0, -1, PAGE_LIMIT + 1])
    def test_a_page_of_an_impossible_size_is_refused(self, mixed: RedisBatch, limit: int) -> None:
        with pytest.raises(InvalidFilterError, match="ask for 1 to"):
            mixed.search(limit=limit)


class TestPages:
    def test_a_page_is_full_until_the_last_which_has_no_cursor(self, mixed: RedisBatch) -> None:
        found_pages = list(pages(mixed, ResultFilter(), 7))
        assert {len(page.lines) for page in found_pages[:-1]} == {7}
        assert all(page.complete for page in found_pages)
        assert 0 < len(found_pages[-1].lines) <= 7

    def test_a_cursor_stands_for_itself_in_a_url(self, mixed: RedisBatch) -> None:
        cursor = mixed.search(limit=3).cursor
        assert cursor
        assert quote(cursor, safe="") == cursor

    def test_without_time_every_page_still_gets_on_and_nothing_is_lost_or_doubled(
        self, mixed: RedisBatch
    ) -> None:
        hurried = list(pages(mixed, ResultFilter(text="m2"), 50, seconds=0))
        assert len(hurried) > 4
        assert not any(page.complete for page in hurried[:-1])
        lines = [line for page in hurried for line in page.lines]
        assert lines == [
            line for page in pages(mixed, ResultFilter(text="m2"), 50) for line in page.lines
        ]

    def test_a_running_batch_shows_what_there_is(self, own_server: EmbeddedServer) -> None:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(true_false_cases(30))
            assert batch.search() == batch.search(ResultFilter(custom_id="c3"))
            assert batch.search().lines == []
            assert batch.search().cursor is None
            grade_open_chunks(client.store, batch.id)
            assert len(batch.search().lines) == 30

    @pytest.mark.parametrize(
        "cursor",
        [
            "nonsense",
            "0.0.1-1.0.0",
            "7.0.1-1.0.end",
            "0.0.999999999999999999999-0.0.0",
            "0.0.1-1.0-1.0",
            "\u0660.0.1-1.0.0",
            "0.0.1-1.0.-5",
            "0.0.1-1.0.0\n",
            "\ud800",
            "9" * 5000,
        ],
    )
    def test_a_cursor_of_another_place_is_refused(self, mixed: RedisBatch, cursor: str) -> None:
        with pytest.raises(StaleCursorError) as refused:
            mixed.search(cursor=cursor)
        assert len(refused.value.message) < 300

    @pytest.mark.parametrize("offset", ["1", "999999999"])
    def test_a_cursor_into_the_middle_of_a_line_is_refused(
        self, mixed: RedisBatch, offset: str
    ) -> None:
        cursor = mixed.search(limit=3).cursor
        assert cursor
        with pytest.raises(StaleCursorError, match="this position in its results"):
            mixed.search(cursor=f"{cursor.rpartition('.')[0]}.{offset}")


class TestRetries:
    def test_a_chunk_that_was_retried_appears_once_and_older_cursors_are_refused(
        self, own_server: EmbeddedServer
    ) -> None:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(
                case | {"grader": "unknown"} if number % 25 == 7 else case
                for number, case in enumerate(true_false_cases(100))
            )
            grade_open_chunks(client.store, batch.id)
            cursor = batch.search(limit=3).cursor
            assert batch.retry() == 4
            with pytest.raises(StaleCursorError, match="was retried"):
                batch.search(cursor=cursor)
            under_way = [row["custom_id"] for row in found(batch)]
            assert len(under_way) == len(set(under_way)) < 100
            grade_open_chunks(client.store, batch.id)
            ids = [row["custom_id"] for row in found(batch, limit=9)]
            assert sorted(ids) == sorted(f"c{number}" for number in range(100))
            assert len(found(batch, status="errored")) == 4

    def test_a_place_between_two_chunks_that_a_retry_opens_is_refused_too(
        self, own_server: EmbeddedServer
    ) -> None:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(true_false_cases(60))
            grade_open_chunks(client.store, batch.id)
            store = client.store
            first, second, *_ = [chunk for chunk, _ in store.records(batch.id)]
            assert store.reopen(batch.id, first, 1, 3600)
            cursor = batch.search(limit=5).cursor
            assert store.reopen(batch.id, second, 1, 3600)
            grade_open_chunks(store, batch.id)
            with pytest.raises(StaleCursorError):
                batch.search(cursor=cursor)

    def test_the_parts_of_a_chunk_that_was_cut_appear_once(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url, 1, chunk_budget_seconds=0.1)
        with RedisClient(own_server.url) as client:
            batch = client.submit(hazard_case(f"s{n}", "sleeps", expected=0.03) for n in range(20))
            batch.wait(30)
            assert len(list(client.store.records(batch.id))) > 2
            ids = [row["custom_id"] for row in found(batch, limit=3)]
            assert sorted(ids) == sorted(f"s{number}" for number in range(20))
            for number in range(20):
                assert len(found(batch, custom_id=f"s{number}")) == 1


class TestWhatTheStoreHolds:
    @pytest.fixture
    def lone(self, own_server: EmbeddedServer) -> Iterator[tuple[RedisClient, RedisBatch]]:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(true_false_cases(60))
            grade_open_chunks(client.store, batch.id)
            yield client, batch

    def test_a_search_passes_over_freed_results_and_a_collector_refuses_to(
        self, lone: tuple[RedisClient, RedisBatch]
    ) -> None:
        client, batch = lone
        everything = all_results(batch)
        batch.free([str(finished(client, batch)[0])])
        remaining = found(batch)
        assert 0 < len(remaining) < 60
        assert all(row in everything for row in remaining)
        with pytest.raises(ResultsFreedError):
            all_results(batch)

    @pytest.mark.parametrize(
        "record", [b"", b"[]", b"nonsense", b'{"tally": 7}', b'{"tally": "{\\"summary\\": [[1]]}"}']
    )
    def test_a_chunk_whose_record_cannot_be_read_is_still_there_where_nothing_is_filtered(
        self, lone: tuple[RedisClient, RedisBatch], record: bytes
    ) -> None:
        client, batch = lone
        name = str(finished(client, batch)[0])
        client.store.redis.hset(f"wb:{{{batch.id}}}:chunks", name, record)
        assert len(found(batch)) == 60
        assert 0 < len(found(batch, verdict="fail")) < 20

    def test_forged_entries_and_lines_are_passed_over(
        self, lone: tuple[RedisClient, RedisBatch]
    ) -> None:
        client, batch = lone
        redis, log = client.store.redis, f"wb:{{{batch.id}}}:log"
        for chunk in (b"", b"-1", b"\xff", b"0:1", b"9" * 300, b"77", UNKNOWN):
            redis.xadd(log, {"chunk": chunk})
        redis.xadd(log, {"other": "x"})
        assert len(found(batch, limit=7, verdict="fail")) == 20

    def test_results_of_an_older_release_are_found_and_have_no_histogram(
        self, lone: tuple[RedisClient, RedisBatch]
    ) -> None:
        client, batch = lone
        redis, prefix = client.store.redis, f"wb:{{{batch.id}}}:"
        for name in map(str, finished(client, batch)):
            record = orjson.loads(redis.hget(prefix + "chunks", name))
            tally = orjson.loads(record["tally"])
            tally["summary"] = [row for row in tally["summary"] if '"score ' not in row[0]]
            old = {"versions": record["versions"], "checksum": record["checksum"]}
            redis.hset(
                prefix + "chunks",
                name,
                orjson.dumps(old | {"tally": orjson.dumps(tally).decode()}),
            )
        redis.hdel(prefix + "meta", *(f for f in redis.hkeys(prefix + "meta") if b'"score ' in f))
        assert len(found(batch, limit=7, verdict="fail")) == 20
        [group] = batch.summary()
        assert group.scores == (0,) * 10
        client.store.reopen(batch.id, finished(client, batch)[0], 1, 3600)
        grade_open_chunks(client.store, batch.id)
        [group] = batch.summary()
        assert 0 < sum(group.scores) < 60
        assert min(group.scores) == 0


class TestScores:
    def test_every_job_that_passed_or_failed_is_in_the_histogram(self, mixed: RedisBatch) -> None:
        for group in mixed.summary():
            assert sum(group.scores) == group.passed + group.failed
            assert (group.scores[0], group.scores[9]) == (group.failed, group.passed)

    def test_a_retry_counts_no_score_twice(self, own_server: EmbeddedServer) -> None:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(true_false_cases(60))
            grade_open_chunks(client.store, batch.id)
            before = batch.summary()
            client.store.reopen(batch.id, finished(client, batch)[1], 1, 3600)
            assert sum(batch.summary()[0].scores) == batch.status().counts.graded < 60
            grade_open_chunks(client.store, batch.id)
            assert batch.summary() == before


class TestSubmittedLines:
    def test_a_case_is_given_back_as_it_was_submitted(self, mixed: RedisBatch) -> None:
        lines = [line.strip() for line in mixed_lines()]
        assert mixed.case("m100") == next(line for line in lines if b'"m100"' in line)
        assert mixed.case("x7") == next(line for line in lines if b'"x7"' in line)

    def test_of_lines_in_conflict_the_owner_of_the_id_is_given(self, mixed: RedisBatch) -> None:
        line = mixed.case("m2")
        assert line
        assert orjson.loads(line)["inputs"]["agent_response"] == RESPONSES[2]

    def test_every_line_is_found_by_its_number(self, mixed: RedisBatch) -> None:
        lines = [line.strip() for line in mixed_lines()]
        assert list(map(mixed.case_finder(), range(1, len(lines) + 1))) == lines

    def test_lines_are_found_in_any_order(self, mixed: RedisBatch) -> None:
        lines = [line.strip() for line in mixed_lines()]
        find = mixed.case_finder()
        numbers = [*range(len(lines), 0, -1), *range(1, len(lines) + 1, 7)]
        assert [find(number) for number in numbers] == [lines[n - 1] for n in numbers]

    @pytest.mark.parametrize("number", [0, -1, 10_000, 10**30])
    def test_a_line_that_was_never_there_is_none(self, mixed: RedisBatch, number: int) -> None:
        assert mixed.case_finder()(number) is None

    @pytest.mark.parametrize("custom_id", ["m999", "", "x" * 5000, "m\x00"])
    def test_an_unknown_id_has_no_case(self, mixed: RedisBatch, custom_id: str) -> None:
        with pytest.raises(NoSuchResultError, match="has no case"):
            mixed.case(custom_id)

    def test_a_case_whose_inputs_are_freed_is_none(self, own_server: EmbeddedServer) -> None:
        with RedisClient(own_server.url, settings=UNHURRIED) as client:
            batch = client.submit(true_false_cases(30))
            grade_open_chunks(client.store, batch.id)
            batch.free([str(finished(client, batch)[0])])
            assert batch.case("c0") is None
            assert batch.case_finder()(1) is None

    def test_a_batch_tells_what_it_was_submitted_with(self, client: RedisClient) -> None:
        batch = client.submit(true_false_cases(1), graders=GRADERS, metadata={"run": "7"})
        options = batch.options()
        assert [spec.label for spec in options.graders] == ["true-false", "exact"]
        assert options.metadata == {"run": "7"}
