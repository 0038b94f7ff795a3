"""Batches from submission to their end, on a real server with a real worker."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from support.cases import (
    assert_counts_agree,
    assert_graded_right,
    hazard_case,
    results_by_id,
    true_false_cases,
    write_cases,
)
from support.chunks import FAILURE, claimed
from support.servers import TcpServer
from support.waiting import eventually
from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    BatchLostError,
    ChunkConflictError,
    NoSuchResultError,
    ServerFullError,
    StaleCursorError,
    UnknownGraderError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.error_codes import RETRY_REOPENS
from weighbridge.settings import MIB, Settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cases import Case
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.jobs.chunk import Chunk
    from weighbridge_producer import Batch


class TestLookingUp:
    def test_one_result_is_found_by_its_custom_id(
        self, client: RedisClient, worker: WorkerProcess
    ) -> None:
        batch = client.submit(true_false_cases(3000))
        batch.wait(30)
        for number in (0, 1, 63, 64, 1500, 2999):
            (result,) = batch.result(f"c{number}")
            assert (result["custom_id"], result["line"]) == (f"c{number}", number + 1)

    def test_an_unknown_id_has_no_result(self, client: RedisClient, worker: WorkerProcess) -> None:
        batch = client.submit(true_false_cases(3))
        batch.wait(30)
        with pytest.raises(NoSuchResultError, match="has no case 'c3'"):
            batch.result("c3")

    def test_an_id_that_is_not_finished_says_so(self, own_server: EmbeddedServer) -> None:
        with RedisClient(own_server.url) as client:
            batch = client.submit(true_false_cases(3))
            with pytest.raises(NoSuchResultError, match="is not finished"):
                batch.result("c2")

    def test_a_case_of_several_graders_has_a_result_of_each(
        self, client: RedisClient, worker: WorkerProcess
    ) -> None:
        case = hazard_case("both", "")
        del case["grader"]
        case["graders"] = [{"grader": "true-false"}, {"grader": "string-match", "label": "exact"}]
        batch = client.submit([case])
        batch.wait(30)
        assert sorted(result["label"] for result in batch.result("both")) == ["exact", "true-false"]

    def test_results_of_a_chunk_that_was_cut_are_found_on_both_sides(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url, 1, chunk_budget_seconds=0.1)
        with RedisClient(own_server.url) as client:
            batch = client.submit(hazard_case(f"s{n}", "sleeps", expected=0.03) for n in range(20))
            batch.wait(30)
            assert len(list(client.store.records(batch.id))) > 2
            for number in range(20):
                assert batch.result(f"s{number}")[0]["line"] == number + 1


class TestCutting:
    @pytest.mark.parametrize(
        ("cases", "sizes"),
        [
            (3, [3]),
            (64, [16, 16, 16, 16]),
            (68, [16, 16, 16, 16, 2, 1, 1]),
            (100, [16, 16, 16, 16, 16, 10, 5, 3, 2]),
        ],
    )
    def test_the_last_of_many_chunks_are_small_so_that_workers_end_at_the_same_time(
        self, own_server: EmbeddedServer, tmp_path: Path, cases: int, sizes: list[int]
    ) -> None:
        source = write_cases(tmp_path / "cases.jsonl", true_false_cases(cases))
        with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=16)) as client:
            found = chunks_of(client, client.submit(source))
        assert [chunk.line_count for chunk in found] == sizes
        assert [chunk.first_line for chunk in found] == [
            1 + sum(sizes[:number]) for number in range(len(sizes))
        ]

    def test_chunks_are_of_a_mebibyte_until_it_is_known_how_long_a_job_takes(
        self, own_server: EmbeddedServer, tmp_path: Path
    ) -> None:
        answer = {"agent_response": "x" * 10_000, "expected_output": "x"}
        cases = ({"custom_id": f"job-{number:03d}", "inputs": answer} for number in range(700))
        source = write_cases(tmp_path / "cases.jsonl", cases)
        with RedisClient(own_server.url) as client:
            found = chunks_of(client, client.submit(source, graders=["true-false"]))
        line_bytes = source.stat().st_size // 700
        # The last ones are smaller again.
        for chunk in found[1:5]:
            assert MIB <= len(chunk.raw) < MIB + line_bytes

    def test_what_cannot_be_read_again_is_not_held_back(self, own_server: EmbeddedServer) -> None:
        behind: list[int] = []

        def slow() -> Iterator[Case]:
            for number, case in enumerate(true_false_cases(100), 1):
                yield case
                behind.append(number - client.store.position(batch.id).lines)

        with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=16)) as client:
            batch = client.open("cases", ())
            client.submit(slow(), resume=batch.id)
            sizes = [chunk.line_count for chunk in chunks_of(client, batch)]
        assert sizes == [16, 16, 16, 16, 16, 16, 4]
        assert max(behind) == 15

    def test_blank_lines_fill_a_chunk_too(self, own_server: EmbeddedServer, tmp_path: Path) -> None:
        source = write_cases(tmp_path / "cases.jsonl", true_false_cases(1))
        source.write_bytes(b"\n" * 120_000 + source.read_bytes())
        with RedisClient(own_server.url) as client:
            batch = client.submit(source)
            sizes = [chunk.line_count for chunk in chunks_of(client, batch)]
            assert batch.status().counts.total == 1
        assert sizes == [50_000, 50_000, 20_001]


def chunks_of(client: RedisClient, batch: Batch) -> list[Chunk]:
    numbers = range(batch.status().chunks)
    found = [client.store.submitted(batch.id, number) for number in numbers]
    return [chunk for chunk in found if chunk]


class TestDuplicates:
    """Duplicate ids; lines are written as the id and a digit that distinguishes different lines of one id."""

    @pytest.mark.parametrize("chunk_limit_jobs", [1, 2, 3, 1000])
    def test_the_same_line_is_one_job_and_another_is_a_conflict_whatever_the_chunks(
        self, server: EmbeddedServer, worker: WorkerProcess, chunk_limit_jobs: int
    ) -> None:
        order = "a1 b1 a1 a2 c1 a1 b2 b2 a2 a3 c1 d1 b1 b2"
        settings = Settings(chunk_limit_jobs=chunk_limit_jobs)
        with RedisClient(server.url, settings=settings) as client:
            batch = client.submit(map(self.case, order.split()))
            batch.wait(30)
            results = sorted(batch.results(follow=False), key=lambda result: result["line"])
            state = batch.status()
        assert_counts_agree(state, results)
        graded = [(r["custom_id"], r["line"]) for r in results if r["status"] == "graded"]
        assert graded == [("a", 1), ("b", 2), ("c", 5), ("d", 12)]
        conflicts = [(r["custom_id"], r["line"]) for r in results if r["status"] == "errored"]
        assert {r["error"]["code"] for r in results if r["error"]} == {"ID_CONFLICT"}
        assert conflicts == [
            *[("a", 4), ("b", 7), ("b", 8), ("a", 9), ("a", 10), ("b", 14)],
        ]
        assert state.duplicates == 4
        assert state.lines == 14

    @staticmethod
    def case(name: str) -> Case:
        return {
            "custom_id": name[0],
            "grader": "true-false",
            "inputs": {"agent_response": name[1], "expected_output": "true"},
        }


class TestCursors:
    def test_a_cursor_from_the_middle_gives_exactly_the_rest(
        self, client: RedisClient, worker: WorkerProcess
    ) -> None:
        batch = client.submit(true_false_cases(3000))
        batch.wait(30)
        pages = list(batch.pages(follow=False))
        assert len(pages) > 3
        for at, page in enumerate(pages):
            rest = list(batch.pages(str(page.cursor), follow=False))
            assert [p.lines for p in rest] == [p.lines for p in pages[at + 1 :]]

    @pytest.mark.parametrize(
        "cursor", ["nonsense", "0/1-1/0", "0.0.1-1.0_0-3.0123456789abcdef.end"]
    )
    def test_a_cursor_of_another_place_is_refused(
        self, client: RedisClient, worker: WorkerProcess, cursor: str
    ) -> None:
        batch = client.submit(true_false_cases(3))
        batch.wait(30)
        with pytest.raises(StaleCursorError):
            list(batch.results(cursor, follow=False))

    def test_results_are_streamed_while_they_come(
        self, client: RedisClient, worker: WorkerProcess
    ) -> None:
        batch = client.submit(true_false_cases(20_000))
        seen = [result["custom_id"] for result in batch.results()]
        assert batch.status().status == BatchStatus.COMPLETED
        assert sorted(seen) == sorted(f"c{number}" for number in range(20_000))


class TestEnding:
    def test_a_batch_cancelled_midway_keeps_what_was_graded(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url)
        with RedisClient(own_server.url) as client:
            slow = (hazard_case(f"s{n}", "sleeps", expected=0.01) for n in range(400))
            batch = client.submit(slow)
            eventually(lambda: batch.status().counts.graded, 30)
            state = batch.cancel()
            batch.wait(30)
            assert state.status in {BatchStatus.CANCELLED, BatchStatus.CANCELLING}
            state = batch.status()
            assert state.status == BatchStatus.CANCELLED
            assert state.counts.graded > 0
            assert state.counts.cancelled > 0
            assert state.counts.total == 400
            results = results_by_id(batch)
            assert len(results) == 400
            assert {r["error"]["code"] for r in results.values() if r["error"]} == {"CANCELLED"}
            assert batch.cancel() == batch.status()
            # Cancelled jobs can be retried.
            assert batch.retry() >= state.counts.cancelled
            batch.wait(60)
            results = results_by_id(batch)
            assert len(results) == 400
            assert batch.status().counts.graded == 400

    def test_a_batch_out_of_time_expires_with_what_was_graded(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url, sweep_seconds=0.2)
        settings = Settings(batch_expiry_seconds=3)
        with RedisClient(own_server.url, settings=settings) as client:
            batch = client.submit(
                [
                    *true_false_cases(100),
                    *(hazard_case(f"s{n}", "sleeps", expected=0.2) for n in range(100)),
                ]
            )
            state = batch.wait(30)
            assert state.status == BatchStatus.EXPIRED
            results = results_by_id(batch)
            assert len(results) == 200
            assert state.counts.graded > 0
            assert state.counts.expired > 0
            assert {r["error"]["code"] for r in results.values() if r["error"]} == {"EXPIRED"}

    def test_a_batch_whose_producer_never_finished_expires_and_says_so(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url, sweep_seconds=0.2)
        with RedisClient(own_server.url, settings=Settings(batch_expiry_seconds=1)) as client:
            batch = client.open("cases", ())
            state = batch.wait(30)
            assert state.status == BatchStatus.EXPIRED
            assert state.reason == "its producer never finished submitting it"

    def test_a_retry_grades_what_erred_again_and_nothing_twice(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        start_worker(own_server.url, job_deadline_seconds=0.3, chunk_budget_seconds=0.1)
        with RedisClient(own_server.url) as client:
            batch = client.submit(
                [
                    *true_false_cases(10),
                    hazard_case("endless", "loops"),
                    *true_false_cases(10, first=10),
                    hazard_case("deadly", "kills-itself"),
                    *true_false_cases(10, first=20),
                    hazard_case("raises", "raises"),
                    hazard_case("unknown", "no-such-grader"),
                    hazard_case("wrong", "true-false") | {"config": {"no_such": 1}},
                ]
            )
            batch.wait(60)
            before = results_by_id(batch)
            assert batch.retry() == 4  # but not what no retry can mend
            batch.wait(60)
            after = results_by_id(batch)
            assert len(after) == 35
            assert_graded_right(after, 30)
            codes = {name: r["error"]["code"] for name, r in after.items() if r["error"]}
            assert codes == {name: r["error"]["code"] for name, r in before.items() if r["error"]}
            assert codes == {
                "endless": "TIMEOUT",
                "deadly": "WORKER_KILLED",
                "raises": "GRADER_CRASHED",
                "unknown": "UNKNOWN_GRADER",
                "wrong": "INVALID_CONFIG",
            }
            assert batch.status().epoch == 1

    def test_a_retry_mends_what_another_worker_can_do(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        hasty = start_worker(own_server.url, job_deadline_seconds=0.2)
        with RedisClient(own_server.url) as client:
            batch = client.submit(
                [*true_false_cases(50), hazard_case("slow", "sleeps", expected=0.5)]
            )
            batch.wait(30)
            assert results_by_id(batch)["slow"]["error"]["code"] == "TIMEOUT"
            hasty.ask_to_stop()
            hasty.await_end()
            start_worker(own_server.url)
            assert batch.retry() == 1
            batch.wait(30)
            assert results_by_id(batch)["slow"]["status"] == "graded"
            assert batch.retry() == 0


class TestResuming:
    def test_a_batch_that_was_cancelled_takes_no_more(self, own_server: EmbeddedServer) -> None:
        with RedisClient(own_server.url) as client:
            batch = client.open("cases", ())
            batch.cancel()
            with pytest.raises(BatchClosedError, match="has ended and accepts no more") as refused:
                client.submit(true_false_cases(3), resume=batch.id)
            assert refused.value.hint == f"submit them as a new batch; {RETRY_REOPENS}"

    def test_a_changed_input_is_refused(self, own_server: EmbeddedServer, tmp_path: Path) -> None:
        stop_after_one = Settings(chunk_limit_jobs=10)
        cases = list(true_false_cases(100))
        with RedisClient(own_server.url, settings=stop_after_one) as client:
            batch = client.open("cases", ())
            with pytest.raises(RuntimeError):
                client.submit(broken_after(cases[:50]), resume=batch.id)
            # Given up, because an iterator cannot be read again; a file could be.
            assert batch.status().status == BatchStatus.FAILED
            batch = client.open("cases", ())
            feed_some(client, batch.id, write_cases(tmp_path / "a.jsonl", cases), chunks=3)
            changed = [hazard_case("c0", "true-false"), *cases[1:]]
            with pytest.raises(
                ChunkConflictError, match="its first 30 lines differ from the batch"
            ):
                client.submit(write_cases(tmp_path / "b.jsonl", changed), resume=batch.id)
            with pytest.raises(ChunkConflictError, match="has 5 lines, and the batch has 30"):
                client.submit(write_cases(tmp_path / "c.jsonl", cases[:5]), resume=batch.id)
            of_windows = (tmp_path / "a.jsonl").read_bytes().replace(b"\n", b"\r\n")
            (tmp_path / "d.jsonl").write_bytes(of_windows)
            with pytest.raises(ChunkConflictError, match="the same, apart from white space at"):
                client.submit(tmp_path / "d.jsonl", resume=batch.id)
            client.submit(tmp_path / "a.jsonl", resume=batch.id)
            assert batch.status().counts.total == 100
            with pytest.raises(ChunkConflictError, match="has more than the batch's 100 lines"):
                client.submit([*cases, *cases[:1]], resume=batch.id)

    def test_dicts_are_compared_with_lines_as_json_without_spaces(
        self, own_server: EmbeddedServer, tmp_path: Path
    ) -> None:
        cases = list(true_false_cases(20))
        spaced, dense = tmp_path / "spaced.jsonl", tmp_path / "dense.jsonl"
        spaced.write_text("".join(f"{json.dumps(case)}\n" for case in cases))
        dense.write_text("".join(f"{json.dumps(case, separators=(',', ':'))}\n" for case in cases))
        with RedisClient(own_server.url) as client:
            batch = client.submit(cases)
            why = "perhaps only in white space .* a dict as JSON without spaces"
            with pytest.raises(ChunkConflictError, match=why):
                client.submit(spaced, resume=batch.id)
            assert client.submit(dense, resume=batch.id).id == batch.id


def broken_after(cases: list[Case]):
    yield from cases
    raise RuntimeError("the source broke")


def feed_some(client: RedisClient, batch: str, path: Path, chunks: int) -> None:
    """Submit some chunks of a file and stop, as Ctrl-C does."""
    from weighbridge_producer.input.source import Source

    client.batch(batch).feed(
        Source(path, client.settings),
        should_stop=lambda: client.store.position(batch).chunks >= chunks,
    )
    assert client.store.position(batch).chunks == chunks


class TestServers:
    def test_an_emptied_server_is_a_lost_batch_and_never_a_silent_zero(
        self, own_server: EmbeddedServer
    ) -> None:
        with RedisClient(own_server.url) as client:
            batch = client.submit(true_false_cases(10))
            client.store.redis.flushall()
            for ask in (batch.status, batch.wait, batch.cancel, lambda: list(batch.results())):
                with pytest.raises(BatchLostError):
                    ask()
            with pytest.raises(BatchLostError):
                batch.result("c1")

    def test_a_full_server_makes_the_producer_wait_until_there_is_room(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        waits = threading.Event()
        with TcpServer(tmp_path_factory.mktemp("full")) as server:
            # High enough for the producer to meet the refusal itself.
            settings = Settings(memory_high_water=1e12, full_server_timeout_seconds=60)
            with RedisClient(server.url, settings=settings) as client:
                batch = client.open("cases", ())

                def feed() -> None:
                    from weighbridge_producer.input.source import Source

                    source = Source(true_false_cases(1000), settings)
                    with RedisClient(server.url, settings=settings) as other:
                        other.batch(batch.id).feed(source, on_wait=lambda _: waits.set())

                feeding = threading.Thread(target=feed, daemon=True)
                with server.full():
                    feeding.start()
                    assert waits.wait(20)
                    assert feeding.is_alive()
                feeding.join(20)
                assert not feeding.is_alive()
                assert batch.status().counts.total == 1000

    def test_a_full_server_still_lets_work_be_claimed_recorded_cancelled_and_sealed(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        with (
            TcpServer(tmp_path_factory.mktemp("full")) as server,
            RedisClient(server.url) as client,
        ):
            from weighbridge.grading.line_grader import LineGrader
            from weighbridge.grading.tally import Tally

            batch = client.submit(true_false_cases(300))
            unsealed = client.open("cases", ())
            store, queue = client.store, client.settings.queue
            with server.full():
                with pytest.raises(ServerFullError) as raised:
                    client.open("cases", ())
                assert raised.value.code == "REDIS_FULL"
                wake_often(client, times=40)  # a worker that is woken makes room
                store.seal(unsealed.id, 0, "")
                given_back = claimed(store, queue, "w/1").chunk
                assert store.renew(batch.id, str(given_back), "w/1", 60)
                assert store.release(batch.id, str(given_back), "w/1")
                failed = claimed(store, queue, "w/2").chunk
                assert store.count_failure(batch.id, failed, "w/2", FAILURE) == 1
                chunk = claimed(store, queue, "w/3").chunk
                assert store.renew(batch.id, str(chunk), "w/3", 60, at="0 0")
                tally = Tally()
                lines = store.chunk(batch.id, chunk).lines(chunk)
                results = b"".join(LineGrader().grade(line, tally) for line in lines)
                assert store.record(batch.id, chunk, results, tally) == "new"
                store.reschedule_check(batch.id)
                assert store.pause_batch(batch.id, paused=True)
                assert store.pause_batch(batch.id, paused=False)
                state = batch.cancel()
                assert state.status == BatchStatus.CANCELLED
                assert state.counts.graded == tally.jobs
                assert_counts_agree(batch.status(), batch.results(follow=False))


def test_jobs_are_graded_while_a_separate_broker_is_full(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("full-broker")
    with TcpServer(folder) as broker:
        start_worker(own_server.url, broker_url=broker.url, sweep_seconds=0.3)
        settings = Settings(broker_url=broker.url)  # type: ignore[arg-type]
        with RedisClient(own_server.url, settings=settings) as client, broker.full():
            batch = client.submit(true_false_cases(500))
            batch.wait(30)
            results = results_by_id(batch)
            assert len(results) == 500
            assert_graded_right(results, 500)


def wake_often(client: RedisClient, times: int) -> None:
    for _ in range(times):
        client.publisher.wake()


def test_a_grader_that_no_worker_has_is_refused_at_submission(
    client: RedisClient, worker: WorkerProcess
) -> None:
    with pytest.raises(UnknownGraderError, match="did you mean 'true-false'"):
        client.submit(true_false_cases(1), graders=["tru-false"])
    # What only the workers have is accepted here.
    batch = client.submit(
        [{"custom_id": "a", "inputs": {"agent_response": "stay", "expected_output": ""}}],
        graders=["sleeps"],
    )
    assert batch.wait(30).counts.passed == 1


def test_a_damaged_batch_is_told_as_such_and_hides_no_other(own_server: EmbeddedServer) -> None:
    with RedisClient(own_server.url) as client:
        sound, damaged = client.open("sound", ()), client.open("damaged", ())
        client.store.redis.hset(f"wb:{{{damaged.id}}}:meta", "lines", "many")
        client.store.redis.hset(f"wb:{{{damaged.id}}}:meta", "options", "[]")
        assert [state.batch_id for state in client.batches()] == [sound.id]
        with pytest.raises(BatchError, match="damaged"):
            damaged.status()
        with pytest.raises(BatchError, match="damaged"):
            damaged.options()
        assert damaged.delete()
