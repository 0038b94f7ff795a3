"""Options that several commands have, each group of them as one object."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def takes_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has, in place of each parameter with the type of a dataclass, an option for each field of it."""
    taken = list(inspect.signature(command, eval_str=True).parameters.values())
    groups: dict[str, Any] = {
        each.name: each.annotation for each in taken if is_dataclass(each.annotation)
    }

    @wraps(command)
    def taking(**given: Any) -> None:
        grouped = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **grouped)

    parameters = [option for each in taken for option in _options(each)]
    taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    taking.__annotations__ = {each.name: each.annotation for each in parameters}
    return taking


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    group = parameter.annotation
    if not is_dataclass(group):
        yield parameter
        return
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield parameter.replace(
            name=field.name, default=field.default, annotation=hints[field.name]
        )
