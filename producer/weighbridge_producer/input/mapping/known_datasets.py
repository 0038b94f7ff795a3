"""Results and datasets of other tools, recognised by their keys, with the mapping of each to cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.answer_texts import ChatText, GeminiText
from weighbridge_producer.input.mapping.braintrust_spans import ChildSpans, is_span
from weighbridge_producer.input.mapping.dataset_shape import Shape
from weighbridge_producer.input.mapping.evals_log import EventsExcept, is_evals_row, is_event
from weighbridge_producer.input.mapping.flat_columns import FlatColumns
from weighbridge_producer.input.mapping.likelihood_choices import (
    ChoiceTarget,
    LikeliestChoice,
    likelihoods,
)
from weighbridge_producer.input.mapping.promptfoo_assertions import EqualsAssertion
from weighbridge_producer.input.mapping.recorded_errors import RecordedError
from weighbridge_producer.input.mapping.recorded_verdicts import RecordedVerdict
from weighbridge_producer.input.mapping.row_values import (
    MISSING,
    ROW_NUMBER,
    FirstOf,
    Path,
    Template,
    json_within,
)
from weighbridge_producer.input.mapping.small_objects import SmallObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row


def shape_of(rows: Sequence[Row]) -> Shape | None:
    """Return the shape common to all of the first rows; None if there is none."""
    if not rows:
        return None
    return next((shape for shape in SHAPES if _have_shape(rows, shape)), None)


def described_without(rows: Sequence[Row], needed: Sequence[str]) -> str:
    """Describe rows of a known shape that has no value for needed inputs; empty for other rows.

    An example is `OpenAI batch output, which has no expected_output`.
    """
    shape = shape_of(rows)
    lacking = [name for name in needed if shape and name not in shape.inputs]
    return f"{shape.name}, which has no {' and no '.join(lacking)}" if shape and lacking else ""


def with_shape_of(rows: Sequence[Row], mapping: FieldMapping) -> FieldMapping:
    """Return a mapping of one's own with the rows that are no cases, and the errors in place of answers, of a known shape."""
    shape = shape_of(rows)
    if shape is None:
        return mapping
    others = shape.others.for_inputs(rows, mapping.inputs.values()) if shape.others else None
    answer = mapping.inputs.get("agent_response") or mapping.inputs.get("trace")
    error = replace(shape.error, answer=answer) if shape.error and answer else None
    return replace(mapping, others=mapping.others or others, error=mapping.error or error)


def rows_beside(pointer: str) -> dict[str, Callable[[Row], bool]]:
    """Return the names of the lists beside the rows of a known shape, of which each has rows of that shape that are told by a function."""
    return {
        shape.more_rows.removeprefix("/"): shape.has_shape
        for shape in SHAPES
        if shape.more_rows and shape.rows == pointer
    }


def _have_shape(rows: Sequence[Row], shape: Shape) -> bool:
    has_sign = shape.has_sign is None or any(map(shape.has_sign, rows))
    return has_sign and all(map(shape.has_shape, rows))


def _has(*paths: str) -> Callable[[Row], bool]:
    def has(row: Row) -> bool:
        return all(Path(path).of(row, 1) is not MISSING for path in paths)

    return has


def _first(*paths: str, simple: bool = False) -> FirstOf:
    return FirstOf(tuple(map(Path, paths)), prefers_simple=simple)


def _within(path: str) -> Iterator[str]:
    """Yield the usual paths of a text within an object or a list of messages."""
    for inner in ("answer", "output", "response", "text", "content"):
        yield f"{path}.{inner}"
    yield f"{path}.choices.0.message.content"
    yield f"{path}.0.message.content"


def _is_openai_batch(row: Row) -> bool:
    """Return whether a row is an answer of OpenAI's Batch API, or the error of a request without one."""
    if not _has("custom_id", "response")(row):
        return False
    is_unanswered = Path("response").of(row, 1) in (None, "")
    return _has("error.code" if is_unanswered else "response.body")(row)


def _is_evals_case(row: Row) -> bool:
    """Return whether a row is a case in a report of pydantic-evals, or the failure of one."""
    if "error_message" in row:
        return _has("name", "inputs", "expected_output", "error_stacktrace")(row)
    return _has("name", "inputs", "output", "assertions", "scores", "labels")(row)


def _is_gemini_batch(row: Row) -> bool:
    """Return whether a row is an answer of Vertex AI's or Gemini's batches, or the error of a request without one."""
    response = json_within(row.get("response"))
    has_response = isinstance(response, Mapping)
    if "request" in row and "processed_time" in row:
        return has_response or bool(row.get("status"))
    is_answered = has_response and not _ANSWERED.isdisjoint(response)
    return ("request" in row and is_answered) or (
        "key" in row and (is_answered or isinstance(row.get("error"), Mapping))
    )


def _has_gemini_answer(row: Row) -> bool:
    response = json_within(row.get("response"))
    has_answer = isinstance(response, Mapping) and not _ANSWERED.isdisjoint(response)
    return has_answer or "processed_time" in row


def _is_bedrock_batch(row: Row) -> bool:
    """Return whether a row is an answer of Bedrock's batches, or the error of a request without one."""
    answer = row.get("modelOutput") or row.get("error")
    return "modelInput" in row and isinstance(answer, Mapping)


def _is_langsmith_table(row: Row) -> bool:
    """Return whether a row is one of an experiment's `to_pandas()`."""
    beginnings = {str(column).partition(".")[0] for column in row if "." in str(column)}
    has_ids = row.keys() >= {"example_id", "id", "execution_time"}
    return has_ids and beginnings >= {"outputs", "reference"}


#: Where models that Bedrock hosts have their text, beside Converse and Anthropic: Llama, Titan, Mistral, Cohere.
_BEDROCK_TEXTS = (
    "modelOutput.generation",
    "modelOutput.results.0.outputText",
    "modelOutput.outputs.0.text",
    "modelOutput.generations.0.text",
)
_SAMPLE = frozenset({"doc_id", "target", "filtered_resps"})  #: keys of lm-evaluation-harness
_ANSWERED = frozenset({"candidates", "promptFeedback"})  #: keys of a response of Gemini
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
    verdict=RecordedVerdict(Path("scores")),
    entries=SmallObject(Path("metadata")),
    error=RecordedError("Inspect", _first("error"), answer=_first(*_INSPECT_ANSWER)),
    expected_list=Path("target"),
)

_LANGSMITH_NAMES = ("output", "answer", "response")

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
        verdict=RecordedVerdict(Path("success")),
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
        "Gemini batch output",
        _is_gemini_batch,
        _first("key", "custom_id", "id", ROW_NUMBER),
        {"agent_response": GeminiText("response"), "trace": Path("response")},
        {"model": Path("response.modelVersion")},
        error=RecordedError(
            "the provider", _first("error", "status"), answer=_first("response.candidates")
        ),
        has_sign=_has_gemini_answer,
    ),
    Shape(
        "Amazon Bedrock batch output",
        _is_bedrock_batch,
        _first("recordId", ROW_NUMBER),
        {
            "agent_response": FirstOf(
                (
                    *map(ChatText, ("modelOutput.output.message", "modelOutput")),
                    *map(Path, _BEDROCK_TEXTS),
                )
            ),
            "trace": Path("modelOutput"),
        },
        {},
        error=RecordedError("the provider", _first("error"), answer=_first("modelOutput")),
    ),
    Shape(
        "OpenAI Evals match events",
        is_evals_row,
        Path("sample_id"),
        {"agent_response": Path("data.sampled"), "expected_output": Path("data.expected")},
        {},
        verdict=RecordedVerdict(Path("data.correct")),
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
        verdict=RecordedVerdict(Path("success")),
        entries=_first("additional_metadata", "additionalMetadata"),
    ),
    Shape(
        "a pydantic-evals report",
        _is_evals_case,
        _first("name", ROW_NUMBER),
        {"agent_response": Path("output"), "expected_output": Path("expected_output")},
        {},
        rows="/cases",
        more_rows="/failures",
        verdict=RecordedVerdict(Path("assertions")),
        entries=Path("metadata"),
        error=RecordedError("pydantic-evals", _first("error_message"), answer=Path("output")),
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
        {"run_id": Path("id")},
        error=RecordedError("LangSmith", _first("error"), answer=_first("outputs")),
    ),
    Shape(
        "LangSmith experiment results",
        _is_langsmith_table,
        _first("example_id", "id", ROW_NUMBER),
        {
            "agent_response": FlatColumns("outputs", _LANGSMITH_NAMES),
            "expected_output": FlatColumns("reference", _LANGSMITH_NAMES),
        },
        {"run_id": Path("id")},
        error=RecordedError(
            "LangSmith", _first("error"), answer=FlatColumns("outputs", _LANGSMITH_NAMES)
        ),
    ),
    Shape(
        "Langfuse traces",
        _has("id", "timestamp", "name", "userId", "sessionId", "output", "metadata", "tags"),
        _first("metadata.dataset_item_id", "metadata.datasetItemId", "id"),
        {
            "agent_response": _first(*_within("output"), "output"),
            "expected_output": _first(
                *_within("metadata.expected"),
                "metadata.expected",
                *_within("metadata.expected_output"),
                "metadata.expected_output",
                "metadata.expectedOutput",
            ),
        },
        {"trace_id": Path("id"), "name": Path("name")},
    ),
    Shape(
        "lm-evaluation-harness multiple choice",
        lambda row: row.keys() >= _SAMPLE and likelihoods(row) is not None,
        Path("doc_id"),
        {"agent_response": LikeliestChoice(), "expected_output": ChoiceTarget()},
        {"acc": Path("acc")},
        verdict=RecordedVerdict(Path("acc")),
        expected_list=ChoiceTarget(),
    ),
    Shape(
        "Braintrust root spans",
        is_span,
        Path("id"),
        {
            "agent_response": _first("output", *_within("output"), simple=True),
            "expected_output": _first("expected", *_within("expected"), simple=True),
        },
        {"name": Path("span_attributes.name")},
        entries=Path("metadata"),
        error=RecordedError("Braintrust", _first("error"), answer=_first("output")),
        expected_list=Path("expected"),
        others=ChildSpans(),
        hints={
            "agent_response": "the root spans have no output; to grade other spans, name their columns:"
            " --map custom_id=id,agent_response=COLUMN,expected_output=COLUMN",
            "expected_output": "the root spans have no expected output; take it from another file:"
            " --join gold=FILE --on id=ID --map expected_output=gold.COLUMN",
        },
    ),
)
