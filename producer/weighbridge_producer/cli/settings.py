"""The commands that print the settings and the error codes, which the pages of reference list too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from weighbridge.doc_comments import doc_comments
from weighbridge.settings import Settings, masked
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import out, print_json, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.errors import WeighbridgeError

_PREFIX = "WEIGHBRIDGE_"
_HIDDEN = "***"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(settings)
    app.command()(errors)


class _Error(NamedTuple):
    """What is said of an error code."""

    code: str
    what: str
    hint: str  #: empty for errors of commands, whose messages have one

    def as_dict(self) -> dict[str, str]:
        """Return it in its JSON form."""
        return self._asdict()


def settings(as_json: opt.AsJson = False) -> None:
    """Print the environment variables that set something, with their defaults and the values that they have here."""
    said = doc_comments(Settings)
    found = [
        {
            "variable": f"{_PREFIX}{name.upper()}",
            "default": None if field.default is None else str(field.default),
            "value": _value(name),
            "description": " ".join(said[name]),
        }
        for name, field in Settings.model_fields.items()
    ]
    if as_json:
        print_json({"settings": found})
        return
    for each in found:
        value = "" if each["value"] is None else f"; set to {each['value']}"
        default = "no default" if each["default"] is None else f"default {each['default']}"
        out.print(f"[bold]{each['variable']}[/]  {shown(f'{default}{value}')}", soft_wrap=True)
        out.print(f"    {shown(str(each['description']), 2_000)}", soft_wrap=True)


def _value(name: str) -> str | None:
    """Return the value of a variable as it may be shown; None if it is not set."""
    text = os.environ.get(f"{_PREFIX}{name.upper()}")
    if text is None or not name.endswith(("url", "key")):
        return text
    return masked(text) if name.endswith("url") else _HIDDEN


def errors(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", help="A code, such as NO_ANSWER. Default: all."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Print what error codes mean: those of jobs, and those of commands."""
    found = list(_errors())
    if code is not None:
        listed = [each for each in found if each.code == code.upper()]
        if not listed:
            meant = did_you_mean(closest(code, (each.code for each in found)))
            raise typer.BadParameter(
                f"there is no error code {code[:80]!r}{meant}", param_hint="CODE"
            )
        found = listed
    if as_json:
        print_json({"errors": [each.as_dict() for each in found]})
        return
    for each in found:
        out.print(f"[bold]{each.code}[/]  {shown(each.what, 2_000)}", soft_wrap=True)
        if each.hint:
            out.print(f"    {shown(each.hint, 2_000)}", soft_wrap=True)


def _errors() -> Iterator[_Error]:
    from weighbridge.errors import WeighbridgeError
    from weighbridge.jobs.error_codes import ErrorCode

    said = doc_comments(ErrorCode)
    for each in ErrorCode:
        what, *hints = said[each.name]
        yield _Error(each.value, what, " ".join(hints))
    known: set[str] = {each.value for each in ErrorCode}
    for kind in _kinds(WeighbridgeError):
        if kind.code not in known:
            known.add(kind.code)
            yield _Error(kind.code, (kind.__doc__ or "").partition("\n")[0], "")


def _kinds(base: type[WeighbridgeError]) -> Iterator[type[WeighbridgeError]]:
    kinds: list[Any] = base.__subclasses__()
    for kind in kinds:
        yield kind
        yield from _kinds(kind)
