"""The store: all Redis keys and scripts of a batch, behind typed methods that are idempotent.

The keys of a batch all start with `wb:{<batch id>}:` and expire together. `docs/explanation/protocol.md` lists them, the
fields of the hashes `meta` and `chunks`, and which script or method writes and reads each field.
"""

from weighbridge.store.admin import Administration
from weighbridge.store.durability import Durability
from weighbridge.store.id_index import IdIndex
from weighbridge.store.key_names import expires_at, new_batch_id
from weighbridge.store.leasing import CLAIM_SECONDS, Leasing, unpacked
from weighbridge.store.producing import PlannedBatch, Producing, closed_error
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
    Push,
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
    "PlannedBatch",
    "Position",
    "Push",
    "Recorded",
    "ScanResult",
    "Store",
    "closed_error",
    "expires_at",
    "new_batch_id",
    "unpacked",
]


class Store(Producing, Leasing, Administration, Queries, IdIndex):
    """Batches on one Redis server."""
