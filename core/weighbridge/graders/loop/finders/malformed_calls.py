"""Loops of calls that are never understood: their syntax or their arguments are wrong, or a game does not accept the words."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_REMEMBERED = 64  #: last results that are known to report this or not
_HEAD_CHARACTERS, _END_CHARACTERS = 600, 300  #: of a result, in which an error may stand
_VERB = re.compile(r"\s{0,9}([^\W\d_]{1,30})(?:\s|\Z)")
_says_malformed = occurs(
    r"""\b(?:syntax ?error|invalid (?:syntax|json|format|tool call|function call|action|arguments?)|unterminated (?:string|triple)
|unexpected (?:eof|indent|token|character|keyword)|unmatched ['"(\[{)\]}]|was never closed|json ?decode ?error|malformed
|(?:missing|required) (?:\d )?(?:required )?(?:positional )?(?:argument|parameter|field|property)|validation errors?
|could not (?:be )?parsed?|(?:failed to|cannot) parse|pars(?:e|ing) error|unrecogni[sz]ed arguments?
|(?:unknown|no such) (?:tool|function|action|command|option)|invalid (?:tool|function)|must have required propert(?:y|ies)
|validation failed for (?:tool|function)|not a valid (?:tool|action|command|function))\b"""
)
_says_no_tool = occurs(
    r"^\W{0,9}(?:error\W{1,3})?(?:tool|function) (?:\S{1,60})? ?not found\W{0,9}$"
)
_REFUSAL_CHARACTERS = 250  #: a longer answer of a game tells more than that it did not understand
#: How games and other programs that read commands in plain language say that they did not understand one.
_says_not_understood = lru_cache(_REMEMBERED)(
    occurs(
        r"""\b(?:not a verb i recogni[sz]e|(?:can.?t|cannot|don.?t|do not) see (?:any such thing|what you are talking about)
|use a different verb|only understood you as far as|(?:don.?t|didn.?t|do not|did not) (?:understand|recogni[sz]e)|not understood
|don.?t know (?:the word|how to|that word|what you mean)|i beg your pardon|(?:doesn.?t|does not) make sense|nothing happens
|you can.?t go that way|that sentence isn.?t)\b"""
    )
)


def malformed_calls(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `max_repeats + 2` malformed calls of one tool, none of which succeeds, whatever each is for and lies between.

    More than `max_repeats` in a row are enough if they give the same values in few ways. `3 * max_repeats` are needed of commands
    in plain words that each begin with another word, which the refusal names as unknown.
    """
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        if call is None:
            continue
        row = rows[call.tool]
        if _is_malformed(call):
            row.append(index)
        elif row and not call.result.has_failed:
            yield from _found(calls, row, limits)
            row.clear()
    for row in rows.values():
        yield from _found(calls, row, limits)


def _found(calls: Sequence[Call | None], row: Sequence[int], limits: Limits) -> Iterator[Finding]:
    rule = Rule.MALFORMED_CALLS
    if len(row) >= rule.least(limits):
        verbs = {_unknown_verb(call) for index in row if (call := calls[index]) is not None}
        tries_out = len(verbs) == len(row) and "" not in verbs
        least = rule.least(limits, other=tries_out)
        if len(row) >= least:
            yield Finding.by(rule, row, least)
    else:
        least = Rule.ONE_MALFORMED_CALL.least(limits)
        if len(row) >= least and _are_one_request(calls, row):
            yield Finding.by(Rule.ONE_MALFORMED_CALL, row, least)


def _are_one_request(calls: Sequence[Call | None], row: Sequence[int]) -> bool:
    """Return whether calls in a row give the same texts, in half as many ways as there are calls or fewer."""
    made = calls_at(calls, row)
    is_unbroken = row[-1] - row[0] == len(row) - 1
    different = len({call.arguments_id for call in made})
    return (
        is_unbroken
        and 2 * different <= len(made)
        and len({call.arguments.texts for call in made}) == 1
    )


def _unknown_verb(call: Call) -> str:
    """Return the first word of a command in plain words if the refusal names it, or else ""."""
    value = call.arguments.value
    given = [*value.values()] if type(value) is dict else [value]
    command = given[0] if len(given) == 1 and type(given[0]) is str else ""
    found = _VERB.match(command)
    # Its text does not have what it echoes of the arguments.
    said = call.result.outcome
    is_named = found and type(said) is str and found[1] in said[:_REFUSAL_CHARACTERS]
    return found[1].casefold() if found and is_named else ""


def _is_malformed(call: Call) -> bool:
    text = call.result.text or ""
    if len(text) <= _REFUSAL_CHARACTERS and _says_not_understood(text):
        return True
    return call.result.has_failed and _reports_malformed(
        text[:_HEAD_CHARACTERS], text[-_END_CHARACTERS:]
    )


@lru_cache(_REMEMBERED)  # as failures come again
def _reports_malformed(head: str, end: str) -> bool:
    return _says_malformed(head) or _says_malformed(end) or _says_no_tool(head)
