"""The producer: submits cases, follows batches, collects results; the command line stands on it."""

from weighbridge.jobs.model import (
    BatchState,
    BatchStatus,
    Counts,
    GraderSpec,
    GraderSummary,
    JobStatus,
)
from weighbridge_producer.client import AsyncBatch, AsyncClient, Batch, Client

__all__ = [
    "AsyncBatch",
    "AsyncClient",
    "Batch",
    "BatchState",
    "BatchStatus",
    "Client",
    "Counts",
    "GraderSpec",
    "GraderSummary",
    "JobStatus",
]
