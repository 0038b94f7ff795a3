"""The store: all Redis keys and scripts of a batch, behind typed methods that are idempotent.

The keys of a batch all start with `wb:{<batch id>}:` and expire together:

meta      hash    status, counts, the producer's position in its input, options, and the rows of the summary:
                  ["label", "grader", "outcome", "cause"] -> jobs
open      zset    chunks without results; the score says when each may be claimed (see prelude.lua)
chunks    hash    <name>: ChunkInfo of an open chunk; grader versions, checksum and tally of a finished one
                  <name> results: the result lines, compressed; prior <name> [results]: the same from before a retry
                  <number>: name of the chunk submitted with that number; <number> lines: its lines as submitted
                  <number> parts: further chunk names that have results; <number> ids: packed digests of its
                  custom_ids, until they are indexed
log       stream  finished chunks in the order in which they were recorded; `end` once the batch has ended
ids       hash    index of custom_ids, 65,536 buckets of packed digests (see find_duplicates.lua)
lane:<c>  zset    open chunks that wait for a worker with a capability
audit     list    the batch's latest 100 audit entries (see weighbridge.store.audit)
deleted   string  marks a deleted batch, which would otherwise be reported as lost
"""

from weighbridge.store.admin import Administration
from weighbridge.store.durability import Durability
from weighbridge.store.id_index import IdIndex
from weighbridge.store.key_names import expires_at, new_batch_id
from weighbridge.store.leasing import CLAIM_SECONDS, Leasing, unpacked
from weighbridge.store.producing import Producing
from weighbridge.store.queries import Queries
from weighbridge.store.records import (
    ID_BYTES,
    WEIGHTS,
    BatchOptions,
    ChunkInfo,
    ChunkUpload,
    ClaimResult,
    DuplicateId,
    FailureCount,
    GapError,
    HeldChunk,
    HeldChunks,
    LogEntry,
    Pace,
    Position,
    Recorded,
    ScanResult,
)

__all__ = [
    "CLAIM_SECONDS",
    "ID_BYTES",
    "WEIGHTS",
    "BatchOptions",
    "ChunkInfo",
    "ChunkUpload",
    "ClaimResult",
    "DuplicateId",
    "Durability",
    "FailureCount",
    "GapError",
    "HeldChunk",
    "HeldChunks",
    "LogEntry",
    "Pace",
    "Position",
    "Recorded",
    "ScanResult",
    "Store",
    "expires_at",
    "new_batch_id",
    "unpacked",
]


class Store(Producing, Leasing, Administration, Queries, IdIndex):
    """Batches on one Redis server."""
