"""Tokens and cost in ATIF: from a step's metrics, and for a run, from the total of each trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import (
    added,
    count_of,
    counted,
    input_with_caches,
    object_of,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.model import Step, Usage

    Totals = tuple[Usage | None, float | None]  #: total tokens and cost of a trajectory

_ROUNDING = 1 - 1e-9  #: tolerance of a sum of costs


def _totals_of_mains(steps: Sequence[Step], mains: list[Totals]) -> list[Totals]:
    """Return the totals whose sum is the total of trajectories that continue in each other.

    The last total includes the earlier ones if it is at least the sum of all steps. If no step has tokens, the largest total
    is a lower bound.
    """
    told = sum((step.usage.total or 0) for step in steps if step.usage and not step.parent_id)
    if len(mains) > 1 and not told:
        return [max(mains, key=lambda totals: (_total(totals[0]), totals[1] or 0))]
    return mains[-1:] if _total(mains[-1][0]) >= told else mains


def _total(usage: Usage | None) -> int:
    return (usage.total or 0) if usage else 0


def usage_of_run(steps: Sequence[Step], mains: list[Totals], others: list[Totals]) -> Usage | None:
    """Return the tokens of the whole run; the main trajectory's total may or may not include the sub-agents' (`others`).

    It includes them if it is at least the sum of all steps, and at least the sum of the sub-agents' totals.
    """
    known = [usage for usage, _ in _totals_of_mains(steps, mains)]
    beside = [usage for usage, _ in others]
    told, main = sum(_total(step.usage) for step in steps), added(known)
    is_all = main is not None and 0 < told <= _total(main) >= sum(map(_total, beside))
    return main if is_all else added([*known, *beside])


def cost_of_run(steps: Sequence[Step], mains: list[Totals], others: list[Totals]) -> float | None:
    """Return the cost of the whole run, by the same rule."""
    known = [cost for _, cost in _totals_of_mains(steps, mains)]
    beside = [cost for _, cost in others]
    told, main = sum(step.cost_usd or 0 for step in steps), _sum(known)
    if main is not None and 0 < told * _ROUNDING <= main >= sum(filter(None, beside)):
        return main
    return _sum([*known, *beside])


def _sum(costs: list[float | None]) -> float | None:
    """Return the sum of costs; None if one of them is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def usage_of_metrics(
    metrics: dict[str, Any], prefix: str = "", *, are_caches_apart: bool = False
) -> Usage | None:
    """Return the tokens in metrics whose names begin with `prefix`.

    `are_caches_apart`: whether the recorded input excludes the tokens of caches.
    """
    sent, received, cached, written, total = _counts(metrics, prefix)
    if sent is not None and are_caches_apart:
        of_caches = cached if total == sent + received + cached else cached + written
        sent = input_with_caches(sent, received, total, of_caches, is_apart=True)
    return counted(
        usage_of(
            sent,
            metrics.get(f"{prefix}completion_tokens"),
            cached_tokens=metrics.get(f"{prefix}cached_tokens"),
        )
    )


def shows_caches_apart(metrics: dict[str, Any], prefix: str = "") -> bool:
    """Return whether the counts show that input tokens exclude those of caches, which ATIF's definition includes."""
    sent, received, cached, written, total = _counts(metrics, prefix)
    if sent is None or not cached:
        return False
    without = sent + received
    return cached > sent or total in {without + cached, without + cached + written}


def _counts(metrics: dict[str, Any], prefix: str) -> tuple[int | None, int, int, int, int | None]:
    """Return the tokens of the input, of the output, read from a cache, written to a cache, and the total."""
    sent, received, cached = (
        count_of(metrics.get(f"{prefix}{name}"))
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    extra = object_of(metrics.get("extra"))
    written = count_of(first_of(extra, ("cache_creation_tokens", "cache_creation_input_tokens")))
    return sent, received or 0, cached or 0, written or 0, count_of(extra.get("total_tokens"))
