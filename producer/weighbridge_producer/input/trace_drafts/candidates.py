"""The arrays in a file that may be of the steps of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from weighbridge.traces.json_pointers import escaped, resolve
from weighbridge_producer.input.trace_drafts.fact_names import STEPS, normal

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.beginning import Beginning

_DEPTH = 4  #: of the objects that are looked into
_KEYS = 60  #: of an object
_ARRAYS = 60
_ENTRIES = 3_000  #: looked at, of all arrays of a candidate together
_RUNS = 1_000
_COMPARED = 50  #: values under keys, of which each may be a run
_KEY_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Candidate:
    """An array of objects that may be the steps of a run, or the arrays of several runs."""

    steps: str  #: pointer to the array
    traces: str | None  #: pointer to the runs that have it; None if it needs none
    owners: list[Any]  #: the value of each run
    runs: list[list[Any]]  #: the steps of each run
    without: int = 0  #: number of runs without such an array
    has_lines: bool = False  #: True if the lines of the file are the steps

    @property
    def entries(self) -> list[Any]:
        """The steps of all runs."""
        return list(islice(chain.from_iterable(self.runs), _ENTRIES))

    @property
    def first_entry(self) -> Any:
        """The first step of all."""
        return next(chain.from_iterable(self.runs), None)


def candidates(beginning: Beginning) -> list[Candidate]:
    """Return the arrays of objects that a file has."""
    if beginning.has_lines:
        rows = beginning.values
        found = [Candidate("", None, [None], [rows], has_lines=True)] if _are_objects(rows) else []
        return found + list(_nested(rows, None))
    (document,) = beginning.values
    if type(document) is list:
        found = [Candidate("", None, [None], [document])] if _are_objects(document) else []
        return found + list(_nested(document, ""))
    if type(document) is not dict:
        return []
    found = []
    by_key = _by_key(document)
    for pointer, runs in by_key.items():
        found += _under_keys(pointer, runs)
    for pointer in _arrays([document], by_key):
        array = resolve(document, pointer)
        if _are_objects(array):
            found.append(Candidate(pointer, None, [document], [array]))
            found += _nested(array, pointer)
    if beginning.is_one_line:
        found.append(Candidate("", None, [None], [[document]], has_lines=True))
    return found


def _by_key(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the objects whose values may each be a run, by their pointers."""
    found: dict[str, dict[str, Any]] = {}

    def look(value: dict[str, Any], pointer: str, depth: int) -> None:
        if (
            len(value) > 1
            and _are_alike(list(value.values())[:_COMPARED])
            and not _are_parts(value)
        ):
            found[pointer] = value
        elif depth > 1:
            for key, held in list(value.items())[:_KEYS]:
                if type(held) is dict and len(key) <= _KEY_LENGTH:
                    look(held, f"{pointer}/{escaped(key)}", depth - 1)

    look(document, "", _DEPTH)
    return found


def _are_alike(values: Sequence[Any]) -> bool:
    """Return whether values are arrays of objects with the same keys, or objects of which most have an array at the same pointer."""
    if all(map(_are_objects, values)):
        return _have_keys_in_common([value[0] for value in values])
    if not all(type(value) is dict for value in values):
        return False
    counts = Counter(pointer for value in values for pointer in _arrays([value]))
    return any(count > 1 and 2 * count > len(values) for count in counts.values())


def _have_keys_in_common(objects: Sequence[dict[str, Any]]) -> bool:
    """Return whether most of the objects have at least half of the keys of the first."""
    first = objects[0].keys()
    alike = sum(2 * len(first & each.keys()) >= len(first | each.keys()) for each in objects)
    return 2 * alike > len(objects) and alike > 1


def _are_parts(value: dict[str, Any]) -> bool:
    """Return whether the values of an object are parts of one run, by the names of arrays of steps."""
    return any(normal(key) in STEPS for key in list(value)[:_KEYS])


def _under_keys(pointer: str, runs: dict[str, Any]) -> Iterator[Candidate]:
    """Yield the arrays of runs under keys, which are their ids."""
    held = list(runs.values())[:_RUNS]
    traces = f"{pointer}/*"
    if type(held[0]) is list:
        yield Candidate("", traces, held, held)
    else:
        yield from _nested(held, traces)


def _nested(owners: Sequence[Any], traces: str | None) -> Iterator[Candidate]:
    """Yield the arrays within the objects of a list, each of which may be a run."""
    objects = [owner for owner in owners[:_RUNS] if type(owner) is dict]
    if not objects:
        return
    for pointer in _arrays(objects):
        arrays = [resolve(owner, pointer) for owner in objects]
        held = [array for array in arrays if type(array) is list]
        without = len(arrays) - len(held)
        if (
            all(_are_objects(array) or not array for array in held)
            and any(held)
            and without <= len(held)
        ):
            # Without a pointer to the traces, a list is one only if each of its items has the array.
            at = None if traces == "" and not without and len(objects) == len(owners) else traces
            yield Candidate(pointer, at, objects, held, without)


def _are_objects(array: Any) -> bool:
    return type(array) is list and bool(array) and all(type(each) is dict for each in array)


def _arrays(objects: Sequence[Any], without: Collection[str] = ()) -> list[str]:
    """Return the pointers to arrays in objects, through objects alone, in the order in which they are found.

    What is at some pointers is not looked into.
    """
    found: dict[str, None] = {}

    def look(value: Any, pointer: str, depth: int) -> None:
        for key in list(value)[:_KEYS]:
            held = value[key]
            inner = f"{pointer}/{escaped(key)}"
            if len(key) > _KEY_LENGTH or len(found) >= _ARRAYS or inner in without or key == "*":
                continue
            if type(held) is list:
                if held and type(held[0]) is dict:
                    found[inner] = None
            elif type(held) is dict and depth > 1:
                look(held, inner, depth - 1)

    for each in objects if "" not in without else ():
        look(each, "", _DEPTH)
    return list(found)
