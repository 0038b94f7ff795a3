"""A proposed mapping, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.missing_paths import listed

_RESPONSE, _EXPECTED = "agent_response", "expected_output"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping suggested by the first rows, and the fields that it lacks."""

    mapping: FieldMapping | None  #: None if no field was found
    fields: dict[str, str]  #: paths by field, for the fields found
    missing: tuple[str, ...]  #: fields without a matching column
    columns: tuple[str, ...] = ()  #: all paths in the first rows
    guessed: tuple[str, ...] = ()  #: fields whose columns were chosen by their values
    doubted: tuple[str, ...] = ()  #: fields whose columns have names that may mean another one
    rivals: tuple[str, ...] = ()  #: columns that may be the agent's answer; empty if only one may
    expected_rivals: tuple[str, ...] = ()  #: the same for the expected answer
    #: Lists of answers and of expected ones that have as many entries; empty if there are none.
    parallel: tuple[str, ...] = ()
    accepts_several: bool = False  #: True if every grader accepts several expected answers
    leaves_out_answers: bool = False  #: True if only the first of several expected answers is taken
    notes: tuple[str, ...] = ()  #: what the first rows say against the proposal

    @property
    def text(self) -> str:
        """The proposal in the syntax of `--map`, with COLUMN for missing fields."""
        if self.mapping:
            return str(self.mapping)
        found = [f"{name}={path}" for name, path in self.fields.items()]
        return ",".join([*found, *(f"{name}=COLUMN" for name in self.missing)])

    def without_expected(self, note: str) -> Proposal:
        """Return the proposal without an expected answer, for a reason."""
        fields = {name: path for name, path in self.fields.items() if name != _EXPECTED}
        doubted = tuple(name for name in self.doubted if name in fields)
        guessed = tuple(name for name in self.guessed if name in fields)
        return replace(
            self,
            mapping=None,
            fields=fields,
            missing=(*self.missing, _EXPECTED),
            guessed=guessed,
            doubted=doubted,
            notes=(*self.notes, note),
        )

    @property
    def caution(self) -> str:
        """What to check before the proposal is used; empty if names support all of it."""
        sources = (
            (self.guessed, "the values, not from the names"),
            (self.doubted, "names that may mean either"),
        )
        notes = [
            f"{', '.join(fields)}: guessed from {source}, so check which is which"
            for fields, source in sources
            if fields
        ]
        if self.rivals:
            columns = f"{len(self.rivals)} columns may be the answer"
            notes.append(f"{_RESPONSE}: {columns}: {listed(self.rivals)}")
        if self.expected_rivals:
            columns = f"{len(self.expected_rivals)} columns may be the expected answer"
            notes.append(f"{_EXPECTED}: {columns}: {listed(self.expected_rivals)}")
        if self.leaves_out_answers:
            notes.append(
                f"{_EXPECTED}: only the first of several answers, because not every grader accepts more than one"
            )
        return "; ".join([*notes, *self.notes])
