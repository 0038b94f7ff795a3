"""Returns the memory of large responses and uploads to the operating system, with glibc."""

from __future__ import annotations

import asyncio
import ctypes
import sys

from weighbridge.settings import KIB

#: From malloc.h. Setting the mmap threshold also disables its dynamic growth, to 30 MB after such a block is freed.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_MAPPED_BYTES = 256 * KIB  #: blocks of at least this size are returned to the system when freed
_ARENAS = 2  #: for all threads together, because each arena retains freed memory
_TRIM_SECONDS = 5.0


def keep_little() -> None:
    """Configure the allocator so that freed memory is returned to the system."""
    if libc := _glibc():
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


async def trim_for_ever() -> None:
    """Periodically return free memory from small blocks."""
    libc = _glibc()
    while libc:
        await asyncio.sleep(_TRIM_SECONDS)
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None
