"""Why no draft was made, with the smallest mapping in the words of the file itself, for the user to complete."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.errors import InputError
from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.draft_text import comment, quoted
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_text, is_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.trace_drafts.candidates import Candidate

_PAGE = "docs/how-to/write-an-importer.md explains it"
_WORDS_SHOWN = 3
_KEYS_SHOWN = 8
_SHORT = 60  #: characters of a word that is shown
_MOST_KINDS = 30
_FEW_WORDS = re.compile(r"[\w.:/-]{1,40}(?: [\w.:/-]{1,30}){0,2}")


def no_draft(arrays: Sequence[Candidate]) -> InputError:
    """Return the error of a file in which nothing is like a call, with a mapping to complete for its largest array."""
    if not arrays:
        return InputError(
            "no draft can be made: it has neither lines nor an array of objects, so nothing in it can be the steps of a run",
            f"a mapping needs an array of objects, each of them one step, or lines of such objects; {_PAGE}",
        )
    array = max(arrays, key=lambda each: len(each.entries))
    seen = Observed(array.entries)
    keys = list(dict.fromkeys(at.pointer for at in seen.all() if len(at.keys) == 1))
    more = ", ..." if len(keys) > _KEYS_SHOWN else ""
    what = "lines" if array.has_lines else f"entries of {array.steps or 'its list'}"
    shown = comment(", ".join(keys[:_KEYS_SHOWN]) + more)
    return InputError(
        f"no draft can be made: nothing in its {pluralize(len(array.entries), 'object')}, the {what}, tells calls of models and tools ({shown})",
        f"if each is a call, or some are, a mapping file says so, such as `{_example(array, seen)}` with llm or tool for each kind of call; {_PAGE}",
    )


def _example(array: Candidate, seen: Observed) -> str:
    """Return a mapping with the pointers of the file, on one line."""
    kind, text = _kind(seen), _text(seen)
    words = [word for word, _ in Counter(kind.values).most_common(_WORDS_SHOWN)] if kind else []
    types = [f"{quoted(word)}: other" for word in words if len(word) <= _SHORT]
    parts = [f"type: {quoted(kind.pointer)}"] if kind and types else []
    parts.append(f"types: {{{', '.join([*types, chr(34) + '*' + chr(34) + ': other'])}}}")
    if text:
        parts.append(f"output: {quoted(text.pointer)}")
    begin = [f"traces: {quoted(array.traces)}"] if array.traces is not None else []
    begin += ["lines: together"] if array.has_lines else []
    return ", ".join(
        [
            "{"
            + ", ".join([*begin, f"steps: {quoted(array.steps)}", f"step: {{{', '.join(parts)}}}"])
            + "}"
        ]
    )


def _kind(seen: Observed) -> At | None:
    """Return the words that are most like those of kinds: of a usual name, or else few that recur."""
    words = [
        at
        for at in seen.all()
        if len(at.keys) <= 2
        and all(map(is_word, at.values))
        and all(map(_FEW_WORDS.fullmatch, at.values))
        and at.keys[-1] not in (*names.TIME, *names.STARTED, *names.ENDED)
        and 1 < len(set(at.values)) <= _MOST_KINDS
    ]
    rank = {name: place for place, name in enumerate(names.KIND)}
    return min(
        words,
        key=lambda at: (rank.get(at.keys[-1], len(rank)), len(set(at.values)) / len(at.values)),
        default=None,
    )


def _text(seen: Observed) -> At | None:
    texts = [at for at in seen.all() if len(at.keys) == 1 and all(map(is_text, at.values))]
    return max(texts, key=lambda at: sum(map(len, at.values)), default=None)
