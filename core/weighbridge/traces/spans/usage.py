"""The tokens and the cost that a span records, under the names of any instrumentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import (
    amount_of,
    cost_of,
    count_of,
    counted,
    input_with_caches,
    object_of,
    usage_of,
)

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage
    from weighbridge.traces.spans.spans import Span

_INPUT = (
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    *("llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"),
    *("ai.usage.tokens", "llm.input_tokens", "llm.prompt_tokens"),
)
_OUTPUT = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    *("llm.token_count.completion", "llm.usage.completion_tokens"),
    *("ai.usage.outputTokens", "ai.usage.completionTokens"),
    *("llm.output_tokens", "llm.completion_tokens"),
)
_TOTAL = (
    *("gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"),
    *("ai.usage.totalTokens", "llm.total_tokens"),
)
_CACHE_READ = (
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    *("gen_ai.usage.input_tokens.cached", "gen_ai.usage.cached_tokens"),
    *("gen_ai.usage.input_cached_tokens", "gen_ai.usage.details.cache_read_tokens"),
    *("llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"),
)
_CACHE_WRITE = (
    *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
    *("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_write_input_tokens"),
    *("gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write"),
)
_USAGE_OBJECTS = ("mlflow.chat.tokenUsage", "langfuse.observation.usage_details")
_COSTS = (
    *("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost", "gen_ai.cost.total"),
    *("operation.cost", "llm.usage.cost", "gen_ai.usage.cost_usd", "llm.cost.usd"),
)
#: Attributes with the parts of a cost as an object, each with the key of the total.
_COST_OBJECTS = (
    ("langfuse.observation.cost_details", "total"),
    ("mlflow.llm.cost", "total_cost"),
)
#: Names that other attributes with a cost have.
_NAMES_COST = re.compile(r"(?:^|[._])costs?(?:$|[._])")
_PARTS_OF_COST = ("gen_ai.usage.input_cost", "gen_ai.usage.output_cost")
COUNTS = (*_INPUT, *_OUTPUT, *_TOTAL)  #: attributes with a count of tokens


def usage_of_span(span: Span) -> Usage | None:
    """Return the tokens that a span records, with cached tokens included in the input."""
    attributes = span.attributes
    sent, received, total, cached, written = (
        _count(attributes, names) for names in (_INPUT, _OUTPUT, _TOTAL, _CACHE_READ, _CACHE_WRITE)
    )
    if sent is None and received is None and total is None:
        sent, received, total, cached = _usage_object(attributes)
    of_caches = (cached or 0) + (written or 0)
    sent = input_with_caches(sent, received, total, of_caches, is_apart=False)
    usage = usage_of(sent, received, total, cached, written)
    return usage if span.status == "error" else counted(usage)


def _usage_object(attributes: dict[str, Any]) -> tuple[int | None, ...]:
    held = json_of(first_of(attributes, _USAGE_OBJECTS))
    if type(held) is not dict:
        return None, None, None, None
    return tuple(
        _count(held, names)
        for names in (
            ("input_tokens", "input", "prompt_tokens"),
            ("output_tokens", "output", "completion_tokens"),
            ("total_tokens", "total"),
            ("cache_read_input_tokens", "input_cached_tokens", "cached_tokens"),
        )
    )


def _count(attributes: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = attributes.get(name)
        if type(value) is str and value.isdecimal() and len(value) < 20:
            value = int(value)
        count = count_of(value)
        if count is not None:
            return count
    return None


def unread_costs(span: Span) -> dict[str, Any]:
    """Return the attributes with a cost under names that are not read, of a span without one under known names."""
    if cost_of_span(span) is not None:
        return {}
    return {
        name: value
        for name, value in span.attributes.items()
        if "cost" in name and _NAMES_COST.search(name) and amount_of(value)
    }


def cost_of_span(span: Span) -> float | None:
    """Return the cost in US dollars that a span records."""
    value = first_of(span.attributes, _COSTS)
    if value is None:
        parts = [cost_of(span.attributes.get(name)) for name in _PARTS_OF_COST]
        value = None if None in parts else sum(part or 0 for part in parts)
    if value is None:
        wholes = (
            object_of(json_of(span.attributes.get(name))).get(whole)
            for name, whole in _COST_OBJECTS
        )
        value = next((whole for whole in wholes if whole is not None), None)
    if type(value) is str:
        try:
            value = float(value)
        except ValueError:
            return None
    return cost_of(value)
