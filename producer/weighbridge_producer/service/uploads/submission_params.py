"""Parameters of a submitted batch: graders, metadata, name of the input, and others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import jiter
import orjson

from weighbridge.errors import ConfigTypeError, InputError, LineError
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.batch_state import Priority
from weighbridge.jobs.grader_spec import (
    CONFIG_LIMIT_BYTES,
    GRADER_FORM,
    GRADERS_LIMIT,
    GraderSpec,
    parse_specs,
)
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES, NAME_LIMIT
from weighbridge.store import WEIGHTS
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.rows.text_encodings import checked_encoding
from weighbridge_producer.input.unmapped_rows import JOIN_HINT, TRACE_MAPPING_HINT
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import Request

FIELDS = (
    *("graders", "grader", "metadata", "source", "strict", "resume", "framed"),
    *("priority", "project", "mapping", "encoding", "header", "header_line"),
)
#: What the command line alone does with other files, by the name of its option, and how to have it here.
COMMAND_LINE_ONLY = {
    "join": JOIN_HINT,
    "on": JOIN_HINT,
    "trace_mapping": TRACE_MAPPING_HINT,
    "trace-mapping": TRACE_MAPPING_HINT,
}
AUTO = "auto"  #: a mapping determined by the shape of the rows
GRADERS_HEADER = "weighbridge-graders"
METADATA_HEADER = "weighbridge-metadata"
_ON, _OFF = {"true", "1", "yes", "on"}, {"false", "0", "no", "off", ""}
_NEEDS_MAPPING = "is for CSV and TSV, which are read with a mapping", "add mapping=custom_id=id,..."
_LINE_DIGITS = 9  #: of the number of a line
_METADATA_SHAPE = 'write {"name": "value", ...}'


@dataclass(frozen=True, slots=True)
class SubmissionParams:
    """Parameters of a batch to be submitted."""

    graders: tuple[GraderSpec, ...] = ()
    metadata: dict[str, str] | None = None
    source: str = "upload"  #: name of the input
    strict: bool = False
    resume: str = ""  #: id of a batch to resume
    #: True if annotations precede lines; see `weighbridge_producer.input.annotated_lines`.
    framed: bool = False
    is_from_client: bool = False  #: True if the Python client sends it, which alone states `framed`
    priority: Priority = "normal"
    project: str = ""  #: the batch's project; empty: that of the key
    mapping: FieldMapping | None = None  #: mapping of rows to cases
    is_recognised: bool = False  #: True if the mapping follows from the shape of the first rows
    table: TableForm = USUAL_FORM  #: of CSV and TSV, which are read with a mapping
    first_file: str = ""  #: name of the first file, if there may be several
    folder: str | None = (
        None  #: name of the folder that the files are in; None if they were chosen one by one
    )
    suffix: str = ""  #: ending of a file of the body's type, if that is a table's

    @classmethod
    def of(cls, fields: Iterable[tuple[str, str]], source: str = "upload") -> SubmissionParams:
        """Parse fields by name; raises ConfigError, ConfigTypeError or ProblemError if one is invalid."""
        # A browser may send the path of a file; `source` is what somebody chose to call the input.
        source = source.replace("\\", "/").rstrip("/").rpartition("/")[2]
        specs: list[Any] = []
        metadata: dict[str, str] | None = None
        flags = {"strict": False, "framed": False, "header": True}
        is_from_client = False
        encoding = ""
        header_line = 0
        resume = project = ""
        mapping: FieldMapping | None = None
        is_recognised = False
        priority: Priority = "normal"
        for name, value in fields:
            if name == "grader":
                specs.append(value)
            elif name == "graders":
                specs += _graders_in(value)
            elif name == "metadata":
                metadata = _metadata_in(value)
            elif name == "source":
                source = value
            elif name == "resume":
                resume = value
            elif name == "priority":
                priority = _priority_in(value)
            elif name == "project":
                project = value
            elif name == "mapping" and value.strip():
                is_recognised = value.strip() == AUTO
                mapping = None if is_recognised else _mapping_in(value)
            elif name == "encoding" and value.strip():
                encoding = _encoding_in(value.strip())
            elif name == "header_line" and value.strip():
                header_line = _line_in(name, value.strip())
            elif name in flags:
                flags[name] = _flag(name, value)
                is_from_client |= name == "framed"
        if len(specs) > GRADERS_LIMIT:
            raise ConfigTypeError(f"at most {GRADERS_LIMIT} graders, not {len(specs)}")
        table = TableForm(encoding, flags["header"], header_line)
        if header_line and not flags["header"]:
            raise _unfit("header_line", "is given for a table without a header", "leave one out")
        if str(table) and not (mapping or is_recognised):
            raise _unfit(
                "encoding" if encoding else "header_line" if header_line else "header",
                *_NEEDS_MAPPING,
            )
        return cls(
            graders=_specs(specs),
            metadata=metadata,
            source=legible_name(source),
            resume=resume,
            priority=priority,
            project=project,
            mapping=replace(mapping, table=table) if mapping else None,
            table=table,
            is_recognised=is_recognised,
            strict=flags["strict"],
            framed=flags["framed"],
            is_from_client=is_from_client,
        )

    @classmethod
    def of_request(cls, request: Request) -> SubmissionParams:
        """Parse the query, and headers for parameters not in the query."""
        return cls.of(fields_of(request))

    def fingerprint(self) -> str:
        """Return a digest that is equal for requests with the same parameters."""
        wanted = [
            [spec.as_dict() for spec in self.graders],
            *(self.metadata or {}, self.strict, self.resume, self.framed),
            *(self.priority, self.project, str(self.mapping or ""), self.is_recognised),
            *([str(self.table)] if str(self.table) else ()),
        ]
        return sha256(orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)).hexdigest()


def fields_of(request: Request) -> list[tuple[str, str]]:
    """Return the fields in a request's query, and in its headers if not in the query."""
    fields = list(request.query_params.multi_items())
    named = {name for name, _ in fields}
    for name in sorted(named - set(FIELDS)):
        raise _unknown(name)
    if not named & {"grader", "graders"} and (graders := request.headers.get(GRADERS_HEADER)):
        fields.append(("graders", graders))
    if "metadata" not in named and (metadata := request.headers.get(METADATA_HEADER)):
        fields.append(("metadata", metadata))
    return fields


def _specs(values: list[Any]) -> tuple[GraderSpec, ...]:
    specs = parse_specs(values)
    for spec in specs:
        if spec.config is not None and len(orjson.dumps(spec.config)) > CONFIG_LIMIT_BYTES:
            raise ConfigTypeError(
                f"the config of {spec.grader[:80]!r} is over {CONFIG_LIMIT_BYTES // 1024} KiB"
            )
    return specs


def _graders_in(text: str) -> list[Any]:
    value = _json_in("graders", text, f"write a list of graders as JSON: {GRADER_FORM}")
    return value if isinstance(value, list) else [value]


def _priority_in(text: str) -> Priority:
    for priority in WEIGHTS:
        if text == priority:
            return priority
    raise _unfit("priority", f"is {text[:80]!r}", f"write one of {', '.join(WEIGHTS)}")


def _metadata_in(text: str) -> dict[str, str]:
    value = _json_in("metadata", text, _METADATA_SHAPE)
    if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
        raise _unfit("metadata", "is not a JSON object of strings", _METADATA_SHAPE)
    if len(orjson.dumps(value)) > METADATA_LIMIT_BYTES:
        raise _unfit("metadata", f"is over {METADATA_LIMIT_BYTES // 1024} KiB", "shorten it")
    return value


def _encoding_in(name: str) -> str:
    try:
        return checked_encoding(name)
    except InputError as error:
        raise _unfit("encoding", f"is unknown: {name[:80]!r}", error.hint) from None


def _line_in(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _LINE_DIGITS and int(text)):
        raise _unfit(name, f"is not the number of a line: {text[:80]!r}", f"write {name}=3")
    return int(text)


def _json_in(name: str, text: str, shape: str) -> Any:
    try:
        value = jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
        decode_line(b'{"value":%b}' % text.encode())  # rejects JSON that the store cannot represent
    except LineError as error:
        raise _unfit(name, f"cannot be stored: {error.message}", error.hint) from None
    except ValueError as error:
        raise _unfit(name, f"is not JSON: {str(error)[:200]}", shape) from None
    return value


def _flag(name: str, text: str) -> bool:
    value = text.strip().lower()
    if value not in _ON | _OFF:
        raise _unfit(name, f"is true or false, not {text[:80]!r}", f"write {name}=true")
    return value in _ON


def _mapping_in(text: str) -> FieldMapping:
    if "--join" in text.split():
        raise _unfit("mapping", "has --join, but a service opens no other files", JOIN_HINT)
    return parse_mapping([text])


def _unknown(name: str) -> ProblemError:
    if name in COMMAND_LINE_ONLY:
        what = "is for the command line only: a service opens no other files"
        return _unfit(f"the parameter {name!r}", what, COMMAND_LINE_ONLY[name])
    guess = did_you_mean(closest(name, FIELDS))
    return _unfit(
        f"the parameter {name[:80]!r}",
        f"is unknown{guess}",
        f"known parameters: {', '.join(FIELDS)}",
    )


def _unfit(name: str, why: str, hint: str) -> ProblemError:
    return ProblemError(422, "INVALID_REQUEST", f"{name} {why}", hint)


def legible_name(name: str) -> str:
    """Return the name of an input without unprintable characters, shortened to its end if it is long."""
    shown = "".join(part if part.isprintable() else "\ufffd" for part in name[-NAME_LIMIT:])
    return shown or "upload"
