"""The history that is searched for loops: the calls and the messages of an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from weighbridge.graders.loop.history.arguments import Arguments
from weighbridge.graders.loop.history.commands import command_of
from weighbridge.graders.loop.history.listed_items import ListedItems
from weighbridge.graders.loop.history.ordered_times import Order
from weighbridge.graders.loop.history.results import CallResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.traces import Step

EDIT_TOOL = "edit"  #: the name of the tool of an edit that is written as a block in a text


# A trace has thousands of calls. A Struct that cannot be part of a reference cycle is not tracked by the garbage collector,
# which otherwise takes half of the time.
class Call(Struct, eq=False, gc=False):
    """One call, or one action written as text, with its result."""

    step: Step
    tool: str
    arguments: Arguments
    result: CallResult
    message: str | None  #: the id of the assistant message that contains it, if known
    speaker: str | None = None  #: the name of the agent that made it, if the trace names its agents
    began: int = -1  #: number of calls before the span of that agent, if it has one
    arguments_id: int = 0  #: equal for calls with equal arguments
    action_id: int = 0  #: equal for similar calls
    pair_id: int = 0  #: equal for similar calls with equal results
    shown: str = ""  #: what a harness writes after it, such as the page that is now open
    command: str | None = None  #: the command line that it runs, if it runs one
    #: what every search asks for many times, once it is known: whether it only reads, and whether it waits
    reads: bool | None = None
    waits: bool | None = None

    def __post_init__(self) -> None:
        """Set the command line, which every search asks for many times."""
        self.command = command_of(self.tool, self.arguments.value)


class Message(Struct, eq=False, gc=False):
    """One answer of the model, with a text, calls or both."""

    step: Step
    text: str
    calls: list[Call] = []  # a Struct copies the default for each instance
    is_action: bool = False  #: whether the text is an action, which is its only call
    requests_before: int = 0  #: number of new requests by the user before it
    calls_before: int = 0  #: number of calls before it
    number: int = -1  #: of its step in the trace; negative for one that is not recorded
    reply: str = ""  #: the message of the user or of the agent framework directly after it
    #: whether the reply is what a program printed, rather than a message in the user's role
    is_reported: bool = False
    asked: str = ""  #: the message in the user's role directly before it


@dataclass(slots=True)
class History:
    """Calls and messages of one trace, each list in trace order."""

    #: the calls; None where the user makes a new request
    calls: list[Call | None] = field(default_factory=list)
    turns: list[Message] = field(default_factory=list)
    #: what the user orders to be done several times, by the index of the request in the calls
    ordered: dict[int, Order] = field(default_factory=dict)
    #: what the user may list, by the same
    listed: dict[int, ListedItems] = field(default_factory=dict)

    def characters(self) -> int:
        """Return the length of all results and texts together."""
        results = sum(len(call.result.text or "") for call in self.made_calls())
        return results + sum(len(turn.text) for turn in self.turns)

    def made_calls(self) -> Iterator[Call]:
        """Yield the calls, without the entries for new requests."""
        return (call for call in self.calls if call is not None)


def calls_at(calls: Sequence[Call | None], indices: Iterable[int]) -> list[Call]:
    """Return the calls at some indices, without the entries for new requests."""
    return [call for index in indices if (call := calls[index]) is not None]
