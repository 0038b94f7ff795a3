"""A chunk being filled with lines, with those marked that are repeats, conflicts or faulty."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast

from weighbridge.jobs.chunk import Chunk
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id, split_lines
from weighbridge_producer.input.source_lines import LineBlock
from weighbridge_producer.submit.digests import Digester, pack
from weighbridge_producer.submit.id_conflict import ID_CONFLICT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.source_lines import SourceLine
    from weighbridge_producer.submit.line_reader import LineReader

IdClaim = tuple[str, int]
"""A custom_id, and the index of the line that claims it."""


@dataclass(slots=True)
class ChunkDraft:
    """A chunk being filled."""

    digester: Digester
    lines: list[SourceLine] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)  #: one per line
    chunk: Chunk = field(default_factory=partial(Chunk, 0))
    size: int = 0  #: in bytes
    taken: int = 0  #: bytes of the input
    cases: int = 0  #: lines that become jobs
    faults: int = 0
    ends_source: bool = False  #: True if the source had no more lines
    is_last: bool = False  #: True for the last chunk of its batch
    #: The index of the line that owns each custom_id.
    owners: dict[str, int] = field(default_factory=dict)
    #: The claims of ids that an earlier line owns.
    _later: dict[str, list[IdClaim]] = field(default_factory=dict)

    def fill(self, lines: LineReader, most_jobs: int, most_bytes: int, most_lines: int) -> None:
        """Take lines up to a limit."""
        while True:
            index = self.chunk.line_count
            # Each line is at most one job, so that jobs need not be counted line by line.
            room = min(most_jobs - self.cases - self.faults, most_lines - index)
            if room <= 0 or self.size >= most_bytes:
                return
            self.take(lines.read(room, most_bytes - self.size))
            if self.chunk.line_count - index < room and self.size < most_bytes:
                self.ends_source = True
                return

    def take(self, lines: Iterable[SourceLine]) -> None:
        """Add lines, and mark those that are repeats, conflicts or faulty.

        It is a single loop because for a small line each function call takes longer than its digest.
        """
        chunk, begin, claim_id = self.chunk, self.digester.begin_line, self.owners.setdefault
        take, note, space = self.lines.append, self.digests.append, JSON_SPACE
        index, size, taken, cases = chunk.line_count, self.size, self.taken, 0
        for line in lines:
            raw = line.raw
            take(line)
            size += len(raw)
            taken += line.size
            if isinstance(line, LineBlock):
                self._take_block(line, index)
                index += line.count
                continue
            content = raw.strip(space)
            salted = begin()
            salted.update(content)
            note(salted.digest())
            if line.origin:
                chunk.line_count = index
                chunk.note_origin(*line.origin)
            if line.fault:
                chunk.faults[index] = line.fault
                self.faults += 1
            elif content:
                cases += 1
                custom_id = line.custom_id or peek_custom_id(content)
                if custom_id is not None:
                    owner = claim_id(custom_id, index)
                    if owner != index:
                        self._refuse((custom_id, index), owner)
            index += 1
        chunk.line_count, self.size, self.taken = index, size, taken
        self.cases += cases

    def _take_block(self, block: LineBlock, first: int) -> None:
        """Add the lines of a block, of which `first` is the index of the first one; each step is done for all of them at once."""
        contents, names = split_lines(block.raw, block.split)
        if not any(contents):
            self.digests += [self.digester.of_line(b"")] * len(contents)
            return
        self.digests += self.digester.of_lines(contents)
        self.cases += len(contents) - contents.count(b"")
        indices = dict(zip(names, range(first, first + len(names)), strict=True))
        is_new = len(indices) == len(names) and indices.keys().isdisjoint(self.owners.keys())
        if is_new and None not in indices:
            self.owners.update(cast("dict[str, int]", indices))
            return
        for index, name in enumerate(names, first):
            if name is not None:
                owner = self.owners.setdefault(name, index)
                if owner != index:
                    self._refuse((name, index), owner)

    def _refuse(self, claim: IdClaim, owner: int) -> None:
        """Mark a line whose id another line of the chunk owns."""
        custom_id, index = claim
        self._later.setdefault(custom_id, []).append(claim)
        self._exclude(index, same_line=self.digests[owner] == self.digests[index])

    def pack(self, ids: bytes, indices: Iterable[int]) -> bytes:
        """Return claims in the store's format, given as the digests of ids and the indices of the lines that claim them."""
        return pack(ids, map(self.digests.__getitem__, indices))

    def number_lines(self, first_line: int) -> None:
        """Complete the chunk when the number of its first line is known."""
        self.chunk.first_line = first_line
        self.chunk.raw = b"".join([line.raw for line in self.lines])
        self.lines.clear()

    def take_back(self, claim: IdClaim, *, same_line: bool) -> list[IdClaim]:
        """Withdraw a claim on an id that an earlier chunk owns, and mark the line as a repeat or a conflict.

        After a conflict, later claims of the id in this chunk have been compared with the wrong line. They are
        returned, and count as separate cases until they are checked with the server too.
        """
        custom_id, index = claim
        later: list[IdClaim] = []
        if self.owners.get(custom_id) == index:
            del self.owners[custom_id]
            later = self._later.pop(custom_id, later)
        self._exclude(index, same_line=same_line)
        if same_line:
            return []
        for _, other in later:
            self._include(other)
        return later

    def _exclude(self, index: int, *, same_line: bool) -> None:
        self.cases -= 1
        if same_line:
            self.chunk.repeats.add(index)
        else:
            self.chunk.faults[index] = ID_CONFLICT
            self.faults += 1

    def _include(self, index: int) -> None:
        self.cases += 1
        if index in self.chunk.repeats:
            self.chunk.repeats.remove(index)
        else:
            del self.chunk.faults[index]
            self.faults -= 1
