"""The longest value in a Parquet column's dictionary, which limits how far the column may expand when it is decoded."""

from __future__ import annotations

import io
from struct import Struct
from typing import Any, BinaryIO

from weighbridge.settings import KIB, MIB

_DICTIONARY_PAGE = 2
_HEADER_BYTES = KIB  #: number of bytes read for a page header; that of a dictionary has about 20
_SEARCHED_BYTES = 16 * MIB  #: maximum size of a dictionary that is searched
_LENGTH = Struct("<I")
#: Types of Thrift's compact protocol, in which page headers are written.
_BOOLEANS, _NUMBERS, _STRUCT = (1, 2), (3, 4, 5, 6), 12
_KIND, _PLAIN_BYTES, _PACKED_BYTES = 1, 2, 3  #: numbers of the fields


def longest_value(file: BinaryIO, chunk: Any, pyarrow: Any) -> int:
    """Return the length in bytes of the longest value in the dictionary of a text column's chunk, or an upper bound.

    Return 0 if the chunk has no dictionary.
    """
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    file.seek(start)
    head = io.BytesIO(file.read(_HEADER_BYTES))
    try:
        page = _fields(head, until=_KIND)
        if page[_KIND] != _DICTIONARY_PAGE:
            return 0
        page |= _fields(head, _KIND)
        plain_bytes, packed_bytes = page[_PLAIN_BYTES], page[_PACKED_BYTES]
    except (IndexError, KeyError, ValueError, RecursionError):
        return int(chunk.total_uncompressed_size)
    if not 0 < packed_bytes <= plain_bytes + KIB or plain_bytes > _SEARCHED_BYTES:
        return max(plain_bytes, 0)
    file.seek(start + head.tell())
    packed = file.read(packed_bytes)
    try:
        plain = _unpacked(packed, plain_bytes, chunk.compression, pyarrow)
    except (pyarrow.ArrowException, OSError, ValueError):
        return plain_bytes
    return _longest(plain)


def _unpacked(packed: bytes, size: int, codec: str, pyarrow: Any) -> bytes:
    if codec == "UNCOMPRESSED":
        return packed
    name = "lz4_raw" if codec == "LZ4" else codec.lower()
    return bytes(pyarrow.decompress(packed, size, name, asbytes=True))


def _longest(values: bytes) -> int:
    """Return the greatest length of the texts in a sequence of lengths, each with its text after it."""
    longest = place = 0
    length_at, last = _LENGTH.unpack_from, len(values) - _LENGTH.size
    while place <= last:
        (length,) = length_at(values, place)
        if length > longest:  # noqa: PLR1730 - max is slow, and there are many
            longest = length
        place += _LENGTH.size + length
    return longest


def _fields(head: io.BytesIO, last: int = 0, until: int | None = None) -> dict[int, int]:
    """Return the numbers in the fields of a structure after its field `last`, up to its end or the field `until`."""
    found: dict[int, int] = {}
    while last != until and (byte := head.read(1)[0]):
        last = last + (byte >> 4) if byte >> 4 else _number(head)
        kind = byte & 15
        if kind in _NUMBERS:
            found[last] = _number(head)
        elif kind == _STRUCT:
            _fields(head)
        elif kind not in _BOOLEANS:
            raise ValueError(kind)
    return found


def _number(head: io.BytesIO) -> int:
    """Read a number in groups of 7 bits, with its sign in the lowest bit."""
    number = 0
    for shift in range(0, 64, 7):
        byte = head.read(1)[0]
        number |= (byte & 127) << shift
        if byte < 128:
            break
    return (number >> 1) ^ -(number & 1)
