"""Edits of files: those written as blocks in an agent's text, and refusals of edits, without what they quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.result_kinds import refuses_edit
from weighbridge.graders.loop.linear_patterns import linear, occurs

if TYPE_CHECKING:
    from weighbridge.graders.loop.work_budget import WorkBudget

_EDIT_CHARACTERS = 20_000  #: a text longer than this is not searched for an edit
_PATH_CHARACTERS = 200
_QUOTATIONS = 20  #: maximum quotations removed from a refusal
_HEAD_CHARACTERS = 600  #: first characters of an answer that say what happened to an edit
_BLOCK = (
    r"^[<-]{5,9} ?(?:search|original)\b.*?^[>+]{5,9} ?(?:replace|updated)\b"
    r"|^\*\*\* begin patch\b.*?^\*\*\* end patch\b"
)
_FENCE = "```"
_MARKS = ("<<<<<", "-----", "*** ")  #: beginnings of blocks
_EDIT = linear(rf"(?ms){_BLOCK}")
_holds_edit = occurs(r"(?m)^(?:[<-]{5,9} ?(?:search|original)|\*\*\* begin patch)\b")
#: Edits, lines of a file and quotations in a refusal.
_QUOTED = linear(rf"(?ms){_BLOCK}|^ {{0,9}}```.*?^ {{0,9}}```|`[^`]+`")
_mentions_applied_edit = occurs(
    r"\bapplied (?:the |your )?(?:edits?|patch|diff|changes?|\d{1,4} )|\b(?:edits?|patch|diff|changes?|blocks?) (?:was |were |has been |have been )?applied\b"
)


def edit_in(text: str) -> dict[str, str] | None:
    """Return the files and the blocks of an edit that is written in a text, or None if there is none."""
    # A substring search takes a fraction of the time of a pattern.
    if len(text) > _EDIT_CHARACTERS or not any(mark in text for mark in _MARKS):
        return None
    if not _holds_edit(text):
        return None
    found = list(_EDIT.finditer(text))
    if not found:
        return None
    paths = [_path_before(text[: block.start()][-_PATH_CHARACTERS:]) for block in found]
    return {"path": "\n".join(paths), "edit": "\n".join([block[0] for block in found])}


def code_in(text: str) -> str:
    """Return the code in the fences of a text; empty if there is none."""
    if len(text) > _EDIT_CHARACTERS or _FENCE not in text:
        return ""
    return "\n".join(text.split(_FENCE)[1::2])


def _path_before(text: str) -> str:
    """Return the path on the last line of a text, apart from a fence, or "" if the line is a sentence."""
    lines = [line.strip(" \t*#`:") for line in text.splitlines() if not line.startswith("```")]
    last = next((line for line in reversed(lines) if line), "")
    return "" if " " in last else last


def answers_edit(text: str) -> bool:
    """Return whether a message says that an edit was applied or refused."""
    return refuses_edit(text) or applies_edit(text)


def applies_edit(text: str) -> bool:
    """Return whether a message says that an edit was applied, whatever failed afterwards, such as its commit."""
    return _mentions_applied_edit(text[:_HEAD_CHARACTERS]) and not refuses_edit(text)


def without_quotations(refusal: str, budget: WorkBudget) -> str:
    """Return a refusal of an edit without the edit and the lines of the file that it quotes."""
    if len(refusal) > _EDIT_CHARACTERS or not budget.is_left:
        return refusal
    bare, marks = _QUOTED.subn("…", refusal, _QUOTATIONS)
    budget.count_masking(refusal, marks)
    return bare
