"""Limits in total and per project, so that no project starves the others."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.http import HttpServer
from support.uploads import NDJSON, HalfUpload, problem
from support.waiting import eventually
from weighbridge_producer.service.limits.slots import ByteBudget, Slot, Slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

LINE = b'{"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "y"}}\n'
ENDLESS = {"inputs": {"agent_response": "x", "expected_output": "y"}}


class FullError(Exception):
    """The refusal of these tests."""


def slots(most: int, of_one: int, waiting: int = 10) -> Slots:
    return Slots(most, of_one, FullError, waiting_of_one=waiting)


# --- The class that implements all limits -------------------------------------------------------------


def test_a_project_takes_its_share_and_leaves_the_rest_to_others() -> None:
    limit = slots(4, 2)
    first, _ = limit.take("a"), limit.take("a")
    with pytest.raises(FullError):
        limit.take("a")
    limit.take("b")
    limit.take("c")
    with pytest.raises(FullError):
        limit.take("d")
    first.release()
    first.release()  # twice is once
    assert limit.taken == 3
    limit.take("d")


def test_who_waits_is_served_by_how_little_the_project_has() -> None:
    async def story() -> list[str]:
        limit, order = slots(2, 2), []
        held = [limit.take("a"), limit.take("a")]

        async def wait(project: str) -> None:
            with await limit.turn(project):
                order.append(project)

        waiting = [asyncio.create_task(wait(project)) for project in ("a", "a", "b")]
        await asyncio.sleep(0)
        held[0].release()
        await asyncio.sleep(0)
        held[1].release()
        await asyncio.gather(*waiting)
        assert limit.taken == 0
        return order

    assert asyncio.run(story())[0] == "b"


def test_a_project_that_fills_the_line_is_refused_and_others_are_not() -> None:
    async def story() -> None:
        limit = slots(2, 1, waiting=3)
        held: list[Slot] = [limit.take("a")]
        waiting = [asyncio.create_task(limit.turn("a")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(FullError):
            await limit.turn("a")
        held.append(await limit.turn("b"))
        for slot in held:
            slot.release()
        for task in waiting:
            (await task).release()
        assert limit.taken == 0

    asyncio.run(story())


def test_who_stops_waiting_loses_nothing_for_others() -> None:
    async def story() -> None:
        limit = slots(1, 1)
        held = limit.take("a")
        with pytest.raises(FullError):
            await limit.turn("b", timeout_seconds=0.01)
        task = asyncio.create_task(limit.turn("b"))
        await asyncio.sleep(0)
        held.release()
        task.cancel()  # granted, and not taken
        with pytest.raises(asyncio.CancelledError):
            await task
        assert limit.taken == 0

    asyncio.run(story())


def test_bytes_over_a_projects_share_get_all_of_it() -> None:
    async def story() -> None:
        budget = ByteBudget(100, 50, FullError, waiting_of_one=5)
        with await budget.turn("a", 1_000):
            assert budget.taken == 50
            with await budget.turn("b", 50):
                assert budget.taken == 100
        assert budget.taken == 0

    asyncio.run(story())


# --- In the service -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[HttpServer]:
    settings = {"rate_limit_per_minute": 0, "listeners_at_once": 8, "job_deadline_seconds": 3.0}
    with HttpServer(server.url, keys_required=True, **settings) as service:
        yield service


def key_of(guarded: HttpServer, project: str, role: str = "submit") -> dict[str, str]:
    return {"Authorization": f"Bearer {guarded.make_key(role, project, project)}"}


def submit(guarded: HttpServer, key: dict[str, str]) -> httpx.Response:
    address = f"{guarded.url}/api/batches?grader=string-match"
    return requests.post(address, content=LINE, headers=NDJSON | key, timeout=60)


def test_uploads_that_only_begin_leave_room_for_another_project(guarded: HttpServer) -> None:
    greedy, modest = key_of(guarded, "greedy"), key_of(guarded, "modest")
    with ExitStack() as stack:
        for _ in range(8):
            half = HalfUpload(guarded.port, query="?grader=string-match", **greedy)
            stack.enter_context(half).send(b"{")
        eventually(lambda: guarded.service.uploads.taken == 4, 20, "the greedy ones")
        assert problem(submit(guarded, greedy)) == (503, "TOO_MANY_UPLOADS")
        assert submit(guarded, modest).status_code == 201
    eventually(lambda: guarded.service.uploads.taken == 0, 20, "their end")


def test_listeners_of_one_project_leave_room_for_another(guarded: HttpServer) -> None:
    greedy, modest = key_of(guarded, "greedy", "read"), key_of(guarded, "modest", "read")
    theirs, ours = (
        guarded.service.client.open("x", (), project=project).id for project in ("greedy", "modest")
    )
    with ExitStack() as stack:

        def listen(batch: str, key: dict[str, str]) -> int:
            address = f"{guarded.url}/api/batches/{batch}/events"
            stream = requests.stream("GET", address, headers=key, timeout=60)
            return stack.enter_context(stream).status_code

        assert [listen(theirs, greedy) for _ in range(6)] == [200] * 4 + [503] * 2
        assert listen(ours, modest) == 200
    eventually(lambda: guarded.service.listeners.taken == 0, 20, "their end")


def test_slow_trials_of_one_project_do_not_hold_up_another(guarded: HttpServer) -> None:
    greedy, modest = key_of(guarded, "greedy"), key_of(guarded, "modest")
    hog = guarded.service.trials
    with ExitStack() as stack:
        stack.enter_context(hog.take("greedy"))
        began = time.monotonic()
        address = f"{guarded.url}/api/graders/string-match/grade"
        answer = requests.post(address, json=ENDLESS, headers=modest, timeout=60)
        assert answer.status_code == 200
        assert time.monotonic() - began < 30
        with pytest.raises(httpx.ReadTimeout):
            requests.post(address, json=ENDLESS, headers=greedy, timeout=1)
    eventually(lambda: hog.taken == 0, 20, "the trials' end")


def test_large_lines_of_an_upload_take_turns(server: EmbeddedServer) -> None:
    with HttpServer(server.url, chunk_limit_bytes=1_000) as service:
        large = LINE.replace(b'"x"', b'"%b"' % (b"x" * 2_000)) + LINE
        address = f"{service.url}/api/batches?grader=string-match"
        held = [service.service.large_lines.take("default") for _ in range(2)]
        with pytest.raises(httpx.ReadTimeout):
            requests.post(address, content=large, headers=NDJSON, timeout=2)
        assert submit(service, {}).status_code == 201
        held[0].release()
        assert requests.post(address, content=large, headers=NDJSON, timeout=60).status_code == 201
        held[1].release()
        eventually(lambda: service.service.large_lines.taken == 0, 20, "the turns' end")


def test_a_project_that_has_all_it_may_store_takes_no_more_until_it_deletes(
    server: EmbeddedServer,
) -> None:
    settings = {"rate_limit_per_minute": 0, "project_limit_bytes": 3 * len(LINE)}
    with HttpServer(server.url, keys_required=True, **settings) as service:
        full, other = key_of(service, "full", "manage"), key_of(service, "other")
        held = [submit(service, full) for _ in range(3)]
        with HalfUpload(service.port, query="?grader=string-match", **full) as upload:
            upload.send(LINE + b"\n" * 400_000)
            status, body = upload.answer()
            assert (status, b"PROJECT_FULL" in body) == (507, True)
        assert submit(service, other).status_code == 201
        for answer in held:
            address = f"{service.url}/api/batches/{answer.json()['batch_id']}"
            assert requests.delete(address, headers=full, timeout=60).status_code == 204


def test_a_request_for_the_head_of_an_answer_gives_its_turn_back(server: EmbeddedServer) -> None:
    with HttpServer(server.url) as service:
        address = f"{service.url}/api/batches/{submit(service, {}).json()['batch_id']}/cases/a"
        assert requests.head(address, timeout=60).status_code == 200
        eventually(lambda: service.service.reads.taken == 0, 20, "the turn's end")
