"""Failures that results of Codex and Claude Code state in their texts, in chats, trajectories and spans of their sessions.

Their own sessions have a field for most failures; another form keeps the text alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import structs

from weighbridge.traces.formats.codex_results import (
    MAY_STATE_EXIT_CODE,
    ended_command,
    own_tool_named,
    states_exit_code,
)
from weighbridge.traces.formats.codex_results import (
    has_failed as failed_in_codex,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.traces.model import Step

TOOL_USE_ERROR = "<tool_use_error>"  #: start of Claude Code's result of a call that was not run
#: Starts of further results of Claude Code for a call that was not run, which no tool writes.
_NOT_RUN = (
    TOOL_USE_ERROR,
    "The user doesn't want to proceed with this tool use. The tool use was rejected",
)
_CLAUDE_SHELLS = frozenset({"Bash", "PowerShell"})
#: Start of Claude Code's result of a command that failed. It states no exit code of 0.
_claude_exit_code = re.compile(r"Exit code -?[1-9]\d{0,9}(?:\n|\Z)").match
#: Matches the start of each result that counts as one of Claude Code for a failure, or shows that an agent is Codex.
_is_of_agents = re.compile("|".join((*_NOT_RUN, "Exit code -?[1-9]", MAY_STATE_EXIT_CODE))).match


def with_failures_of_coding_agents(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps, each with its result as its error if that is Codex's or Claude Code's text for a failure.

    Codex's sentences for calls that it refused count only beside a command's result in Codex's form: others may write such words.
    """
    steps = tuple(steps)
    texts = [
        step.output
        for step in steps
        if step.type == "tool" and type(step.output) is str and _is_of_agents(step.output)
    ]
    if not texts:
        return steps
    is_codex = any(map(states_exit_code, texts))
    return tuple(
        structs.replace(step, error=step.output) if _has_failed(step, is_codex=is_codex) else step
        for step in steps
    )


def _has_failed(step: Step, *, is_codex: bool) -> bool:
    text = step.output
    if step.type != "tool" or step.error is not None or type(text) is not str:
        return False
    return _failed_in_claude_code(step, text) or (is_codex and _failed_in_codex(step, text))


def _failed_in_claude_code(step: Step, text: str) -> bool:
    return text.startswith(_NOT_RUN) or (
        step.name in _CLAUDE_SHELLS and _claude_exit_code(text) is not None
    )


def _failed_in_codex(step: Step, text: str) -> bool:
    ended = ended_command(text)
    if ended:
        return ended.exit_code != 0
    return failed_in_codex(text, own_tool_named(step.name or ""))
