"""The texts of answers in the responses of model APIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.row_values import MISSING, Path, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row, Value


#: types of parts with text; those of Bedrock have no type
_TEXTS = frozenset({"text", "output_text"})


@dataclass(frozen=True, slots=True)
class ChatText:
    """The text of an answer in a chat completion, a message of Anthropic or Bedrock, or an OpenAI response."""

    at: str

    def of(self, row: Row, number: int) -> Any:
        """Return the text; None if the answer has no text, MISSING if there is no answer."""
        body = Path(self.at).of(row, number)
        if not isinstance(body, Mapping):
            return MISSING
        content = Path("choices.0.message.content").of(body, number)
        if content is MISSING:
            content = body.get("content", body.get("output", MISSING))
        if not isinstance(content, list):
            return content
        return "".join(_texts(content))

    def number_of_answers(self, row: Row) -> int:
        """Return how many answers the row has, of which the first is taken."""
        return _length(Path(f"{self.at}.choices").of(row, 1))

    def paths(self) -> Iterable[Path]:
        """Return the paths of the answer."""
        return (Path(self.at),)

    def __str__(self) -> str:
        return f"{self.at} (the answer's text)"


def _texts(parts: list[Any]) -> Iterable[str]:
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("content"), list):  # a message of the Responses API
            yield from _texts(part["content"])
        elif isinstance(part.get("text"), str) and part.get("type", "text") in _TEXTS:
            yield part["text"]


def _length(answers: Any) -> int:
    return len(answers) if isinstance(answers, list) else 0


def several_answers_note(rows: Sequence[Row], answer: Value | None) -> str:
    """Return a note that rows have several answers, of which one is taken; empty if they do not."""
    if not isinstance(answer, (ChatText, GeminiText)):
        return ""
    most = max((answer.number_of_answers(row) for row in rows), default=0)
    if most < 2:
        return ""
    return f"rows have up to {most} answers to one request, of which only the first is graded"


@dataclass(frozen=True, slots=True)
class GeminiText:
    """The text of the first candidate in a response of Gemini, without the model's thoughts."""

    at: str

    def of(self, row: Row, number: int) -> Any:
        """Return the text; None if the response has no text, MISSING if there is no response."""
        response = json_within(Path(self.at).of(row, number))
        if not isinstance(response, Mapping) or not response:
            return MISSING
        parts = Path("candidates.0.content.parts").of(response, number)
        spoken = [
            part["text"]
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, Mapping)
            and isinstance(part.get("text"), str)
            and not part.get("thought")
        ]
        return "".join(spoken) if spoken else None

    def number_of_answers(self, row: Row) -> int:
        """Return how many answers the row has, of which the first is taken."""
        return _length(Path(f"{self.at}.candidates").of(row, 1))

    def paths(self) -> Iterable[Path]:
        """Return the paths of the response."""
        return (Path(self.at),)

    def __str__(self) -> str:
        return f"{self.at} (the answer's text)"
