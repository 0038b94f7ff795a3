"""Jobs that kill their whole worker: each is errored alone, and later workers grade the others."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from support.waiting import eventually
from support.workers import KeptWorker
from weighbridge.settings import Settings
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from weighbridge.embedded.server import EmbeddedServer

AROUND = 200
#: One death without blame, three with the job recorded, and some for jobs that ran at the same time.
STARTS_LIMIT = 8


@contextmanager
def kept(worker: KeptWorker) -> Iterator[KeptWorker]:
    """Stop a worker at the end of the block."""
    with ExitStack() as stack:
        stack.callback(worker.stop)
        yield worker


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("grader", ["kills-its-worker", "kills-its-group"])
def test_a_job_that_kills_its_whole_worker_is_errored_alone_and_another_batch_goes_on(
    own_server: EmbeddedServer, tmp_path: Path, grader: str
) -> None:
    cases = list(true_false_cases(AROUND))
    cases[AROUND // 2 : AROUND // 2] = [hazard_case("deadly", grader)]
    with (
        Client(own_server.url) as client,
        kept(KeptWorker(own_server.url, 2, tmp_path)) as worker,
    ):
        batch = client.submit(cases)
        eventually(lambda: worker.starts > 1, 60, "the first death")
        other = client.submit(true_false_cases(AROUND))
        other.wait(60)
        assert_graded_right(results_by_id(other), AROUND)
        batch.wait(200)
        print(f"{worker.starts} starts")
        results = results_by_id(batch)
        assert len(results) == AROUND + 1
        assert_graded_right(results, AROUND)
        assert results["deadly"]["error"]["code"] == "WORKER_KILLED"
        assert "the loss of its whole worker" in results["deadly"]["error"]["message"]
        assert batch.status().counts.errored == 1
        assert worker.starts <= STARTS_LIMIT


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_was_graded_beside_a_job_that_kills_its_worker_is_not_blamed(
    own_server: EmbeddedServer, tmp_path: Path
) -> None:
    """One of the slow jobs is running at each death of the worker, until it is graded while the other job is not."""
    slow = [hazard_case(f"slow-{number}", "sleeps", expected=1) for number in range(6)]
    deadly = hazard_case("deadly", "kills-its-worker")
    with (
        Client(own_server.url, settings=Settings(chunk_limit_jobs=1)) as client,
        kept(KeptWorker(own_server.url, 3, tmp_path)) as worker,
    ):
        batch = client.submit([*slow[:3], deadly, *slow[3:]])
        batch.wait(200)
        results = results_by_id(batch)
        statuses = {name: result["status"] for name, result in results.items()}
        assert statuses.pop("deadly") == "errored"
        assert statuses == {f"slow-{number}": "graded" for number in range(6)}
        assert worker.starts <= STARTS_LIMIT
