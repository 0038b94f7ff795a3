"""The sandbox: what work may do to its process, and never to others."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING

import psutil
import pytest
import uvloop

from support.preloaded import sandbox_command
from support.waiting import eventually
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB, Settings
from weighbridge_producer.sandbox.pool import Sandbox, SandboxLimitError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    InSandbox = Callable[[Callable[[Sandbox], Awaitable[None]]], None]

pytestmark = pytest.mark.slow

DEAF = partial(signal.sigwait, {signal.SIGUSR2})  #: no other signal interrupts it
DEADLINE_SECONDS = 1.5
MEMORY_LIMIT_BYTES = 400 * MIB

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
#: The service's event loop.
on_one_loop = pytest.mark.parametrize("in_sandbox", ["uvloop"], indirect=True)
#: For behaviour that depends on the event loop: the end of a process, a closed pipe, and a cancelled wait.
on_both_loops = pytest.mark.parametrize("in_sandbox", LOOPS, indirect=True)


@pytest.fixture(scope="module")
def in_sandbox(request: pytest.FixtureRequest) -> Iterator[InSandbox]:
    """Return a function that runs a coroutine with the sandbox of an event loop, whose forked processes tests share."""
    settings = Settings(
        job_deadline_seconds=DEADLINE_SECONDS, child_memory_limit_bytes=MEMORY_LIMIT_BYTES
    )
    with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
        sandbox = Sandbox(settings)
        sandbox.command = sandbox_command()
        yield lambda story: runner.run(story(sandbox))
        runner.run(sandbox.close())


def await_end_of(pid: int) -> None:
    eventually(lambda: not psutil.pid_exists(pid), 5, "the process's end")


def test_a_process_is_a_new_python_with_the_limits_of_a_job() -> None:
    async def story() -> None:
        sandbox = Sandbox(Settings(child_memory_limit_bytes=MEMORY_LIMIT_BYTES))
        try:
            own = await sandbox.run(eval, "__import__('sys').orig_argv[1:3]")
            assert own == ["-m", "weighbridge_producer.sandbox.child"]
            assert await sandbox.run(eval, "__import__('os').getsid(0)") != os.getsid(0)
            assert await sandbox.run(print, "x" * 10_000) is None
            with pytest.raises(SandboxLimitError) as limit:
                await sandbox.run(bytearray, MEMORY_LIMIT_BYTES + 100 * MIB)
            assert limit.value.code == ErrorCode.OUT_OF_MEMORY
            with pytest.raises(SandboxLimitError) as limit:
                await sandbox.run(os._exit, 3)
            assert limit.value.exit_status == 3
        finally:
            await sandbox.close()

    asyncio.run(story())


@on_one_loop
def test_one_process_does_one_piece_of_work_after_the_other(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        pids = [await sandbox.run(os.getpid) for _ in range(3)]
        assert len({os.getpid(), *pids}) == 2
        assert await sandbox.run(divmod, 7, 2) == (3, 1)

    in_sandbox(story)


@on_one_loop
def test_pieces_of_work_at_once_have_a_process_each(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        naps = (sandbox.run(time.sleep, 0.2) for _ in range(2))
        await asyncio.gather(*naps)
        assert len(sandbox._idle) == 2
        await sandbox._idle.pop().end()

    in_sandbox(story)


@on_one_loop
def test_large_arguments_and_results_pass(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        large = os.urandom(1000) * 30_000
        assert await sandbox.run(bytes.swapcase, large) == large.swapcase()

    in_sandbox(story)


@on_one_loop
def test_what_work_prints_is_no_reply(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        assert await sandbox.run(print, "x" * 10_000) is None
        assert await sandbox.run(os.write, 1, b"x" * 10_000) == 10_000
        assert await sandbox.run(abs, -3) == 3

    in_sandbox(story)


@on_one_loop
def test_work_that_outlasts_the_deadline_is_interrupted_and_its_process_kept(
    in_sandbox: InSandbox,
) -> None:
    async def story(sandbox: Sandbox) -> None:
        before = await sandbox.run(os.getpid)
        with pytest.raises(SandboxLimitError) as limit:
            await sandbox.run(time.sleep, 60)
        assert limit.value.code == ErrorCode.TIMEOUT
        assert await sandbox.run(os.getpid) == before

    in_sandbox(story)


@on_both_loops
def test_work_that_no_signal_interrupts_is_killed_at_the_deadline(
    in_sandbox: InSandbox,
) -> None:
    async def story(sandbox: Sandbox) -> None:
        before = await sandbox.run(os.getpid)
        with pytest.raises(SandboxLimitError) as limit:
            await sandbox.run(DEAF)
        assert limit.value.code == ErrorCode.TIMEOUT
        await_end_of(before)
        assert await sandbox.run(os.getpid) != before

    in_sandbox(story)


@on_one_loop
def test_work_that_wants_too_much_memory_is_refused_it(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        for _ in range(2):
            with pytest.raises(SandboxLimitError) as limit:
                await sandbox.run(bytearray, MEMORY_LIMIT_BYTES + 100 * MIB)
            assert limit.value.code == ErrorCode.OUT_OF_MEMORY
        assert len(await sandbox.run(bytearray, 10 * MIB)) == 10 * MIB

    in_sandbox(story)


@on_both_loops
def test_work_that_kills_its_process_is_told_with_the_exit_status(
    in_sandbox: InSandbox,
) -> None:
    async def story(sandbox: Sandbox) -> None:
        with pytest.raises(SandboxLimitError) as limit:
            await sandbox.run(os._exit, 3)
        assert limit.value.code == ErrorCode.WORKER_KILLED
        assert limit.value.exit_status == 3
        assert await sandbox.run(abs, -3) == 3

    in_sandbox(story)


@on_both_loops
def test_an_idle_process_that_was_killed_costs_no_work(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        killed = await sandbox.run(os.getpid)
        os.kill(killed, signal.SIGKILL)
        assert await sandbox.run(os.getpid) != killed
        killed = await sandbox.run(os.getpid)
        os.kill(killed, signal.SIGKILL)
        await sandbox._idle[-1]._process.wait()
        assert await sandbox.run(os.getpid) != killed

    in_sandbox(story)


def test_a_process_that_keeps_much_memory_does_no_more_work() -> None:
    keep = "import builtins; builtins.kept = b'x' * (260 << 20)"

    async def story() -> None:
        # With a job's deadline: a busy machine may take seconds to hand out so much memory.
        sandbox = Sandbox(Settings(child_memory_limit_bytes=MEMORY_LIMIT_BYTES))
        sandbox.command = sandbox_command()
        try:
            before = await sandbox.run(os.getpid)
            await sandbox.run(exec, keep)
            assert await sandbox.run(os.getpid) != before
        finally:
            await sandbox.close()

    asyncio.run(story())


@on_both_loops
def test_work_that_nobody_waits_for_any_more_ends(in_sandbox: InSandbox) -> None:
    async def story(sandbox: Sandbox) -> None:
        before = await sandbox.run(os.getpid)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await sandbox.run(DEAF)
        await_end_of(before)
        assert await sandbox.run(os.getpid) != before

    in_sandbox(story)
