"""Messages that only exchange thanks and good wishes, or only promise to act, again and again, without an action."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 300  #: of a message that can be empty words; longer ones say something
_SENTENCE_END = re.compile(r"[.!?\n]+(?:\s|$)|[.!?\n]+$")
_PLEASANTRY = re.compile(
    r"""(?:(?:and|oh|well|great|okay|ok|sure|absolutely|of course|wonderful|perfect|excellent|likewise|hi|hello)\b\W{0,3}){0,3}
    (?:thanks?\b.*|you(?:'re|\ are)\ (?:very\ |most\ )?welcome\b.*|(?:and\ )?(?:you|the\ same|same)\ (?:too|to\ you)\b.*
    |(?:it\ (?:was|is|has\ been)\ )?(?:a|my|our)\ pleasure\b.*|have\ an?\ [\w\ ,]{1,40}(?:day|evening|night|weekend|one|time|week)\b.*
    |take\ care\b.*|(?:good)?bye\b.*|see\ you\b.*|(?:please\ )?let\ (?:me|us)\ know\ if\b.*|if\ (?:you|anything|there)\b.*
    |(?:please\ )?(?:feel\ free|don't\ hesitate|do\ not\ hesitate)\b.*|(?:i'm|i\ am|we're|we\ are)\ (?:so\ |always\ )?(?:glad|happy|delighted|here)\b.*
    |(?:i\ |we\ |i'm\ )?look(?:ing)?\ forward\b.*|any\ ?time\b.*|no\ problem\b.*|(?:great|good)\ (?:work|job|luck)\b.*|well\ done\b.*|(?:i\ )?wish(?:ing)?\ you\b.*
    |(?:all\ the\ )?best\b.*|enjoy\b.*|until\ next\ time\b.*|will\ do\b.*|cheers\b.*)?""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_COMMITMENT = re.compile(r"\b(?:i'll|i will|i'm|i am|let me|we'll|we will)\b", re.IGNORECASE)
_SOON = re.compile(
    r"\b(?:moments?|shortly|right away|immediately|right now|now|soon|momentarily)\b",
    re.IGNORECASE,
)


def empty_words(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` messages in a row that are pleasantries, or that promise to act, and no call."""
    for rule, is_empty in ((Rule.PLEASANTRIES, _is_pleasantry), (Rule.PROMISES, _is_promise)):
        least = rule.least(limits)
        for indices in _rows(turns, is_empty):
            if len(indices) >= least:
                yield Finding.by(rule, indices, least)


def _rows(turns: Sequence[Message], is_empty: Callable[[str], bool]) -> Iterator[list[int]]:
    """Yield the indices of messages in a row that are empty words, without a call among them."""

    def is_said(index: int) -> bool:
        turn = turns[index]
        return not turn.calls and not turn.is_action and is_empty(turn.text)

    for said, indices in groupby(range(len(turns)), is_said):
        if said:
            yield [*indices]


def _is_pleasantry(text: str) -> bool:
    sentences = [part.strip() for part in _SENTENCE_END.split(_plain(text))] if text else []
    said = [sentence for sentence in sentences if any(map(str.isalpha, sentence))]
    return bool(said) and all(map(_PLEASANTRY.fullmatch, said))


def _is_promise(text: str) -> bool:
    plain = _plain(text)
    return bool(_COMMITMENT.search(plain) and _SOON.search(plain)) and "?" not in plain


def _plain(text: str) -> str:
    return text.replace("\u2019", "'") if len(text) <= _CHARACTERS else ""
