"""The inputs of a line in the forms for graders and receipts, each computed once for all graders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from weighbridge.errors import TraceError
from weighbridge.grading.receipt import canonical_json
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge.traces import Trace, read_trace
from weighbridge.traces.own_id import metadata_with_id

if TYPE_CHECKING:
    from weighbridge.grading.case import Case


class Inputs(msgspec.Struct):
    """The inputs of one line."""

    given: dict[str, Any]
    _canonical: bytes | None = None
    _with_trace_read: dict[str, Any] | None = None
    _of_trace: dict[str, Any] | None = None

    @property
    def canonical(self) -> bytes:
        """The inputs in RFC 8785 canonical form."""
        if self._canonical is None:
            self._canonical = canonical_json(self.given)
        return self._canonical

    @property
    def copied(self) -> dict[str, Any]:
        """The inputs for a plug-in, which may change them without effect on other graders and on its receipt."""
        if all(type(value) is str for value in self.given.values()):
            return self.given
        copy: dict[str, Any] = orjson.loads(orjson.dumps(self.given))
        return copy

    @property
    def with_trace_read(self) -> dict[str, Any]:
        """The inputs with the trace as a `Trace`; unchanged if the trace cannot be read."""
        if self._with_trace_read is None:
            try:
                self._with_trace_read = {**self.given, "trace": read_trace(self.given["trace"])}
            except TraceError:
                self._with_trace_read = self.given  # each grader reports the reason
        return self._with_trace_read

    def metadata_of(self, case: Case) -> dict[str, Any] | None:
        """Return a case's metadata with those of its trace, of which the case's own come first.

        They are those that the trace's source records, and its id there if the case has another one.
        """
        given = case.metadata
        if self._of_trace is None:
            trace = self.with_trace_read.get("trace")
            held = metadata_with_id(trace, case.custom_id) if type(trace) is Trace else {}
            self._of_trace = _bounded(held, given)
        return {**self._of_trace, **(given or {})} if self._of_trace else given


def _bounded(of_trace: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """Return a trace's metadata if a result may have them with those of its case: they may be of any size and, from a plug-in, of any type."""
    try:
        size = len(orjson.dumps({**of_trace, **(given or {})}))
    except TypeError:
        return {}
    return of_trace if size <= METADATA_LIMIT_BYTES else {}
