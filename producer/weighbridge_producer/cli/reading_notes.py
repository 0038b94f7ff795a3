"""Notes on an input that was read: cases and joined rows that were not used, and what looks wrong in its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err, left_out, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.lost_rows import LostRows
    from weighbridge_producer.input.source import Source

_NOTE_WIDTH = 600
#: Graders of answers whose notation decides; others, such as plug-ins, may compare what it stands for.
_OF_NOTATION = frozenset({"string-match", "true-false"})


def print_chosen(source: Source, run: str) -> None:
    """Print how many of the cases to grade again a source does not have, and how many of its cases the earlier run did not have."""
    only = source.only if source.is_read_to_end else None
    if only is not None and only.missing:
        missing = f"{only.missing:,} of {pluralize(len(only), 'case')} to grade again"
        err.print(f"{missing} from {shown(run)} are not in the input", soft_wrap=True)
    if only is not None and only.unknown:
        left_out = pluralize(only.unknown, "case was", "cases were")
        they_are = "it is" if only.unknown == 1 else "they are"
        err.print(f"{left_out} left out, because {they_are} not in {shown(run)}", soft_wrap=True)
    if only is not None and only.unnamed:
        left_out = pluralize(only.unnamed, "line was", "lines were")
        err.print(
            f"{left_out} left out, without a custom_id to find in {shown(run)}", soft_wrap=True
        )


def print_unused(source: Source) -> None:
    """Print the number of rows of each joined file that no row of a source, read to its end, was joined with."""
    joins = source.joins if source.is_read_to_end else None
    for join in joins or ():
        if unused := join.index.unused:
            rows = f"{unused:,} of {join.index.rows:,} rows unused"
            why = f"without a key, or with one that no row of {shown(source.name)} has"
            err.print(f"{shown(str(join.index.file))}: {rows}: {why}", soft_wrap=True)


def print_empty_expected(source: Source, graders: Sequence[GraderSpec] = ()) -> None:
    """Print the number of rows with an empty expected output, where the first ones are, and what that means for the graders."""
    if empty := source.notes.empty_expected:
        has = "has" if empty == 1 else "have"
        err.print(
            f"{pluralize(empty, 'row')} of {shown(source.name)} {has} an empty expected_output{_effect_of_empty(graders)}:"
            f" {shown(source.notes.empty_expected_places)}",
            soft_wrap=True,
        )


def _effect_of_empty(graders: Sequence[GraderSpec]) -> str:
    """Return what an empty expected output means for the graders, after a comma; empty if that is not known."""
    if not _decides_notation(graders):
        return ""
    if graders and all(spec.grader == "true-false" for spec in graders):
        return ", which is not a boolean, so true-false cannot grade it"
    return ", which only an empty answer matches (leave out rows without an expected answer)"


def _decides_notation(graders: Sequence[GraderSpec]) -> bool:
    """Return whether one of the graders compares texts; without any, the cases may name some that do."""
    return not graders or any(spec.grader in _OF_NOTATION for spec in graders)


def print_left_out(repeats: int, lost: LostRows, source: Source, console: Console) -> None:
    """Print how many lines repeat earlier ones, and a warning if the rows that they are made of do not."""
    from weighbridge_producer.input.lost_rows import LOST_ROWS, may_lose_rows

    if not repeats:
        return
    if lost.count:
        console.print(f"[bold red]{LOST_ROWS}[/]: {shown(lost.message)}", soft_wrap=True)
        console.print(f"  {shown(lost.hint)}", soft_wrap=True)
    if repeats > lost.count:
        unread = not source.rereadable and may_lose_rows(source)
        why = (
            ", by the columns that are mapped: of a pipe, others are not compared" if unread else ""
        )
        console.print(f"{left_out(repeats - lost.count)}{why}", soft_wrap=True)


def print_notes(source: Source, graders: Sequence[GraderSpec] = ()) -> None:
    """Print how many rows are no cases, and what looks wrong in the values of the others if the graders compare texts."""
    joined = {join.spec.name: join.spec.file for join in source.joins or ()}
    from weighbridge_producer.input.grader_inputs import needed_inputs

    needed = needed_inputs(graders)
    decides = _decides_notation(graders)
    for note in source.notes.notes(joined, needed=needed, compares_texts=decides):
        err.print(f"{shown(source.name)}: {shown(note)}", soft_wrap=True)
    if source.is_read_to_end and (pointers := source.pointers_without_value()):
        from weighbridge_producer.input.traces.trace_mapping_file import without_value_note

        note = without_value_note(pointers)
        err.print(f"{shown(source.name)}: {shown(note, _NOTE_WIDTH)}", soft_wrap=True)
    for join in source.joins or ():
        if note := join.index.header_note():
            how = (
                "if it is data, write header: false for the join in a mapping file,"
                " or give --no-header if the input has no header either"
            )
            err.print(f"{shown(str(join.index.file))}: {shown(note)}; {how}", soft_wrap=True)
