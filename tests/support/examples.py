"""The examples in the repository, and their graders."""

from __future__ import annotations

from pathlib import Path

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MIXED = _EXAMPLES / "mixed.jsonl"
SHOP_AGENT = _EXAMPLES / "traces" / "shop_agent.jsonl"
#: As in `examples/trace_graders.yaml`.
TRACE_GRADERS = (
    {
        "grader": "budget",
        "config": {"max_tokens": 30000, "max_tool_calls": 12, "missing_usage": "ignore"},
    },
    {"grader": "loop"},
    {"grader": "tool-schema", "config": {"blocklist": ["delete_*"]}},
)
