"""The store: every Redis key and script of a batch, behind typed methods that may each be called twice.

The keys of a batch, all under `wb:{<batch id>}:` and all dying together:

meta      hash    life cycle, counts, the producer's position in its input, options, and the rows of the summary:
                  ["label", "grader", "count", "cause"] -> jobs
open      zset    chunks without results; the score says when each may be claimed (see prelude.lua)
chunks    hash    <name>: of an open chunk its ChunkInfo, of a finished one grader versions, digest and tally
                  <name> results: the result lines, compressed; prior <name> [results]: those of before a retry
                  <number>: the name of the chunk submitted under it; <number> lines: what was submitted
                  <number> parts: further names that have results; <number> ids: packed digests of its custom_ids,
                  until they are in the index
log       stream  finished chunks in the order of their results; `end` once the batch has ended
ids       hash    index of custom_ids, 65,536 buckets of packed digests (see taken.lua)
lane:<c>  zset    open chunks that wait for a worker with a capability
audit     list    who did what to it (see weighbridge.store.audit), the newest 100
deleted   string  all that is left of a deleted batch, so that it is not taken for a lost one
"""

from weighbridge.store.admin import Administration
from weighbridge.store.durability import Durability
from weighbridge.store.id_index import IdIndex
from weighbridge.store.key_names import dies_at, new_batch_id
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
    "dies_at",
    "new_batch_id",
    "unpacked",
]


class Store(Producing, Leasing, Administration, Queries, IdIndex):
    """Batches on one Redis server."""
