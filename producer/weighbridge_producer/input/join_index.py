"""Index of a joined file on disk: its rows by their keys, from one reading, in constant memory."""

from __future__ import annotations

import json
import math
import sqlite3
import weakref
from dataclasses import astuple
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import Fault, InputError, JoinError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import json_type
from weighbridge.settings import MIB
from weighbridge.text import did_you_mean, shorten
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.joined_files import file_to_join, opened_to_join
from weighbridge_producer.input.mapping.list_entries import EACH, present_entries
from weighbridge_producer.input.mapping.missing_paths import columns_near, listed, nearest
from weighbridge_producer.input.mapping.row_values import ADDED, MISSING, Path, Row
from weighbridge_producer.input.rows.header_rows import data_in_header
from weighbridge_producer.input.rows.keyed_documents import join_hint
from weighbridge_producer.input.rows.row_formats import Layout, RowReader
from weighbridge_producer.input.rows.source_rows import plain_value
from weighbridge_producer.input.temporary import scratch_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.source_rows import SourceRow

_ROWS_LOOKED_AT = 100  #: to find out which columns a file has
_BYTES_LOOKED_AT = 8 * MIB
_KEYS_SHOWN = 3
_KEY_BYTES = 1024  #: of a key that is kept as it is
_WIDTH = 60  #: of keys and names in messages
_NO_ROWS = frozenset({ErrorCode.MISSING_FIELD, ErrorCode.INVALID_FIELD})  #: of a pointer to rows
_WHOLE = "correct or remove this row: a joined file must be readable to its end"
_TABLE = (
    "rows (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content TEXT NOT NULL, doubt TEXT)"
)


class KeyFormError(ValueError):
    """A value cannot be a key; the message continues a sentence about it."""


def key_of(row: Row, path: Path, number: int) -> str | None:
    """Return the key at a path of a row as text, so that 7 and "7" are equal; None if there is no value.

    Raises KeyFormError for objects, lists, booleans and NaN. A key is no id, and may be as long as a prompt.
    """
    value = path.of(row, number)
    if value is MISSING or value is None or value == "":
        return None
    if isinstance(value, (bool, list, dict)):
        raise KeyFormError(f"is of the JSON type {json_type(value)}, not text or a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise KeyFormError("is not a finite number")
    try:
        return value if isinstance(value, str) else str(plain_value(value))
    except ValueError:  # Python refuses to write such a number
        raise KeyFormError("is a number with thousands of digits") from None
    except TypeError:
        raise KeyFormError("has bytes that are not text") from None


class FoundRow(NamedTuple):
    """A row of a joined file."""

    values: dict[str, Any]
    doubt: Fault | None  #: of a number in it, as in SourceRow


class JoinIndex:
    """The rows of a file by their keys; it takes up to 32 MiB of memory, and one bit for each row.

    The private temporary file with the rows is deleted with the index, or when the process ends in any way.
    """

    def __init__(
        self,
        file: str,
        key_path: Path,
        settings: Settings,
        pointer: str = "",
        *,
        has_header: bool = True,
    ) -> None:
        """Read a file, with its rows at a JSON Pointer if given; a table may be without a header.

        Raises InputError or JoinError if a row cannot be read, or has the key of another.
        """
        self.file = file_to_join(file)
        self.layout: Layout | None = None
        self.rows = 0  #: number of rows
        self.keys = 0  #: number of rows with a key
        self.first_keys: list[str] = []  #: shortened
        self._key_path = key_path
        self._pointer = pointer
        self._form = TableForm(has_header=has_header, is_of_another=True)
        self._digest = blake2b(digest_size=16)
        self._found = 0
        self._is_found = bytearray()  #: a bit for each row number
        # The thread that reads the input is not the one that reads the joined files.
        self._base = scratch_database(_TABLE, has_long_rows=True, is_of_one_thread=False)
        self.close = weakref.finalize(self, self._base.close)
        try:
            self._read(settings)
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the rows of {str(self.file)!r} cannot be kept in a temporary file: {error}",
                "free space, or name another folder with TMPDIR",
            ) from None

    @property
    def digest(self) -> str:
        """A digest of all rows with their keys."""
        return self._digest.hexdigest()

    @property
    def unused(self) -> int:
        """Number of rows that have not been found."""
        return self.rows - self._found

    def find(self, key: str) -> FoundRow | None:
        """Return the row with a key; None if there is none."""
        found = self._base.execute(
            "SELECT number, content, doubt FROM rows WHERE key = ?", (_encoded(key),)
        ).fetchone()
        if found is None:
            return None
        number, content, doubt = found
        byte, bit = number >> 3, 1 << (number & 7)
        if not self._is_found[byte] & bit:
            self._is_found[byte] |= bit
            self._found += 1
        fault = (
            Fault(*json.loads(doubt)).at(f"{self.file}, {self._unit} {number:,}") if doubt else None
        )
        return FoundRow(_row_in(content), fault)

    def first_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the first rows that have a key."""
        taken = 0
        for (content,) in self._base.execute(
            "SELECT content FROM rows ORDER BY number LIMIT ?", (_ROWS_LOOKED_AT,)
        ):
            yield _row_in(content)
            taken += len(content)
            if taken > _BYTES_LOOKED_AT:
                return

    def header_note(self) -> str:
        """Return why the first row of a table, which was read as its header, looks like data; empty if it does not."""
        dialect = self.layout.dialect if self.layout else None
        if not dialect or not dialect.may_lack_header:
            return ""
        return data_in_header(list(self.first_rows()), dialect.repeated)

    def _read(self, settings: Settings) -> None:
        added = {self._key_path.text} & ADDED
        reader = RowReader(self.file.name, settings, self._pointer, added=added, form=self._form)
        first: list[Row] = []
        number = 0
        with opened_to_join(self.file) as stream:
            for row in reader.read(stream):
                self.layout, number = reader.layout, row.number
                self.rows += 1
                if row.fault:
                    hint = row.fault.hint if row.fault.code in _NO_ROWS else _WHOLE
                    raise self._error(row, row.fault.message, hint)
                if self.rows <= _ROWS_LOOKED_AT:
                    first.append(dict.fromkeys(row.values) if first else row.values)
                self._add(row)
                if self.rows == _ROWS_LOOKED_AT and not self.first_keys:
                    break
        if not self.first_keys:
            raise self._without_keys(first)
        self._is_found = bytearray((number >> 3) + 1)

    def _add(self, row: SourceRow) -> None:
        """Add a row; one without a key cannot be found, and is only counted."""
        where = self._key_path.text
        try:
            key = key_of(row.values, self._key_path, row.place)
        except KeyFormError as error:
            raise self._error(
                row, f"the key in {where!r} {error}", "correct or remove it"
            ) from None
        if key is None:
            return
        try:
            content = json.dumps(row.values, default=_plain)
        except (ValueError, RecursionError) as error:
            raise self._error(row, f"the row cannot be written as JSON: {error}") from None
        doubt = json.dumps(astuple(row.doubt)) if row.doubt else None
        new = (row.number, _encoded(key), content, doubt)
        if not self._base.execute("INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?)", new).rowcount:
            raise self._repeated(row, key)
        self._digest.update(b"%d %b %b\n" % (row.number, _encoded(key), content.encode()))
        self.keys += 1
        if self.keys <= _KEYS_SHOWN:
            self.first_keys.append(shorten(key, _WIDTH))

    def _error(self, row: SourceRow, what: str, hint: str = "") -> JoinError:
        return JoinError(f"{self.file}, {self._unit} {row.number:,}: {what}", hint)

    def _repeated(self, row: SourceRow, key: str) -> JoinError:
        [first] = self._base.execute(
            "SELECT number FROM rows WHERE key = ?", (_encoded(key),)
        ).fetchone()
        return JoinError(
            f"{self.file}: {self._unit}s {first:,} and {row.number:,} have the same key"
            f" {shorten(key, _WIDTH)!r} in {self._key_path.text!r}",
            "remove one of them, or join by a field that differs",
        )

    def _without_keys(self, first: list[Row]) -> JoinError:
        if not self.rows:
            return JoinError(f"{self.file} has no rows", "name a file with rows")
        if within := _list_within(first[0], self._key_path):
            key = self._key_path.text
            return JoinError(
                f"{self.file}: {key!r} leads into the list {within!r}, and lists of a joined file are not taken apart",
                f"swap the files: give this one as CASES, with {EACH}={within} in --map, and join the other one with"
                f" --on {key}=FIELD, where FIELD is its key",
            )
        columns = columns_near(self._key_path, first)
        meant = did_you_mean(nearest(self._key_path, first)) or "."
        return JoinError(
            f"{self.file}: no row has {self._key_path.text!r}, the field named by --on{meant}",
            "\n  ".join(filter(None, (f"columns: {listed(columns)}", join_hint(first)))),
        )

    @property
    def _unit(self) -> str:
        return "line" if self.layout and self.layout.has_lines else "row"


def _list_within(row: Row, key: Path) -> str:
    """Return the path of the list of a row in whose entries a key is; empty if there is none."""
    if key.text.startswith("/"):
        return ""
    for depth in range(len(key.parts) - 1, 0, -1):
        path = Path(".".join(key.parts[:depth]))
        if any(key.of(each, 1) is not MISSING for each in present_entries(row, path)):
            return path.text
    return ""


def _encoded(key: str) -> bytes:
    """Return the bytes by which a key is found: its own or, if it is long, a digest after a byte that no text has."""
    # Text that is not UTF-8 has lone surrogates, which SQLite's text cannot hold.
    encoded = key.encode(errors="surrogatepass")
    if len(encoded) <= _KEY_BYTES:
        return encoded
    return b"\xff" + blake2b(encoded, digest_size=32).digest()


def _plain(value: object) -> object:
    # Bytes that are not text are no error here: the mapping may not use them.
    return (
        value.decode(errors="surrogateescape") if isinstance(value, bytes) else plain_value(value)
    )


def _row_in(content: str) -> dict[str, Any]:
    # The module of the standard library keeps NaN and large numbers, which a case with them is refused for.
    row: dict[str, Any] = json.loads(content)
    return row
