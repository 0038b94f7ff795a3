"""The `tool-schema` grader: checks that all tool calls are of approved tools with valid arguments."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.errors import ConfigError
from weighbridge.graders.base import (
    Evidence,
    GraderRequirements,
    GraderResult,
    Verdict,
    graded,
)
from weighbridge.graders.config import parse_config
from weighbridge.graders.tool_schema.calls import Calls, judge_calls
from weighbridge.graders.tool_schema.config import ToolSchemaConfig
from weighbridge.graders.tool_schema.evidence import evidence_of
from weighbridge.graders.tool_schema.globs import PATTERN_LIMIT
from weighbridge.graders.tool_schema.rules import (
    CONFIGURED_SCHEMAS,
    CONFIGURED_TOOLS,
    VIOLATIONS,
    Definition,
    Names,
    Policy,
    Rules,
    shown,
)
from weighbridge.graders.tool_schema.schema import UnusableSchema, compile_schema
from weighbridge.graders.tool_schema.validation_cost import Allowance
from weighbridge.graders.trace_grader import TraceGrader, bounded
from weighbridge.traces.fields import tools_of

if TYPE_CHECKING:
    from weighbridge.traces import Capability, Trace

_SHOWN_NAMES = 50
_COUNTS = (
    *("calls", "valid_calls", "invalid_calls", "ungradable_calls"),
    *("schema_judged_calls", "violations", "tools_used", "distinct_tools"),
)


class ToolSchemaGrader(TraceGrader):
    """Passes when every tool call is of an approved tool and has valid arguments."""

    id = "tool-schema"
    name = "Tool Schema"
    description = "Only approved tools with valid arguments"
    version = 10
    Config = ToolSchemaConfig
    settings: ToolSchemaConfig

    def prepare(self) -> None:
        """Compile all schemas in the configuration; raises ConfigError if one is invalid."""
        settings = self.settings
        tools = None if settings.tools is None else tools_of(settings.tools)
        allowance = Allowance.to_configure()
        allowlist = None if settings.allowlist is None else Names(settings.allowlist)
        blocklist = Names(settings.blocklist)
        self._refuse_long_globs(allowlist, blocklist)
        self._policy = Policy(
            allowlist=allowlist,
            blocklist=blocklist,
            schemas=self._definitions(CONFIGURED_SCHEMAS, "schemas", settings.schemas, allowance),
            tools=None
            if tools is None
            else self._definitions(
                CONFIGURED_TOOLS, "tools", {tool.name: tool.schema for tool in tools}, allowance
            ),
            require_schema=settings.require_schema,
            tools_prefix=settings.tools_prefix,
        )

    def _refuse_long_globs(self, *lists: Names | None) -> None:
        characters = sum(names.pattern_characters for names in lists if names)
        if characters > PATTERN_LIMIT:
            raise ConfigError(
                f"grader {self.grader_id!r}: the globs with ? or [ have {characters:,} characters, taken together: "
                f"at most {PATTERN_LIMIT:,} are allowed; write names, or globs with * only"
            )

    def _definitions(
        self, source: str, key: str, schemas: dict[str, Any], allowance: Allowance
    ) -> dict[str, Definition]:
        definitions = {}
        for tool, schema in schemas.items():
            if not allowance.may_compile:
                raise ConfigError(
                    f"grader {self.grader_id!r}: {key}: the schemas are too large, taken together: "
                    "compiling them could take too long"
                )
            compiled = None if schema is None else compile_schema(schema)
            if isinstance(compiled, UnusableSchema):
                raise ConfigError(
                    f"grader {self.grader_id!r}: {key}: the schema of {shown(tool)!r} cannot be used: "
                    f"{compiled.problem}"
                )
            if compiled:
                allowance.take_compilation(compiled.cost)
            definitions[tool] = Definition(source, compiled)
        return definitions

    @classmethod
    def requirements(cls, config: dict[str, Any] | None = None) -> GraderRequirements:
        """Return the requirements: tool calls, and tool definitions if only the trace can provide them.

        Raises ConfigError or ConfigTypeError.
        """
        return GraderRequirements(("tool",), _needs(parse_config(cls.Config, config, cls.id)))

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a run that calls an approved tool with valid arguments."""
        return {
            "config": {"allowlist": ["search", "db_*"], "blocklist": ["db_drop"]},
            "inputs": {"trace": deepcopy(_EXAMPLE)},
        }

    def judge(self, trace: Trace) -> GraderResult:
        """Judge all tool calls; fail takes precedence over ungradable, and that over pass."""
        lacking = self.lacking(trace, *_needs(self.settings))
        if "tool_calls" in trace.missing:
            return graded(Verdict.UNGRADABLE, self.blank_details(), lacking)
        steps = trace.steps_of("tool")
        allowance = Allowance(len(steps))
        tools = trace.tools if self.settings.use_trace_tools else ()
        rules = Rules(self._policy, tools, allowance, lacks_definitions=bool(lacking))
        calls = judge_calls(steps, rules, allowance)
        details = self._details(calls, len(rules.trace_tools))
        if not steps:
            return self._without_calls(details)
        evidence = bounded(evidence_of(calls, lacking, allowance), "checks")
        if calls.invalid:
            return graded(Verdict.FAIL, details, evidence, calls.valid / calls.total)
        verdict = Verdict.UNGRADABLE if lacking or calls.ungradable else Verdict.PASS
        return graded(verdict, details, evidence)

    def _without_calls(self, details: dict[str, object]) -> GraderResult:
        wanted = self.settings.require_tool_calls
        entry: Evidence = {
            "check": "tool_calls_made" if wanted else "vacuous",
            "description": "the trace has no tool calls"
            + (", and at least one is required" if wanted else ": nothing was judged"),
            "passed": not wanted,
            "observed": 0,
            "step_ids": [],
        }
        if wanted:
            entry["limit"] = 1
        return graded(Verdict.FAIL if wanted else Verdict.PASS, details, [entry])

    def blank_details(self) -> dict[str, object]:
        """Return the details of a trace with unknown calls, which are the configured values."""
        return self._details(Calls(), 0) | dict.fromkeys(_COUNTS)

    def _details(self, calls: Calls, trace_tools: int) -> dict[str, object]:
        used: Counter[str] = Counter()
        for tool in islice(calls.tools.values(), _SHOWN_NAMES):
            used[tool.rule.tool] += tool.calls
        policy, settings = self._policy, self.settings
        return {
            "calls": calls.total,
            "valid_calls": calls.valid,
            "invalid_calls": calls.invalid,
            "ungradable_calls": calls.ungradable,
            "schema_judged_calls": calls.judged_by_schema,
            "violations": {check: calls.failed[check] for check in VIOLATIONS},
            "tools_used": dict(used),
            "distinct_tools": len(calls.tools),
            "allowlist": None if policy.allowlist is None else _first(policy.allowlist),
            "blocklist": _first(policy.blocklist),
            "definitions": {
                "schemas": len(policy.schemas),
                "tools": len(policy.tools or ()),
                "trace_tools": trace_tools,
            },
            "tools_prefix": shown(settings.tools_prefix),
            "use_trace_tools": settings.use_trace_tools,
            "require_schema": settings.require_schema,
            "require_tool_calls": settings.require_tool_calls,
        }


def _needs(config: ToolSchemaConfig) -> tuple[Capability, ...]:
    has_definitions = config.schemas or config.tools is not None or not config.use_trace_tools
    if config.require_schema and not has_definitions:
        return ("tool_calls", "tool_definitions")
    return ("tool_calls",)


def _first(names: Names) -> list[str]:
    return [shown(entry) for entry in names.entries[:_SHOWN_NAMES]]


_EXAMPLE: dict[str, Any] = {
    "format": "weighbridge",
    "id": "weather",
    "tools": [
        {
            "name": "search",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        }
    ],
    "steps": [
        {"id": "s1", "type": "user", "output": "Will it rain in Oslo tomorrow?"},
        {"id": "s2", "type": "llm"},
        {
            "id": "s3",
            "parent_id": "s2",
            "type": "tool",
            "name": "search",
            "arguments": {"query": "Oslo weather tomorrow", "limit": 3},
            "output": "rain from 14:00",
        },
        {"id": "s4", "type": "llm", "output": "Yes, from two in the afternoon."},
    ],
}
