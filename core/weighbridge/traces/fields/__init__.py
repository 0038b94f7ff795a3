"""Readers of untrusted JSON that the importers share: values, times, token counts, tools, notes on what was left behind."""

from weighbridge.traces.fields.local_times import LocalClock
from weighbridge.traces.fields.notes import Notes, content_of
from weighbridge.traces.fields.steps import StepIds, missing_of
from weighbridge.traces.fields.times import iso_time, moment_of, time_after, time_of
from weighbridge.traces.fields.tools import TOOL_FIELDS, tools_field, tools_of
from weighbridge.traces.fields.usage import (
    added,
    cost_of,
    count_of,
    counted,
    counts_of,
    input_with_caches,
    read_usage,
    usage_less,
    usage_of,
    whole_of,
)
from weighbridge.traces.fields.values import (
    events_of,
    id_of,
    json_in,
    object_of,
    objects_of,
    parse_arguments,
    plain_names,
    python_object_in,
    scalars,
    string_of,
    text_of,
    text_with_images,
    word_of,
)

__all__ = [
    "TOOL_FIELDS",
    "LocalClock",
    "Notes",
    "StepIds",
    "added",
    "content_of",
    "cost_of",
    "count_of",
    "counted",
    "counts_of",
    "events_of",
    "id_of",
    "input_with_caches",
    "iso_time",
    "json_in",
    "missing_of",
    "moment_of",
    "object_of",
    "objects_of",
    "parse_arguments",
    "plain_names",
    "python_object_in",
    "read_usage",
    "scalars",
    "string_of",
    "text_of",
    "text_with_images",
    "time_after",
    "time_of",
    "tools_field",
    "tools_of",
    "usage_less",
    "usage_of",
    "whole_of",
    "word_of",
]
