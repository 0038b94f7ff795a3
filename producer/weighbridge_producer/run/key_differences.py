"""What differs between the keys of an interrupted run and of a new one, in words: why the new one does not continue it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.text import pluralize

#: By the parts of a key that are compared as a whole: the clause for a difference.
_WHOLE = {
    "mapping": "the mapping differs",
    "joins": "the joined rows differ",
    "trace_mapping": "the trace mapping differs",
    "sample": "--sample differs",
    "only": "the cases of --only-failed differ",
    "names": "the input is named in another way",
    "names_locations": "the input is named in another way",
}
_PRIVATE = "a private one"


def share_a_file(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether two keys are of runs that read a file in common."""
    return not _files(before).keys().isdisjoint(_files(now))


def key_differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return what differs between the key of an interrupted run, which may be damaged, and that of a new one, as clauses.

    The list is empty for equal keys only.
    """
    if before == now:
        return []
    found = list(dict.fromkeys(_clauses(before, now)))
    return found or ["it is of another version of Weighbridge"]


def _clauses(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    if before.get("input") != now.get("input"):
        yield from _changed_files(_files(before), _files(now))
    for part, clause in _WHOLE.items():
        # That files differ was said above, and other files have other names.
        is_said = part == "names" and _files(before).keys() != _files(now).keys()
        if not is_said and before.get(part) != now.get(part):
            yield clause
    yield from _changed_graders(_graders(before), _graders(now))
    for name, was, is_now in _changed(before.get("versions"), now.get("versions")):
        of = name if name == "Weighbridge" else f"grader {name!r}"
        yield f"the version of {of} is {is_now}, and was {was}"
    for part in ("job_limits", "reading_limits"):
        for name, was, is_now in _changed(before.get(part), now.get(part)):
            yield f"WEIGHBRIDGE_{name.upper()} is {is_now}, and was {was}"
    if before.get("outputs") != now.get("outputs"):
        yield f"the outputs differ (before: {_listed(before.get('outputs'))})"
    if before.get("server") != now.get("server"):
        yield f"the Redis server differs (before: {before.get('server') or _PRIVATE})"


def _files(key: dict[str, Any]) -> dict[str, Any]:
    """Return the versions of the input files, by their paths."""
    files = key.get("input")
    listed = files if isinstance(files, list) else []
    return {str(file[0]): file[1:] for file in listed if isinstance(file, list) and file}


def _changed_files(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    changed = [path for path in now if path in before and before[path] != now[path]]
    yield from _of_files(changed, "has another size or time", "have other sizes or times")
    added = [path for path in now if path not in before]
    yield from _of_files(added, "was not read before", "were not read before")
    left_out = [path for path in before if path not in now]
    yield from _of_files(left_out, "is no longer read", "are no longer read")
    if before == now:
        yield "the files are read in another order"


def _of_files(paths: list[str], of_one: str, of_several: str) -> Iterator[str]:
    if len(paths) == 1:
        yield f"{paths[0]} {of_one}"
    elif paths:
        yield f"{pluralize(len(paths), 'file')} {of_several} (the first: {paths[0]})"


def _graders(key: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the specifications of the graders, by their labels."""
    graders = key.get("graders")
    listed = graders if isinstance(graders, list) else []
    return {str(spec.get("label")): spec for spec in listed if isinstance(spec, dict)}


def _changed_graders(
    before: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]
) -> Iterator[str]:
    ids = [
        [(label, spec.get("grader")) for label, spec in specs.items()] for specs in (before, now)
    ]
    if ids[0] != ids[1]:
        yield f"the graders differ (before: {_listed(list(before))})"
        return
    for label, spec in now.items():
        if before[label] != spec:
            yield f"the configuration of {label!r} differs"


def _changed(before: object, now: object) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the former and the present value of what both have and differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in now:
            if name in before and before[name] != now[name]:
                yield name, before[name], now[name]


def _listed(values: object) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list) and values else "none"
