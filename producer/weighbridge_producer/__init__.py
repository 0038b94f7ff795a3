"""The producer: submits cases, follows batches, and collects results; includes the command line and the service."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState, BatchStatus
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.jobs.outcome import Counts, GraderSummary, JobStatus
    from weighbridge_producer.client.async_client import AsyncBatch, AsyncClient
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.client.client import Client
    from weighbridge_producer.comparison.compare import Comparison, compare
    from weighbridge_producer.input.mapping.mapping_text import parse_mapping
    from weighbridge_producer.input.source import Source

__all__ = [
    "AsyncBatch",
    "AsyncClient",
    "Batch",
    "BatchState",
    "BatchStatus",
    "Client",
    "Comparison",
    "Counts",
    "GraderSpec",
    "GraderSummary",
    "JobStatus",
    "Source",
    "compare",
    "parse_mapping",
]

_HOMES = {
    "AsyncBatch": "weighbridge_producer.client.async_client",
    "AsyncClient": "weighbridge_producer.client.async_client",
    "Batch": "weighbridge_producer.client.batch",
    "BatchState": "weighbridge.jobs.batch_state",
    "BatchStatus": "weighbridge.jobs.batch_state",
    "Client": "weighbridge_producer.client.client",
    "Comparison": "weighbridge_producer.comparison.compare",
    "Counts": "weighbridge.jobs.outcome",
    "GraderSpec": "weighbridge.jobs.grader_spec",
    "GraderSummary": "weighbridge.jobs.outcome",
    "JobStatus": "weighbridge.jobs.outcome",
    "Source": "weighbridge_producer.input.source",
    "compare": "weighbridge_producer.comparison.compare",
    "parse_mapping": "weighbridge_producer.input.mapping.mapping_text",
}


def __getattr__(name: str) -> Any:
    # Imported lazily: the command line starts with this module too, and must handle Ctrl-C within half a second.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
