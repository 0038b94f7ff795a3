"""Results in any output form: collected on disk, then generated and sent in constant memory."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread

from weighbridge_producer.reports.case_lines import with_cases
from weighbridge_producer.reports.report import Report

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.reports.forms import Form
    from weighbridge_producer.service.responses.result_stream import ResultStream
    from weighbridge_producer.service.service import Service

    T = TypeVar("T")


async def report_blocks(
    service: Service,
    stream: ResultStream,
    form: Form,
    batch: RedisBatch,
    *,
    by_case: bool,
    adds_cases: bool = False,
) -> AsyncGenerator[bytes]:
    """Yield the blocks of a form after reading all results; `adds_cases` adds cases to result lines."""

    async def in_thread(work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=service.stream_threads)

    with TemporaryDirectory(prefix="weighbridge-") as folder:
        gathered = Path(folder) / "results.jsonl"
        with gathered.open("wb") as file:
            async with aclosing(stream.blobs()) as blobs:
                async for blob in blobs:
                    await in_thread(partial(file.write, blob))
        with gathered.open("rb") as lines:
            if adds_cases:
                graders = (await in_thread(batch.options)).graders
                blocks = with_cases(lines, batch.case_finder(), graders)
            else:
                blocks = form.blocks(Report(gathered, batch.id, by_case))
            while (block := await in_thread(partial(next, blocks, None))) is not None:
                yield block
