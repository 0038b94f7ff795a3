"""The outputs that a command writes: those that need a package which is not installed are left out, with status 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import OutputError
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import print_fault
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.reports.forms import output_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.gating.exit_status import Decision


class ChosenOutputs(NamedTuple):
    """The outputs of a command that can be written, and those that cannot."""

    writable: list[str]
    left_out: list[str]

    def decide(self, decision: Decision) -> Decision:
        """Return a decision, with status 1 if an output was left out."""
        if not self.left_out:
            return decision
        names = ", ".join(map(repr, self.left_out))
        unmet = sum(not gate.met for gate in decision.gates)
        of_gates = f"{pluralize(unmet, 'gate was', 'gates were')} not met" if unmet else ""
        reasons = [f"{names} could not be written", decision.reason or of_gates]
        return replace(decision, status=ERROR, reason="; ".join(filter(None, reasons)))


def chosen_outputs(outputs: Sequence[str]) -> ChosenOutputs:
    """Divide outputs by whether their packages are installed, and print an error for each that is left out.

    Raises OutputError if no output is left, or one has an unknown form.
    """
    missing: dict[str, OutputError] = {}
    for text in outputs:
        form = output_of(text).form
        try:
            form.check_can_be_written()
        except OutputError as refusal:
            missing[text] = refusal
    writable = [text for text in outputs if text not in missing]
    for text, error in missing.items():
        if not writable:
            raise error
        fault = error.fault
        print_fault(replace(fault, message=f"{text!r} is left out: {fault.message}"))
    return ChosenOutputs(writable, list(missing))
