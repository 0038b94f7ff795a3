"""The options for gates and slices that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InvalidFilterError, InvalidGateError
from weighbridge_producer.cli.options import all_utf8
from weighbridge_producer.gating.fields import FieldPath, parse_field
from weighbridge_producer.gating.gates import Gate, GateKind, parse_gate

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCOPED = "[SCOPE=]SHARE"
_SCOPES = "SCOPE is a label, * for each label, metadata.FIELD:VALUE, or metadata.FIELD:* for each value; repeatable."
MinPassRate = Annotated[
    list[str] | None,
    typer.Option(
        "--min-pass-rate",
        metavar=_SCOPED,
        help=f"Exit 0 if at least this share (0.9 or 90%) of the judged jobs (passed or failed) passed. {_SCOPES}",
        callback=all_utf8,
    ),
]
MinGradable = Annotated[
    list[str] | None,
    typer.Option(
        "--min-gradable",
        metavar=_SCOPED,
        help="Allow errored and ungradable jobs, if at least this share was judged. SCOPE as above; repeatable.",
        callback=all_utf8,
    ),
]
MaxVacuous = Annotated[
    list[str] | None,
    typer.Option(
        "--max-vacuous",
        metavar=_SCOPED,
        help="Exit 100 if more than this share of the passes is vacuous (nothing to check). SCOPE as above; repeatable.",
        callback=all_utf8,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="metadata.FIELD",
        help="Also show the results for each of the 20 most common values of this field, and for all others; repeatable.",
        callback=all_utf8,
    ),
]


@dataclass(frozen=True, slots=True)
class Gating:
    """The gates of a command, and the fields by which it counts jobs."""

    gates: tuple[Gate, ...] = ()
    by: tuple[FieldPath, ...] = ()

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """The metadata fields by which jobs have to be counted."""
        return tuple(dict.fromkeys((*self.by, *(gate.field for gate in self.gates if gate.field))))


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The options for gates; each field is an option of every command that takes them, with the name of a GateKind."""

    min_pass_rate: MinPassRate = None
    min_gradable: MinGradable = None
    max_vacuous: MaxVacuous = None

    @property
    def are_given(self) -> bool:
        """Whether any of them was given."""
        return any(self._texts(kind) for kind in GateKind)

    def parse(self, by: Sequence[str] | None) -> Gating:
        """Parse the options and the fields of `--by`; an invalid gate or field is a usage error."""
        try:
            gates = [parse_gate(kind, text) for kind in GateKind for text in self._texts(kind)]
            return Gating(tuple(gates), tuple(map(parse_field, by or ())))
        except (InvalidGateError, InvalidFilterError) as error:
            raise typer.BadParameter(str(error)) from None

    def _texts(self, kind: GateKind) -> Sequence[str]:
        texts: Sequence[str] | None = getattr(self, kind.name.lower())
        return texts or ()


NO_GATES = GateOptions()
