"""Results and datasets of other tools, recognised by their keys, with the mapping of each to cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.evals_log import (
    EventsExcept,
    events_except_mapped,
    is_evals_row,
    is_event,
)
from weighbridge_producer.input.mapping.expected_answers import ExpectedAnswers
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.promptfoo_assertions import EqualsAssertion
from weighbridge_producer.input.mapping.recorded_errors import RecordedError
from weighbridge_producer.input.mapping.row_values import (
    MISSING,
    ROW_NUMBER,
    FirstOf,
    Path,
    Template,
    Value,
)
from weighbridge_producer.input.mapping.special_forms import faulting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.mapping.field_mapping import OtherRows
    from weighbridge_producer.input.mapping.row_values import Row


@dataclass(frozen=True, slots=True)
class ChatText:
    """The text of an answer in a chat completion, an Anthropic message or an OpenAI response."""

    at: str

    def of(self, row: Row, number: int) -> Any:
        """Return the text; None if the answer has no text, MISSING if there is no answer."""
        body = Path(self.at).of(row, number)
        if not isinstance(body, Mapping):
            return MISSING
        content = Path("choices.0.message.content").of(body, number)
        if content is MISSING:
            content = body.get("content", body.get("output", MISSING))
        if not isinstance(content, list):
            return content
        return "".join(_texts(content))

    def paths(self) -> Iterable[Path]:
        """Return the paths of the answer."""
        return (Path(self.at),)

    def __str__(self) -> str:
        return f"{self.at} (the answer's text)"


def _texts(parts: list[Any]) -> Iterable[str]:
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("content"), list):  # a message of the Responses API
            yield from _texts(part["content"])
        elif isinstance(part.get("text"), str) and part.get("type") in {"text", "output_text"}:
            yield part["text"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The layout of one tool's rows, and the fields of a case that they provide."""

    name: str
    has_shape: Callable[[Row], bool]
    custom_id: Value
    inputs: Mapping[str, Value]
    metadata: Mapping[str, Value]
    rows: str = ""  #: JSON Pointer to the list of rows in a document
    entries: Value | None = None  #: an object whose entries become metadata
    error: RecordedError | None = None  #: what a row may have in place of an answer
    expected_list: Path | None = None  #: what may be a list of accepted answers
    others: OtherRows | None = None  #: the rows that are no cases
    has_sign: Callable[[Row], bool] | None = None  #: what at least one of the rows must be
    #: what to do if the rows lack a needed input, by its name; columns are proposed for others
    hints: Mapping[str, str] = field(default_factory=dict)

    def mapping(
        self, needed: Sequence[str], graders: Sequence[GraderSpec] = ()
    ) -> FieldMapping | None:
        """Return the mapping to the inputs that graders need; None if the shape lacks one of them."""
        if not all(name in self.inputs for name in needed):
            return None
        inputs = {name: self.inputs[name] for name in needed}
        return FieldMapping(
            self.custom_id,
            inputs,
            self.metadata,
            entries=self.entries,
            rows=self.rows,
            name=self.name,
            error=self.error,
            others=self.others,
            change=ExpectedAnswers(self.expected_list, tuple(graders))
            if self.expected_list
            else None,
        )

    def lacking(self, rows: Sequence[Row], needed: Sequence[str]) -> list[str]:
        """Return those of the needed inputs that the shape has, but none of the rows, except rows with an error."""
        cases = [
            row
            for row in rows
            if not (self.error and self.error.fault(row, 1))
            and not (self.others and self.others.kind(row))
        ]
        values = {name: self.inputs[name] for name in needed if name in self.inputs}
        return [
            name
            for name, value in values.items()
            if cases and all(_lacks(value, row) for row in cases)
        ]


def shape_of(rows: Sequence[Row]) -> Shape | None:
    """Return the shape common to all of the first rows; None if there is none."""
    if not rows:
        return None
    return next((shape for shape in SHAPES if _have_shape(rows, shape)), None)


def with_other_rows(mapping: FieldMapping, rows: Sequence[Row]) -> FieldMapping:
    """Return a mapping of one's own with the rows that are no cases, if the first rows are of a shape that has them."""
    shape = shape_of(rows)
    if mapping.others or shape is None or shape.others is None:
        return mapping
    return replace(mapping, others=events_except_mapped(rows, mapping.inputs.values()))


def _have_shape(rows: Sequence[Row], shape: Shape) -> bool:
    has_sign = shape.has_sign is None or any(map(shape.has_sign, rows))
    return has_sign and all(map(shape.has_shape, rows))


def _lacks(value: Value, row: Row) -> bool:
    """Return whether a row lacks a value, rather than having one that is a fault."""
    source = faulting(value)
    is_fault = source is not None and source.fault(row, 1) is not None
    return not is_fault and value.of(row, 1) in (MISSING, None)


def _has(*paths: str) -> Callable[[Row], bool]:
    def has(row: Row) -> bool:
        return all(Path(path).of(row, 1) is not MISSING for path in paths)

    return has


def _first(*paths: str, simple: bool = False) -> FirstOf:
    return FirstOf(tuple(map(Path, paths)), prefers_simple=simple)


def _is_openai_batch(row: Row) -> bool:
    """Return whether a row is an answer of OpenAI's Batch API, or the error of a request without one."""
    if not _has("custom_id", "response")(row):
        return False
    is_unanswered = Path("response").of(row, 1) in (None, "")
    return _has("error.code" if is_unanswered else "response.body")(row)


_INSPECT_ANSWER = ("output.completion", "output.choices.0.message.content")

INSPECT = Shape(
    "Inspect samples",
    _has("id", "epoch", "input", "target", "messages", "output"),
    Template("{id}/{epoch}"),
    {
        "agent_response": _first(*_INSPECT_ANSWER),
        "expected_output": _first("target"),
    },
    {"epoch": Path("epoch"), "model": Path("output.model")},
    rows="/samples",
    error=RecordedError("Inspect", _first("error"), answer=_first(*_INSPECT_ANSWER)),
    expected_list=Path("target"),
)

GOLDENS = "/goldens"  #: JSON Pointer to the list in a dataset of DeepEval

SHAPES: tuple[Shape, ...] = (
    Shape(
        "promptfoo results",
        _has("vars", "testCase", "promptIdx", "testIdx"),
        Template("{testIdx}-{promptIdx}"),
        {
            "agent_response": Path("response.output"),
            "expected_output": FirstOf(
                (
                    EqualsAssertion(),
                    *map(Path, ("vars.expected", "vars.answer", "vars.expected_output")),
                )
            ),
        },
        {"provider": _first("provider.label", "provider.id"), "vars": Path("vars")},
        rows="/results/results",
        # Beside an output, an error is that of an assertion.
        error=RecordedError(
            "promptfoo",
            _first("response.error", "error"),
            answer=_first("response.output"),
            takes_empty=True,
        ),
    ),
    INSPECT,
    Shape(
        "OpenAI batch output",
        _is_openai_batch,
        Path("custom_id"),
        {"agent_response": ChatText("response.body"), "trace": Path("response.body")},
        {"model": Path("response.body.model"), "status_code": Path("response.status_code")},
        error=RecordedError("the provider", _first("error", "response.body.error")),
    ),
    Shape(
        "Anthropic batch results",
        _has("custom_id", "result.type"),
        Path("custom_id"),
        {"agent_response": ChatText("result.message"), "trace": Path("result.message")},
        {"model": Path("result.message.model"), "type": Path("result.type")},
        error=RecordedError(
            "the provider", _first("result.error"), Path("result.type"), frozenset({"succeeded"})
        ),
    ),
    Shape(
        "OpenAI Evals match events",
        is_evals_row,
        Path("sample_id"),
        {"agent_response": Path("data.sampled"), "expected_output": Path("data.expected")},
        {"correct": Path("data.correct")},
        expected_list=Path("data.expected"),
        others=EventsExcept(),
        has_sign=is_event,
        hints={
            "agent_response": "the answers are only in the sampling events; to grade what the eval picked from them, add"
            " --map agent_response=data.picked, or data.picked.0 if it is a list",
            "expected_output": "add them from another file:"
            " --join gold=FILE --on sample_id=ID --map expected_output=gold.COLUMN",
        },
    ),
    Shape(
        "a DeepEval dataset",
        lambda row: (
            "input" in row
            and bool(row.keys() & {"actual_output", "actualOutput"})
            and bool(row.keys() & {"expected_output", "expectedOutput"})
        ),
        FirstOf((Path("name"), Path(ROW_NUMBER))),
        {
            "agent_response": _first("actual_output", "actualOutput"),
            "expected_output": _first("expected_output", "expectedOutput"),
        },
        {},
        entries=_first("additional_metadata", "additionalMetadata"),
    ),
    Shape(
        "LangSmith examples",
        _has("id", "inputs", "outputs", "dataset_id"),
        Path("id"),
        {
            "expected_output": _first(
                "outputs.answer",
                "outputs.output",
                "outputs.expected",
                "outputs.reference",
                "outputs.label",
                simple=True,
            ),
        },
        {"split": _first("metadata.dataset_split"), "dataset": Path("dataset_id")},
        hints={
            "agent_response": "the outputs of a data set are its expected answers; take the agent's from another file:"
            " --join answers=FILE --on id=ID --map agent_response=answers.COLUMN",
        },
    ),
    Shape(
        "LangSmith experiment results",
        _has("outputs", "reference_outputs"),
        _first("example_id", "reference_example_id", "id", ROW_NUMBER),
        {
            "agent_response": _first(
                "outputs.output", "outputs.answer", "outputs.response", simple=True
            ),
            "expected_output": _first(
                "reference_outputs.output",
                "reference_outputs.answer",
                "reference_outputs.response",
                simple=True,
            ),
        },
        {},
    ),
)
