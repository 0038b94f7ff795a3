"""Attempts at one thing, each related to one of the last before it, in chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from weighbridge.graders.loop.history.request_words import are_related

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call

REMEMBERED = 5  #: number of attempts before an attempt, one of which it is related to


class Attempt(NamedTuple):
    """A call, with the words of its request."""

    call_index: int
    call: Call
    words: frozenset[bytes]
    line: str = ""  #: of its result, where that says why it failed


def chains_of(
    attempts: Iterable[Attempt], goes_on: Callable[[Sequence[Attempt], Attempt], bool]
) -> Iterator[list[Attempt]]:
    """Split attempts where `goes_on` says of the last ones and the next one that it does not continue them."""
    chain: list[Attempt] = []
    for attempt in attempts:
        if chain and not goes_on(chain[-REMEMBERED:], attempt):
            yield chain
            chain = []
        chain.append(attempt)
    yield chain


class _Worded(Protocol):
    @property
    def words(self) -> frozenset[bytes]: ...


def is_related(words: frozenset[bytes], near: Sequence[_Worded]) -> bool:
    """Return whether the words of a request are related to those of an attempt near it."""
    return any(are_related(words, other.words) for other in near)


def message_count(calls: Iterable[Call]) -> int:
    """Return how many messages calls are in; the calls of one message are made before any of their results is seen."""
    return len({call.message or call.step.id for call in calls})
