"""Kinds of calls that move or look, by their names and arguments: what they show depends on where the agent is, or on the time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.call_kinds import (
    ARGUMENTS_CHARACTERS,
    is_command,
    is_read_only,
)
from weighbridge.graders.loop.history.tool_names import NAME_CHARACTERS, named_like
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call

#: Names of tools that read the new output of a program that runs, and how others ask for it: by writing nothing to it.
_POLL = r"""\b(?:bash|task|command|process|terminal|shell)_?(?:output|status)\b|\b(?:read|get|check)_(?:\w{1,20}_)?(?:output|status)\b
|\bwrite_stdin\b.{0,120}\bchars\\{0,2}["']{0,1}\s{0,2}:\s{0,2}(?:\\{0,2}["']){2}|"chars":"".{0,200}\bwrite_stdin\b"""
_mentions_poll = occurs(_POLL)
#: A pause before a command.
PAUSE = r"sleep [0-9.]{1,9}[smh]?\s{0,3}(?:&&|;)\s{0,3}"
#: Commands that show the state of what goes on elsewhere, alone or after a pause.
_STATUS_COMMAND = re.compile(
    rf"(?:{PAUSE})?"
    r"(?:sleep [0-9.]{1,9}|tail|ps|pgrep|jobs|squeue|sacct|nvidia-smi|uptime|curl|systemctl status|service \w{1,40} status"
    r"|kubectl (?:get|describe|logs|rollout|top)|docker (?:compose )?(?:ps|logs|inspect|stats|top)|gh (?:run|pr|workflow)|gcloud|aws|az|helm status|terraform show)\b"
)
_mentions_scrolling = occurs(r"scroll|page_?(?:down|up)|pg_?(?:dn|up)|swipe")
#: Word of a step through a place: in a maze, each may look like the one before.
_mentions_walk = occurs(
    r"\b(?:go|move|walk|step|turn|north|south|east|west|left|right|forward|back(?:ward)?|up|down|[nsew]|[ns][ew])(?:\b|_)"
)
_mentions_direction = occurs(
    r"\b(?:step|turn|north|south|east|west|left|right|forward|back(?:ward)?|up|down|[nsew]|[ns][ew])(?:\b|_)"
)
#: Words for what is done to a thing, some of which have a direction: `put the box down`.
_mentions_handling = occurs(
    r"\b(?:pick|put|lift|lay|set|drop|load|unload|carry|bring|fetch|deliver|give|fill|empty|clean|push|pull"
    r"|throw|open|close|unlock|plug|switch|turn (?:on|off)|turn [\w ]{1,40}\b(?:on|off))(?:\b|_)"
)
_is_observing_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:inventory|observe|observation|sense|examine|map|where|position|location|exits|surroundings|status|state"
        r"|score|goal|goals|objective|task|help)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
_is_exploring_tool = named_like(
    re.compile(r"(?:^|[_\W])(?:explore|wander|patrol|roam|look_?around)(?:[_\W]|$)", re.IGNORECASE)
)
_MOVE = re.compile(
    r"scroll|click|next|prev|page|press|key|wait|sleep|swipe|move|step|poll|status", re.IGNORECASE
)
_KEY_CHARACTERS = 200  #: longest arguments that name a key
_KEY = re.compile(
    "[\u2190-\u2193\u232b\u2326]|\\b(?:backspace|delete|del|arrow[ _-]?(?:left|right|up|down)|(?:left|right|up|down)[ _-]?arrow|tab)\\b",
    re.IGNORECASE,
)
_is_screen_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:(?:double_?|right_?|left_?)?click|scroll|press|keys?|mouse|tap|swipe)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)


def may_advance(call: Call) -> bool:
    """Return whether a call may have a new result each time for equal arguments, such as a scroll or a click."""
    value = call.arguments.value
    kind = value.get("action") if type(value) is dict else None
    moves = kind if type(kind) is str else ""
    return not value or _MOVE.search(f"{_name_of(call)} {moves}") is not None


def _acts_on_screen(call: Call) -> bool:
    """Return whether a call clicks, scrolls or presses a key on a screen."""
    if _is_screen_tool(call.tool):
        return True
    value = call.arguments.value
    kind = value.get("action") if type(value) is dict else None
    return type(kind) is str and _is_screen_tool(kind)


def presses_key_again(call: Call) -> bool:
    """Return whether a call presses a key that is pressed several times in a row: one that erases, or moves a cursor."""
    texts = call.arguments.texts
    return (
        len(texts) <= _KEY_CHARACTERS and _KEY.search(texts) is not None and _acts_on_screen(call)
    )


def scrolls(call: Call) -> bool:
    """Return whether a call moves what a screen shows of a page or a list."""
    arguments = call.arguments.key
    return len(arguments) <= ARGUMENTS_CHARACTERS and _mentions_scrolling(
        f"{_name_of(call)} {arguments.decode(errors='replace')}"
    )


def polls(call: Call) -> bool:
    """Return whether a call asks for the new output of a program that runs, or for the state of what goes on elsewhere."""
    command = call.command
    if command and _STATUS_COMMAND.match(command):
        return True
    arguments = call.arguments.key
    return len(arguments) <= ARGUMENTS_CHARACTERS and _mentions_poll(
        f"{_name_of(call)} {arguments.decode(errors='replace')}"
    )


def walks(call: Call) -> bool:
    """Return whether a call steps or turns in some direction."""
    arguments = call.arguments.key
    if len(arguments) > ARGUMENTS_CHARACTERS or is_command(call):
        return False
    return _mentions_walk(f"{_name_of(call)} {arguments.decode(errors='replace')}")


def leads_somewhere(call: Call) -> bool:
    """Return whether a call steps or turns in a direction, and not to a place that it names."""
    arguments = call.arguments.key[:ARGUMENTS_CHARACTERS]
    return _mentions_direction(f"{_name_of(call)} {arguments.decode(errors='replace')}")


def handles_things(call: Call) -> bool:
    """Return whether a call does something to a thing, such as to pick it up."""
    arguments = call.arguments.key[:ARGUMENTS_CHARACTERS]
    return _mentions_handling(f"{_name_of(call)} {arguments.decode(errors='replace')}")


def observes(call: Call) -> bool:
    """Return whether a call shows where the agent is, what it has, or what it is to do."""
    return is_read_only(call) or _is_observing_tool(_name_of(call))


def explores(call: Call) -> bool:
    """Return whether a call goes to look at what is around, without saying where."""
    return _is_exploring_tool(_name_of(call))


def _name_of(call: Call) -> str:
    return call.tool[:NAME_CHARACTERS]
