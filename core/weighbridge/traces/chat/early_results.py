"""Results of no call in a conversation, which some sources write directly before the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from weighbridge.traces.chat.facts import Facts
    from weighbridge.traces.chat.pending_calls import PendingCall


class _Early(NamedTuple):
    message_index: int
    step_index: int  #: of the step that the result is, unless a call takes it
    message: dict[str, Any]
    facts: Facts


class EarlyResults:
    """The results of no call so far, and the calls that they stand directly before."""

    def __init__(self) -> None:
        self._steps: set[int] = set()
        self._messages: set[int] = set()
        self._last: dict[str, _Early] = {}  #: by call ID
        self._preceded: list[tuple[PendingCall, _Early]] = []

    def __len__(self) -> int:
        """Return the number of results that no call has taken."""
        return len(self._steps)

    def add(
        self,
        call_id: str | None,
        message_index: int,
        step_index: int,
        message: dict[str, Any],
        facts: Facts,
    ) -> None:
        """Add a result for which no call is known."""
        self._steps.add(step_index)
        self._messages.add(message_index)
        if call_id is not None:
            self._last[call_id] = _Early(message_index, step_index, message, facts)

    def note(self, pending: PendingCall) -> None:
        """Note a new call if a result with its ID stands before it, and nothing but such results between."""
        early = self._last.pop(pending.call.id or "", None)
        if early and self._messages.issuperset(range(early.message_index, pending.message_index)):
            self._preceded.append((pending, early))

    def take(self) -> dict[int, str]:
        """Give calls the results before them if none followed; return the IDs of their steps by the indices of the results' steps."""
        taken = {}
        for pending, early in self._preceded:
            if pending.result is None:
                pending.result, pending.facts = early.message, early.facts
                taken[early.step_index] = pending.step_id
                self._steps.discard(early.step_index)
        return taken
