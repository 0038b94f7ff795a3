"""The note on files that a search in folders and patterns found, and that are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.input.files.folder_files import DESCRIPTIONS, unpacked_name
from weighbridge_producer.input.rows.row_formats import table_format

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES_SHOWN = 3  #: number of skipped files that the note names


def skipped_note(names: Sequence[str], endings: tuple[str, ...], *, takes_tables: bool) -> str:
    """Return which files are not read, and why; empty without such files.

    `endings` are those of the names of files that are read in folders.
    """
    if not names:
        return ""
    which = _which(names)
    if all(_is_beside_run(name, endings) for name in names):
        return f"{which}: they have no run of their own"
    return f"{which}: {_rule(names, endings, takes_tables=takes_tables)}"


def results_note(names: Sequence[str]) -> str:
    """Return which files are not read because they have results of earlier runs; empty without such files."""
    return f"{_which(names)}: results of earlier runs, without their cases" if names else ""


def _which(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"{pluralize(len(names), 'file')} skipped ({', '.join(names[:_NAMES_SHOWN])}{more})"


def _rule(names: Sequence[str], endings: tuple[str, ...], *, takes_tables: bool) -> str:
    """Return which files are read in a folder, with the exceptions that concern the skipped files."""
    rule = f"in a folder, only files are read that end in {', '.join(endings)}"
    if not takes_tables:
        rule += ", and databases and Markdown of known agents"
    if descriptions := DESCRIPTIONS.intersection(map(_file_name, names)):
        rule += f", but not {', '.join(sorted(descriptions))} of Hugging Face"
    if any(_is_beside_run(name, endings) for name in names):
        rule += ", and of runs with several files not all"
    if any(_has_other_name(name, endings) for name in names):
        rule += "; a file of another name is read if you name it"
    if not takes_tables and any(map(table_format, names)):
        rule += "; tables are read with a mapping"
    return rule


def _is_beside_run(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a file was left out although its name is that of a file with runs."""
    return name.endswith(endings) and _file_name(name) not in DESCRIPTIONS


def _has_other_name(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a file is skipped because of its name alone, and is no table."""
    return not unpacked_name(name).endswith(endings) and not table_format(name)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
