"""Loops of equal texts: in a row, in order, between short answers, after one message of the user, or with one beginning."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import NoveltyLimits, cycles, low_novelty
from weighbridge.graders.loop.history.message_kinds import asks_to_continue, is_refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

LABEL_CHARACTERS = 40
OBJECT_CHARACTERS = 200
_LABELS = 2  #: maximum different short answers between equal texts
_PER_TEXT = 2  #: maximum mean number of answers for each text that is repeated between short ones
_BEGINNING_CHARACTERS = 200  #: that texts of one template have in common


def texts_in_order(row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find equal texts in a row, and texts in the same order."""
    for period, span in cycles(row, limits.max_period):
        least = limits.least_length(period)
        is_loop = span.length >= least
        if is_loop and (period == 1 or len(set(row[span.start : span.end])) > 1):
            rule = Rule.SAME_TEXT if period == 1 else Rule.SAME_TEXTS
            yield Finding.by(rule, range(*span), least, period=period)


def few_texts(row: list[int], spoken: list[bool], limits: Limits) -> Iterator[Finding]:
    """Find repetition of two texts in a row of turns, in any order."""
    texts = [number if is_spoken else -1 for number, is_spoken in zip(row, spoken, strict=True)]
    least = Rule.FEW_TEXTS.least(limits)
    for span in low_novelty(texts, NoveltyLimits(least + 1, 2, 2, least)):
        often = Counter(texts[span.start : span.end])
        indices = (index for index in range(*span) if often[texts[index]] > 1)
        yield Finding.by(Rule.FEW_TEXTS, indices, least)


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


def same_beginnings(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find long texts with one beginning, such as plans that an agent writes again and again while nobody acts or replies."""
    least = Rule.SAME_BEGINNING.least(limits)
    start = 0
    for end in range(1, len(turns) + 1):
        if end == len(turns) or not _goes_on_alike(turns[end - 1], turns[end]):
            if end - start >= least:
                yield Finding.by(Rule.SAME_BEGINNING, range(start, end), least)
            start = end


def _goes_on_alike(one: Message, other: Message) -> bool:
    return (
        not (one.calls or other.calls or one.reply or one.is_action)
        and len(one.text) >= _BEGINNING_CHARACTERS
        and other.text.startswith(one.text[:_BEGINNING_CHARACTERS])
        and one.step.name == other.step.name
        and one.step.input is None is other.step.input
        and (one.requests_before, one.calls_before) == (other.requests_before, other.calls_before)
    )
