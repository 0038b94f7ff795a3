"""Runs and calls of tracing services as spans, with the attributes that the span readers support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.spans.spans import Span

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage

_CACHED = "gen_ai.usage.cache_read.input_tokens"
_WRITTEN = "gen_ai.usage.cache_creation.input_tokens"


def recorded_span(
    trace_id: str | None,
    own_id: str | None,
    parent_id: str | None,
    name: str | None,
    kind: str,
    *,
    sent: Any = None,
    answered: Any = None,
    model: str | None = None,
    usage: Usage | None = None,
    cost_usd: float | None = None,
    tools: Any = None,
    error: str | None = None,
    started_at: int | None = None,
    ended_at: int | None = None,
) -> Span:
    """Return a record as a span; `kind` is its kind, such as llm, tool, agent or chain."""
    recorded = {
        "langfuse.observation.type": kind,
        "langfuse.observation.input": sent,
        "langfuse.observation.output": answered,
        "langfuse.observation.model.name": model,
        "gen_ai.tool.definitions": tools or None,
        "llm.cost.total": cost_usd,
    }
    if usage is not None:
        recorded |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.total_tokens": usage.total_tokens,
            _CACHED: usage.cached_tokens,
            _WRITTEN: usage.cache_write_tokens,
        }
    return Span(
        trace_id=trace_id or "",
        id=own_id or "",
        parent_id=parent_id,
        name=name or "",
        started_at=started_at,
        ended_at=ended_at,
        attributes={key: item for key, item in recorded.items() if item is not None},
        status="error" if error else "unset",
        status_message=error,
    )
