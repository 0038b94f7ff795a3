"""Lists of several answers, of which a path takes the first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.path_texts import (
    around,
    is_first_entry,
    lists_on,
    path_of,
    rest_within,
)
from weighbridge_producer.input.mapping.row_values import MISSING, Path, json_within
from weighbridge_producer.input.proposals.column_names import normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_PLAIN = re.compile("[A-Za-z_][A-Za-z_0-9]*")  #: a key that jq takes as it is
#: Names of lists of accepted answers. `possible_answers` may also be what an answer is chosen from.
_ALIASES = re.compile("alias|synonym|(?<!un)(?<!not)accept|^correctanswers$")
_NORMALIZED = "normali"  #: in the name of texts that were changed for a comparison
_CORRECT = "correct"  #: a tag, or the end of a boolean's name, of a correct entry


def list_of_several(path: str, rows: Sequence[Row]) -> str | None:
    """Return the path of the outermost list of which a path takes the first entry, if the entries differ in one of the rows.

    Entries are compared by what the path takes of them.
    """
    return next(iter(lists_of_several(path, rows)), None)


def lists_of_several(path: str, rows: Sequence[Row]) -> list[str]:
    """Return the paths of all such lists, the outermost first."""
    return [
        outer
        for outer in lists_on(path)
        if any(_differ(Path(outer).of(row, 0), rest_within(path, outer)[1:]) for row in rows)
    ]


def parallel_lists(path: str, other: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the lists of which two paths take the first entries, if both have as many in each row, and in one several."""
    shared = set(lists_on(path)) & set(lists_on(other))
    for first in lists_on(path):
        for second in lists_on(other):
            if not {first, second} & shared and are_parallel(first, second, rows):
                return first, second
    return ()


def are_parallel(path: str, other: str, rows: Sequence[Row]) -> bool:
    """Return whether two lists have as many entries in each row that has both, and in one of these several."""
    pairs = [
        [json_within(Path(each).of(row, 0)) for each in (path, other)]
        for row in rows
        if all(Path(each).of(row, 0) not in (MISSING, None) for each in (path, other))
    ]
    are_alike = all(
        isinstance(one, list) and isinstance(two, list) and len(one) == len(two)
        for one, two in pairs
    )
    return are_alike and any(len(one) > 1 for one, _ in pairs)


def how_to_pair(parallel: Sequence[str]) -> str:
    """Return how to write a row for each entry of two lists that may belong together."""
    first, second = parallel
    what = f"{first!r} and {second!r} have as many entries in each row"
    how = "write a row for each"
    if all(_PLAIN.fullmatch(part) for path in parallel for part in path.split(".")):
        filtered = f"range(.{first} | length) as $n | .{first} |= .[$n] | .{second} |= .[$n]"
        how += f": jq -c '{filtered}' FILE > COPY"
    return f"{what}; if these belong together by their position, {how}"


def list_with_one(path: str, rows: Sequence[Row]) -> str:
    """Return the path of the innermost list of several entries of which none but the first has what a path takes; or empty."""
    for outer in reversed(lists_on(path)):
        rest = rest_within(path, outer)[1:]
        lists = (json_within(Path(outer).of(row, 0)) for row in rows)
        present = [each for each in lists if isinstance(each, list) and each]
        is_alone = all(len(_taken(entries, rest)) <= 1 for entries in present)
        if rest and is_alone and any(len(entries) > 1 for entries in present):
            return outer
    return ""


def list_of_answers(path: str, columns: Mapping[str, list[Any]]) -> tuple[str, bool]:
    """Return the path to the list of texts of which a path is the first, and whether one has several; empty if there is none.

    In some rows the text may stand there without a list.
    """
    outer = around(path)
    values = columns.get(outer, []) if is_first_entry(path) else []
    lists = [value for value in values if isinstance(value, list)]
    others = [value for value in values if not isinstance(value, list)]
    if not lists or not all(map(_are_texts, lists)) or not _are_texts(others):
        return "", False
    return outer, any(len(set(each)) > 1 for each in lists)


def list_of_aliases(path: str, columns: Mapping[str, list[Any]]) -> tuple[str, bool]:
    """Return the path to a list of further accepted answers beside one, and whether it has that answer too in all rows.

    So it is in TriviaQA, with `answer.aliases` beside `answer.value`, and in TruthfulQA, with `correct_answers` beside
    `best_answer`. The path is empty if there is no such list.
    """
    outer = around(path)
    is_normalized = _NORMALIZED in normal(Path(path).name)
    for other, lists in columns.items():
        name = normal(Path(other).name)
        is_beside = around(other) == outer and bool(_ALIASES.search(name))
        if not is_beside or (_NORMALIZED in name) != is_normalized:
            continue
        if any(isinstance(json_within(each), list) for each in lists):
            answers = columns[path]
            has_all = len(lists) == len(answers) and all(
                isinstance(names, list) and _are_texts(names) and answer in names
                for answer, names in zip(answers, lists, strict=True)
            )
            return other, has_all
    return "", False


def _are_texts(entries: list[Any]) -> bool:
    return all(isinstance(each, str) for each in entries)


def how_to_keep_correct(path: str, rows: Sequence[Row]) -> str:
    """Return how to leave only the correct entries in a list; empty if no tag or boolean of an entry says which are.

    A mapping takes an entry by its position alone.
    """
    lists = (json_within(Path(path).of(row, 0)) for row in rows)
    entries = [each for entries in lists if isinstance(entries, list) for each in entries]
    objects = [each for each in entries if isinstance(each, Mapping)]
    name = Path(path).name
    keys = dict.fromkeys(key for each in objects for key in each if _PLAIN.fullmatch(key))
    for key in keys if _PLAIN.fullmatch(name) else ():
        marks = [each.get(key) for each in objects]
        if any(isinstance(mark, list) and _CORRECT in mark for mark in marks):
            test = f'.{key} | index("{_CORRECT}")'
        elif normal(key).endswith(_CORRECT) and any(mark is True for mark in marks):
            test = f".{key} == true"
        else:
            continue
        command = f"jq -c '(.. | .{name}? | arrays) |= map(select({test}))' FILE > COPY"
        return f"; a mapping cannot choose by {key!r}, so keep only the correct ones in a copy: {command}"
    return ""


def _differ(entries: Any, rest: Sequence[str]) -> bool:
    entries = json_within(entries)
    if not isinstance(entries, list):
        return False
    return len(set(map(str, _taken(entries, rest)))) > 1


def _taken(entries: list[Any], rest: Sequence[str]) -> list[Any]:
    """Return what a path takes of each entry that has something."""
    taken = (Path(path_of(["of", *rest])).of({"of": entry}, 0) for entry in entries)
    return [each for each in taken if each is not MISSING and each not in (None, "")]
