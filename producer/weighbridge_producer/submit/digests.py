"""Digests of ids and lines, by which repeats and conflicts are found."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ID_BYTES, _LINE_BYTES = 8, 4  #: sizes of the digests in the index of ids
DIGEST_BYTES = 16  #: size of the digests that compare lines
#: An id, and the index in the chunk and digest of the line that claims it.
IdClaim = tuple[str, int, bytes]


class Digester:
    """Digests of a batch's ids and lines, salted so that an attacker cannot prepare collisions."""

    def __init__(self, batch: str) -> None:
        # The end of a batch's id is random. A key in place of a salt would be hashed as a block of its own.
        end = batch.encode()[-2 * blake2b.SALT_SIZE :]
        salt, person = end[: blake2b.SALT_SIZE], end[blake2b.SALT_SIZE :]
        # Copying a hash takes half the time of creating one.
        self._of_id = blake2b(digest_size=_ID_BYTES, salt=salt, person=person)
        self._of_line = blake2b(digest_size=DIGEST_BYTES, salt=salt, person=person)

    def of_id(self, custom_id: str) -> bytes:
        """Return the 8-byte digest under which a custom_id is indexed."""
        salted = self._of_id.copy()
        salted.update(custom_id.encode())
        return salted.digest()

    def of_line(self, content: bytes) -> bytes:
        """Return the 16-byte digest of a line, stripped of whitespace."""
        return self.of_lines((content,))[0]

    def of_lines(self, contents: Iterable[bytes]) -> list[bytes]:
        """Return the 16-byte digests of lines, stripped of whitespace."""
        digests: list[bytes] = []
        begin, note = self.begin_line, digests.append
        for content in contents:
            salted = begin()
            salted.update(content)
            note(salted.digest())
        return digests

    @property
    def begin_line(self) -> Callable[[], blake2b]:
        """Factory of the salted hash for a line; saves a call per line in hot loops."""
        return self._of_line.copy

    def pack(self, claims: Iterable[IdClaim]) -> bytes:
        """Return claimed ids in the store's format: 8 bytes for each id, and 4 for its line."""
        copy = self._of_id.copy
        packed: list[bytes] = []
        note = packed.append
        for name, _, line in claims:
            salted = copy()
            salted.update(name.encode())
            note(salted.digest())
            note(line[:_LINE_BYTES])
        return b"".join(packed)
