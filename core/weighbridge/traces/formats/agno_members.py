"""The runs that runs of Agno contain: those of a team's members, or of a workflow's steps."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import id_of, objects_of, time_of
from weighbridge.traces.formats.agno_sessions import is_row, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Fields with the runs of a team's members and of a workflow's steps.
MEMBERS = ("member_responses", "step_executor_runs")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  #: an ID that no other run has

_RunKey = tuple[Any, ...]
"""What tells a run from others: its ID, and if that may be given twice, the run's session and time."""


def members_of(recorded: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the runs that a run contains, those of a team before those of its members."""
    pending = deque(direct_members_of(recorded))
    while pending:
        member = pending.popleft()
        yield member
        pending += direct_members_of(member)


def direct_members_of(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of the members of a team, or of the steps of a workflow."""
    return [run for field in MEMBERS for run in objects_of(recorded.get(field))]


class ContainedRuns:
    """The runs that other runs contain: those of a team's members, or of a workflow's steps, which also have sessions.

    All runs are added before the first one is looked up. Of runs that contain each other, the first one is kept.
    """

    def __init__(self) -> None:
        #: By a run with members: each member, and whether it is contained with its messages.
        self._members: dict[_RunKey, dict[_RunKey, bool]] = {}
        self._with_messages: set[_RunKey] = set()  #: the runs with members that have messages
        self._found: dict[_RunKey, bool] | None = None  #: the members of all runs that are kept

    def add(self, run: dict[str, Any]) -> None:
        """Add the runs that a run contains."""
        own = _run_key(run)
        if own is None:
            return
        for member in members_of(run):
            key = _run_key(member)
            if key is not None and key != own:
                members = self._members.setdefault(own, {})
                members[key] = bool(member.get("messages")) or members.get(key, False)
        if own in self._members and run.get("messages"):
            self._with_messages.add(own)

    def add_row(self, row: dict[str, Any]) -> None:
        """Add the runs that the runs in a row of a table contain."""
        for run in runs_of(row) if is_row(row) else ():
            self.add(run)

    def __contains__(self, run: dict[str, Any]) -> bool:
        """Return whether another run that is kept contains a run, with its messages if it has any."""
        if self._found is None:
            self._found = self._members_of_kept_runs()
        return _is_in(self._found, _run_key(run), has_messages=bool(run.get("messages")))

    def _members_of_kept_runs(self) -> dict[_RunKey, bool]:
        """Return the members of the runs that no kept run contains, and of each whether it is contained with its messages."""
        found: dict[_RunKey, bool] = {}
        kept: set[_RunKey] = set()
        for own in self._containers_first():
            if _is_in(found, own, has_messages=own in self._with_messages):
                continue
            kept.add(own)
            for key, has_messages in self._members[own].items():
                if key not in kept:
                    found[key] = has_messages or found.get(key, False)
        return found

    def _containers_first(self) -> Iterator[_RunKey]:
        """Yield each run with members after all runs that contain it, or in the order of the runs where they go in a circle."""
        containers = Counter(key for members in self._members.values() for key in members)
        free = deque(key for key in self._members if not containers[key])
        in_order, yielded = iter(self._members), set[_RunKey]()
        while len(yielded) < len(self._members):
            own = free.popleft() if free else next(in_order)
            if own in yielded:
                continue
            yielded.add(own)
            yield own
            for key in self._members[own]:
                containers[key] -= 1
                if key in self._members and not containers[key]:
                    free.append(key)


def _is_in(found: dict[_RunKey, bool], key: _RunKey | None, *, has_messages: bool) -> bool:
    """Return whether a run is among those found, with its messages if it has any."""
    return key is not None and key in found and (found[key] or not has_messages)


def _run_key(run: dict[str, Any]) -> _RunKey | None:
    """Return what tells a run from others; None for a run without an ID."""
    name = id_of(run.get("run_id"))
    if not name:
        return None
    if _UUID.fullmatch(name):
        return (name,)
    return name, id_of(run.get("session_id")), time_of(run.get("created_at"))
