"""Events whose kinds are guessed from words with a hint at what a model or a tool does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from weighbridge.traces.mapped_types import NOTHING
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.event_shapes import set_words
from weighbridge_producer.input.trace_drafts.evidence import tool_name
from weighbridge_producer.input.trace_drafts.key_roles import words_of
from weighbridge_producer.input.trace_drafts.kind_words import LLM, TOOL, meaning_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_word,
)
from weighbridge_producer.input.trace_drafts.shape import OTHER, Shape, Typed

HALF = 0.5  #: share of the steps that have what is guessed from
_EVENT = 0.02  #: what a step counts
_FEW = 3
_MANY = 0.25  #: share of the steps whose one word hints at a call
#: At most four words.
_KIND = re.compile(r"[^\W_][\w.:/-]{0,60}(?: [\w.:/-]{1,30}){0,3}")
_MOST_WORDS = 30
_HINTS_OF_CALLS = (
    *("act", "exec", "invok", "call", "tool", "command", "fetch", "search", "accion", "acao", "aktion", "herramient"),
    *("ferrament", "werkzeug", "outil", "действ", "инструмент", "执行", "工具", "调用"),
)  # fmt: skip
_HINTS_OF_ANSWERS = (
    *("think", "thought", "plan", "reason", "reflect", "generat", "respond", "respons", "answer", "reply", "llm"),
    *("model", "decid", "decision", "pensa", "razon", "respuesta", "resposta", "antwort", "denk", "мысл", "ответ"),
    *("план", "思考", "回答", "计划"),
)  # fmt: skip


def guessed_events(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return events, by words with a hint at what a model or a tool does, under any name."""
    best: At | None = None
    most = (0, 0)
    for at in seen.all():
        if len(at.keys) > 2 or not _may_be_kinds(seen, at):
            continue
        hinted = [(hint, word) for word in at.values if (hint := _hinted(word))]
        rank = (len({hint for hint, _ in hinted}), len(hinted))
        is_kind = at.keys[-1] in names.KIND or len(set(hinted)) > 1
        if (is_kind or len(hinted) >= _MANY * len(at.values)) and rank > most:
            best, most = at, rank
    if best is None:
        return None
    shape = Shape(entries, kinds=(best.pointer,), score=_EVENT * most[1])
    counts = Counter(best.values)
    set_words(shape, counts)
    for word, typed in shape.types.items():
        hint = _hinted(word)
        if hint and typed.type == OTHER:
            what = "an answer of a model" if hint == LLM else "a call of a tool"
            shape.types[word] = Typed(hint, f"guessed: taken for {what} because of the word, {counts[word]:,} of these")  # fmt: skip
    without = len(entries) - len(best.values)
    if without:
        shape.types[NOTHING] = Typed(OTHER, f"{without:,} steps have none of these")
    held = dict(zip(best.entries, best.values, strict=True))
    shape.type_of = [
        shape.type_of_word(held.get(number, NOTHING)) for number in range(len(entries))
    ]
    called = shape.of_type(TOOL)
    if called and tool_name(Observed(called)) is None:
        shape.tool = best.pointer
    return shape


def _may_be_kinds(seen: Observed, at: At) -> bool:
    distinct = len(set(map(str, at.values)))
    return (
        len(at.values) >= HALF * seen.count
        and all(map(is_word, at.values))
        and all(map(_KIND.fullmatch, at.values))
        and 1 < distinct <= _MOST_WORDS
        and (at.keys[-1] in names.KIND or distinct <= max(_FEW, HALF * len(at.values)))
        and (at.keys[-1] in names.KIND or distinct < len(at.values))
        and not names.NO_KINDS & set(words_of(at.pointer.rpartition("/")[2]))
        and at.keys[-1] not in (*names.RUN_ID, *names.MODEL)
        and "agent" not in words_of(at.pointer)
    )


def _hinted(word: str) -> str | None:
    """Return the type of step that a word hints at; None if it hints at none, or at an event around calls."""
    known = meaning_of(word)
    if known is not None:
        return known.type if known.type in {LLM, TOOL} else None
    words = words_of(word)
    if len(words) > 4 or names.AROUND & set(words):
        return None
    if "agent" in words:
        return LLM
    for hint, stems in ((TOOL, _HINTS_OF_CALLS), (LLM, _HINTS_OF_ANSWERS)):
        if any(each.startswith(stem) for each in words for stem in stems):
            return hint
    return None
