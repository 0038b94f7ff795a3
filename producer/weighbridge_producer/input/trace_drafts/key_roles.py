"""The roles that the names of fields hint at by the words in them, in several languages: a guess, unlike a usual name."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from weighbridge_producer.input.trace_drafts.fact_names import ABOUT, without_accents

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.observed import At, Observed, Test

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")


class Role(Enum):
    """What a field may be, by the beginnings of the words that its name has."""

    ERROR = ("error", "err", "erro", "exception", "failure", "fehler", "erreur", "ошибк", "错误")
    RESULT = (
        *("result", "output", "observ", "response", "return", "feedback", "saida", "salida", "sortie"),
        *("ausgabe", "ergebnis", "retorno", "результат", "вывод", "结果", "输出"),
    )  # fmt: skip
    ARGUMENTS = (
        *("arg", "param", "input", "kwarg", "payload", "entrada", "entree", "eingabe", "аргумент"),
        *("параметр", "вход", "参数", "输入", "引数"),
    )
    THOUGHT = (
        *("thought", "reasoning", "rationale", "thinking", "why", "justif", "explan", "monolog"),
        *("pensamiento", "pensamento", "razon", "raciocin", "gedanke", "begrund", "pensee", "мысл"),
        *("рассужд", "思考", "理由"),
    )
    ANSWER = (
        *(
            "answer",
            "response",
            "reply",
            "completion",
            "generated",
            "generation",
            "output",
            "plan",
            "utter",
        ),
        *("content", "text", "message", "thought", "respuesta", "resposta", "antwort", "reponse"),
        *("risposta", "ответ", "回答", "回复", "応答"),
    )
    PROMPT = (
        *("prompt", "question", "query", "instruction", "task", "goal", "request", "scenario"),
        *(
            "pregunta",
            "pergunta",
            "frage",
            "anfrage",
            "domanda",
            "вопрос",
            "запрос",
            "问题",
            "質問",
        ),
    )
    TOOL = (
        *("tool", "func", "action", "skill", "plugin", "herramienta", "ferramenta", "outil", "werkzeug"),
        *("strumento", "accion", "acao", "aktion", "azione", "инструмент", "действи", "工具", "函数", "动作"),
    )  # fmt: skip


#: Roles that the name of a tool's field has not, as in `tool_result`.
_OF_CALLS = (Role.ERROR, Role.RESULT, Role.ARGUMENTS, Role.THOUGHT)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, as in `toolName` and `tool_name`."""
    return [word.lower() for word in _WORDS.findall(without_accents(name)[:200])]


def may_be(at: At, role: Role) -> bool:
    """Return whether the last key on the way to some values hints at a role."""
    words = words_of(at.pointer.rpartition("/")[2])
    if ABOUT & set(words) or not _hints(words, role):
        return False
    if role is not Role.TOOL:
        return "id" not in words
    return not any(_hints(words, other) for other in _OF_CALLS)


def _hints(words: Sequence[str], role: Role) -> bool:
    return any(word.startswith(stem) for word in words for stem in role.value)


def find_role(
    seen: Observed, role: Role, test: Test, used: Collection[str] = (), *, depth: int = 1
) -> At | None:
    """Return the values at the pointer whose key hints at a role, and all of which pass a test; that which most objects have."""
    found = [
        at
        for at in seen.all()
        if len(at.keys) <= depth
        and may_be(at, role)
        and all(map(test, at.values))
        and not any(f"{at.pointer}/".startswith(f"{each}/") for each in used)
    ]
    return min(found, key=lambda at: (len(at.keys), -len(at.values)), default=None)
