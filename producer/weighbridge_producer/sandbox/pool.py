"""Jobs graded at once, without the queue, for who tries a grader: in processes that a hostile job may take down."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import TrialsBusyError
from weighbridge.jobs.model import ErrorCode
from weighbridge_producer.sandbox.child import LENGTH, errored

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from weighbridge.settings import Settings

_START_SECONDS = 20.0
_GRACE_SECONDS = 1.0  #: over the deadline, for what no signal interrupts
_REPLY_LIMIT_BYTES = 64 * 1024 * 1024


class Trials:
    """Grades single jobs; `reply = await trials.grade("budget", b'{"inputs": {...}}')`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: list[_Child] = []

    async def grade(self, grader_id: str, body: bytes) -> dict[str, Any]:
        """Return what a job came to: `grader`, `grader_version`, `status`, `result`, `error` and `receipt`.

        `body` is JSON, `{"inputs": {...}, "config": {...} or null}`, and may be hostile: what is wrong with it is the
        `error`. Raises TrialsBusyError when no process can be started.
        """
        request = f"{grader_id}\n".encode() + body
        seconds = self._settings.job_deadline_seconds
        try:
            child = await self._living_child()
        except (OSError, EOFError, TimeoutError):
            raise TrialsBusyError("no process to try a grader in can be started now") from None
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                reply = await child.ask(request)
        except TimeoutError:
            child.kill()
            reply = errored(
                ErrorCode.TIMEOUT,
                f"the job did not end within {seconds:g} s",
                "raise WEIGHBRIDGE_JOB_DEADLINE_SECONDS, or try less of it",
            )
        except (OSError, EOFError):
            child.kill()
            reply = errored(
                ErrorCode.WORKER_KILLED,
                "the process that graded the job died of it",
                "most likely it wanted too much memory: try less of it",
            )
        except BaseException:
            child.kill()  # its reply would be taken for the next one's
            raise
        else:
            self._idle.append(child)
        answer: dict[str, Any] = orjson.loads(reply)
        return answer

    async def _living_child(self) -> _Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            child.kill()
        return await _Child.start(self._settings)

    async def close(self) -> None:
        """End the processes."""
        while self._idle:
            await self._idle.pop().end()


class _Child:
    """One process that grades."""

    def __init__(self, process: Process, lifeline: int) -> None:
        self._process = process
        self._lifeline = lifeline

    @classmethod
    async def start(cls, settings: Settings) -> _Child:
        # Only we hold the other end: the process ends when we do, however we end.
        lifeline_end, lifeline = os.pipe()
        limits = (settings.job_deadline_seconds, settings.child_memory_limit_bytes, lifeline_end)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "weighbridge_producer.sandbox.child", *map(str, limits)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=(lifeline_end,),
                start_new_session=True,  # Ctrl-C is ours to hand on
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(lifeline_end)
        child = cls(process, lifeline)
        try:
            # It says so when it is ready: its start is no part of a job's time.
            async with asyncio.timeout(_START_SECONDS):
                await child.read()
        except BaseException:
            child.kill()
            raise
        return child

    @property
    def alive(self) -> bool:
        """Whether it can grade."""
        return self._process.returncode is None

    async def ask(self, request: bytes) -> bytes:
        """Send a request and return the reply; EOFError or OSError when the process dies of it."""
        assert self._process.stdin
        self._process.stdin.write(LENGTH.pack(len(request)) + request)
        await self._process.stdin.drain()
        return await self.read()

    async def read(self) -> bytes:
        """Return the next reply; EOFError when there is none any more."""
        assert self._process.stdout
        [length] = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        if length > _REPLY_LIMIT_BYTES:
            raise EOFError
        return await self._process.stdout.readexactly(length)

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self._let_go()

    async def end(self) -> None:
        """End the process and wait until it has."""
        self.kill()
        await self._process.wait()

    def _let_go(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
