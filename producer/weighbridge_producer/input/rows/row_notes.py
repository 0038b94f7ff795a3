"""Notes on rows, taken while they are read: rows that are not cases, and values that look wrong in the others."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.answer_texts import several_answers_note
from weighbridge_producer.input.mapping.compared_values import compared_hint, wants_integers
from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.row_values import FirstOf
from weighbridge_producer.input.rows.header_rows import data_in_header

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.rows.row_formats import Layout
    from weighbridge_producer.input.rows.source_rows import SourceRow

_KINDS_NAMED = 6  #: maximum number of kinds of rows in a note
_KIND_WIDTH = 40
_TEXT_CHARACTERS = 80  #: maximum length of a quoted line of a log, or of its prefix
_KEYS_NAMED = 3  #: maximum number of keys shown of members that are not rows
_FILES_NAMED = 3  #: maximum number of files named in a note
_LISTS_NAMED = 5
_PLACES_NAMED = 5  #: maximum number of rows named in a note
_KINDS_COUNTED = 100  #: maximum number of kinds of other rows that are counted separately
_ANSWER = "agent_response"
_REASONS_NAMED = 5  #: maximum number of reasons in a note on an input without a value
_REASONS_COUNTED = 100  #: maximum number of reasons that are counted separately, for each input
_OTHER_REASONS = "for further reasons"
_OTHER_KINDS = "of further kinds"
_ROWS_COMPARED = 100  #: number of first rows whose answers are compared
_BYTES_COMPARED = 8 * MIB


class RowNotes:
    """Counts of the rows read so far, and their first answers."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Reset all counts, before the rows are read again from the first one."""
        self.empty_expected = 0  #: number of rows with an empty expected_output
        self._empty_expected_places: list[str] = []
        #: Number of rows whose answers are both the same word for no value, such as `nan`.
        self.nulls = 0
        self._null = ""  #: the first such word
        self.other_rows: Counter[str] = Counter()  #: number of rows that are not cases, by kind
        self.blank_rows = 0  #: number of rows of tables without a value, which are left out
        self.total_rows = 0  #: number of rows of sums or means without answers, which are left out
        #: Number of rows of tables with two empty answers, which are ungradable.
        self.unfilled_rows = 0
        #: Number of rows of tables that repeat the header, which are left out.
        self.repeated_headers = 0
        self.without_entries = 0  #: number of rows whose list of cases is empty
        self.no_rows = 0  #: number of members of documents with rows under keys that are not rows
        self._no_rows_named: list[str] = []
        self.empty_files = 0  #: number of files without a row
        #: Number of files of known formats that a trace mapping does not fit.
        self.files_of_known_formats = 0
        self._known_named: list[str] = []
        self.files_with_lists = 0  #: number of documents with other lists that may be rows
        self._empty_named: list[str] = []
        self.files_with_prefix = 0  #: number of logs with a prefix before the JSON of each line
        self._prefix = ""  #: prefix in the first of these logs
        self.empty_sessions = 0  #: number of sessions in which nothing was said
        self.text_lines = 0  #: number of lines of logs without JSON
        self._text = ""  #: the first of these lines
        #: The first file with other lists that may be rows, and the pointers to these lists.
        self._lists: tuple[str, tuple[str, ...]] = ("", ())
        #: Number of files with another format or dialect than the first one.
        self.files_read_otherwise = 0
        self._layout = ""  #: description of the first file's layout
        self._layouts_named: list[str] = []
        self.may_lack_header = False  #: True if the first row of a table was read as its header
        self.odd_metadata = 0  #: number of rows with numbers in their metadata that JSON lacks
        #: Number of rows without a value for an input, by input and reason.
        self._absent: dict[str, Counter[str]] = {}
        self._first_absent: dict[tuple[str, str], str] = {}  #: place of the first of them
        self.binary_rows = 0  #: number of rows with bytes in their metadata that are not text
        self._binary_named: dict[str, None] = {}
        self._first: list[Row] = []
        self._bytes = 0
        self._mapping: FieldMapping | None = None
        self.numbered_rows = 0  #: number of rows with a number after an id that an earlier row has
        self._numbered = ""  #: the first such id

    def count_numbered(self, custom_id: str) -> None:
        """Count a row that has a number in its id, because an earlier, different row has the id without it."""
        self.numbered_rows += 1
        self._numbered = self._numbered or custom_id

    def begin_file(self, name: str, layout: Layout | None) -> None:
        """Note how a file is read: if its first row was only assumed to be a header, if it differs from the first file."""
        dialect = layout.dialect if layout else None
        if not self._first:
            self.may_lack_header = dialect is not None and dialect.may_lack_header
        described = str(layout)
        self._layout = self._layout or described
        if described != self._layout:
            self.files_read_otherwise += 1
            if len(self._layouts_named) < _FILES_NAMED:
                self._layouts_named.append(f"{name} as {described}")

    def count_empty_expected(self, place: str) -> None:
        """Count a row with an empty expected_output, at a place such as "line 2"."""
        self.empty_expected += 1
        if len(self._empty_expected_places) < _PLACES_NAMED:
            self._empty_expected_places.append(place)

    @property
    def empty_expected_places(self) -> str:
        """The places of the first rows with an empty expected_output."""
        more = "; ..." if self.empty_expected > len(self._empty_expected_places) else ""
        return "; ".join(self._empty_expected_places) + more

    def count_null(self, expected: str, answer: object) -> None:
        """Count a row whose expected_output is a word for no value, if the agent's answer is the same word."""
        if answer == expected:
            self.nulls += 1
            self._null = self._null or expected

    def count_blank(self) -> None:
        """Count a row without any value."""
        self.blank_rows += 1

    def count_total(self) -> None:
        """Count a row of sums or means, without answers."""
        self.total_rows += 1

    def count_unfilled(self) -> None:
        """Count a row of a table with two empty answers."""
        self.unfilled_rows += 1

    def count_header(self) -> None:
        """Count a row that repeats the header."""
        self.repeated_headers += 1

    def count_without_entries(self) -> None:
        """Count a row whose list of cases is empty."""
        self.without_entries += 1

    def count_no_row(self, key: str) -> None:
        """Count a member of a document with rows under keys that is not a row."""
        self.no_rows += 1
        if len(self._no_rows_named) < _KEYS_NAMED:
            self._no_rows_named.append(key)

    def count_prefix(self, prefix: str) -> None:
        """Count a file if a prefix was removed before the JSON of each line."""
        self.files_with_prefix += bool(prefix)
        self._prefix = self._prefix or prefix

    def count_texts(self, count: int, first: str) -> None:
        """Count the lines of a log without JSON, which are left out."""
        self.text_lines += count
        self._text = self._text or first

    def count_empty_file(self, name: str) -> None:
        """Count a file without a row."""
        self.empty_files += 1
        if len(self._empty_named) < _FILES_NAMED:
            self._empty_named.append(name)

    def count_known_format(self, name: str) -> None:
        """Count a file in a known format of traces, which is read without the trace mapping."""
        self.files_of_known_formats += 1
        if len(self._known_named) < _FILES_NAMED:
            self._known_named.append(name)

    def count_other_lists(self, name: str, pointers: tuple[str, ...]) -> None:
        """Count a document with other lists that may be rows, at JSON Pointers."""
        self.files_with_lists += 1
        if self.files_with_lists == 1:
            self._lists = name, pointers

    def count_odd_metadata(self) -> None:
        """Count a row with a number in its metadata that JSON lacks."""
        self.odd_metadata += 1

    def count_absent(self, name: str, why: str, place: str) -> None:
        """Count a row that has no value for an input, at a place such as "q1, line 2"."""
        reasons = self._absent.setdefault(name, Counter())
        why = why if why in reasons or len(reasons) < _REASONS_COUNTED else _OTHER_REASONS
        reasons[why] += 1
        if reasons[why] == 1:
            self._first_absent[name, why] = place

    def count_binary(self, names: Iterable[str]) -> None:
        """Count a row with bytes that are not text in these fields of its metadata, which are left out."""
        self.binary_rows += 1
        if len(self._binary_named) < _KEYS_NAMED:
            self._binary_named |= dict.fromkeys(names)

    def count_other(self, kind: str) -> None:
        """Count a row that is not a case."""
        kind = shorten(kind, _KIND_WIDTH)
        known = kind in self.other_rows or len(self.other_rows) < _KINDS_COUNTED
        self.other_rows[kind if known else _OTHER_KINDS] += 1

    def watch(self, rows: Iterable[SourceRow], mapping: FieldMapping) -> Iterator[SourceRow]:
        """Return the same rows; the first of them are kept when they are read, the others are passed on at no cost."""
        self._mapping = mapping
        rows = iter(rows)
        return chain(map(self._kept, islice(rows, _ROWS_COMPARED)), rows)

    def _kept(self, row: SourceRow) -> SourceRow:
        self._bytes += row.size
        if not row.fault and len(self._first) < _ROWS_COMPARED and self._bytes <= _BYTES_COMPARED:
            self._first.append(row.values)
        return row

    def notes(
        self,
        joined: Mapping[str, str] = MappingProxyType({}),
        *,
        needed: Collection[str] = (),
        compares_texts: bool = True,
    ) -> list[str]:
        """Return all notes on the rows, those on answers in two notations if a grader `compares_texts`.

        `joined` are the joined files, by name; `needed` are the inputs that a grader cannot do without.
        """
        mapping = self._mapping if compares_texts else None
        hint = compared_hint(self._first, mapping, joined) if mapping else ""
        header = data_in_header(self._first) if self.may_lack_header else ""
        header = f"{header}; if it is data, give --no-header" if header else ""
        answer = self._mapping.inputs.get(_ANSWER) if self._mapping else None
        several = several_answers_note(self._first, answer)
        absent = [self._absent_note(name) for name in self._absent if name in needed]
        return [*self.counts(), *absent, *filter(None, (header, several, hint))]

    def _absent_note(self, name: str) -> str:
        reasons = self._absent[name]
        most = reasons.most_common(_REASONS_NAMED)
        told = [f"{rows:,}: {why} (first {self._first_absent[name, why]})" for why, rows in most]
        rest = reasons.total() - sum(rows for _, rows in most)
        told += [f"{rest:,} {_OTHER_REASONS}"] if rest else []
        rows = pluralize(reasons.total(), "row has", "rows have")
        is_one = reasons.total() == 1
        errored = f"and {'is' if is_one else 'are'} errored (MISSING_FIELD)"
        # Answers that are left out would no longer count against the agent.
        hint = (
            self._judged_hint(name)
            if name == _ANSWER
            else f"; --skip-without {name} leaves such rows out"
        )
        return f"{rows} no value for {name}, {errored}: {'; '.join(told)}{hint}"

    def _judged_hint(self, name: str) -> str:
        """Return how answers without a value at a path are judged as they are; empty if they cannot be."""
        value = self._mapping.inputs.get(name) if self._mapping else None
        path = next(iter(value.paths()), None) if value else None
        if path is None or len(path.parts) == 1 or isinstance(value, FirstOf):
            return ""
        judged = f"{value}|{path_of(path.parts[:1])}"
        return f"; to have such answers judged as they are, map {name}={shorten(judged, _TEXT_CHARACTERS)}"

    @property
    def wants_integers(self) -> bool:
        """True if a note says to save numbers as integers."""
        return self._mapping is not None and wants_integers(self._first, self._mapping)

    @property
    def leaves_out(self) -> str:
        """The notes on rows and members that are not graded because they are not cases; empty if there are none."""
        return "; ".join(filter(None, (self.other_rows_note(), self._no_rows_note())))

    def counts(self) -> list[str]:
        """Return the notes that count rows."""
        notes = [self.blank_rows_note(), self._totals_note(), self._headers_note()]
        notes += [self._unfilled_note(), self.other_rows_note(), self._numbered_note()]
        notes += [
            self._entries_note(),
            self._no_rows_note(),
            self._empty_files_note(),
            self._known_formats_note(),
            self.prefix_note(),
            self.empty_sessions_note(),
            self._layouts_note(),
            self._lists_note(),
        ]
        notes += [self._nulls_note(), self._odd_metadata_note(), self._binary_note()]
        return [note for note in notes if note]

    def prefix_note(self) -> str:
        """Return a note on the prefix removed before each line's JSON, and on lines without JSON; empty if there is none."""
        texts = pluralize(self.text_lines, "line")
        such_as = f"without JSON, such as {shorten(self._text, _TEXT_CHARACTERS)!r}"
        if not self.files_with_prefix:
            verb = "was" if self.text_lines == 1 else "were"
            return f"{texts} of a log {such_as}, {verb} left out" if self.text_lines else ""
        more = f" of {self.files_with_prefix:,} files" if self.files_with_prefix > 1 else ""
        prefix = shorten(self._prefix, _TEXT_CHARACTERS)
        note = f"what a log has before the JSON of each line{more} was left out, such as {prefix!r}"
        return f"{note}, and {texts} {such_as}" if self.text_lines else note

    def count_empty_sessions(self, number: int) -> None:
        """Count sessions with nothing to grade, of a database or among chats under their ids."""
        self.empty_sessions += number

    def empty_sessions_note(self) -> str:
        """Return a note on the sessions with nothing to grade; empty if there are none."""
        if not self.empty_sessions:
            return ""
        verb = "was" if self.empty_sessions == 1 else "were"
        which = pluralize(self.empty_sessions, "session")
        return f"{which} in which nothing was said, or no model ran, {verb} left out"

    def other_rows_note(self) -> str:
        """Return a note with the number of rows that are not cases, by kind; empty if there are none."""
        count = self.other_rows.total()
        if not count:
            return ""
        kinds = [f"{rows:,} {kind}" for kind, rows in self._most_other_rows()]
        rows = (
            f"{count:,} row of another kind is"
            if count == 1
            else f"{count:,} rows of other kinds are"
        )
        return f"{rows} not graded: {', '.join(kinds)}"

    def blank_rows_note(self) -> str:
        """Return a note with the number of rows without a value; empty if there are none."""
        if not self.blank_rows:
            return ""
        rows = ("row without any value was", "rows without any value were")
        return f"{pluralize(self.blank_rows, *rows)} skipped"

    def _totals_note(self) -> str:
        if not self.total_rows:
            return ""
        rows = ("row of totals without answers was", "rows of totals without answers were")
        return f"{pluralize(self.total_rows, *rows)} skipped"

    def _unfilled_note(self) -> str:
        if not self.unfilled_rows:
            return ""
        rows = ("row has an empty cell", "rows have empty cells")
        return (
            f"{pluralize(self.unfilled_rows, *rows)} for both answers, as footers and tests without a result have, and cannot"
            " be graded; if empty answers are meant, write the rows as JSON Lines"
        )

    def _headers_note(self) -> str:
        if not self.repeated_headers:
            return ""
        rows = ("row that repeats the header was", "rows that repeat the header were")
        return f"{pluralize(self.repeated_headers, *rows)} skipped"

    def _numbered_note(self) -> str:
        if not self.numbered_rows:
            return ""
        has, it_has, a_number = (
            ("has", "it has", "a number")
            if self.numbered_rows == 1
            else ("have", "they have", "numbers")
        )
        return (
            f"{pluralize(self.numbered_rows, 'row')} {has} the id of an earlier row that differs, so {it_has} {a_number} in the id, as in"
            f" {shorten(self._numbered, _TEXT_CHARACTERS)!r}; if they repeat one case, --repeats-by custom_id:# groups them"
        )

    def _entries_note(self) -> str:
        if not self.without_entries:
            return ""
        rows = ("row has an empty list and gives", "rows have an empty list and give")
        return f"{pluralize(self.without_entries, *rows)} no case"

    def _nulls_note(self) -> str:
        if not self.nulls:
            return ""
        return (
            f"{pluralize(self.nulls, 'row has', 'rows have')} a word such as {self._null!r} as both answers, which are equal: if it"
            " means that there is no value, leave these rows out"
        )

    def _empty_files_note(self) -> str:
        if not self.empty_files:
            return ""
        more = ", ..." if self.empty_files > len(self._empty_named) else ""
        named = ", ".join(self._empty_named)
        return f"{pluralize(self.empty_files, 'file has', 'files have')} no row: {named}{more}"

    def _known_formats_note(self) -> str:
        if not self.files_of_known_formats:
            return ""
        more = ", ..." if self.files_of_known_formats > len(self._known_named) else ""
        files = pluralize(self.files_of_known_formats, "file is", "files are")
        return f"{files} in a known format, and read as that, because the trace mapping does not fit: {', '.join(self._known_named)}{more}"

    def _layouts_note(self) -> str:
        if not self.files_read_otherwise:
            return ""
        files = ("file is", "files are")
        more = ", ..." if self.files_read_otherwise > len(self._layouts_named) else ""
        named = ", ".join(self._layouts_named)
        return f"{pluralize(self.files_read_otherwise, *files)} read in another way than the first: {named}{more}"

    def _lists_note(self) -> str:
        name, pointers = self._lists
        if not pointers:
            return ""
        note = other_lists_note(pointers)
        files = self.files_with_lists
        return f"{note}; {files:,} files have such lists, first {name}" if files > 1 else note

    def _no_rows_note(self) -> str:
        return no_rows_note(self._no_rows_named, self.no_rows) if self.no_rows else ""

    def _odd_metadata_note(self) -> str:
        if not self.odd_metadata:
            return ""
        return (
            f"{pluralize(self.odd_metadata, 'row has a number', 'rows have numbers')} in metadata that JSON lacks: NaN and Infinity became null, and"
            " integers beyond 64 bits became texts"
        )

    def _binary_note(self) -> str:
        if not self.binary_rows:
            return ""
        named = ", ".join(shorten(name, _KIND_WIDTH) for name in self._binary_named)
        rows = pluralize(self.binary_rows, "row has", "rows have")
        return f"{rows} binary values in metadata, which are left out: {named}"

    def _most_other_rows(self) -> list[tuple[str, int]]:
        most = self.other_rows.most_common(_KINDS_NAMED)
        rest = self.other_rows.total() - sum(rows for _, rows in most)
        return [*most, ("others", rest)] if rest else most


def no_rows_note(keys: Sequence[str], count: int) -> str:
    """Return a note that `count` members are left out of a document's rows; `keys` are those of the first ones."""
    named = ", ".join(repr(shorten(key, _KIND_WIDTH)) for key in keys[:_KEYS_NAMED])
    more = ", ..." if count > _KEYS_NAMED else ""
    are = "is not a row and is" if count == 1 else "are not rows and are"
    return f"{pluralize(count, 'member')} of the document {are} left out: {named}{more}"


def other_lists_note(pointers: Sequence[str]) -> str:
    """Return a note on a document's other lists that may be rows, at JSON Pointers, with a hint on reading them."""
    named = ", ".join(shorten(pointer, _KIND_WIDTH) for pointer in pointers[:_LISTS_NAMED])
    more = ", ..." if len(pointers) > _LISTS_NAMED else ""
    return (
        f"other lists with rows were not read: {named}{more} (write `rows: {shorten(pointers[0], _KIND_WIDTH)}` in a mapping"
        " file)"
    )
