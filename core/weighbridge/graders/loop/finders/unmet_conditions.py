"""Loops of different calls that are all refused because one condition is not met, such as a connection that is not there."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_RESULT_CHARACTERS = 1_000  #: a longer result is more than a refusal
_TOGETHER = 16  #: results that are searched at once
_BETWEEN = 4  #: maximum other calls between two refusals, such as attempts to meet the condition
_SHARE = 0.5  #: minimum share of refusals among the calls in their range
_CONDITION = r"""\bbefore (?:\w{2,20} ){0,2}\w{2,20}ing\b.{0,60}\byou (?:first )?(?:need|must|have) to\b|\byou (?:need|must|have) (?:to )?first\b
|\b(?:please|must|to) (?:create|load|open|connect|log ?in|sign in|initiali[sz]e|start|select|set up|configure)\b.{0,60}\bfirst\b
|\bno (?:\w{1,20} ){1,3}(?:(?:is|are|was|were|has been) )?(?:currently )?(?:loaded|opened|selected|active|connected|running|configured|initiali[sz]ed)\b
|\bnot (?:logged in|signed in|connected|authenticated|initiali[sz]ed)\b"""
_DENIAL = r"""\b(?:access|permission) (?:is |was )?denied\b|\bnot (?:in (?:the )?)?(?:allowed|permitted)\b|\bforbidden\b|\bunauthori[sz]ed\b"""
_refuses = occurs(f"{_CONDITION}|{_DENIAL}")
_names_condition = occurs(_CONDITION)
_KINDS = 2 / 3  #: maximum share of different denials: each thing may be asked for once
_QUOTED = re.compile(r"""['"`][^'"`\n]{1,200}['"`]""")


def unmet_conditions(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` calls that one unmet condition refuses in the same words, at least half of the calls there.

    Attempts to meet the condition may lie between them: they did not help if the refusal comes back. Calls that are denied,
    whatever the refusal quotes, are a loop from `3 * max_repeats` on if a third of them had been denied before.
    """
    chains: defaultdict[str, list[int]] = defaultdict(list)
    for index, (call, refusal) in enumerate(zip(calls, _refusals(calls), strict=True)):
        if call is None:
            yield from _found(calls, chains, limits)
            chains.clear()
        elif refusal:
            chain = chains[refusal]
            if chain and index - chain[-1] > _BETWEEN + 1:
                yield from _found(calls, {refusal: chain}, limits)
                chain = chains[refusal] = []
            chain.append(index)
    yield from _found(calls, chains, limits)


def _refusals(calls: Sequence[Call | None]) -> Iterator[str]:
    """Yield the words of each refusal for want of a condition, or without what it quotes if it denies access; or else ""."""
    for start in range(0, len(calls), _TOGETHER):
        part = calls[start : start + _TOGETHER]
        texts = [_short_text(call) for call in part]
        # Most results refuse nothing, and searching several at once takes less time. No refusal has more than a line.
        may_refuse = _refuses("\n".join(texts))
        for call, text in zip(part, texts, strict=True):
            yield _refusal(call, text) if call is not None and may_refuse else ""


def _short_text(call: Call | None) -> str:
    text = call.result.text if call is not None else None
    return text if text and len(text) <= _RESULT_CHARACTERS else ""


def _refusal(call: Call, text: str) -> str:
    if not text or not _refuses(text):
        return ""
    words = call.result.masked
    return words if _names_condition(text) else _QUOTED.sub("\u2026", words)


def _found(
    calls: Sequence[Call | None], chains: dict[str, list[int]], limits: Limits
) -> Iterator[Finding]:
    for refusal, chain in chains.items():
        is_frequent = len(chain) >= _SHARE * (chain[-1] - chain[0] + 1) if chain else False
        rule = _rule(calls, refusal, chain) if is_frequent else None
        if rule and len(chain) >= rule.least(limits):
            yield Finding.by(rule, chain, rule.least(limits))


def _rule(calls: Sequence[Call | None], refusal: str, chain: Sequence[int]) -> Rule | None:
    """Return the rule by which refused calls may be a loop, or None if too many of them ask for something else."""
    if _names_condition(refusal):
        return Rule.UNMET_CONDITION
    # The whole results, because `text` leaves out what they echo of the arguments.
    denied = {str(call.result.outcome) for index in chain if (call := calls[index]) is not None}
    return Rule.DENIALS if len(denied) <= _KINDS * len(chain) else None
