"""Results of other tools whose rows come after a lot else, as the tools write them."""

from __future__ import annotations

from typing import Any

import orjson

_PROMPT = {"raw": "Answer {{country}} " * 120, "label": "p", "id": "i", "provider": "openai:m"}


def inspect_log(samples: int = 3, template_characters: int = 2_000) -> dict[str, Any]:
    """Return a log of Inspect with a list among the model's arguments, and a template of a prompt."""
    sample = {
        "epoch": 1,
        "input": "Which capital?",
        "target": "Paris",
        "messages": [{"role": "assistant", "content": "Paris"}],
        "output": {"model": "m", "completion": "Paris", "choices": [], "usage": {"tokens": 1}},
    }
    params = {"template": "x" * template_characters}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m", "model_args": {"stop": ["a"], "data": [{"n": 1}]}},
        "plan": {"steps": [{"solver": "prompt_template", "params": params}]},
        "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 1}}}]},
        "samples": [{"id": f"s{number}"} | sample for number in range(samples)],
        "reductions": [{"scorer": "match", "samples": [{"value": 1, "sample_id": "s1"}] * 2_000}],
    }


def promptfoo_results(prompts: int, rows: int = 3) -> dict[str, Any]:
    """Return results of promptfoo after their prompts, and after the tests of their configuration."""
    row = {
        "promptIdx": 0,
        "vars": {"country": "France"},
        "provider": {"id": "openai:m", "label": ""},
        "response": {"output": "Paris"},
        "testCase": {"assert": [{"type": "equals", "value": "Paris"}]},
    }
    tests = [{"vars": {"country": "F" * 2_000}, "assert": []}] * prompts
    found = [{"testIdx": number} | row for number in range(rows)]
    return {
        "evalId": "e",
        "config": {"tests": tests},
        "prompts": [_PROMPT] * prompts,
        "results": {"version": 3, "prompts": [_PROMPT] * prompts, "results": found},
    }


#: By the pointer to their rows and their size.
LONG = {
    ("/samples", "some"): inspect_log(),
    ("/samples", "much"): inspect_log(template_characters=600_000),
    ("/results/results", "some"): promptfoo_results(8),
    ("/results/results", "much"): promptfoo_results(300),
}
LAYOUTS = {"compact": 0, "indented": orjson.OPT_INDENT_2}
