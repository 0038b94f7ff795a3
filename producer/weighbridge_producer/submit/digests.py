"""Digests of ids and lines, by which repeats and conflicts are found."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ID_BYTES, _LINE_BYTES = 8, 4  #: sizes of the digests in the index of ids
DIGEST_BYTES = 16  #: size of the digests that compare lines
_WORD = "I"  #: four bytes, as a type of array


class Digester:
    """Digests of a batch's ids and lines, salted so that an attacker cannot prepare collisions."""

    def __init__(self, batch: str) -> None:
        # The end of a batch's id is random. A key in place of a salt would be hashed as a block of its own.
        end = batch.encode()[-2 * blake2b.SALT_SIZE :]
        salt, person = end[: blake2b.SALT_SIZE], end[blake2b.SALT_SIZE :]
        self._of_id = blake2b(digest_size=_ID_BYTES, salt=salt, person=person)
        self._of_line = blake2b(digest_size=DIGEST_BYTES, salt=salt, person=person)

    def of_id(self, custom_id: str) -> bytes:
        """Return the 8-byte digest under which a custom_id is indexed."""
        return self.of_ids((custom_id,))

    def of_line(self, content: bytes) -> bytes:
        """Return the 16-byte digest of a line, stripped of whitespace."""
        return self.of_lines((content,))[0]

    def of_lines(self, contents: Iterable[bytes]) -> list[bytes]:
        """Return the 16-byte digests of lines, stripped of whitespace."""
        return _digests(self._of_line, contents)

    @property
    def begin_line(self) -> Callable[[], blake2b]:
        """Factory of the salted hash for a line; saves a call per line in hot loops."""
        return self._of_line.copy

    def of_ids(self, ids: Iterable[str]) -> bytes:
        """Return the 8-byte digests of ids, one after another."""
        return b"".join(_digests(self._of_id, map(str.encode, ids)))


def pack(ids: bytes, lines: Iterable[bytes]) -> bytes:
    """Return claims in the store's format, 8 bytes for each id and 4 for its line, from the digests of both."""
    of_ids, of_lines = array(_WORD, ids), array(_WORD, b"".join(lines))
    packed = array(_WORD, bytes(len(ids) // _ID_BYTES * (_ID_BYTES + _LINE_BYTES)))
    packed[0::3], packed[1::3] = of_ids[0::2], of_ids[1::2]
    packed[2::3] = of_lines[:: DIGEST_BYTES // _LINE_BYTES]
    return packed.tobytes()


def _digests(salted: blake2b, contents: Iterable[bytes]) -> list[bytes]:
    """Return the digests of contents, each begun as a copy of a hash, which takes half the time of creating one."""
    copy = salted.copy
    digests: list[bytes] = []
    note = digests.append
    for content in contents:
        begun = copy()
        begun.update(content)
        note(begun.digest())
    return digests
