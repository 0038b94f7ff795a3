"""Joins: each row of the input gets the row of another file that has the same key, such as the expected answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.errors import Fault, JoinError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import did_you_mean, shorten
from weighbridge_producer.input.join_index import JoinIndex, KeyFormError, key_of
from weighbridge_producer.input.mapping.missing_paths import columns_near, listed, nearest
from weighbridge_producer.input.mapping.row_values import ADDED, MISSING, ROW_NUMBER, Path
from weighbridge_producer.input.rows.keyed_documents import join_hint
from weighbridge_producer.input.rows.source_rows import SourceRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.files.input_paths import InputFile
    from weighbridge_producer.input.files.table_form import TableForm
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row, Value

_NAME = re.compile(r"[^\W\d][\w-]{0,63}")
_FORM = "write --join NAME=FILE, such as --join gold=answers.csv"
_ON_FORM = "write --on FIELD, or --on LEFT=RIGHT if the field has another name in the joined file"
_WIDTH = 60  #: of keys and names in messages


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """A file to join by a key, and the name that its row gets in each row of the input."""

    name: str
    file: str
    left: Path  #: of the key in a row of the input
    right: Path  #: of the key in a row of the file
    rows: str = ""  #: JSON Pointer to the rows in a document; empty to look for them
    has_header: bool | None = None  #: of a table; None if nothing is said of it

    @classmethod
    def of(
        cls, name: str, file: str, on: str, rows: str = "", *, has_header: bool | None = None
    ) -> JoinSpec:
        """Return the join with a file on `FIELD` or `LEFT=RIGHT`; raises JoinError if a part is not well formed."""
        if not _NAME.fullmatch(name):
            raise JoinError(
                f"{shorten(name, _WIDTH)!r} cannot be the name of a joined file",
                "a name has 1 to 64 letters, digits, - and _, and begins with a letter or _",
            )
        left, equals, right = (part.strip() for part in on.partition("="))
        if not left or (equals and not right):
            raise JoinError(f"{shorten(on, _WIDTH)!r} does not name a field to join on", _ON_FORM)
        if rows and not rows.startswith("/"):
            raise JoinError(f"'rows' of {name!r} is not a JSON Pointer", "write rows: /references")
        return cls(name, file, Path(left), Path(right or left), rows, has_header)

    def beside(self, form: TableForm) -> JoinSpec:
        """Return the join with tables of a form: what is said of their header counts for this file, unless its key names a column."""
        names_column = self.right.text != ROW_NUMBER and not self.right.text.isdecimal()
        if self.has_header is not None or names_column:
            return self
        return replace(self, has_header=form.has_header)

    @property
    def on(self) -> str:
        """The key as in `--on`."""
        return self.left.text + ("" if self.left == self.right else f"={self.right.text}")

    def __str__(self) -> str:
        """Return the join as on the command line."""
        rows = f", rows at {self.rows}," if self.rows else ""
        return f"{self.name}={self.file}{rows} on {self.on}"


def parse_joins(
    texts: Sequence[str], keys: Sequence[str], saved: Mapping[str, JoinSpec] | None = None
) -> tuple[JoinSpec, ...]:
    """Parse `NAME=FILE` texts, with one key for all of them or one for each.

    Without keys, they are those of the saved joins with the same names. Raises JoinError.
    """
    if not keys:
        keys = [_saved_key(text, saved or {}) for text in texts]
    if len(keys) not in {1, len(texts)}:
        raise JoinError(
            f"the numbers of --join and --on differ: {len(texts)} and {len(keys)}",
            "give one --on for all of them, or one for each, in the same order",
        )
    keys = list(keys) * len(texts) if len(keys) == 1 else keys
    specs = tuple(map(_parsed, texts, keys))
    names = [spec.name for spec in specs]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise JoinError(f"two files are joined as {repeated!r}", "give one of them another name")
    return specs


def _saved_key(text: str, saved: Mapping[str, JoinSpec]) -> str:
    name = text.partition("=")[0].strip()
    if name not in saved:
        raise JoinError(f"{shorten(text, _WIDTH)!r} is joined on no field", _ON_FORM)
    return saved[name].on


def _parsed(text: str, on: str) -> JoinSpec:
    name, _, file = (part.strip() for part in text.partition("="))
    if not name or not file:
        raise JoinError(f"{shorten(text, _WIDTH)!r} does not name a file to join", _FORM)
    return JoinSpec.of(name, file, on)


class Join:
    """A joined file that has been read."""

    def __init__(self, spec: JoinSpec, settings: Settings) -> None:
        """Read the file; raises InputError and JoinError."""
        self.spec = spec
        self.index = JoinIndex(
            *(spec.file, spec.right, settings, spec.rows), has_header=spec.has_header is not False
        )
        # Results are UTF-8, which a file's name need not be.
        self._file = self.index.file.name.encode(errors="backslashreplace").decode()
        first = list(map(repr, self.index.first_keys))
        more = ["..."] if self.index.keys > len(first) else []
        self._hint = f"keys in {self._file}: {', '.join([*first, *more])}"

    def add_to(self, row: SourceRow) -> None:
        """Add the matching row of the file to a row of the input; a row without one gets a fault."""
        name, left = self.spec.name, self.spec.left
        if name in row.values:
            what = f"the row has a field {name!r} of its own"
            row.fault = _unmatched(what, "give the joined file another name")
            return
        try:
            key = key_of(row.values, left, row.place)
        except KeyFormError as error:
            row.fault = _unmatched(f"the key in {left.text!r} {error}", self._hint)
            return
        found = None if key is None else self.index.find(key)
        if found is not None:
            row.values[name] = found.values
            if found.doubt:
                row.joined_doubts = {**(row.joined_doubts or {}), name: found.doubt}
        elif key is None:
            row.fault = _unmatched(f"the row has no key in {left.text!r}", self._hint)
        else:
            what = (
                f"no row of {self._file} has {shorten(key, _WIDTH)!r} in {self.spec.right.text!r}"
            )
            row.fault = _unmatched(what, self._hint)

    def lacks(self, row: SourceRow, path: Path, field: str) -> Fault:
        """Return the fault of a row whose joined row does not have the path that a field of the case is mapped to."""
        key = shorten(key_of(row.values, self.spec.left, row.place) or "", _WIDTH)
        joined = f"the row of {self._file} with {key!r} in {self.spec.right.text!r}"
        what = f"{joined} lacks {path.text!r}, which {field} is mapped to"
        fields = listed(columns_near(path, [row.values]))
        return Fault(ErrorCode.MISSING_FIELD, what, f"its fields: {fields}")

    def examples(self) -> list[Row]:
        """Return rows that show which fields the file has."""
        return [{self.spec.name: row} for row in self.index.first_rows()]

    def with_row(self, row: Row) -> Row:
        """Return a row of the input with the matching row of the file, or unchanged without one."""
        joined = SourceRow(0, dict(row))
        self.add_to(joined)
        return joined.values


class Joins:
    """The joined files of an input."""

    def __init__(self, joins: Sequence[Join]) -> None:
        self._joins = tuple(joins)
        self._required: dict[str, Value] = {}

    @classmethod
    def read(
        cls,
        specs: Iterable[JoinSpec],
        settings: Settings,
        first: Sequence[Row] = (),
        name: str = "",
    ) -> Joins:
        """Read the joined files; `first` are the first rows of the input with that name.

        Raises InputError, and JoinError if the first rows do not have the key, or have a column with a joined file's name.
        """
        joins: list[Join] = []
        for spec in specs:
            _check(spec, first, name)
            joins.append(Join(spec, settings))
            first = [*map(joins[-1].with_row, first), *joins[-1].examples()] if first else ()
        return cls(joins)

    def __bool__(self) -> bool:
        return bool(self._joins)

    def __iter__(self) -> Iterator[Join]:
        return iter(self._joins)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the joined files have in a row."""
        return tuple(join.spec.name for join in self)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the joined files that are tables in text."""
        return tuple(
            join.spec.name for join in self if join.index.layout and join.index.layout.dialect
        )

    @property
    def columns(self) -> set[str]:
        """The columns of the input that may have keys."""
        return {part for join in self for part in (join.spec.left.text, join.spec.left.parts[0])}

    @property
    def added(self) -> frozenset[str]:
        """The values that keys need and a row of the input does not have by itself."""
        return frozenset(join.spec.left.text for join in self) & ADDED

    @property
    def files(self) -> list[InputFile]:
        """The joined files."""
        return [join.index.file for join in self]

    def fingerprint(self) -> list[list[str]]:
        """Return a value that changes with the joins and the rows of their files."""
        return [[str(join.spec), join.index.digest] for join in self]

    def require(self, mapping: FieldMapping, inputs: Iterable[str]) -> None:
        """Make it a fault of a row that its joined rows lack a field to which one of these inputs is mapped."""
        names = set(self.names)
        self._required = {
            name: value
            for name in inputs
            if (value := mapping.inputs.get(name))
            and any(path.parts[0] in names for path in value.paths())
        }

    def of(self, rows: Iterable[SourceRow]) -> Iterator[SourceRow]:
        """Yield rows of the input with the matching rows of the files; a row without one of them has a fault."""
        for row in rows:
            for join in self._joins:
                if not row.fault:
                    join.add_to(row)
            if not row.fault:
                row.fault = self._missing_in(row)
            yield row

    def _missing_in(self, row: SourceRow) -> Fault | None:
        for name, value in self._required.items():
            if value.of(row.values, row.place) is not MISSING:
                continue
            for path in value.paths():
                join = next((join for join in self if join.spec.name == path.parts[0]), None)
                # A column may have the text of the whole value as its name, but that is rare.
                is_whole = path is not value and path.text == str(value)
                if join and not is_whole and path.of(row.values, row.place) is MISSING:
                    return join.lacks(row, path, name)
        return None

    def of_first(self, rows: Sequence[Row]) -> list[Row]:
        """Return the first rows of the input with the matching rows of the files, where there are any."""
        for join in self:
            rows = list(map(join.with_row, rows))
        return list(rows)

    def examples(self) -> list[Row]:
        """Return rows that show which fields the files have."""
        return [example for join in self for example in join.examples()]

    def close(self) -> None:
        """Delete the indexes."""
        for join in self:
            join.index.close()


def _check(spec: JoinSpec, rows: Sequence[Row], name: str) -> None:
    """Raise JoinError if the first rows of an input cannot be joined."""
    columns = dict.fromkeys(column for row in rows for column in row)
    if spec.name in columns:
        raise JoinError(
            f"{name}: there is a column {spec.name!r} already, so {spec.file!r} cannot be joined as {spec.name!r}",
            f"give the joined file another name, such as {spec.name}_joined={spec.file}",
        )
    if rows and all(spec.left.of(row, 1) is MISSING for row in rows):
        near = columns_near(spec.left, rows)
        meant = did_you_mean(nearest(spec.left, rows)) or "."
        raise JoinError(
            f"{name}: no row has {spec.left.text!r}, the field named by --on{meant}",
            "\n  ".join(filter(None, (f"columns: {listed(near)}", join_hint(rows)))),
        )


def _unmatched(what: str, hint: str) -> Fault:
    return Fault(ErrorCode.UNMATCHED_ROW, what, hint)
