"""The agents that speak in a trace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces import Step

_NAMED = frozenset(("llm", "agent"))  #: types of steps whose name is an agent's
#: The end of a name that numbers the steps of one agent, and not agents.
_NUMBERED_STEP = re.compile(
    r"(?:^|[\W_])(?:step|turn|iteration|round|cycle|loop|attempt|try|retry)[\s_#:-]{0,3}\d{1,9}\W{0,3}\Z",
    re.IGNORECASE,
)


def speakers_of(steps: Sequence[Step]) -> dict[str, str]:
    """Return the names of agents by the ids of their answers and spans; an answer without a name has that of the span around it.

    Names of numbered steps, such as `Step 3`, are no agents' names.
    """
    named = {
        step.id: name
        for step in steps
        if step.type in _NAMED
        and step.name is not None
        and (name := without_step_number(step.name))
    }
    for step in steps:
        if step.type == "llm" and step.id not in named and step.parent_id in named:
            named[step.id] = named[step.parent_id]
    return named


def without_step_number(name: str) -> str:
    """Return an agent's name without the number of its step; empty for `Step 3`."""
    return _NUMBERED_STEP.sub("", name)
