"""Form for a grader's configuration, generated from its schema; parses and validates the entries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import WeighbridgeError
from weighbridge.graders.config import ConfigFault, config_faults
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.grader_spec import CONFIG_LIMIT_BYTES
from weighbridge_producer.pages.config_settings import UNSET, EntryError, Kind, Setting, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.graders.base import Grader


@dataclass(slots=True)
class Control:
    """A setting's form control, with the text entered."""

    setting: Setting
    name: str  #: name of the form field
    text: str = ""
    chosen: tuple[str, ...] = ()
    is_set: bool = False  #: True if the list is set, although it may be empty
    problem: str = ""


@dataclass(slots=True)
class ConfigForm:
    """The form of one grader's configuration."""

    grader: str
    controls: list[Control]
    problem: str = ""  #: a problem that does not belong to a single control
    #: Only values that differ from the defaults.
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        """True if the configuration entered is valid."""
        return not self.problem and not any(control.problem for control in self.controls)

    @classmethod
    def of(cls, grader: str, config: Mapping[str, Any] | None = None) -> ConfigForm:
        """Return a grader's form, filled with a configuration; raises UnknownGraderError."""
        given = config or {}
        controls = [
            _control(grader, setting, given.get(setting.name, setting.default))
            for setting in _settings(default_registry().get(grader))
        ]
        return cls(grader, controls)

    @classmethod
    def submitted(cls, grader: str, entries: Mapping[str, Sequence[str]]) -> ConfigForm:
        """Return a grader's form with validated entries; raises UnknownGraderError."""
        form = cls.of(grader)
        for control in form.controls:
            value = _read(control, entries)
            if value is not UNSET and not _is_same(value, control.setting.default):
                form.config[control.setting.name] = value
        form.problem = _judge(form)
        return form


@cache
def _settings(grader: type[Grader]) -> list[Setting]:
    return settings_of(grader.config_schema())


def _control(grader: str, setting: Setting, value: Any) -> Control:
    """Return a control that shows a value."""
    control = Control(setting, f"{grader}.{setting.name}", setting.text_of(value))
    control.is_set = value == []  # a text area with lines is set by itself
    if setting.kind is Kind.CHOICES and isinstance(value, list):
        control.chosen = tuple(map(str, value))
    return control


def _read(control: Control, entries: Mapping[str, Sequence[str]]) -> Any:
    """Store the entry in a control and return its value; UNSET if it is empty or invalid."""
    texts = entries.get(control.name, ())
    control.text = texts[-1] if texts else ""
    control.chosen = tuple(texts)
    control.is_set = bool(entries.get(f"{control.name}.set"))
    try:
        return control.setting.value_of(texts, is_set=control.is_set)
    except EntryError as error:
        control.problem = f"{control.setting.name} {error}"
        return UNSET


def _is_same(value: Any, default: Any) -> bool:
    # Compared as JSON, because in Python True == 1 == 1.0.
    return default is not UNSET and orjson.dumps(value) == orjson.dumps(default)


def _judge(form: ConfigForm) -> str:
    """Attach problems with values to their controls; return problems with the configuration as a whole."""
    by_name = {control.setting.name: control for control in form.controls}
    unread = {name for name, control in by_name.items() if control.problem}
    faults = config_faults(default_registry().get(form.grader).Config, form.config)
    if not faults and not unread:
        faults = _faults_of_whole(form)
    of_whole = ""
    for path, text in faults:
        name = str(path[0]) if path else ""
        if name not in by_name:
            of_whole = of_whole or text
        elif name not in unread:
            by_name[name].problem = by_name[name].problem or text
    # Consistency can be checked only if all values are valid.
    return "" if unread else of_whole


def _faults_of_whole(form: ConfigForm) -> list[ConfigFault]:
    """Return the grader's own problems with a configuration whose values are valid individually."""
    if len(orjson.dumps(form.config)) > CONFIG_LIMIT_BYTES:
        return [ConfigFault((), f"it is larger than {CONFIG_LIMIT_BYTES:,} bytes")]
    try:
        default_registry().create(form.grader, form.config)
    except WeighbridgeError as error:
        text = str(error).removeprefix(f"grader {form.grader!r}: ")
        return [ConfigFault(getattr(error, "path", ()), text)]
    return []
