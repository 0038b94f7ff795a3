"""Generated runs in the formats of agents' frameworks and benchmarks: each call, result and token is counted once.

The runs have parallel calls, retries and failures.
"""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_run_forms import FORMS, records_of
from support.drawn_runs import counts, runs
from support.generated import examples
from weighbridge.traces import Trace, read_trace

REPEATED = sorted(form for form, told in FORMS.items() if told.records is not None)


def told(trace: Trace, form: str) -> object:
    """Return the calls of a run, and those of its counts that a form carries."""
    found = counts(trace)
    calls = [
        (step.name, step.arguments, bool(step.error) if FORMS[form].has_errors else None)
        for step in trace.steps_of("tool")
    ]
    return calls, {name: found[name] for name in FORMS[form].counts}


def read(written: object) -> Trace:
    return read_trace(json.loads(json.dumps(written)))


@pytest.mark.parametrize("form", sorted(FORMS))
@given(run=runs())
@settings(deadline=None, max_examples=examples(15))
def test_a_form_has_the_calls_and_counts_of_the_native_one(form: str, run: Trace) -> None:
    found = read(FORMS[form].write(run))
    assert found.format == form.partition(",")[0]
    assert told(found, form) == told(run, form)


@pytest.mark.parametrize("form", REPEATED)
@given(run=runs(), data=st.data())
@settings(deadline=None, max_examples=examples(15))
def test_a_record_with_an_id_that_stands_twice_counts_once(
    form: str, run: Trace, data: st.DataObject
) -> None:
    written = FORMS[form].write(run)
    records = records_of(FORMS[form], written)
    place = data.draw(st.integers(0, len(records) - 1))
    records.insert(place + 1, copy.deepcopy(records[place]))
    assert told(read(written), form) == told(run, form)
