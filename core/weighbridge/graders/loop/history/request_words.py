"""The words of requests: which requests are related or nearly the same, and which only raise a limit."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from operator import ne
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.history.call_kinds import claims_done
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.linear_patterns import linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import WorkBudget

EXAMINED = 30  #: maximum requests of a group that are compared with each other
_ALIKE = 0.85  #: minimum share of common words for two attempts to be similar
_GROWTH = 1.5  #: minimum factor between the numbers of two consecutive attempts that raise a limit
_LETTERS = b"abcdefghijklmnopqrstuvwxyz_"
_LETTERS_ALONE = bytes(
    low if (low := code | 32 if 64 < code < 91 else code) in _LETTERS else 32 for code in range(256)
)
#: Parts of arguments that are ignored: paths, file names, options, and pagers.
_IGNORED = linear(
    r"""\|&?\s*(?:tail|head|less|more|cat)\b[^|&;"\\]{0,40}|[^\s"'=:,(]{0,200}/[^\s"',;|)]{0,200}
|\b[\w-]{1,60}\.(?:py|[jt]sx?|c|h|cpp|rs|go|java|txt|md|json|ya?ml|toml|cfg|ini|csv|tsv|log|xml|html?|css|sh|sql|lock|pdf|png|jpg|ipynb|tar|gz|zip)\b
|(?:^|[\s"'\[])--?[a-z][\w-]{0,30}"""
)
#: The same with the marks of paths, addresses and identifiers, and with digits.
_VALUES_ALONE = bytes(
    code if code > 127 or code in b"./:@-_" or chr(code).isalnum() else 32 for code in range(256)
)
_DIFFERENT = 0.8  #: minimum share of different requests among those that go through combinations
_CHANGED = 2  #: maximum values that change from one combination to the next
_STEPS = 2 / 3  #: minimum share of steps to the next combination
_RELATED = 0.5  #: minimum share of common words for two attempts to be related
_NAMES = 2  #: maximum words of an attempt that only names a command and its target: `cat FILE`
_NAME_CHARACTERS = 100  #: longest name of many parts
#: A name of many parts, such as an address, a domain, or an id. A call or an expression is none.
_IN_NAMES = re.compile(r"[\w.:/@+%~#?&-]+")
_SHORT_CHARACTERS = 20  #: longest name of a thing, such as a cell
_WORD = re.compile(r"[^\W\d]+")
_NUMBER_IN_BYTES = re.compile(rb"\d{1,15}(?:\.\d{1,15})?")
_MARKED = re.compile(rb"[/|.]|[\s\"]-")


def words_of(call: Call, budget: WorkBudget) -> frozenset[bytes]:
    """Return the words of a call's arguments without ignored parts, or none if the call reports completion."""
    if claims_done(call):
        return frozenset()
    key = call.arguments.key
    budget.count_attempt(len(key))
    if _MARKED.search(key):
        text = key.decode("utf-8", "replace")
        bare, marks = _IGNORED.subn(" ", text)
        budget.count_masking(text, marks)
        key = bare.encode()
    if not key.isascii():
        return frozenset(map(str.encode, words_in(key.decode("utf-8", "replace").lower(), _WORD)))
    return frozenset(key.translate(_LETTERS_ALONE).split())


def are_related(one: frozenset[Any], other: frozenset[Any]) -> bool:
    """Return whether attempts with these words have at least half of them in common."""
    return len(one & other) >= _RELATED * len(one | other)


def are_alike(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    """Return whether attempts with these words differ at most in one that was added, or in few of many."""
    common = len(one & other)
    is_added_to = common >= max(len(one), len(other)) - 1 and common == min(len(one), len(other))
    return is_added_to or common >= _ALIKE * len(one | other)


def tries_each(calls: Sequence[Call], words: frozenset[bytes]) -> bool:
    """Return whether each call has a different value of a single argument, such as a file or a domain; `words` are the first call's."""
    given = [call.arguments.value for call in calls]
    return (
        all(type(value) is dict and len(value) == 1 for value in given)
        and len({call.arguments.key for call in calls}) == len(calls)
        and (len(words) <= _NAMES or all(map(_is_name, given)))
        and not any(map(claims_done, calls))
    )


def _is_name(arguments: dict[str, Any]) -> bool:
    """Return whether a single argument is one name of any parts, such as a domain, and no phrase."""
    (value,) = arguments.values()
    return (
        type(value) is str
        and len(value) <= _NAME_CHARACTERS
        and _IN_NAMES.fullmatch(value) is not None
    )


def fills_each(calls: Sequence[Call]) -> bool:
    """Return whether calls say something else of another thing each time, as in a form: two arguments always differ, one is short."""
    given = [call.arguments.value for call in calls]
    if not all(type(value) is dict for value in given):
        return False
    columns = [[value.get(key) for value in given] for key in given[0]]
    different = [
        column
        for column in columns
        if all(type(each) is str for each in column) and len(set(column)) == len(column)
    ]
    return len(different) > 1 and any(
        max(map(len, each)) <= _SHORT_CHARACTERS for each in different
    )


def unshared_words(words: Sequence[frozenset[Any]]) -> float:
    """Return the mean share of words that only one attempt has, out of its words that are not common to all."""
    common = frozenset.intersection(*words)
    counts = Counter(word for said in words for word in said)
    rests = [said - common for said in words]
    shares = [sum(counts[word] == 1 for word in rest) / len(rest) for rest in rests if rest]
    return sum(shares) / len(words)


def values_of(call: Call) -> frozenset[bytes]:
    """Return the words of a call's arguments, each with its marks and digits, as in a path."""
    return frozenset(call.arguments.key.translate(_VALUES_ALONE).split())


def combines_values(calls: Sequence[Call]) -> bool:
    """Return whether requests go through combinations of values: nearly all differ, most in a value or two from the one before."""
    if len({call.arguments_id for call in calls}) < _DIFFERENT * len(calls):
        return False
    rows = [call.arguments.key.translate(_VALUES_ALONE).split() for call in calls]
    steps: int = sum(
        len(one) == len(other) and sum(map(ne, one, other)) <= _CHANGED
        for one, other in pairwise(rows)
    )
    return steps >= _STEPS * (len(rows) - 1)


def raises_a_limit(calls: Sequence[Call]) -> bool:
    """Return whether a number grows by half or more from each call to the next, as a raised time limit does."""
    rows = (_numbers_in(call.arguments.key) for call in calls)
    before = next(rows, [])
    growing = [place for place, number in enumerate(before) if number > 0]
    for numbers in rows:
        if not growing or len(numbers) != len(before):
            return False
        growing = [place for place in growing if _GROWTH * before[place] <= numbers[place]]
        before = numbers
    return bool(growing)


def _numbers_in(key: bytes) -> list[float]:
    return [*map(float, _NUMBER_IN_BYTES.findall(key))]
