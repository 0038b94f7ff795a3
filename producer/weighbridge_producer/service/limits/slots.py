"""Limits on concurrent work and on memory, in total and per project.

A request that needs much memory or time waits for a turn, without occupying a thread. `Security` ends the turn when
the response is counted in the budget of unread bytes, or when the request ends. So each response in memory either has
a turn or is counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from weighbridge.store.projects import DEFAULT_PROJECT
from weighbridge_producer.service.limits.key_watch import PROJECT
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping

TURN_SECONDS = 30.0  #: longest wait for a turn
_TURN = "weighbridge.turn"  #: entry in a request's scope with its slot
_HINTS = {
    "UPLOADS": "send it again in a moment, or run more instances of the service",
    "LISTENERS": "poll GET /api/batches/{id}, or run more instances of the service",
    "STREAMS": "request pages (format=json), or try again in a moment",
    "READS": "try again in a moment",
    "SEARCHES": "try again in a moment",
    "PREVIEWS": "try again in a moment, or submit it: each line is checked then too",
    "BODIES": "send it again in a moment",
}


def too_many(what: str, most: int, most_of_one: int) -> Callable[[], ProblemError]:
    """Return a factory of the problem for a reached limit."""
    unit = " bytes" if what == "BODIES" else ""
    detail = f"this process accepts {most:,}{unit} at once, and at most {most_of_one:,} per project"

    def problem() -> ProblemError:
        headers = {"Retry-After": "5"} | ({"Connection": "close"} if what == "BODIES" else {})
        return ProblemError(503, f"TOO_MANY_{what}", detail, _HINTS[what], headers)

    return problem


class Slot:
    """A share of a limit, released once, at the end of a `with` block or by `release`."""

    def __init__(self, slots: Slots, project: str, amount: int) -> None:
        self._slots = slots
        self._project = project
        self._amount = amount

    def release(self) -> None:
        """Release the slot; a second call has no effect."""
        amount, self._amount = self._amount, 0
        if amount:
            self._slots._release(self._project, amount)  # noqa: SLF001 - Slot is part of Slots

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    project: str
    amount: int
    granted: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class Slots:
    """At most `most` slots at once, `most_of_one` of them for one project; `problem` creates the error otherwise.

    `turn` waits for a slot, with at most `waiting_of_one` waiters per project; the project with the fewest is next.
    """

    def __init__(
        self,
        most: int,
        most_of_one: int,
        problem: Callable[[], Exception],
        *,
        waiting_of_one: int = 0,
    ) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self._problem = problem
        self._waiting_of_one = waiting_of_one
        self._lock = Lock()  # guards all attributes below: threads take and release slots too
        self._taken: Counter[str] = Counter()
        self._waiters: list[_Waiter] = []

    @property
    def taken(self) -> int:
        """The amount that is taken."""
        return self._taken.total()

    def take(self, project: str, amount: int = 1) -> Slot:
        """Take a slot immediately; raises the problem if there is none."""
        with self._lock:
            if not self._has_room(project, amount):
                raise self._problem()
            self._taken[project] += amount
        return Slot(self, project, amount)

    async def turn(
        self, project: str, amount: int = 1, *, timeout_seconds: float | None = None
    ) -> Slot:
        """Wait for a slot.

        Raises the problem if too many requests of the project are waiting, or on timeout. An amount larger than a
        project's share is reduced to the share.
        """
        amount = min(amount, self.most_of_one)
        with self._lock:
            if self._has_room(project, amount) and not self._waits(project):
                self._taken[project] += amount
                return Slot(self, project, amount)
            if self._waits(project) >= self._waiting_of_one:
                raise self._problem()
            loop = asyncio.get_running_loop()
            waiter = _Waiter(project, amount, loop.create_future(), loop)
            self._waiters.append(waiter)
        try:
            async with asyncio.timeout(timeout_seconds):
                await waiter.granted
        except BaseException as error:
            self._withdraw(waiter)
            if isinstance(error, TimeoutError):
                raise self._problem() from None
            raise
        return Slot(self, project, amount)

    def _has_room(self, project: str, amount: int) -> bool:
        of_all, of_one = self._taken.total() + amount, self._taken[project] + amount
        return of_all <= self.most and of_one <= self.most_of_one

    def _waits(self, project: str) -> int:
        return sum(waiter.project == project for waiter in self._waiters)

    def _withdraw(self, waiter: _Waiter) -> None:
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                return
        self._release(waiter.project, waiter.amount)  # granted, but no longer wanted

    def _release(self, project: str, amount: int) -> None:
        with self._lock:
            self._taken[project] -= amount
            self._taken += Counter()  # removes projects with a count of 0
            while waiter := self._next():
                self._waiters.remove(waiter)
                self._taken[waiter.project] += waiter.amount
                with suppress(RuntimeError):  # its loop is closed, and so are its waiters
                    waiter.loop.call_soon_threadsafe(_grant, waiter.granted)

    def _next(self) -> _Waiter | None:
        """Return the next waiter: the oldest one of the project with the fewest slots."""
        able = [each for each in self._waiters if self._has_room(each.project, each.amount)]
        return min(able, key=lambda each: self._taken[each.project], default=None)


def _grant(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class ByteBudget(Slots):
    """A limit on bytes held in memory."""

    @contextmanager
    def account(self, project: str) -> Iterator[Callable[[int], None]]:
        """Provide a function that counts the bytes of a request; they are all released at the end."""
        held: list[Slot] = []
        try:
            yield lambda size: held.append(self.take(project, size))
        finally:
            for slot in held:
                slot.release()


async def take_turn(
    scope: MutableMapping[str, Any], slots: Slots, *, timeout_seconds: float | None = None
) -> Slot:
    """Wait for a request's turn, which ends with the next piece of its response; its current turn ends first.

    Raises the slots' problem.
    """
    end_turn(scope)
    slot = await slots.turn(project_of(scope), timeout_seconds=timeout_seconds)
    scope[_TURN] = slot
    return slot


def end_turn(scope: MutableMapping[str, Any]) -> None:
    """End a request's turn, if it has one."""
    slot: Slot | None = scope.pop(_TURN, None)
    if slot:
        slot.release()


def project_of(scope: MutableMapping[str, Any]) -> str:
    """Return the project to which a request is charged: its key's."""
    project: str = scope.get(PROJECT, DEFAULT_PROJECT)
    return project
