"""The grader selector: the graders for a batch, with their configurations and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import GraderSpecError
from weighbridge.jobs.grader_spec import GRADER_FORM, GRADERS_LIMIT, parse_specs
from weighbridge_producer.pages.config_form import ConfigForm
from weighbridge_producer.pages.config_settings import EntryError, json_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MORE = "more_graders"  #: the field for graders written as JSON


@dataclass(slots=True)
class GraderChoice:
    """One installed grader in the selector."""

    grader: Mapping[str, Any]  #: its entry in the catalogue
    form: ConfigForm
    is_chosen: bool = False
    label: str = ""

    @property
    def problems(self) -> list[str]:
        """Problems with its configuration, if it is chosen."""
        if not self.is_chosen:
            return []
        problems = [control.problem for control in self.form.controls if control.problem]
        return [self.form.problem, *problems] if self.form.problem else problems

    def as_spec(self) -> dict[str, Any]:
        """Return it as a grader spec in JSON form."""
        return {"grader": self.form.grader, "config": self.form.config, "label": self.label or None}


@dataclass(slots=True)
class ChosenGraders:
    """All graders with their choices, and more graders as JSON: duplicates, or graders installed only on workers."""

    choices: list[GraderChoice]
    more: str = ""
    more_problem: str = ""
    unknown: tuple[str, ...] = ()  #: chosen on an earlier page, but no longer installed

    @classmethod
    def of(
        cls, catalogue: Sequence[Mapping[str, Any]], entries: Mapping[str, Sequence[str]]
    ) -> ChosenGraders:
        """Return the selector with the given entries; without entries, nothing is chosen."""
        chosen = set(entries.get("grader", ()))
        choices = []
        for grader in catalogue:
            name = grader["id"]
            is_chosen = name in chosen
            form = ConfigForm.submitted(name, entries) if is_chosen else ConfigForm.of(name)
            label = entries.get(f"label.{name}", ("",))[-1].strip()
            choices.append(GraderChoice(grader, form, is_chosen, label))
        graders = cls(choices, entries.get(MORE, ("",))[-1])
        graders.more_problem = _problem_of(graders.more)
        graders.unknown = tuple(sorted(chosen - {choice.form.grader for choice in choices}))
        return graders

    @property
    def problems(self) -> list[str]:
        """Problems with the entries, each with its grader."""
        more = [f"more graders: {self.more_problem}"] if self.more_problem else []
        return [
            *(f"no grader {name[:80]!r} is installed here" for name in self.unknown),
            *(
                f"{choice.form.grader}: {problem}"
                for choice in self.choices
                for problem in choice.problems
            ),
            *more,
        ]

    def as_json(self) -> str:
        """Return the chosen graders in the API's JSON form."""
        specs: list[Any] = [choice.as_spec() for choice in self.choices if choice.is_chosen]
        if self.more.strip():
            specs += json_value(self.more)
        return orjson.dumps(specs).decode()


def _problem_of(more: str) -> str:
    if not more.strip():
        return ""
    try:
        value = json_value(more)
    except EntryError as error:
        return f"it {error}"
    if not isinstance(value, list):
        return f"it must be a list; {GRADER_FORM}"
    if len(value) > GRADERS_LIMIT:
        return f"it has more than {GRADERS_LIMIT} graders"
    try:
        parse_specs(value)
    except GraderSpecError as error:
        return str(error)
    return ""
