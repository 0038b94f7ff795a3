"""What the words that tell steps apart stand for."""

from __future__ import annotations

import re
from typing import NamedTuple

from weighbridge_producer.input.trace_drafts.fact_names import FAILED, without_accents

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")

LLM, TOOL, RESULT, USER, SYSTEM = "llm", "tool", "result", "user", "system"
REQUEST = "request"  #: what is given to a model, whose answer has a step of its own


class Meaning(NamedTuple):
    """The type of step that a word stands for."""

    type: str
    is_request: bool = False  #: True if it is the beginning of what another step may end


_EXACT = {
    **dict.fromkeys(["assistant", "ai", "llm", "model", "gpt", "bot", "generation", "completion"], LLM),
    **dict.fromkeys(["chat completion", "assistant message", "agent message", "agent response", "ai message", "assistant response", "agent step", "agent turn", "agent reply", "agent thought"], LLM),
    **dict.fromkeys(["tool", "function", "action", "command execution", "mcp tool", "mcp", "toolcall", "functioncall"], TOOL),
    **dict.fromkeys(["observation", "result", "obs", "toolresult"], RESULT),
    **dict.fromkeys(["user", "human", "user message", "human message", "user input", "user prompt", "user query"], USER),
    **dict.fromkeys(["system", "developer", "system message", "system prompt"], SYSTEM),
}  # fmt: skip
#: Words for who speaks that stand for something else elsewhere, or are of other languages.
_SPEAKERS = {
    **dict.fromkeys(["agent", "chatbot", "asistente", "assistent", "assistente", "agente", "ассистент", "助手", "アシスタント"], LLM),
    **dict.fromkeys(["usuario", "benutzer", "nutzer", "utilisateur", "utente", "customer", "person", "пользователь", "用户", "ユーザー"], USER),
    **dict.fromkeys(["herramienta", "ferramenta", "werkzeug", "outil", "strumento", "инструмент", "工具", "ツール"], TOOL),
    **dict.fromkeys(["environment", "env"], RESULT),
}  # fmt: skip
_OF_TOOLS = frozenset({"tool", "tools", "function", "mcp"})
_OF_MODELS = frozenset({"llm", "model", "assistant", "ai"})
_CALLED = frozenset(
    ["call", "called", "calls", "use", "used", "invoke", "invoked", "invocation", "start", "started", "request", "execution", "execute", "executed", "action", "run"]
)  # fmt: skip
_ENDED = frozenset(
    ["result", "results", "response", "output", "return", "returned", "end", "ended", "completed", "observation", "finished", "post", "after", "done", "succeeded"]
)  # fmt: skip
_ASKED = frozenset(["request", "start", "started", "input", "prompt", "call", "called"])
_ANSWERED = frozenset(
    ["response", "completion", "output", "result", "end", "ended", "completed", "generation", "answer", "message", "reply", "decision", "step", "turn", "thought", "inference", "generate", "generated"]
)  # fmt: skip
_MOST_WORDS = 3
_PARTS = frozenset(
    ["chunk", "delta", "partial", "stream", "token", "batch"]
)  #: of an answer that is told whole, too, or several


def meaning_of(text: str, *, is_speaker: bool = False) -> Meaning | None:
    """Return what a word stands for; None if it is none of the usual ones. `is_speaker`: whether it says who speaks."""
    head = text.split("::", maxsplit=1)[0]  # before a name, as in TOOL_CALL::search
    words = [word.lower() for word in _WORDS.findall(without_accents(head[:200]))]
    if words[-1:] == ["event"]:
        words.pop()
    if not words or len(words) > _MOST_WORDS or _PARTS & set(words):
        return None
    if found := _EXACT.get(" ".join(words)):
        return Meaning(found)
    if is_speaker and (spoken := _SPEAKERS.get(" ".join(words))):
        return Meaning(spoken)
    rest = set(words)
    if rest & _OF_TOOLS and len(words) > 1:
        if rest & (_ENDED | FAILED):
            return Meaning(RESULT)
        if rest & _CALLED:
            return Meaning(TOOL)
    if rest & _OF_MODELS and len(words) > 1:
        if rest & _ANSWERED and not rest & FAILED:
            return Meaning(LLM)
        if rest & _ASKED:
            return Meaning(LLM, is_request=True)
    return None
