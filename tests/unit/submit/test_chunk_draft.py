"""Drafts: which line owns an id, whatever the chunks it is cut into, and what its owner's index is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.source_lines import LineBlock, SourceLine, grouped
from weighbridge_producer.submit.chunk_draft import ChunkDraft
from weighbridge_producer.submit.digests import Digester
from weighbridge_producer.submit.line_reader import LineReader

BATCH = "batch-1"


def line(custom_id: str, content: str = "") -> bytes:
    return b'{"custom_id":"%s","inputs":{"x":"%s"}}\n' % (custom_id.encode(), content.encode())


def draft_of(rows: list[bytes]) -> ChunkDraft:
    draft = ChunkDraft(Digester(BATCH))
    draft.take(SourceLine(row, None, len(row)) for row in rows)
    return draft


class Index:
    """An in-memory version of the store's index of ids, each with its line."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def submit(self, draft: ChunkDraft) -> list[int]:
        """Query ids as the feeder does, and add the remaining ones; return the number of ids in each query."""
        asked, doubted = [], list(draft.owners.items())
        while doubted:
            asked.append(len(doubted))
            answers = [(claim, self.known.get(claim[0])) for claim in doubted]
            doubted = [
                later
                for claim, held in answers
                if held is not None
                for later in draft.take_back(claim, same_line=held == draft.digests[claim[1]])
            ]
        for custom_id, index in draft.owners.items():
            assert custom_id not in self.known
            self.known[custom_id] = draft.digests[index]
        return asked


def became(rows: list[bytes], cuts: list[int]) -> list[tuple[int, bool]]:
    """Return the number of each line that becomes a job, and whether it is in conflict, for given chunk sizes."""
    index, found, start = Index(), [], 0
    for size in cuts:
        draft = draft_of(rows[start : start + size])
        index.submit(draft)
        chunk = draft.chunk
        draft.number_lines(start + 1)
        lines = list(chunk.jobs())
        assert len(lines) == draft.cases + draft.faults
        assert draft.faults == len(chunk.faults)
        found += [(job.number, job.fault is not None) for job in lines]
        start += size
    return found


rows_of_few_ids = st.lists(
    st.builds(line, st.sampled_from("abc"), st.sampled_from(["", "1", "2"])) | st.just(b"\n"),
    min_size=1,
    max_size=12,
)


@given(rows_of_few_ids, st.data())
def test_repeats_and_conflicts_are_the_same_however_lines_are_cut_into_chunks(
    rows: list[bytes], data: st.DataObject
) -> None:
    owners: dict[bytes, bytes] = {}
    expected = []
    for number, row in enumerate(rows, 1):
        if row == b"\n":
            continue
        owner = owners.setdefault(row[:16], row)
        if owner is row or owner != row:
            expected.append((number, owner != row))
    cuts = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    for sizes in (cuts, [len(rows)], [1] * len(rows)):
        # A list of equal rows shares objects, and `is` above would be wrong for them.
        assert became(rows, sizes) == _without_shared(expected, rows)


def _without_shared(expected: list[tuple[int, bool]], rows: list[bytes]) -> list[tuple[int, bool]]:
    first = {row: number for number, row in reversed(list(enumerate(rows, 1)))}
    return [
        (number, conflict)
        for number, conflict in expected
        if conflict or first[rows[number - 1]] == number
    ]


@given(st.lists(rows_of_few_ids, min_size=1, max_size=4), st.integers(1, 20), st.integers(1, 200))
def test_a_draft_of_blocks_is_that_of_their_lines(
    blocks: list[list[bytes]], most_jobs: int, most_bytes: int
) -> None:
    given_blocks: list[SourceLine] = [LineBlock.of(b"".join(rows)) for rows in blocks]
    given_lines = [SourceLine(row, None, len(row)) for rows in blocks for row in rows]
    assert_same_drafts(given_blocks, given_lines, most_jobs, most_bytes)


@given(st.lists(rows_of_few_ids, max_size=4), st.integers(1, 20), st.integers(1, 200))
def test_a_draft_of_grouped_lines_is_that_of_the_lines(
    blocks: list[list[bytes]], most_jobs: int, most_bytes: int
) -> None:
    """A line may have been made of more or fewer bytes of input than it has."""
    lines = [SourceLine(row, None, number) for rows in blocks for number, row in enumerate(rows)]
    assert_same_drafts(list(grouped(lines)), lines, most_jobs, most_bytes)


def assert_same_drafts(
    given_blocks: list[SourceLine],
    given_lines: list[SourceLine],
    most_jobs: int,
    most_bytes: int,
) -> None:
    of_blocks, of_lines = LineReader(given_blocks), LineReader(given_lines)
    digester = Digester(BATCH)
    while True:
        one, other = ChunkDraft(digester), ChunkDraft(digester)
        one.fill(of_blocks, most_jobs, most_bytes, 7)
        other.fill(of_lines, most_jobs, most_bytes, 7)
        for draft in (one, other):
            draft.number_lines(1)
        assert one == other
        if not one.chunk.line_count:
            break
    assert one.ends_source


def test_a_block_is_split_once_however_small_the_parts_are() -> None:
    """If each part copied the rest of the block, blank lines in small chunks would take minutes."""
    splits = []

    class Counted(LineBlock, gc=False):
        def rows(self) -> list[bytes]:
            splits.append(self.count)
            return super().rows()

    reader = LineReader([Counted(b"\n" * 1_000, size=1_000, count=1_000)])
    read = [line for _ in range(400) for line in reader.read(2, 100)]
    assert [line.count for line in read] == [2] * 400
    assert splits == [1_000]
    assert sum(line.count for line in reader.read(1_000)) == 200


def test_one_line_in_two_shapes_of_white_space_is_one_line() -> None:
    draft = draft_of([line("a"), line("a").rstrip() + b" \r\n", line("a").rstrip()])
    assert draft.chunk.repeats == {1, 2}
    assert (draft.cases, draft.faults) == (1, 0)


def test_a_line_with_other_white_space_is_another_line() -> None:
    draft = draft_of([line("a").rstrip() + b"\x0c\n", line("a")])
    assert (draft.cases, draft.chunk.repeats) == (2, set())


def test_a_conflict_says_so() -> None:
    draft = draft_of([line("a", "1"), line("a", "2")])
    fault = draft.chunk.faults[1]
    assert fault.code == ErrorCode.ID_CONFLICT
    assert "custom_id={id}/{trial} of two columns" in fault.hint
    assert "{id}#{@file} of several files" in fault.hint
    assert fault.message
    assert fault.hint


@pytest.mark.parametrize(
    "row", [b"not JSON\n", b"{}\n", b'{"custom_id": ""}\n', b"[]\n", b"\xff\n"]
)
def test_lines_without_an_id_are_jobs_each_on_its_own(row: bytes) -> None:
    draft = draft_of([row, row])
    assert (draft.cases, draft.owners) == (2, {})


def test_a_line_that_could_not_be_read_is_a_fault_and_claims_no_id() -> None:
    draft = ChunkDraft(Digester(BATCH))
    draft.take([SourceLine(line("a"), Fault(ErrorCode.NUMBER_OUT_OF_RANGE, "m", "h"), 1)])
    assert (draft.cases, draft.faults, draft.owners) == (0, 1, {})


def test_an_id_is_packed_by_the_digest_that_looks_it_up() -> None:
    digester, draft = Digester(BATCH), draft_of([line("a"), line("b")])
    packed = draft.pack(digester.of_ids(["b", "a"]), [1, 0])
    entries = [digester.of_id("b"), draft.digests[1][:4], digester.of_id("a"), draft.digests[0][:4]]
    assert packed == b"".join(entries)
    assert Digester("batch-2").of_id("a") != digester.of_id("a")


def test_thousands_of_different_lines_under_one_id_take_two_questions() -> None:
    """A constant where an id should be is a likely mistake, and must not take a question a line."""
    index = Index()
    index.submit(draft_of([line("a", "0")]))
    draft = draft_of([line("a", str(number)) for number in range(1, 5001)])
    assert index.submit(draft) == [1, 4999]
    assert (draft.cases, draft.faults) == (0, 5000)
