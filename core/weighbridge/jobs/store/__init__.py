"""The store: every Redis key and script of a batch, behind typed methods that may each be called twice.

The keys of a batch, all under `wb:{<batch id>}:` and all dying together:

meta      hash    status, counts, the producer's place in its input, options
open      zset    chunks without results: minus the time last published, or, leased, the lease's end
claims    hash    leased chunk -> the execution's token, `<worker>/<random>`
sizes     hash    open chunk -> how many jobs it is counted as
records   hash    finished chunk -> grader versions, digest and tally of its results
log       stream  finished chunks in the order of their results; `end` once the batch has ended
summary   hash    ["label", "grader", "count", "cause"] -> jobs
ids       hash    index of custom_ids, 65,536 buckets of packed digests (see taken.lua)
fresh     hash    chunk number -> packed digests of its custom_ids, not in the index yet
digests   hash    chunk number -> digest of what was submitted under it
parts     hash    chunk number -> the parts that have results, where it was split
strikes   hash    deaths of worker children by chunk and job, and the jobs condemned for them
chunk:N   string  the chunk itself
result:C  string  the result lines of a chunk or part, compressed
prior:C   string  those of before a retry, until there are new ones
audit     list    who did what to it (see weighbridge.jobs.audit), the newest 100

Beside them `wb:batches` and `wb:batches:<project>` list batches by the time they were opened.
"""

from weighbridge.jobs.store.filling import Filling
from weighbridge.jobs.store.keys import dies_at, new_batch_id
from weighbridge.jobs.store.looking import Looking
from weighbridge.jobs.store.reading import Reading
from weighbridge.jobs.store.shapes import (
    ID_BYTES,
    BatchOptions,
    Charge,
    Claim,
    GapError,
    LogEntry,
    Looked,
    Pace,
    Position,
    Recorded,
    Submission,
    Taken,
)
from weighbridge.jobs.store.watching import Watching
from weighbridge.jobs.store.working import Working

__all__ = [
    "ID_BYTES",
    "BatchOptions",
    "Charge",
    "Claim",
    "GapError",
    "LogEntry",
    "Looked",
    "Pace",
    "Position",
    "Recorded",
    "Store",
    "Submission",
    "Taken",
    "dies_at",
    "new_batch_id",
]


class Store(Filling, Working, Watching, Reading, Looking):
    """Batches on one Redis server."""
