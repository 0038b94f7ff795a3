"""Metadata fields of a case, as in `--by metadata.topic`."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from weighbridge.errors import InvalidFilterError
from weighbridge.text import closest, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ROOT = "metadata"
_VALUE_LIMIT = 128  #: characters of a value that is kept whole
_BEGINNING = 104  #: characters kept of a longer value
_DIGEST_BYTES = 12
_LEAVES_LIMIT = 32  #: kept per case if all fields are wanted
_DEPTH_LIMIT = 4
_NAMES_SHOWN = 12
_ENTRIES_LIMIT = 50  #: of a list that are told apart
EACH_ENTRY = "*"  #: as the last name of a field, each entry of the list that it names
MISSING = "(none)"  #: stands for the cases without a value
OTHER_VALUES = "(other)"  #: stands for all values that are not counted or shown separately
BUILT_IN = frozenset({MISSING, OTHER_VALUES})

#: `metadata.agent.model` is ("agent", "model"), also if `agent.model` is one name.
FieldPath = tuple[str, ...]
Leaves = dict[str, str]  #: values of fields as text, by path; long ones as `value_key` gives them
_any = msgspec.json.Decoder()
_texts = msgspec.json.Decoder(list[str])


def parse_field(text: str) -> FieldPath:
    """Parse the name of a field, such as `metadata.topic`; raises InvalidFilterError."""
    root, _, names = text.partition(".")
    if root != _ROOT or not names:
        raise InvalidFilterError(
            f"{text[:80]!r} does not name a field of the metadata",
            "write metadata.FIELD, for instance metadata.topic, with a further .FIELD for each level",
        )
    return tuple(names.split("."))


@lru_cache(maxsize=1024)  # not more, because anybody who may read can name fields
def field_name(path: FieldPath) -> str:
    """Return a field's name in the form that `parse_field` reads."""
    return ".".join((_ROOT, *path))


def all_leaves(metadata: Any) -> Leaves:
    """Return the values of the first fields of a case's metadata; null and an empty list as an empty text."""
    leaves: Leaves = {}
    for name, text in islice(_leaves(metadata, (), _LEAVES_LIMIT), _LEAVES_LIMIT):
        leaves[name] = leaves.get(name) or text
    return leaves


def by_precedence(names: Iterable[str]) -> list[str]:
    """Return names at one level in the order in which a path is looked for among them: `a.b` counts before a `b` in `a`."""
    return sorted(names, key=lambda name: -name.count("."))


def leaves_of(metadata: bytes | memoryview, wanted: tuple[FieldPath, ...] | None) -> Leaves:
    """Return the values of the wanted fields, or of all fields (None), in a case's metadata, given as JSON."""
    if wanted == () or metadata == b"null":
        return {}
    value = _any.decode(metadata)
    if wanted is None:
        return all_leaves(value)
    return _present({field_name(path): value_at(value, path) for path in wanted})


def leaves_among(leaves: Leaves, wanted: Iterable[FieldPath]) -> Leaves:
    """Return the values of the wanted fields as `leaves_of` does, from those of all; of a long list, the text that stands for it."""
    each = {path: path[:-1] if path[-1] == EACH_ENTRY else path for path in wanted}
    texts = {path: leaves.get(field_name(plain)) for path, plain in each.items()}
    return _present(
        {
            field_name(path): text if each[path] is path else _entries(text)
            for path, text in texts.items()
        }
    )


def value_at(metadata: Mapping[str, Any] | None, path: FieldPath) -> str | None:
    """Return a field's value as text, a list as JSON; None if it is missing, an object or an empty list.

    A path that ends in `*` has the values of a list's entries, which `values_in` returns.
    """
    if path[-1] == EACH_ENTRY:
        return _entries(_found(metadata, path[:-1]))
    return _text(_found(metadata, path))


def values_in(name: str, text: str | None) -> Sequence[str]:
    """Return the values in the text of a field: those of entries if it names each of them, or else the only one."""
    if not text:
        return (MISSING,)
    return _texts.decode(text) if name.endswith(f".{EACH_ENTRY}") else (text,)


def list_in(text: str) -> list[Any] | None:
    """Return the list that a text is in JSON, such as that of a value; None for other texts."""
    try:
        return _any.decode(text) if text.startswith("[") else None
    except (msgspec.DecodeError, RecursionError):
        return None


def value_key(value: str) -> str:
    """Return the text that stands for a value: a short one itself, a longer one its beginning, `…` and a digest of the whole.

    A value such as `(none)` gets quotation marks, so that it is not taken for what the built-in texts stand for.
    """
    if len(value) <= _VALUE_LIMIT:
        return f'"{value}"' if value.strip('"') in BUILT_IN else value
    # Longer than any value that is kept whole, so that it never equals one.
    digest = blake2b(value.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES)
    return f"{value[:_BEGINNING]}…{digest.hexdigest()}"


def compact_list(value: str) -> str:
    """Return a value that is a list in JSON as `value_at` writes it, or any other value as it is."""
    entries = list_in(value)
    return value if entries is None else msgspec.json.encode(entries).decode()


def note_fields(present: dict[str, bool], leaves: Leaves) -> None:
    """Add the names of a case's fields, each with whether any of its values so far is not empty."""
    for name, text in leaves.items():
        present[name] = bool(text) or present.get(name, False)


def plain_name(name: str) -> str:
    """Return the name of the list of whose entries a name says that each counts, or else the name."""
    return name.removesuffix(f".{EACH_ENTRY}")


def absence(name: str, present: Mapping[str, bool]) -> str:
    """Return a sentence about a field that no result has a value of, by the fields that results have."""
    known = sorted(present)
    if plain_name(name) in present:
        return f"{name} is empty in every result that has it"
    if inner := [each for each in known if each.startswith(f"{name}.")]:
        return f"{name} is an object; name a field in it: {', '.join(inner[:_NAMES_SHOWN])}"
    missing = f"no result has {name}"
    if guess := closest(
        name.removeprefix(f"{_ROOT}."), [each.removeprefix(f"{_ROOT}.") for each in known]
    ):
        return missing + did_you_mean(f"{_ROOT}.{guess}")
    return f"{missing}; fields: {', '.join(known[:_NAMES_SHOWN])}" if known else missing


def _leaves(value: Any, path: FieldPath, most: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and len(path) < _DEPTH_LIMIT:
        for name in by_precedence(islice(value, most)):
            yield from _leaves(value[name], (*path, name), most)
    elif path and not isinstance(value, dict):
        yield field_name(path), _text(value) or ""


def _present(values: Mapping[str, str | None]) -> Leaves:
    return {name: text for name, text in values.items() if text is not None}


def _found(value: Any, path: FieldPath) -> Any:
    """Return what is at a path, in which names may contain dots: the longest name that leads to a value counts."""
    if not path:
        return None if isinstance(value, dict) else value
    if not isinstance(value, dict):
        return None
    for end in range(len(path), 0, -1):
        inner = value.get(".".join(path[:end]))
        if inner is not None and (found := _found(inner, path[end:])) is not None:
            return found
    return None


def _entries(value: Any) -> str | None:
    """Return the different values of a list's entries, or the only value of anything else, as a list in JSON.

    The list may be JSON in a text, as cells of tables have it.
    """
    within = list_in(value) if isinstance(value, str) else None
    value = value if within is None else within
    entries = value if isinstance(value, list) else [value]
    texts = dict.fromkeys(filter(None, map(_text, entries[:_ENTRIES_LIMIT])))
    if len(entries) > _ENTRIES_LIMIT:
        texts[OTHER_VALUES] = None
    return msgspec.json.encode(list(texts)).decode() if texts else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, dict) or value == []:
        return None
    return value_key(value if isinstance(value, str) else msgspec.json.encode(value).decode())
