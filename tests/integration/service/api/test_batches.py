"""Batches over HTTP: listed, looked at, cancelled, retried, deleted."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson
import pytest

from support import requests
from support.cases import hazard_case, true_false_cases
from support.chunks import opened
from support.http import HttpServer
from support.uploads import lines_of, problem, upload
from support.waiting import eventually
from weighbridge.store import BatchOptions, new_batch_id
from weighbridge_producer.batch_shapes import BatchSummary
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

#: Paths of no batch; none may be more than not found.
NO_BATCHES = (
    *(
        "no-such-batch",
        "wb_",
        "wb_00000000_0_0",
        "*",
        "wb:{x}:meta",
        "\N{SNOWMAN}",
        "%00",
        "a" * 5000,
    ),
    *("..%2f..%2fetc", "wb_ffffffff_a8c00_" + "0" * 20, "'; DROP TABLE", "<script>"),
)


def submitted(service: HttpServer, count: int = 3) -> str:
    return upload(service.url, lines_of(true_false_cases(count))).json()["batch_id"]


class TestListing:
    def test_pages_follow_one_another_newest_first(self, own_server: EmbeddedServer) -> None:
        with HttpServer(own_server.url) as service:
            made = [submitted(service) for _ in range(7)]
            listed, cursor = [], ""
            while cursor is not None:
                query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
                page = requests.get(f"{service.url}/api/batches", params=query).json()
                assert len(page["batches"]) <= 3
                listed += [batch["batch_id"] for batch in page["batches"]]
                cursor = page["next_cursor"]
        assert listed == sorted(made, reverse=True)

    def test_a_cursor_holds_when_its_batch_is_deleted(self, own_server: EmbeddedServer) -> None:
        with HttpServer(own_server.url) as service:
            made = sorted((submitted(service) for _ in range(4)), reverse=True)
            page = requests.get(f"{service.url}/api/batches", params={"limit": 2}).json()
            assert page["next_cursor"] == made[1]
            assert requests.delete(f"{service.url}/api/batches/{made[1]}").status_code == 204
            rest = requests.get(f"{service.url}/api/batches", params={"cursor": made[1]}).json()
        assert [batch["batch_id"] for batch in rest["batches"]] == made[2:]

    def test_batches_of_one_second_are_each_listed_once(self, own_server: EmbeddedServer) -> None:
        with HttpServer(own_server.url) as service:
            store = service.service.client.store
            made = {
                opened(store, BatchOptions(), expiry_seconds=60, ttl_seconds=60) for _ in range(50)
            }
            listed, cursor = [], None
            for _ in range(50):
                page, cursor = store.batch_page(3, cursor)
                listed += page
                if not cursor:
                    break
        assert sorted(listed) == sorted(made)

    def test_what_a_batch_is_called_is_listed_with_it(
        self, service: HttpServer, worker: WorkerProcess
    ) -> None:
        body = lines_of(true_false_cases(2))
        upload(service.url, body, '?source=seven.jsonl&metadata={"run":"7"}')
        listed = requests.get(f"{service.url}/api/batches", params={"limit": 200}).json()["batches"]
        assert ("seven.jsonl", {"run": "7"}) in [(b["source"], b["metadata"]) for b in listed]

    def test_stored_metadata_that_is_no_text_hides_neither_its_batch_nor_others(
        self, own_server: EmbeddedServer
    ) -> None:
        with HttpServer(own_server.url) as service, RedisClient(own_server.url) as client:
            other, batch = submitted(service), submitted(service)
            meta = f"wb:{{{batch}}}:meta"
            options = orjson.loads(client.store.redis.hget(meta, "options"))
            for metadata, shown in (
                ({"run": 7, "of": None}, {"run": "7", "of": "null"}),
                ([1], {"metadata": "[1]"}),
            ):
                changed = orjson.dumps(options | {"metadata": metadata})
                client.store.redis.hset(meta, "options", changed)
                listed = requests.get(f"{service.url}/api/batches").json()["batches"]
                assert {b["batch_id"]: b["metadata"] for b in listed} == {other: {}, batch: shown}
                detail = requests.get(f"{service.url}/api/batches/{batch}").json()
                assert detail["options"]["metadata"] == shown
                for page in ("/", f"/batches/{batch}"):
                    assert requests.get(f"{service.url}{page}").status_code == 200
            client.store.redis.hset(meta, "options", orjson.dumps(options | {"source": 7}))
            listed = requests.get(f"{service.url}/api/batches").json()["batches"]
            assert [b["batch_id"] for b in listed] == [other]

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ("limit=0", 422),
            ("limit=201", 422),
            ("limit=x", 422),
            ("cursor=nonsense", 410),
            ("cursor=wb_00000000_0_%00", 410),
            ("curser=a", 422),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, service: HttpServer, query: str, status: int
    ) -> None:
        answer = requests.get(f"{service.url}/api/batches?{query}")
        assert problem(answer)[0] == status


class TestLooking:
    def test_a_batch_shows_its_counts_graders_and_options(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        body = lines_of([*true_false_cases(9), hazard_case("bad", "no-such-grader")])
        batch = client.batch(upload(service.url, body, "?grader=loop").json()["batch_id"])
        state = batch.wait(30)
        shown = requests.get(f"{service.url}/api/batches/{batch.id}").json()
        assert shown["counts"] == {
            "total": 10,
            "graded": 9,
            "passed": 6,
            "failed": 3,
            "ungradable": 0,
            "errored": 1,
            "cancelled": 0,
            "expired": 0,
            "pending": 0,
        }
        rows = {row["label"]: row for row in shown["graders"]}
        assert rows["true-false"]["graded"] == 9
        assert rows["true-false"]["causes"] == {"boolean_match: false negative": 3}
        assert rows["true-false"]["scores"] == [3, *[0] * 8, 6]
        assert shown["options"] == {
            "graders": [{"grader": "loop", "config": None, "label": "loop"}],
            "source": "upload",
            "metadata": {},
            "project": "default",
            "submitted_by": "local",
        }
        assert [entry["action"] for entry in shown["history"]] == ["submit"]
        assert shown == {
            **asdict(BatchSummary.of(state)),
            "graders": shown["graders"],
            "options": shown["options"],
            "history": shown["history"],
        }

    @pytest.mark.parametrize("batch", NO_BATCHES)
    @pytest.mark.parametrize(
        ("method", "rest"),
        [
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/cancel"),
            ("POST", "/retry"),
            ("GET", "/results"),
            ("GET", "/results?format=ndjson"),
            ("GET", "/results?format=ndjson&follow=true"),
            ("GET", "/results/c0"),
            ("GET", "/events"),
        ],
    )
    def test_what_is_no_batch_is_not_found_whatever_it_looks_like(
        self, service: HttpServer, batch: str, method: str, rest: str
    ) -> None:
        answer = requests.request(method, f"{service.url}/api/batches/{batch}{rest}")
        status, _ = problem(answer)
        assert status in ({404, 410} if "ffffffff" in batch else {404, 405})

    def test_an_expired_batch_says_so(self, service: HttpServer) -> None:
        gone = new_batch_id(1_000_000_000, 10)
        answer = requests.get(f"{service.url}/api/batches/{gone}")
        assert problem(answer) == (410, "BATCH_EXPIRED")


class TestEnding:
    @pytest.mark.slow
    def test_a_batch_is_cancelled_retried_and_deleted(
        self, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        with HttpServer(own_server.url) as service:
            batch = submitted(service, 200)  # there is no worker to grade it
            path = f"{service.url}/api/batches/{batch}"
            early = requests.post(f"{path}/retry")
            assert problem(early) == (409, "BATCH_ERROR")
            cancelled = requests.post(f"{path}/cancel").json()
            assert (cancelled["status"], cancelled["counts"]["cancelled"]) == ("cancelled", 200)
            assert requests.post(f"{path}/cancel").json() == cancelled
            start_worker(own_server.url)
            retried = requests.post(f"{path}/retry").json()
            assert (retried["retried"], retried["epoch"]) == (200, 1)
            eventually(lambda: requests.get(path).json()["status"] == "completed")
            assert requests.get(path).json()["counts"]["graded"] == 200
            assert requests.post(f"{path}/retry").json()["retried"] == 0
            deleted = requests.delete(path)
            assert (deleted.status_code, deleted.content) == (204, b"")
            assert problem(requests.get(path)) == (404, "BATCH_NOT_FOUND")
            assert problem(requests.delete(path)) == (404, "BATCH_NOT_FOUND")

    def test_a_batch_that_the_server_has_lost_is_gone(self, own_server: EmbeddedServer) -> None:
        with HttpServer(own_server.url) as service:
            batch = submitted(service)
            service.service.client.store.redis.flushall()
            answer = requests.get(f"{service.url}/api/batches/{batch}")
        assert problem(answer) == (410, "BATCH_LOST")


def test_an_address_tells_every_method_that_it_takes(service: HttpServer) -> None:
    allowed = {
        path: requests.put(f"{service.url}{path}").headers["allow"]
        for path in ("/api/batches", "/api/batches/x", "/api/batches/x/results/a/b", "/healthz")
    }
    assert allowed == {
        "/api/batches": "GET, POST",
        "/api/batches/x": "DELETE, GET",
        "/api/batches/x/results/a/b": "GET",
        "/healthz": "GET",
    }
