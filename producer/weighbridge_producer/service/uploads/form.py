"""Streaming parser of a multipart form: collects the fields, and passes the files on while they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from weighbridge.text import closest, did_you_mean
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.uploads.submission_params import (
    COMMAND_LINE_ONLY,
    FIELDS,
)

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FILE = "file"
_FIELD_LIMIT_BYTES = 16 * 1024 * 1024  #: 64 graders with the largest configurations
_FIELDS_LIMIT = 100
_PAGE_FIELDS_LIMIT = 2_000  #: enough for all settings of all graders
_NAME_FAULT = "FORM_FIELD"


@dataclass(frozen=True, slots=True)
class NextFile:
    """The start of another file, after the first."""

    name: str


class Form:
    """A form being parsed; `feed` takes pieces of the body and returns pieces of the files."""

    def __init__(self, content_type: str, *, takes_any_field: bool = False) -> None:
        self._takes_any_field = (
            takes_any_field  # and accepts an empty file field, and several files
        )
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if not boundary:
            raise _broken("its Content-Type names no boundary")
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._on_part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)
        except FormParserError as error:
            raise _broken(str(error)) from None
        self.fields: list[tuple[str, str]] = []  #: in order of arrival
        self.file_name: str | None = None  #: of the first file; None until it starts
        self.ended = False
        self._file_pieces: list[bytes | NextFile] = []
        self._field: bytearray | None = None  # the field being read
        self._field_name = ""
        self._kept_bytes = 0
        self._header_name = self._header_value = b""
        self._disposition = b""

    def feed(self, piece: bytes) -> list[bytes | NextFile]:
        """Parse the next piece of the body, and return the parts of it that belong to files."""
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _broken(str(error)) from None
        found, self._file_pieces = self._file_pieces, []
        return found

    def check_end(self) -> None:
        """Raise ProblemError if the form is truncated, or has no file."""
        if not self.ended:
            raise _broken("it ends early")
        if self.file_name is None:
            raise ProblemError(
                422, _NAME_FAULT, f"the form has no field {FILE!r}", "send the cases as that field"
            )

    def _on_part_begin(self) -> None:
        self._disposition = b""
        self._header_name = self._header_value = b""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"name", b"").decode(errors="replace")
        if self.file_name is not None and self._takes_any_field and name == FILE:
            file_name = options.get(b"filename", b"").decode(errors="replace")
            self._file_pieces.append(NextFile(file_name))
            return
        if self.file_name is not None:
            raise ProblemError(
                422,
                _NAME_FAULT,
                f"the field {name[:80]!r} comes after the file, which is submitted while it arrives",
                "send the file last, and once",
            )
        if name == FILE:
            self.file_name = options.get(b"filename", b"upload").decode(errors="replace")
            if not (self.file_name or self._takes_any_field):
                raise ProblemError(422, _NAME_FAULT, "no file was chosen", "choose a file of cases")
            self._field = None
            return
        if name not in FIELDS and not self._takes_any_field:
            raise _unknown(name)
        limit = _PAGE_FIELDS_LIMIT if self._takes_any_field else _FIELDS_LIMIT
        if len(self.fields) >= limit:
            raise ProblemError(
                413, "FORM_TOO_LARGE", f"the form has over {limit} fields", "send fewer"
            )
        self._field, self._field_name = bytearray(), name

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self._file_pieces.append(data[start:end])
            return
        self._kept_bytes += end - start
        if self._kept_bytes > _FIELD_LIMIT_BYTES:
            raise ProblemError(
                413,
                "FORM_TOO_LARGE",
                "the form's fields before the file are over 16 MiB",
                f"send the cases as the field {FILE!r}",
            )
        self._field += data[start:end]

    def _on_part_end(self) -> None:
        if self._field is not None:
            self.fields.append((self._field_name, self._field.decode(errors="replace")))
            self._field = None

    def _on_end(self) -> None:
        self.ended = True


def _unknown(name: str) -> ProblemError:
    if name in COMMAND_LINE_ONLY:
        what = f"the field {name!r} is for the command line only: a service opens no other files"
        return ProblemError(422, _NAME_FAULT, what, COMMAND_LINE_ONLY[name])
    guess = did_you_mean(closest(name, (*FIELDS, FILE)))
    return ProblemError(
        422,
        _NAME_FAULT,
        f"the form has an unknown field {name[:80]!r}{guess}",
        f"known fields: {', '.join(FIELDS)}, and {FILE} as the last one",
    )


def _broken(why: str) -> ProblemError:
    return ProblemError(
        400,
        "INVALID_FORM",
        f"the form cannot be read: {why}",
        "send it as multipart/form-data, as `curl -F file=@cases.jsonl` does",
    )
