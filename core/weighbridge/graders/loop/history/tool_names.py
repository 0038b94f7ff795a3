"""Classification of tools by their names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_CHARACTERS = 256  #: maximum characters of a tool's name that are examined
_REMEMBERED_NAMES = 1_024  #: traces call few different tools
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CREATING = re.compile(
    r"(?:^|[_\W])(?:create|make|spawn|start|launch|new|add|open|book|order|buy|issue|provision|allocate|generate|roll|draw|register"
    r"|submit|schedule|reserve|clone|fork|insert|upload)(?:[_\W]|$)",
    re.IGNORECASE,
)
_STORING = re.compile(
    r"(?:^|[_\W])(?:save|store|remember|memorize|keep|put|set|update|upsert)(?:[_\W]|$)",
    re.IGNORECASE,
)


def with_underscores(name: str) -> str:
    """Convert a camel-case name to underscores, truncated to `NAME_CHARACTERS`."""
    return _CAMEL.sub("_", name[:NAME_CHARACTERS])


def is_thinking_tool(tool: str) -> bool:
    """Return whether a tool's name says that it only records the agent's thoughts."""
    return "think" in tool[:NAME_CHARACTERS].lower()


def named_like(words: re.Pattern[str], *, splits_words: bool = True) -> Callable[[str], bool]:
    """Return a function that tests a tool's name, with or without conversion to underscores, for a pattern."""

    @lru_cache(_REMEMBERED_NAMES)
    def is_found(name: str) -> bool:
        return words.search(with_underscores(name) if splits_words else name) is not None

    return lambda tool: is_found(tool[:NAME_CHARACTERS])


#: Whether a tool's name says that it creates something, a new one each time even for equal arguments.
creates = named_like(_CREATING)
#: Whether a tool's name says that it keeps a note: the same note again is no progress, however short.
takes_notes = named_like(
    re.compile(
        r"(?:^|[_\W])(?:notes?|memory|memories|remember|memorize|memo|todos?)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Whether a tool's name says that it votes; one that reads votes is named otherwise.
votes = named_like(
    re.compile(r"^(?:(?:cast|submit|place)_)?(?:vote|ballot|nominate)(?:_|$)", re.IGNORECASE)
)
#: Whether a tool's name says that it hands the work on to another agent, whatever reason is given.
hands_over = named_like(
    re.compile(
        r"(?:^|[_\W])(?:transfer|hand_?(?:off|over)|escalate|delegate|route|switch)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Whether a tool's name says that it stores something: storing it again is no progress, whatever its id.
stores = named_like(_STORING)
#: Whether a tool's name says that it edits texts, perhaps among other things.
is_editor = named_like(
    re.compile(r"edit|replace|patch|modify|update", re.IGNORECASE), splits_words=False
)
#: Whether a tool's name says that it writes a whole thing, such as a file, in place of what was there.
is_overwriting_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:write|save|update|overwrite|set|put|store)(?:[_\W]|$)", re.IGNORECASE
    )
)
#: Whether a tool's name says that it pays.
pays = named_like(
    re.compile(
        r"(?:^|[_\W])(?:pay|payment|payout|refund|reimburse|reimbursement|remit)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Whether a tool's name says that it moves something, which an amount among its arguments shows to be money.
moves_money = named_like(
    re.compile(
        r"(?:^|[_\W])(?:transfer|charge|debit|credit|deposit|withdraw|wire|donate|send|bill)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Whether a tool's name says that it sends something, which a recipient among its arguments shows to be a message.
sends = named_like(
    re.compile(
        r"(?:^|[_\W])(?:send|post|publish|notify|message|e?mail|e_mail|sms|text|tweet|reply|forward|remind|invite|alert|dispatch)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Whether a tool's name says that it only tells something about payments or messages, or tries them.
tells_of = named_like(
    re.compile(
        r"(?:^|[_\W])(?:status|state|history|quote|estimate|preview|simulate|dry_?run|validate|details|methods?|limits?|policy|eligib\w{0,6}|draft)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)

#: Whether a tool's name says that it changes the text of a file.
is_editing_tool = named_like(
    re.compile(r"(?:^|[_\W])(?:edit|replace|patch|modify|write)(?:[_\W]|$)", re.IGNORECASE)
)
#: Whether a tool's name says that it reads a file.
reads_files = named_like(
    re.compile(r"(?:^|[_\W])(?:read|view|open|cat)(?:_\w{0,10}files?)?(?:[_\W]|$)", re.IGNORECASE)
)
