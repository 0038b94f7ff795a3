"""Rules for tools: the lists of names, and the definition that applies if there are several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from weighbridge.graders.tool_schema.globs import Glob, GlobCosts
from weighbridge.graders.tool_schema.problems import Problem
from weighbridge.graders.tool_schema.schema import Schema, UnusableSchema, compile_schema
from weighbridge.text import encodable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.graders.tool_schema.validation_cost import Allowance
    from weighbridge.traces import ToolDefinition

_NAME_CHARACTERS = 80
_PREFIXED_CHARACTERS = 256  #: of a name in which that of a tool is looked for
_separator = re.compile(r"__|[./:]")  #: of the names of servers and their tools
_TOO_MANY = Problem("", "", "the schemas of the trace are too large, taken together")
_TOO_MANY_GLOBS = "to compare the name with so many globs could take too long"
CONFIGURED_SCHEMAS = "the configured schemas"
CONFIGURED_TOOLS = "the configured tools"
TRACE_TOOLS = "the trace's tools"

Check = Literal[
    "tool_name_is_judged",
    "tool_not_blocked",
    "tool_allowed",
    "tool_known",
    "tool_has_schema",
    "schema_is_valid",
    "arguments_are_object",
    "arguments_match_schema",
    "arguments_are_judged",
]
#: Checks whose violation fails a call; the other three make it ungradable.
VIOLATIONS: tuple[Check, ...] = (
    "tool_not_blocked",
    "tool_allowed",
    "tool_known",
    "tool_has_schema",
    "arguments_are_object",
    "arguments_match_schema",
)


class TooManyGlobsError(Exception):
    """Comparing a name with all globs would exceed the allowance."""


class Names:
    """Names of tools, and shell-style globs; case matters."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = tuple(entries)
        self._names = frozenset(self.entries)
        self._globs = [
            Glob(entry) for entry in self.entries if not {"*", "?", "["}.isdisjoint(entry)
        ]
        self._costs = GlobCosts(self._globs)

    @property
    def pattern_characters(self) -> int:
        """Total length of the globs that need a regular expression."""
        return sum(len(glob.entry) for glob in self._globs if not glob.is_plain)

    def entry_for(self, name: str, allowance: Allowance) -> str | None:
        """Return the entry that matches a name, preferring the name itself to globs; raises TooManyGlobsError."""
        if name in self._names:
            return name
        if not allowance.take(self._costs.comparisons(len(name))):
            raise TooManyGlobsError
        return next((glob.entry for glob in self._globs if glob.matches(name)), None)


class Definition(NamedTuple):
    """A source's definition of one tool."""

    source: str
    schema: Schema | UnusableSchema | None  #: None if it has no schema of the arguments


@dataclass(frozen=True, slots=True)
class Policy:
    """The configured rules of a grader."""

    allowlist: Names | None
    blocklist: Names
    schemas: dict[str, Definition]
    tools: dict[str, Definition] | None  #: None if not configured
    require_schema: bool
    tools_prefix: str = ""  #: may stand before the names of `tools` in calls

    def tool(self, name: str) -> Definition | None:
        """Return the definition that the configured tools have of a tool, by its name with or without the prefix."""
        tools = self.tools or {}
        return tools.get(name) or tools.get(name.removeprefix(self.tools_prefix))

    def prefix_of(self, name: str) -> str:
        """Return what stands before the name of a configured tool in another name, as in `mcp__travel__search`; empty if none does."""
        if not self.tools or len(name) > _PREFIXED_CHARACTERS:
            return ""
        ends = (found.end() for found in _separator.finditer(name))
        return next((name[:end] for end in ends if name[end:] in self.tools), "")


class Refusal(NamedTuple):
    """The reason why no call of a tool can pass."""

    check: Check
    reason: str
    limit: tuple[str, ...]  #: the names or the source with which it was compared
    is_gradable: bool = True
    may_be_misspelt: bool = False  #: True if it may be a misspelt one of the names
    problem: Problem | None = None  #: the problem of a schema


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule for all calls of one tool."""

    tool: str  #: its name, for display in evidence
    check: Check  #: the last that a call has to pass
    listed: tuple[str, ...] = ()  #: descriptions of the lists' entries for it
    refusal: Refusal | None = None
    schema: Schema | None = None
    source: str = ""  #: of the schema

    @property
    def judged_by(self) -> list[str]:
        """The lists and the schema that apply to a call."""
        return [*self.listed, *([f"the schema in {self.source}"] if self.schema else [])]


class Rules:
    """The rules for the tools of one trace."""

    def __init__(
        self,
        policy: Policy,
        trace_tools: Iterable[ToolDefinition],
        allowance: Allowance,
        *,
        lacks_definitions: bool = False,
    ) -> None:
        self._policy = policy
        #: The last tool with a name counts.
        self.trace_tools = {tool.name: tool for tool in trace_tools}
        self._allowance = allowance
        self._lacks_definitions = lacks_definitions

    def of(self, name: str) -> Rule:
        """Return the rule for a tool."""
        policy = self._policy
        tool = shown(name)
        if not name and (policy.blocklist.entries or policy.allowlist is not None):
            return _refused(tool, Refusal("tool_known", "the call names no tool", ()))
        try:
            blocked = policy.blocklist.entry_for(name, self._allowance)
            allowed = self._allowed_by(name)
        except TooManyGlobsError:
            refusal = Refusal("tool_name_is_judged", _TOO_MANY_GLOBS, (), is_gradable=False)
            return _refused(tool, refusal)
        if blocked is not None:
            reason = f"in the blocklist{_by(blocked, name)}"
            return _refused(tool, Refusal("tool_not_blocked", reason, (blocked,)))
        listed = ["not in the blocklist"] if policy.blocklist.entries else []
        if policy.allowlist is not None:
            if allowed is None:
                entries = policy.allowlist.entries
                reason = "not in the allowlist"
                refusal = Refusal("tool_allowed", reason, entries, may_be_misspelt=True)
                return _refused(tool, refusal)
            listed.append(f"in the allowlist{_by(allowed, name)}")
        definition = self._definition(name)
        if definition is None and self._knows_all_tools():
            return _refused(tool, self._unknown(name))
        if definition is None or definition.schema is None:
            return self._without_schema(tool, definition, listed)
        source, schema = definition
        if isinstance(schema, UnusableSchema):
            return _refused(tool, _unusable(source, schema.problem))
        return Rule(tool, "arguments_match_schema", tuple(listed), schema=schema, source=source)

    def _allowed_by(self, name: str) -> str | None:
        allowlist = self._policy.allowlist
        return None if allowlist is None else allowlist.entry_for(name, self._allowance)

    def _without_schema(self, tool: str, definition: Definition | None, listed: list[str]) -> Rule:
        if self._policy.require_schema:
            where = f"{definition.source} give none" if definition else "the tool is not defined"
            reason = f"a schema is required, and {where}"
            gradable = not self._lacks_definitions
            return _refused(tool, Refusal("tool_has_schema", reason, ("require_schema",), gradable))
        if definition:
            listed.append(f"in {definition.source}, which give no schema")
            return Rule(tool, "tool_known", tuple(listed))
        check: Check = "arguments_are_object"
        if listed:
            check = "tool_not_blocked" if self._policy.allowlist is None else "tool_allowed"
        return Rule(tool, check, tuple(listed))

    def _knows_all_tools(self) -> bool:
        return self._policy.tools is not None or bool(self.trace_tools)

    def _definition(self, name: str) -> Definition | None:
        """Return a tool's definition in the first source with a schema, or else in the first that has the tool."""
        found = [
            definition
            for definition in (self._policy.schemas.get(name), self._policy.tool(name))
            if definition
        ]
        usable = next((definition for definition in found if definition.schema is not None), None)
        if usable:
            return usable
        tool = self.trace_tools.get(name)
        if tool is None:
            return found[0] if found else None
        if tool.schema is None:
            return found[0] if found else Definition(TRACE_TOOLS, None)
        return Definition(TRACE_TOOLS, self._compiled(tool.schema))

    def _compiled(self, schema: Any) -> Schema | UnusableSchema:
        if not self._allowance.may_compile:
            return UnusableSchema(_TOO_MANY)
        compiled = compile_schema(schema)
        self._allowance.take_compilation(compiled.cost)
        return compiled

    def _unknown(self, name: str) -> Refusal:
        prefix = self._policy.prefix_of(name)
        if not prefix:
            return self._unknown_tool
        tool = shown(name.removeprefix(prefix))
        hint = f"; if it is {tool!r}, set tools_prefix: {shown(prefix)}"
        refusal = self._unknown_tool
        return refusal._replace(reason=refusal.reason + hint, may_be_misspelt=False)

    @cached_property
    def _unknown_tool(self) -> Refusal:
        policy = self._policy
        known = dict.fromkeys([*policy.schemas, *(policy.tools or ()), *self.trace_tools])
        sources = [CONFIGURED_TOOLS] if policy.tools is not None else []
        sources += [TRACE_TOOLS] if self.trace_tools else []
        reason = f"no such tool is in {' or '.join(sources)}"
        return Refusal("tool_known", reason, tuple(known), may_be_misspelt=True)


def shown(name: str) -> str:
    """Return a name for display in evidence."""
    return encodable(shorten(name, _NAME_CHARACTERS))


def _refused(tool: str, refusal: Refusal) -> Rule:
    return Rule(tool, refusal.check, refusal=refusal)


def _unusable(source: str, problem: Problem) -> Refusal:
    reason = f"the schema in {source} cannot be used: {problem}"
    return Refusal("schema_is_valid", reason, (source,), is_gradable=False, problem=problem)


def _by(entry: str, name: str) -> str:
    return "" if entry == name else f" by {shown(entry)!r}"
