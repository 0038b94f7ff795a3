"""Spans of Vercel's AI SDK: the requests around model calls, and embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import word_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_AROUND_CALLS = frozenset(
    {"ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"}
)
_IN_REQUESTS = frozenset(
    f"{around}.{'dostream' if 'stream' in around else 'dogenerate'}" for around in _AROUND_CALLS
)


def wraps_calls(attributes: dict[str, Any]) -> bool:
    """Return whether a span is the AI SDK's span of a request, which encloses the model calls and repeats the last answer."""
    return _ai_operation(attributes) in _AROUND_CALLS


def are_apart(traces: Iterable[Sequence[dict[str, Any]]]) -> bool:
    """Return whether a model call of the AI SDK is in another trace than its request.

    `traces` has the attributes of the spans of each trace.
    """
    return any(
        any(map(_is_wrapped, spans)) and not any(map(wraps_calls, spans)) for spans in traces
    )


def _is_wrapped(attributes: dict[str, Any]) -> bool:
    """Return whether a span is the AI SDK's span of one model call, which the span of a request encloses."""
    return _ai_operation(attributes) in _IN_REQUESTS


def embeds(attributes: dict[str, Any]) -> bool:
    """Return whether a span is the AI SDK's span of an embedding, which is not part of a run if it has its own trace."""
    return _ai_operation(attributes).startswith("ai.embed")


def _ai_operation(attributes: dict[str, Any]) -> str:
    return word_of(attributes.get("ai.operationId")).lower()
