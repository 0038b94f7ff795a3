"""Settings of graders in files of their own: `tools: "@tools.json"` stands for what the file has as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import ConfigError, UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIGN = "@"
_LIMIT_BYTES = MIB
_STRUCTURES = frozenset({"object", "array"})


def with_files(grader_id: str, config: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Return a configuration with the contents of the files that settings name, relative to a folder.

    Only a setting that is a list or an object, and never a text, can name a file. Raises ConfigError.
    """
    named = {
        name: value
        for name, value in config.items()
        if isinstance(value, str) and value.startswith(_SIGN)
    }
    if not named:
        return dict(config)
    try:
        fields = default_registry().get(grader_id).config_schema().get("properties", {})
    except UnknownGraderError:
        return dict(config)
    read = dict(config)
    for name, value in named.items():
        if not _is_structure(fields.get(name, {})):
            continue
        try:
            read[name] = _content(Path(folder) / value.removeprefix(_SIGN))
        except ConfigError as error:
            refused = ConfigError(f"grader {grader_id!r}: {name}: {error.message}")
            refused.path = (name,)
            raise refused from None
    return read


def _is_structure(schema: Mapping[str, Any]) -> bool:
    """Return whether a setting is a list or an object, and never a text."""
    types: set[str] = set()
    for option in (schema, *schema.get("anyOf", ())):
        kind = option.get("type", ())
        types.update([kind] if isinstance(kind, str) else kind)
    return bool(types & _STRUCTURES) and "string" not in types


def _content(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"the file {str(path)!r} cannot be read: {why}") from None
    if len(data) > _LIMIT_BYTES:
        raise ConfigError(f"the file {str(path)!r} has more than {_LIMIT_BYTES:,} bytes")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"the file {str(path)!r} is not JSON: {error}") from None
