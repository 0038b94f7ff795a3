"""A pool of child processes for work on untrusted input."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.sandbox.child import LENGTH

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable

    from weighbridge.settings import Settings

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")

_START_SECONDS = 20.0
_GRACE_SECONDS = 1.0  #: added to the deadline before a process is killed
_REPLY_LIMIT_BYTES = 64 * 1024 * 1024


class SandboxLimitError(Exception):
    """Work exceeded a job's time (TIMEOUT) or memory (OUT_OF_MEMORY) limit, or killed its process (WORKER_KILLED)."""

    def __init__(self, code: ErrorCode, exit_status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.exit_status = exit_status  #: of the process, if it was killed


class SandboxStartError(Exception):
    """No process for the work can be started at the moment."""


class Sandbox:
    """Runs functions with the time and memory limits of a job: `await sandbox.run(view_case, line)`."""

    command: tuple[str, ...] = (sys.executable, "-m", "weighbridge_producer.sandbox.child")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: list[_Child] = []

    async def run(self, work: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """Return `work(*arguments)`; the function, arguments and result are pickled.

        Raises SandboxLimitError and SandboxStartError.
        """
        child = await self._begin(pickle.dumps((work, arguments)))
        try:
            async with asyncio.timeout(self._settings.job_deadline_seconds + _GRACE_SECONDS):
                reply = await child.read()
        except TimeoutError:
            child.kill()
            raise SandboxLimitError(ErrorCode.TIMEOUT) from None
        except (OSError, EOFError):
            raise SandboxLimitError(ErrorCode.WORKER_KILLED, await child.exit_status()) from None
        except BaseException:
            child.kill()  # otherwise its reply would be taken for that of the next request
            raise
        self._idle.append(child)
        code, result = pickle.loads(reply)  # noqa: S301 - written by our own process
        if code:
            raise SandboxLimitError(code)
        done: _Result = result
        return done

    async def _begin(self, request: bytes) -> _Child:
        """Return a child that has started to process a request."""
        while self._idle:
            child = self._idle.pop()
            if not child.alive:
                child.kill()
                continue
            with suppress(OSError, EOFError):
                await child.begin(request)
                return child
        try:
            child = await _Child.start(self.command, self._settings)
            await child.begin(request)
        except (OSError, EOFError):
            raise SandboxStartError from None
        return child

    async def close(self) -> None:
        """Terminate the processes."""
        while self._idle:
            await self._idle.pop().end()


class _Child:
    """A child process."""

    def __init__(self, process: Process, lifeline: int) -> None:
        self._process = process
        self._lifeline = lifeline

    @classmethod
    async def start(cls, command: tuple[str, ...], settings: Settings) -> _Child:
        # Only this process has the other end, so the child ends with it in any case.
        lifeline_end, lifeline = os.pipe()
        limits = (settings.job_deadline_seconds, settings.child_memory_limit_bytes, lifeline_end)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                *map(str, limits),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=(lifeline_end,),
                start_new_session=True,  # Ctrl-C must reach only this process
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(lifeline_end)
        return cls(process, lifeline)

    @property
    def alive(self) -> bool:
        """True if the process can accept a request."""
        assert self._process.stdin
        return self._process.returncode is None and not self._process.stdin.is_closing()

    async def begin(self, request: bytes) -> None:
        """Send a request and wait until its work starts, so that the time for imports is not counted.

        Raises EOFError or OSError, including TimeoutError, after which the process has ended.
        """
        assert self._process.stdin
        try:
            async with asyncio.timeout(_START_SECONDS):
                self._process.stdin.write(LENGTH.pack(len(request)))
                self._process.stdin.write(request)
                await self._process.stdin.drain()
                await self.read()
        except BaseException:
            self.kill()
            raise

    async def read(self) -> bytes:
        """Return the next reply; EOFError if the process has closed its pipe."""
        assert self._process.stdout
        [length] = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        if length > _REPLY_LIMIT_BYTES:
            raise EOFError
        return await self._process.stdout.readexactly(length)

    def kill(self) -> None:
        """Kill the process."""
        with suppress(ProcessLookupError):
            self._process.kill()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    async def exit_status(self) -> int:
        """Return the exit status of a process that has closed its pipe; kill it if it does not exit."""
        with suppress(TimeoutError):
            # Killing it now could hide its own exit status.
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._process.wait()
        return await self.end()

    async def end(self) -> int:
        """Kill the process, wait for it, and return its exit status."""
        self.kill()
        return await self._process.wait()
