"""A session of Claude Code with a sub-agent, as the lines of its files."""

from __future__ import annotations

import json

import orjson

from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source

SESSION = "0b1c"


def line(kind, *blocks, message=None, **facts):
    held = {"role": kind, "content": list(blocks)} | (message or {})
    return {"type": kind, "sessionId": SESSION, "isSidechain": False, "message": held} | facts


def answer(name, *blocks, **facts):
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {"id": name, "model": "m", "stop_reason": "end_turn", "usage": usage}
    return line("assistant", *blocks, message=message, **facts)


def call(name, tool, **arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name, **facts):
    return line("user", {"type": "tool_result", "tool_use_id": name, "content": "ok"}, **facts)


def text(said):
    return {"type": "text", "text": said}


STATED = {
    "agentId": "a1",
    "totalToolUseCount": 2,
    "totalTokens": 110,
    "usage": {"input_tokens": 100, "output_tokens": 10},
    "content": [text("Found.")],
}
MAIN = [
    line("user", text("Go.")),
    answer("A", call("t1", "Task", prompt="Look.")),
    result("t1", toolUseResult=STATED),
    answer("B", text("Done.")),
]


def lines_of(agent, **facts):
    about = {"isSidechain": True, "agentId": agent} | facts
    return [
        line("user", message={"content": "Look."}, **about),
        answer(f"{agent}-1", call(f"{agent}-c1", "Read"), call(f"{agent}-c2", "Read"), **about),
        result(f"{agent}-c1", **about),
        result(f"{agent}-c2", **about),
        answer(f"{agent}-2", text("Found."), **about),
    ]


def write(path, lines, end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)) + end)


def traces_in(path):
    lines = list(Source(path, Settings()))
    assert [line.fault for line in lines] == [None] * len(lines)
    return [read_trace(orjson.loads(line.raw)["inputs"]["trace"]) for line in lines]
