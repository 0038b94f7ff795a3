"""A small trace in each format of agents' logs, written for the tests: a module for each family of formats."""

from __future__ import annotations

from typing import Any

from support.trace_examples import (
    agent_frameworks,
    benchmarks,
    chat_apps,
    command_line_agents,
    copilot,
    editor_agents,
    evaluation_tools,
    exchange_formats,
    flow_builders,
    model_apis,
    multi_agent_frameworks,
    observability,
    personal_agents,
    swe_agents,
    vendor_sdks,
    voice_agents,
)
from weighbridge.traces import FORMATS

#: Examples by format id.
EXAMPLES: dict[str, Any] = {
    **exchange_formats.EXAMPLES,
    **model_apis.EXAMPLES,
    **observability.EXAMPLES,
    **evaluation_tools.EXAMPLES,
    **benchmarks.EXAMPLES,
    **swe_agents.EXAMPLES,
    **command_line_agents.EXAMPLES,
    **editor_agents.EXAMPLES,
    **copilot.EXAMPLES,
    **agent_frameworks.EXAMPLES,
    **multi_agent_frameworks.EXAMPLES,
    **vendor_sdks.EXAMPLES,
    **chat_apps.EXAMPLES,
    **flow_builders.EXAMPLES,
    **voice_agents.EXAMPLES,
    **personal_agents.EXAMPLES,
}


def claiming(value: Any) -> list[str]:
    """Return the ids of all importers that recognise a value, independent of their order."""
    matching = [importer for importer in FORMATS if importer.matches(value)]
    particular = [importer.id for importer in matching if not importer.is_general]
    return particular or [importer.id for importer in matching]
