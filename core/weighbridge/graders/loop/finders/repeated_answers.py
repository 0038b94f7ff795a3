"""One answer that comes again between short ones, or after one message of the user."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import cycles
from weighbridge.graders.loop.history.framework_messages import asks_to_continue, is_refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

LABEL_CHARACTERS = 40
OBJECT_CHARACTERS = 200
_LABELS = 2  #: maximum different short answers between equal texts
_PER_TEXT = 2  #: maximum mean number of answers for each text that is repeated between short ones


def is_label(text: str) -> bool:
    """Return whether a text is a short answer that fits many questions, such as a yes, a name or a small object."""
    text = text.strip()
    most = OBJECT_CHARACTERS if text[:1] == "{" and text[-1:] == "}" else LABEL_CHARACTERS
    return len(text) <= most


def between_labels(
    turns: Sequence[Message], row: Sequence[int], limits: Limits
) -> Iterator[Finding]:
    """Find one text in a row, with one or two short answers between, as of an agent that first decides whether to speak (`<send>`)."""
    kept = [index for index, turn in enumerate(turns) if turn.calls or not is_label(turn.text)]
    if len(kept) == len(turns):
        return
    least = Rule.TEXT_BETWEEN_LABELS.least(limits)
    for _, span in cycles([row[index] for index in kept], 1):
        found = kept[span.start : span.end]
        if span.length < least or found[-1] - found[0] >= _PER_TEXT * len(found):
            continue
        said = {turns[index].text for index in range(found[0], found[-1])}
        if len(said) - len({turns[index].text for index in found}) <= _LABELS:
            yield Finding.by(Rule.TEXT_BETWEEN_LABELS, found, least, period=1)


def exchanges(turns: Sequence[Message], row: Sequence[int], limits: Limits) -> Iterator[Finding]:
    """Find one text in a row, each time after the same message that asks nothing: such a round is one of a cycle."""
    asked = ["", *[turn.reply for turn in turns]]
    if sum(map(bool, asked)) < limits.least_rounds:
        return
    often = {
        reply
        for reply, count in Counter(asked).items()
        if count >= limits.least_rounds and _says_much(reply)
    }
    pairs = [
        (reply, number) if reply in often and not turn.calls else ("", -1)
        for reply, number, turn in zip(asked, row, turns, strict=False)
    ]
    for (_, number), group in groupby(range(len(turns)), pairs.__getitem__):
        found = tuple(group) if number >= 0 else ()
        if len(found) >= limits.least_rounds and not is_label(turns[found[0]].text):
            yield Finding.by(Rule.EXCHANGE, found, Rule.EXCHANGE.least(limits), period=1)


def _says_much(reply: str) -> bool:
    """Return whether a message is more than a prompt, and neither asks something nor refuses an answer."""
    return len(reply) > LABEL_CHARACTERS and not (
        "?" in reply or is_refusal(reply) or asks_to_continue(reply)
    )
