"""The producer: submits cases, follows batches, collects results; the command line stands on it."""

from weighbridge.jobs.model import (
    BatchState,
    BatchStatus,
    Counts,
    GraderSpec,
    GraderSummary,
    JobStatus,
)
from weighbridge_producer.async_client import AsyncBatch, AsyncClient
from weighbridge_producer.batch import Batch
from weighbridge_producer.client import Client

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
