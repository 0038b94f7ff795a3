"""Manually assembled chunks, and the single steps of a worker with them."""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import DIGEST_CHARACTERS, Chunk, ChunkId
from weighbridge.store import BatchOptions, ChunkUpload, FailureCount, Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.batch_state import Priority
    from weighbridge.store import ClaimResult, Recorded, Store

DAY = 86400
#: A failure of the first job of a line, with a limit of three.
FAILURE = FailureCount(0, 3, Fault("WORKER_KILLED", "it died", "see why"))


def a_line(name: str, response: str = "yes") -> bytes:
    """Return a passing case of `true-false`."""
    return (
        f'{{"custom_id": "{name}", "grader": "true-false", '
        f'"inputs": {{"agent_response": "{response}", "expected_output": "true"}}}}\n'
    ).encode()


def a_chunk(
    batch: str, number: int, lines: Sequence[bytes], first: int = 1, before: str = ""
) -> ChunkUpload:
    """Return lines as a chunk to be submitted; `before` is the digest of the lines before them."""
    raw, key = b"".join(lines), batch.encode()[-64:]
    names = [line.split(b'"')[3] for line in lines]
    ids = b"".join(
        blake2b(name, digest_size=8, key=key).digest()
        + blake2b(line, digest_size=4, key=key).digest()
        for name, line in zip(names, lines, strict=True)
    )
    digest = sha256(before.encode() + raw).hexdigest()
    end = first + len(lines)
    after = Position(number + 1, len(raw), end - 1, digest)
    chunk = ChunkId(number, first, end, digest[:DIGEST_CHARACTERS])
    return ChunkUpload(chunk, len(lines), after, Chunk(first, raw, len(lines)).pack(), ids, 0)


def a_batch(store: Store, queue: str = "", priority: Priority = "normal") -> str:
    """Open a batch."""
    options = BatchOptions(source="cases", queue=queue, priority=priority)
    return opened(store, options, expiry_seconds=DAY, ttl_seconds=7 * DAY)


def opened(store: Store, options: BatchOptions, **given: Any) -> str:
    """Create a batch without chunks, planned with what is given, and return its id."""
    planned = store.plan_batch(options, **given)
    store.create_batch(planned)
    return planned.id


def filled(store: Store, batch: str, sizes: Sequence[int], *, seal: bool = True) -> list[ChunkId]:
    """Store chunks with the given numbers of lines, named `c1` and so on, and return the chunks' names."""
    first, before, chunks = 1, "", []
    for number, size in enumerate(sizes):
        lines = [a_line(f"c{first + index}") for index in range(size)]
        chunk = a_chunk(batch, number, lines, first, before)
        store.submit_chunk(batch, chunk)
        chunks.append(chunk.id)
        first, before = first + size, chunk.after.prefix
    if seal:
        store.seal(batch, len(sizes), before)
    return chunks


def graded(store: Store, batch: str, chunk: ChunkId) -> tuple[bytes, Tally]:
    """Grade a chunk as a worker does."""
    tally, grader = Tally(), LineGrader()
    lines = store.chunk(batch, chunk).lines(chunk)
    results = b"".join(grader.grade(line, tally) for line in lines)
    return results, tally


def recorded(store: Store, batch: str, chunk: ChunkId) -> Recorded:
    """Grade a chunk and record it."""
    return store.record(batch, chunk, *graded(store, batch, chunk))


def claimed(store: Store, queue: str, token: str = "w/1", seconds: float = 60) -> ClaimResult:
    """Claim the next chunk of a queue, and assert that there is one."""
    claim = store.claim_next(queue, token, seconds)
    assert claim is not None, f"nothing waits on queue {queue!r}"
    return claim


def assert_counts_sum(store: Store, batch: str) -> None:
    """Assert that each job of a batch is counted once, and that its summary has the same sums."""
    counts = store.state(batch).counts
    finished = counts.graded + counts.errored + counts.cancelled + counts.expired
    assert counts.finished == finished
    assert counts.pending == counts.total - finished >= 0
    assert counts.graded == counts.passed + counts.failed + counts.ungradable
    groups = store.summary(batch)
    of_rows = [sum(getattr(group, name) for group in groups) for name in ("passed", "errored")]
    assert of_rows == [counts.passed, counts.errored]


def blamed(store: Store, batch: str) -> list[ChunkId]:
    """Return the open chunks with a counted failure of a job or death of a worker."""
    infos = [(chunk, store.info(batch, chunk)) for chunk in store.open_chunks(batch)]
    return [chunk for chunk, info in infos if info and (info.failures or info.suspicions)]


def keys_of(store: Store, batch: str) -> set[str]:
    """Return the names of a batch's keys, without their common prefix."""
    prefix = f"wb:{{{batch}}}:"
    return {key.decode().removeprefix(prefix) for key in store.redis.keys(f"*{batch}*")}
