"""Give the memory of large answers and uploads back to the system, where the C library is glibc."""

from __future__ import annotations

import asyncio
import ctypes
import sys

from weighbridge.settings import KIB

#: Of malloc.h. Setting the first ends its growth: freed once, a block of 30 MB would raise it to that size.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_MAPPED_BYTES = 256 * KIB  #: blocks of this size and more go back to the system when they are freed
_ARENAS = 2  #: for as many threads as there are; each keeps what was freed in it
_TRIM_SECONDS = 5.0


def keep_little() -> None:
    """Set the allocator up so that what is freed goes back to the system."""
    if libc := _glibc():
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


async def trim_for_ever() -> None:
    """Hand back now and then what small blocks left behind."""
    libc = _glibc()
    while libc:
        await asyncio.sleep(_TRIM_SECONDS)
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None
