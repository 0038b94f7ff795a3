"""Loops of different calls that are all refused because one condition is not met, such as a connection that is not there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import SAME_FAILURE, Finding
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_RESULT_CHARACTERS = 1_000  #: a longer result is more than a refusal
_BETWEEN = 4  #: maximum other calls between two refusals, such as attempts to meet the condition
_SHARE = 0.5  #: minimum share of refusals among the calls in their range
_names_condition = occurs(
    r"""\bbefore (?:\w{2,20} ){0,2}\w{2,20}ing\b.{0,60}\byou (?:first )?(?:need|must|have) to\b|\byou (?:need|must|have) (?:to )?first\b
|\b(?:please|must|to) (?:create|load|open|connect|log ?in|sign in|initiali[sz]e|start|select|set up|configure)\b.{0,60}\bfirst\b
|\bno (?:\w{1,20} ){1,3}(?:(?:is|are|was|were|has been) )?(?:currently )?(?:loaded|opened|selected|active|connected|running|configured|initiali[sz]ed)\b
|\bnot (?:logged in|signed in|connected|authenticated|initiali[sz]ed)\b"""
)


def unmet_conditions(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` calls that one unmet condition refuses in the same words, at least half of the calls there.

    Attempts to meet the condition may lie between them: they did not help if the refusal comes back.
    """
    least = 2 * limits.max_repeats
    chains: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        text = call.result.text if call is not None else None
        if call is None:
            yield from _found(chains, least)
            chains.clear()
        elif text and len(text) <= _RESULT_CHARACTERS and _names_condition(text):
            chain = chains[call.result.masked]
            if chain and index - chain[-1] > _BETWEEN + 1:
                yield from _found({"": chain}, least)
                chain = chains[call.result.masked] = []
            chain.append(index)
    yield from _found(chains, least)


def _found(chains: dict[str, list[int]], least: int) -> Iterator[Finding]:
    for chain in chains.values():
        if len(chain) >= least and len(chain) >= _SHARE * (chain[-1] - chain[0] + 1):
            yield Finding(SAME_FAILURE, None, tuple(chain))
