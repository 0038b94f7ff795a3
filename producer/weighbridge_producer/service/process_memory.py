"""Returns the memory of large responses and uploads to the operating system, with glibc."""

from __future__ import annotations

import asyncio

from weighbridge.memory import M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, glibc
from weighbridge.settings import KIB

_M_ARENA_MAX = -8  #: from malloc.h
#: Blocks of at least this size are returned to the system when freed. Setting a threshold also disables its dynamic
#: growth, to 30 MB after such a block is freed.
_MAPPED_BYTES = 256 * KIB
_ARENAS = 2  #: for all threads together, because each arena retains freed memory
_TRIM_SECONDS = 5.0


def keep_little() -> None:
    """Configure the allocator so that freed memory is returned to the system."""
    if libc := glibc():
        libc.mallopt(M_MMAP_THRESHOLD, _MAPPED_BYTES)
        libc.mallopt(M_TRIM_THRESHOLD, _MAPPED_BYTES)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


async def trim_for_ever() -> None:
    """Periodically return free memory from small blocks."""
    libc = glibc()
    while libc:
        await asyncio.sleep(_TRIM_SECONDS)
        libc.malloc_trim(0)
