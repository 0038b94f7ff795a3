"""Server-sent events: a batch's counts while it is graded, to its end."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import httpx
import orjson
import pytest

from support import requests
from support.cases import hazard_case, true_false_cases
from support.http import HttpServer
from support.uploads import lines_of, problem, upload
from support.waiting import eventually
from weighbridge.store.key_names import key
from weighbridge_producer.batch_shapes import BatchSummary
from weighbridge_producer.client.http_client import HttpClient
from weighbridge_producer.service.caches import live_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers import TcpServer
    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.client.redis_client import RedisClient


@dataclass(frozen=True)
class Event:
    name: str
    mark: str
    data: dict[str, Any]


def events_of(answer: httpx.Response) -> Iterator[Event]:
    """Read events as they arrive, as the specification of EventSource has it."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line and not line.startswith(":"):
            fields[name] = value
        elif "data" in fields:
            yield Event(fields["event"], fields["id"], orjson.loads(fields["data"]))
            fields = {}


def events(service: HttpServer, batch: str, seen: str = "") -> list[Event]:
    """Return every event to the end."""
    headers = {"Last-Event-ID": seen} if seen else {}
    address = f"{service.url}/api/batches/{batch}/events"
    with requests.stream("GET", address, headers=headers, timeout=60) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        return list(events_of(answer))


def submitted(service: HttpServer, count: int) -> str:
    return upload(service.url, lines_of(true_false_cases(count))).json()["batch_id"]


class TestTelling:
    @pytest.mark.slow
    def test_counts_are_told_as_they_change_and_then_the_end(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        batch = submitted(service, 20_000)
        *told, end = events(service, batch)
        assert {event.name for event in told} == {"counts"}
        graded = [event.data["counts"]["graded"] for event in told]
        assert graded == sorted(graded)
        assert len({event.mark for event in told}) == len(told)
        assert graded[-1] == 20_000
        state = client.batch(batch).status()
        assert (end.name, end.data) == ("end", asdict(BatchSummary.of(state)))

    @pytest.mark.slow
    def test_they_come_at_most_twice_a_second_but_for_the_first(
        self, service: HttpServer, worker: WorkerProcess
    ) -> None:
        start = time.monotonic()
        told = events(service, submitted(service, 20_000))
        looks = (time.monotonic() - start) / live_batches.LOOK_SECONDS
        assert len(told) <= looks + live_batches.EARLY_LOOKS + 3

    def test_what_was_seen_is_not_told_again(
        self, service: HttpServer, worker: WorkerProcess
    ) -> None:
        batch = submitted(service, 3)
        *_, last, end = events(service, batch)
        assert [event.name for event in events(service, batch, last.mark)] == ["end"]
        assert [event.name for event in events(service, batch, "another")] == ["counts", "end"]
        # An EventSource takes this for no reason to ask again.
        answer = requests.get(
            f"{service.url}/api/batches/{batch}/events", headers={"Last-Event-ID": end.mark}
        )
        assert (answer.status_code, answer.content) == (204, b"")

    def test_a_batch_that_is_deleted_is_told_as_a_problem(self, service: HttpServer) -> None:
        store = service.service.client
        batch = store.open("cases", ())
        address = f"{service.url}/api/batches/{batch.id}/events"
        with requests.stream("GET", address, timeout=60) as answer:
            told = events_of(answer)
            assert next(told).name == "counts"
            # Without the cancellation before it, which a listener may be told of as the batch's end.
            store.store._run("delete", batch.id, 60, 0)
            *_, last = told
        assert (last.name, last.data["code"]) == ("problem", "BATCH_NOT_FOUND")

    def test_a_comment_comes_when_nothing_else_does(
        self, service: HttpServer, client: RedisClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_batches, "HEARTBEAT_SECONDS", 0.1)
        batch = client.open("cases", ())
        address = f"{service.url}/api/batches/{batch.id}/events"
        with requests.stream("GET", address, timeout=60) as answer:
            lines = answer.iter_lines()
            assert [line for line, _ in zip(lines, range(20), strict=False)].count(":") > 3

    def test_a_client_sees_that_time_passes_in_a_batch_without_changes(
        self, service: HttpServer, client: RedisClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_batches, "HEARTBEAT_SECONDS", 0.1)
        batch = client.open("cases", ())
        with HttpClient(service.url) as http:
            states = list(islice(http.batch(batch.id).states(), 5))
        assert [state.lacks_input for state in states] == [True] * 5


class TestListeners:
    @pytest.mark.slow
    def test_all_that_listen_to_one_batch_share_one_look(
        self, server: EmbeddedServer, worker: WorkerProcess
    ) -> None:
        with HttpServer(server.url) as service:
            cases = [hazard_case(f"s{n}", "sleeps", expected=0.05) for n in range(60)]
            batch = upload(service.url, lines_of(cases)).json()["batch_id"]
            redis = service.service.client.store.redis
            before = redis.info("commandstats")["cmdstat_hmget"]["calls"]
            start = time.monotonic()
            told: list[list[Event]] = []
            threads = [
                threading.Thread(target=lambda: told.append(events(service, batch)))
                for _ in range(30)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            looks = (time.monotonic() - start) / live_batches.LOOK_SECONDS
            asked = redis.info("commandstats")["cmdstat_hmget"]["calls"] - before
        assert len(told) == 30
        assert {events[-1].name for events in told} == {"end"}
        # One look at the start for each, to tell a batch that is not there; then one for all. Workers ask too.
        assert asked < 30 + 2 * looks + live_batches.EARLY_LOOKS + 60

    def test_too_many_are_told_to_come_again(
        self, server: EmbeddedServer, client: RedisClient
    ) -> None:
        batch = client.open("cases", ())
        with HttpServer(server.url, listeners_at_once=2) as service:
            address = f"{service.url}/api/batches/{batch.id}/events"
            follow = f"{service.url}/api/batches/{batch.id}/results?format=ndjson&follow=true"
            with requests.stream("GET", address) as one, requests.stream("GET", address) as two:
                both = events_of(one), events_of(two)
                assert [next(told).name for told in both] == ["counts", "counts"]
                assert problem(requests.get(address)) == (503, "TOO_MANY_LISTENERS")
                assert problem(requests.get(follow)) == (503, "TOO_MANY_LISTENERS")
            # Those that hang up make room.
            eventually(lambda: not service.service.live.listeners)
            with requests.stream("GET", address) as three:
                assert three.status_code == 200

    def test_nobody_looks_at_a_batch_that_nobody_listens_to(
        self, server: EmbeddedServer, client: RedisClient
    ) -> None:
        batch = client.open("cases", ())
        with HttpServer(server.url) as service:
            address = f"{service.url}/api/batches/{batch.id}/events"
            with requests.stream("GET", address) as answer:
                told = events_of(answer)
                assert next(told).name == "counts"
                assert service.service.live.batches == {batch.id}
            eventually(lambda: not service.service.live.batches)

    def test_streams_end_when_the_service_stops(self, own_server: EmbeddedServer) -> None:
        service = HttpServer(own_server.url)
        with service:
            batch = submitted(service, 3)
            client = httpx.Client(verify=False, timeout=60)
            request = client.build_request("GET", f"{service.url}/api/batches/{batch}/events")
            answer = client.send(request, stream=True)
            told = events_of(answer)
            assert next(told).name == "counts"
            start = time.monotonic()
        assert time.monotonic() - start < 5
        assert list(told) == []
        client.close()

    def test_who_is_slow_gets_only_the_newest(self, service: HttpServer) -> None:
        client = service.service.client
        batch = client.open("cases", ())

        async def listen() -> tuple[list[BatchState], list[BatchState]]:
            hub = live_batches.LiveBatches(client, asyncio.Event())
            slow, quick = hub.snapshots(batch.id), hub.snapshots(batch.id)
            states = [(await anext(listener)).state for listener in (slow, quick)]
            assert states[0] == states[1]
            await asyncio.to_thread(batch.pause)
            paused = await anext(snapshot.state async for snapshot in quick if snapshot)
            await asyncio.to_thread(batch.cancel)
            rest = [snapshot.state async for snapshot in quick if snapshot]
            return [paused, *rest], [snapshot.state async for snapshot in slow if snapshot]

        of_quick, of_slow = asyncio.run(listen())
        assert len(of_quick) >= 2
        assert of_slow == of_quick[-1:] == [batch.status()]

    def test_a_store_that_is_away_is_waited_for(
        self, tcp_server: TcpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_batches, "HEARTBEAT_SECONDS", 0.2)
        with HttpServer(tcp_server.url) as service:
            batch = service.service.client.open("cases", ())
            address = f"{service.url}/api/batches/{batch.id}/events"
            with requests.stream("GET", address, timeout=60) as answer:
                told = events_of(answer)
                assert next(told).name == "counts"
                tcp_server.kill()
                tcp_server.start()
                eventually(lambda: batch.cancel().status.final)
                *_, end = told
        assert (end.name, end.data["status"]) == ("end", "cancelled")

    def test_a_state_that_cannot_be_read_any_more_is_told_and_ends_the_stream(
        self, service: HttpServer
    ) -> None:
        store = service.service.client.store
        batch = service.service.client.open("cases", ())
        address = f"{service.url}/api/batches/{batch.id}/events"
        with requests.stream("GET", address, timeout=60) as answer:
            told = events_of(answer)
            assert next(told).name == "counts"
            store.redis.hset(key(batch.id, "meta"), "lines", "many")
            *_, problem = told
        assert (problem.name, problem.data["code"]) == ("problem", "BATCH_ERROR")
