"""What a message in the user's role is, by its words: a courtesy, a prompt to continue, a refusal, or an event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.channel_metadata import without_metadata
from weighbridge.graders.loop.history.result_kinds import reports_failure
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.text import encodable

if TYPE_CHECKING:
    from weighbridge.traces import Step

COMPARED_CHARACTERS = 600  #: length of the beginning of a message that is compared
_COURTESY_CHARACTERS = 40  #: a message of at least this length is more than a courtesy
_COURTESY = re.compile(
    r"\b(?:thanks?|thx|bye|goodbye|welcome|cheers|great day|you too|take care|ok|okay|yes|no|sure|right|fine|good|continue|go on"
    r"|go ahead|keep going|proceed|next|again|more|please)\b",
    re.IGNORECASE,
)
_WORD_ASKED = re.compile(r"\W{0,5}\w{1,20}\W{0,3}\?\W{0,5}")
#: One of several things, whatever is in it: `Review 3: ok`.
_NUMBERED = re.compile(r"\s{0,9}[^\W\d]\w{0,20}[ #]{1,3}\d{1,6}\s?[:.)]\s")
_DIGITS = b"0123456789"
#: An event of a task in the background, of which each is news, however alike they are.
_NOTIFICATION = re.compile(r"\s{0,9}<[\w-]{0,40}(?:notification|event)\b", re.IGNORECASE)
#: The framework found no action in the agent's text, found several, or could not parse it.
_mentions_missing_action = occurs(
    r"""\bexactly one (?:action|command|tool call|function call|code block)\b|\btriple backticks\b|\bformat your (?:action|response|answer|output)\b
|\b(?:without|no|not (?:find|contain|include|make|use|call)|missing|lacks?) (?:any |a |an |valid )?(?:tool|function)(?: calls?)?\b
|\bno (?:valid )?(?:action|command|code ?block|code) (?:was |were |is )?(?:found|provided|given|detected|from|in)\b
|\b(?:not|couldn't|can't|don't|didn't|cannot|failed to|unable to) (?:parse|extract|detect|understand) (?:your |the |an? |any )?(?:action|response|command|tool|function|input|output|json|code|message)
|\b(?:invalid|wrong|malformed|incorrect) (?:action|format|(?:tool|function|api) calls?|json|response)\b|\b(?:parsing|parse|format) error\b
|\b(?:actions?|commands?|calls?|formats?|json|responses?|outputs?) (?:does not|do not|doesn't|don't|did not|is|are|was|were|seems?|looks?)(?: to be)? (?:not (?:be )?valid|invalid|malformed|follow|match the format)
|\b(?:response|answer|reply|message|output) (?:is|was|seems|appears)(?: to be)? (?:empty|blank)\b|\b(?:empty|blank) (?:response|answer|reply|message)\b
|\A\s*(?:tool|function) (?:results|outputs|responses)\s?:\s*\z"""
)
#: The framework asks the agent to continue, or states how many turns remain.
_asks_to_continue = occurs(
    r"""<system-reminder>|\b(?:please )?(?:continue|proceed|keep (?:working|going))\b|\byou have (?:used )?\d{1,6}\b.{0,60}\b(?:left|remain|used|turns?|steps?|iterations?)
|\b\d{1,6} (?:turns?|steps?|iterations?|attempts?) (?:left|remain)|\bif (?:you (?:think|believe|have)|the task is)\b.{0,60}\b(?:complete|solved|done|finished)"""
)
#: The framework or the user says that the task is not complete.
_mentions_incomplete = occurs(
    r"""\b(?:not|isn't|n't|never) (?:yet |been )?(?:complete|done|finished|solved|accepted|passed|satisfied|correct|precise|accurate|specific|sufficient|acceptable|good enough)|\b(?:rejected|refused|declined|incomplete|unfinished)\b
|\bpatch is empty\b|\b(?:not|n't) be (?:applied|accepted|processed|executed|completed|verified)\b|\bstill (?:fail|report|missing|incorrect|wrong|broken)|\b(?:is|are) (?:still )?missing\b"""
)


def user_text(step: Step) -> str:
    """Return the text of a user's step without what a gateway writes around it, or "" if it has none."""
    return without_metadata(whole_text(step))


def whole_text(step: Step) -> str:
    """Return the text of a user's step, or "" if it has none."""
    content = step.output if step.output is not None else step.input
    return encodable(content) if type(content) is str else ""


def is_request(step: Step) -> bool:
    """Return whether a user's message is more than a courtesy or a short reply, such as thanks or yes."""
    text = user_text(step)
    is_long = len(text) >= _COURTESY_CHARACTERS
    return is_long or not _COURTESY.search(text) or _NUMBERED.match(text) is not None


def reports_missing_action(text: str) -> bool:
    """Return whether a message of the framework says that the agent's text does not contain exactly one action, or lists no results of tools."""
    return _mentions_missing_action(text[:COMPARED_CHARACTERS])


def asks_to_continue(text: str) -> bool:
    """Return whether a message only asks the agent to continue, or says how many turns remain."""
    return _asks_to_continue(text[:COMPARED_CHARACTERS])


def is_courtesy(text: str) -> bool:
    """Return whether a message is short, and has a word of thanks, assent or the like."""
    return len(text) < _COURTESY_CHARACTERS and _COURTESY.search(text) is not None


def only_prompts(text: str) -> bool:
    """Return whether a message is a courtesy, a question of one word such as `ready?`, or asks the agent to continue."""
    if is_notification(text):
        return False
    return is_courtesy(text) or _WORD_ASKED.fullmatch(text) is not None or asks_to_continue(text)


def is_notification(text: str) -> bool:
    """Return whether a message is an event of a task in the background."""
    return _NOTIFICATION.match(text) is not None


def is_refusal(text: str) -> bool:
    """Return whether a message refuses the agent's answer or action."""
    beginning = text[:COMPARED_CHARACTERS]
    return reports_missing_action(text) or _mentions_incomplete(beginning) or reports_failure(text)


def normalized_beginning(text: str) -> str:
    """Return the beginning of a message, normalized so that it is equal for repeats of one prompt."""
    beginning = text[:COMPARED_CHARACTERS].casefold().encode("utf-8", "surrogatepass")
    undated = beginning.translate(None, _DIGITS)  # ten times as fast with bytes
    return " ".join(undated.decode("utf-8", "surrogatepass").split())
