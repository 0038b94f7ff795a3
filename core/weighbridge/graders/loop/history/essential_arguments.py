"""Removal of the parts of a call's arguments that do not change what is requested.

Removed are:

- from any arguments: the number of the attempt, the id and the time of the request, a cache buster in a URL, the agent's
  remarks on its call, and what it wants an address, a path or a click for, or why it hands its work over,
- from a command: the change to the common folder, quotes around plain words, and pagers,
- from code and queries: comments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.history.tool_names import hands_over
from weighbridge.graders.loop.linear_patterns import linear, occurs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.traces import Step

_DEPTH = 4  #: objects nested deeper than this stay unchanged
_COMMAND_KEYS = ("command", "cmd")
_CODE_KEYS = ("code", "source", "script", "sql", "query", "statement")
_SCRIPT_KEYS = frozenset(("command", "cmd", "code", "script"))
_MARKS_LIMIT = 200  #: maximum matches of one pattern removed from one text
_ROUNDS = 8  #: maximum suffixes removed from a command
_FOLDER_CHARACTERS = 300  #: length of the beginning of a command that is searched for `cd`
#: Characters without which a command has no suffix or brackets to remove.
_SHOWN = frozenset(">|;&#(")
_SPELT_CHARACTERS = 2_000  #: a longer command is a script, whose spelling is kept
_SHOWING_CHARACTERS = 100  #: length of the end of a command that is searched for a suffix


def _spellings(*names: str) -> frozenset[str]:
    """Return names of words with `_` between them in that form, with `-`, and in camel case."""
    parts = [name.split("_") for name in names]
    camel = [words[0] + "".join(map(str.capitalize, words[1:])) for words in parts]
    return frozenset([*names, *map("-".join, parts), *camel])


#: Number of the attempt, and values that only make a request unique.
_RETRY_KEYS = _spellings(
    *("attempt", "attempt_number", "attempt_no", "attempt_count", "try", "try_number", "try_no"),
    *("try_count", "n_try", "retry", "retry_number", "retry_no", "retry_count", "retries"),
    *("retry_attempt", "nonce", "cache_bust", "cache_buster", "cb", "_"),
)
#: Id of the request, kept if the call has no other arguments.
_ID_KEYS = _spellings(
    *("request_id", "client_request_id", "client_token", "idempotency_key", "correlation_id"),
    *("trace_id", "span_id", "call_id", "tool_call_id"),
)
_THINGS = ("attempt", "retry", "trace", "span")
#: The agent's remarks on its call, kept if the call has no other arguments.
_REMARK_KEYS = frozenset(
    (
        *("explanation", "rationale", "reasoning", "justification", "thought", "thoughts"),
        *("thinking", "current_state", "evaluation_previous_goal", "next_goal"),
    )
)
#: What a call is for, removed only beside an address or a path, which says what is requested.
_PURPOSE_KEYS = frozenset(("reason", "intent", "intention", "purpose", "goal"))
#: Those removed from a hand-over, too, whose goal or purpose is the work that is handed over.
_REASON_KEYS = frozenset(("reason",))
#: A click on a numbered element of a page, before the agent's remark on what it is for.
_ELEMENT = re.compile(
    r"(\W{0,3}(?:action\s?:\s?)?(?:click|hover|press|tap)\s?\[\d{1,5}\])"
    r"(?:\.?\s{0,3}\Z|\s(?:to|in order to|so that)\s[^\W\d][^\[\]\d\n]{0,200}\Z|\s?\([^\[\]()\d\n]{1,200}\)\.?\s{0,3}\Z)",
    re.IGNORECASE,
)
_ADDRESS_KEYS = frozenset(("url", "uri", "path", "file_path", "filepath", "filename", "file"))
#: Time of the request, removed only if it has the precision of a clock.
_TIME_KEYS = _spellings("ts", "_ts", "t", "_t", "timestamp", "time", "now", "sent_at") | _spellings(
    "requested_at", "request_time", "client_time", "called_at"
)
_NUMBERING_KEYS = _RETRY_KEYS | _ID_KEYS
_ACTION_KEY = "action"
_KEYS = _NUMBERING_KEYS | _REMARK_KEYS | _PURPOSE_KEYS | _TIME_KEYS | _SCRIPT_KEYS | {_ACTION_KEY}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{1,9}(?:Z|[+-]\d\d:?\d\d)?")
_SECONDS = re.compile(r"1\d{9}\.\d{1,3}")
_LEAST_MOMENT_MS = 10**12
_CACHE_BUSTER = linear(
    r"""([?&])(?:(?:_|cb|cache_?bust(?:er)?|no_?cache|rand|rnd|random|nonce)=[^&#\s"']{0,60}
|(?:_?ts?|time|timestamp|v)=\d{10,19}\b)"""
)
_FOLDER = re.compile(r"""^\s*cd\s+("[^"]{1,300}"|'[^']{1,300}'|[^\s;&|"']{1,300})\s*(?:&&|;)\s*""")
#: Quotes around a plain word, `./` before a path, and a slash after a folder, all ignored by the shell:
#: characters without which the pattern cannot match, the pattern, and the replacement.
_SPELLINGS = (
    (
        ('"', "'"),
        re.compile(r"""(^|[\s=])(?:"([\w.,:/@%+-]{1,100})"|'([\w.,:/@%+-]{1,100})')(?=\s|$)"""),
        r"\1\2\3",
    ),
    (("./",), re.compile(r"(^|\s)\./(?=\w)"), r"\1"),
    (("/",), re.compile(r"(?<=\w)/(?=\s|$)"), ""),
)
#: Suffix of a command that affects only what is shown of its output or status.
_SHOWING = re.compile(
    r"""\s*(?:\d?>&\d|\|&?\s*(?:tail|head)(?:\s+(?:-n)?\s*-?\d{1,6})?|\|&?\s*cat|(?:\|\||;|&&)\s*(?:true|echo\s[^;&|]{0,40})|;|\s\#[^\n"'`\#]{0,80})\s*$"""
)


#: Comment without a later character that could close a quotation around it.
_COMMENT = linear(r"""(?m)^[ \t]*#[ \t][^\x0a]*$|[ \t]+#[ \t][^\x0a"'`]*$""")
_SQL_COMMENT = linear(r"""(?m)--[ \t][^\x0a"'`]*$|/\*[^*"'`]{0,200}\*/""")
_is_query = occurs(
    r"^(?:\s|--[^\x0a]*\x0a)*(?:select|with|insert|update|delete|create|drop|alter|explain)\b"
)


def normalized(arguments: Any, tool: str = "", folder: str = "") -> Any:
    """Return arguments without the parts that do not change a request to a tool; `folder` is from `common_folder`."""
    if type(arguments) is not dict:
        return arguments
    if _KEYS.isdisjoint(arguments) and not _may_have_removable(arguments.values()):
        return arguments
    kept = _kept(arguments, _DEPTH)
    selected: dict[Any, Any] = {}
    if not _NUMBERING_KEYS.isdisjoint(arguments):
        selected = {key: item for key, item in arguments.items() if _is_selected(key, tool)}
        kept |= selected
    for kind in (_ID_KEYS, _REMARK_KEYS):
        if not kind.isdisjoint(kept):
            rest = {key: item for key, item in kept.items() if key not in kind or key in selected}
            kept = rest or kept
    if not _PURPOSE_KEYS.isdisjoint(kept):
        told = _PURPOSE_KEYS if not _ADDRESS_KEYS.isdisjoint(kept) else _REASON_KEYS
        if told is _PURPOSE_KEYS or hands_over(tool):
            kept = {key: item for key, item in kept.items() if key not in told}
    for key in _COMMAND_KEYS:
        if type(kept.get(key)) is str:
            kept[key] = _normalized_command(kept[key], folder)
    if type(kept.get(_ACTION_KEY)) is str:
        kept[_ACTION_KEY] = without_remark(kept[_ACTION_KEY])
    for key in _CODE_KEYS:
        if type(kept.get(key)) is str:
            kept[key] = _without_comments(kept[key])
    return kept


def without_remark(action: str) -> str:
    """Return an action written in words without what a click on a numbered element is for: `Click [9] to open the menu`."""
    found = _ELEMENT.match(action)
    return found[1] if found else action


def common_folder(steps: Iterable[Step]) -> str:
    """Return the one folder that commands change to first, or "" if there are several or none."""
    folders: set[str] = set()
    for step in steps:
        given = step.arguments
        command = given.get("command", given.get("cmd")) if type(given) is dict else None
        if type(command) is str and "cd" in command[:_FOLDER_CHARACTERS]:
            found = _FOLDER.search(command)
            if found:
                folders.add(found[1])
    return folders.pop() if len(folders) == 1 else ""


def _may_have_removable(values: Iterable[Any]) -> bool:
    for value in values:
        if value is None or type(value) is dict:
            return True
        if type(value) is str and (
            ("?" in value and "=" in value) or "--" in value or "# " in value or "/*" in value
        ):
            return True
    return False


def _is_selected(key: str, tool: str) -> bool:
    """Return whether a tool's name contains what a key numbers, such as a trace, so that the key selects one."""
    if key not in _NUMBERING_KEYS:
        return False
    named = tool.lower()
    return any(word in named for word in _THINGS if word in key.lower())


def _kept(value: Any, depth: int) -> Any:
    if type(value) is str:
        is_address = "?" in value and "=" in value
        return _without(_CACHE_BUSTER, value, r"\1") if is_address else value
    if type(value) is not dict or not depth:
        return value
    is_described = not _SCRIPT_KEYS.isdisjoint(value)
    return {
        key: _kept(item, depth - 1)
        for key, item in value.items()
        if not (
            item is None  # the same as a missing key
            or key in _RETRY_KEYS
            or (key in _ID_KEYS and depth < _DEPTH)
            or (key == "description" and is_described)
            or (key in _TIME_KEYS and _is_moment(item))
        )
    }


def _is_moment(value: Any) -> bool:
    """Return whether a value is a time with a fraction of a second, unlike times that are part of a request."""
    if type(value) is str:
        return (_MOMENT.fullmatch(value) or _SECONDS.fullmatch(value)) is not None
    if type(value) is int:
        return value >= _LEAST_MOMENT_MS and value % 1000 > 0
    return type(value) is float and value >= _LEAST_MOMENT_MS / 1000 and value % 1 > 0


def _without_comments(code: str) -> str:
    """Return code or a query without comments."""
    if "#" not in code and "--" not in code and "/*" not in code:
        return code
    comment = _SQL_COMMENT if _is_query(code) else _COMMENT
    return _without(comment, code).strip() or code


def _without(idle: re.Pattern[str], text: str, mark: str = "") -> str:
    """Return a text without the first matches of a pattern, or unchanged if it cannot be encoded as UTF-8."""
    try:
        return idle.sub(mark, text, count=_MARKS_LIMIT)
    except UnicodeEncodeError:
        return text


def _normalized_command(command: str, folder: str) -> str:
    """Return a command without the change to a folder, comments, needless quotes, outer brackets and output suffixes."""
    found = _FOLDER.search(command) if folder else None
    bare = (command[found.end() :] if found and found[1] == folder else command).strip()
    if "#" in bare:
        bare = "\n".join(line for line in bare.splitlines() if line.lstrip()[:1] != "#") or bare
    if len(bare) <= _SPELT_CHARACTERS:
        for marks, spelling, plain in _SPELLINGS:
            if any(mark in bare for mark in marks):
                bare = _without(spelling, bare, plain)
    if _SHOWN.isdisjoint(bare):
        return bare or command
    for _ in range(_ROUNDS):
        end = max(0, len(bare) - _SHOWING_CHARACTERS)
        shorter = (bare[:end] + _SHOWING.sub("", bare[end:])).strip()
        inner = shorter[1:-1]
        if shorter[:1] == "(" and shorter[-1:] == ")" and "(" not in inner and ")" not in inner:
            shorter = inner.strip()
        if shorter == bare:
            break
        bare = shorter
    return bare or command
