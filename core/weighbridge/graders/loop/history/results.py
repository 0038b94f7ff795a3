"""Results of calls: whether they failed, and the forms in which they are compared without noise."""

from __future__ import annotations

import re
from array import array
from itertools import islice
from typing import Any

from msgspec import Struct, field

from weighbridge.graders.loop.history.action_logs import without_grown_log
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.masking import ResultOrigin, without_noise
from weighbridge.graders.loop.history.result_kinds import (
    is_answer,
    is_blank_data,
    is_omitted_image,
    is_silence,
    refuses_edit,
    reports_failure,
    reports_no_effect,
)
from weighbridge.graders.loop.history.tool_names import creates, stores
from weighbridge.graders.loop.history.written_edits import applies_edit, without_quotations
from weighbridge.graders.loop.work_budget import FOLDED_CHARACTERS, WorkBudget
from weighbridge.text import encodable
from weighbridge.traces.fields import parse_arguments
from weighbridge.traces.images import image_mark, is_omitted

_BLANK = "0" * 16  #: in place of a row of zeros, which says the same however long it is
LONG_CHARACTERS = 80  #: a shorter result is a confirmation that many calls may have
_ERROR_CHARACTERS = 60  #: minimum length of an error that says why a call failed
_ECHO_CHARACTERS = 400  #: a longer result may hold an argument by chance
_LEAST_ECHO_CHARACTERS = 4  #: a shorter argument may occur in a result by chance
_ECHOED_VALUES = 100  #: number of arguments that are examined
_TEMPLATE_CHARACTERS = 10  #: length of a beginning or end that results of one template share
_OUTER_CHARACTERS = " \t\r\n.!?;\"'\\"
_SORTED_CHARACTERS = 100_000  #: the words of a longer result are compared in order
_NUMBERS_LIMIT = 1_000  #: results with more numbers are not compared by number
#: An argument of at least this length does not stand at the beginning of a result by chance.
_CONTENT_CHARACTERS = 20
#: Beginnings and keys of the result of a tool of the Model Context Protocol.
_WRAPPERS = ('{"content":', '{"meta":', '{"_meta":', '{"isError":', '{"structuredContent":')
_WRAPPER_KEYS = frozenset(("content", "isError", "structuredContent", "meta", "_meta"))
NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?")
_NAMED = re.compile(r"(?<!\w)\d*+[^\W\d]\w*+")  # words that are not numbers
#: Row of marks, as in a map, a board or a progress bar, whose positions matter.
_MARKS_ROW = re.compile(r"[-.#@|+*~^%$&!?=_]{3,}+")
#: Code that the agent wrote, as a result repeats it before what came of it.
_OWN_CODE = re.compile(
    r"\b(?:wrote|generated|ran|executed|executing|running) (?:this|the|the following) (?:code|script|program):?\s{0,9}```.*?```",
    re.IGNORECASE | re.DOTALL,
)
_OWN_CODES = 20  #: removed from one result
#: A harness's line that names the tool, above what the tool returned: `Tool 'show_file' executed successfully. Result:`.
_HEADING = re.compile(
    r"\W{0,3}(?:(?:tool|function|command|action)\W{1,3})?([\w./:-]{1,60})\W{1,3}(?:(?:was|has been) )?"
    r"(?:output|results?|response|returned|executed|called|completed|succeeded)(?: successfully)?[]):.]{1,3}[ \t]?"
    r"(?:(?:output|results?|response):[ \t]?)?\n?",
    re.IGNORECASE,
)
_HEADING_CHARACTERS = 100  #: beginning of a result that has the tool's name, if it has such a line
#: An action in one argument, such as `Search[the first president]`, with what a result may echo of it.
_WRITTEN_CALL = re.compile(r"\s{0,9}\w{1,40}[\[(](.*)[\])]\s{0,9}", re.DOTALL)
_PART = re.compile(r"[^\n,;|(){}\[\]]+")  #: part of a result, whose words are compared in any order
#: A link to what was shown, as an export puts it in place of a file: another link is another content.
_LINK = re.compile(r"[\s(]{0,5}!?\[[^\]\n]{0,200}\]\([^()\s]{1,500}\)[\s).]{0,5}")
_POINTERS = "><*→►▶✓✔●◉☑"  #: marks of the selected line of a list, a menu or a tree


class CallResult(Struct, eq=False, gc=False):
    """Result of one call, with its forms for comparison, each but the text computed on first use."""

    _output: Any
    _error: Any = None
    _arguments: Any = None
    _budget: WorkBudget = field(default_factory=WorkBudget)
    _tool: str = ""
    _before: CallResult | None = None  #: the result of the call before it
    #: the result as text, without an echo of the arguments; None if the trace has no result
    text: str | None = None
    _failed: bool | None = None
    _masked: str | None = None
    _words: str | None = None

    def __post_init__(self) -> None:
        """Set the text, which every search reads many times."""
        text = _text_of(self.outcome)
        if text:
            text = self._without_heading(text)
            if "\n" in text:
                text = self._without_log(text)
            if "\n" in text or "`" in text:
                text = self._without_quotations(text)
            text = _without_echo(text, self._arguments)
            if is_silence(text):
                text = ""
            elif is_blank_data(text):
                text = _BLANK
        self.text = text

    @property
    def omits_image(self) -> bool:
        """Whether the result was an image that the trace omits, so that it may have shown something new."""
        return self.text is None and self.outcome is not None

    @property
    def outcome(self) -> Any:
        """The output or, in place of it, an error that says more than that the call failed, or that there is no output beside."""
        error = self._error
        is_told = isinstance(error, str) and (
            len(error) >= _ERROR_CHARACTERS or (self._output == "" and error != "")
        )
        return error if is_told or self._output is None else self._output

    def _without_heading(self, text: str) -> str:
        """Return a result without the line above it in which a harness names the tool, unless nothing is below it."""
        found = (
            _HEADING.match(text)
            if self._tool and self._tool in text[:_HEADING_CHARACTERS]
            else None
        )
        if found is None or found[1] != self._tool:
            return text
        return text[found.end() :] or text

    def _without_log(self, text: str) -> str:
        """Return a result without the line that logs the agent's own calls and has grown by this one."""
        if self._before is None or not self._budget.is_left:
            return text
        before = self._before.outcome
        if type(before) is not str or not _may_share_lines(before, text):
            return text
        self._budget.count_reading(text, text.count("\n"))
        return without_grown_log(text, before, (self._tool, self._arguments))

    def _without_quotations(self, text: str) -> str:
        """Return a result without the code that it echoes, and the refusal of an edit without quoted lines."""
        if "```" in text:
            text = _OWN_CODE.sub("", text, count=_OWN_CODES)
        if self._submits_content() and refuses_edit(text):
            text = without_quotations(text, self._budget)
        return text

    @property
    def has_failed(self) -> bool:
        """Whether the result says that the call failed."""
        if self._failed is None:
            self._failed = self._error is not None or self._reports_failure(self.text or "")
        return self._failed

    def _reports_failure(self, text: str) -> bool:
        return reports_failure(text) and not (self._submits_content() and applies_edit(text))

    @property
    def error_beside(self) -> str:
        """The error beside an output that does not say itself that the call failed; empty if there is none."""
        error = self._error
        is_beside = isinstance(error, str) and self.outcome is not error
        return error if is_beside and not self._reports_failure(self.text or "") else ""

    @property
    def masked_error_beside(self) -> str:
        """The same error without noise."""
        return self._without_noise(self.error_beside)

    @property
    def is_unsuccessful(self) -> bool:
        """Whether the result says that the call failed, had no effect or found nothing."""
        return self.has_failed or reports_no_effect(self.text or "")

    @property
    def masked(self) -> str:
        """The result without noise, such as times, durations, ids and addresses."""
        if self._masked is None:
            text = self.text or ""
            is_link = "](" in text and _LINK.fullmatch(text) is not None
            is_compared = self._budget.is_left and not is_link
            self._masked = self._without_noise(text) if is_compared else text
        return self._masked

    def _without_noise(self, text: str) -> str:
        creates_things = creates(self._tool)
        is_asked_again = stores(self._tool) or self._submits_content()
        return without_noise(text, ResultOrigin(is_asked_again, creates_things), self._budget)

    def _submits_content(self) -> bool:
        """Return whether an argument is long enough to be content, so that an equal call repeats the same request."""
        if type(self._arguments) is not dict:
            return False
        values = islice(self._arguments.values(), _ECHOED_VALUES)
        return any(type(value) is str and len(value) >= _CONTENT_CHARACTERS for value in values)

    @property
    def words(self) -> str:
        """The words of the result without noise and numbers, in any order of lines, and its rows of marks."""
        if self._words is None:
            self._words = self.masked
            if len(self.masked) <= _SORTED_CHARACTERS and self._budget.is_left:
                parts = sorted(map(_words_of, _PART.findall(self.masked)))
                self._budget.count_reading(self.masked, len(self.masked) // 6)
                self._words = "\n".join([*filter(None, parts), *_MARKS_ROW.findall(self.masked)])
        return self._words

    @property
    def numbers(self) -> array[float] | None:
        """The numbers of the result without noise, in order, or None if there are too many to compare."""
        if not self._budget.is_left:
            return None
        found = islice(NUMBER.finditer(self.masked), _NUMBERS_LIMIT + 1)
        numbers = array("d", [float(number[0]) for number in found])
        self._budget.count_reading(self.masked, len(numbers))
        return numbers if len(numbers) <= _NUMBERS_LIMIT else None

    @property
    def is_long(self) -> bool:
        """Whether the result is so long that two different calls are unlikely to have it."""
        return self.text is not None and len(self.text) >= LONG_CHARACTERS

    @property
    def is_informative(self) -> bool:
        """Whether the result is an answer, rather than a confirmation, a failure or a statement that nothing was found."""
        return self.is_long and not self.has_failed and is_answer(self.text or "")


def _words_of(part: str) -> str:
    """Return the sorted words of a part of a result, one per line, and the mark of a selected line."""
    words = sorted(_NAMED.findall(part))
    if words and part.lstrip()[:1] in _POINTERS:
        words.append(part.lstrip()[0])
    return "\n".join(words)


def _text_of(output: Any) -> str | None:
    if output is None:
        return None
    if type(output) is not str or output[:2] == '{"':
        output = _unwrapped(output)
    if type(output) is not str:
        return (
            None
            if is_omitted(output)
            else _with_lines(canonical(output).decode("utf-8", "replace"))
        )
    text = encodable(output)
    return None if is_omitted_image(text) else _with_lines(text)


def _with_lines(text: str) -> str:
    """Return an object's text with the lines of the texts in it, as those of a log, each on a line of its own."""
    is_escaped = text[:1] == "{" and "\\" in text
    return text.replace("\\n", "\n") if is_escaped else text


def _unwrapped(output: Any) -> Any:
    """Return the texts of an MCP result that reports no error, or any other result unchanged."""
    result = output
    if type(result) is str:
        is_wrapped = result.startswith(_WRAPPERS) and len(result) <= FOLDED_CHARACTERS
        result = parse_arguments(result) if is_wrapped else None
    if type(result) is not dict or not _WRAPPER_KEYS.issuperset(result) or result.get("isError"):
        return output
    parts = result.get("content")
    if type(parts) is not list or not parts:
        return output
    texts = [
        text if type(text := part.get("text")) is str else image_mark(part)
        for part in parts
        if type(part) is dict
    ]
    return "\n".join(texts) if len(texts) == len(parts) and all(texts) else output


def _may_share_lines(one: str, other: str) -> bool:
    """Return whether two results begin or end alike, as those that a harness fills into one template."""
    if len(other) > _SORTED_CHARACTERS or len(one) > _SORTED_CHARACTERS:
        return False
    edge = _TEMPLATE_CHARACTERS
    return one[:edge] == other[:edge] or one[-edge:] == other[-edge:]


def _without_echo(text: str, arguments: Any) -> str:
    """Remove echoed arguments from a result, so that it is equal for a reworded call; from a long one only at its beginning."""
    if type(arguments) is not dict:
        return text
    if len(text) > _ECHO_CHARACTERS:
        return _without_content(text, arguments)
    folded = text.lower()
    for value in islice(arguments.values(), _ECHOED_VALUES):
        if type(value) is str and len(value) <= _ECHO_CHARACTERS:
            written = _WRITTEN_CALL.fullmatch(value) if value[-1:] in ("]", ")") else None
            echo = (written[1] if written else value).strip(_OUTER_CHARACTERS)
            if len(echo) > len(folded):  # it does not become shorter in lower case
                continue
            echo = echo.lower()
            if len(echo) >= _LEAST_ECHO_CHARACTERS and echo in folded:
                text = _without(text, folded, echo)
                folded = text.lower()
    return text


def _without_content(text: str, arguments: dict[str, Any]) -> str:
    """Remove the first argument that is content, where it stands at the beginning, as after `[exec] command =`, or as a whole text in JSON."""
    for value in islice(arguments.values(), _ECHOED_VALUES):
        if type(value) is str and _CONTENT_CHARACTERS <= len(value) <= len(text):
            echo = value.strip(_OUTER_CHARACTERS)
            index = text.find(echo, 0, len(echo) + _ECHO_CHARACTERS) if echo else -1
            if index < 0 and text[:1] == "{":
                index = text.find(f'"{value}"') + 1 or -1
                echo = value
            if index >= 0:
                return f"{text[:index]}…{text[index + len(echo) :]}"
    return text


def _without(text: str, folded: str, echo: str) -> str:
    if len(folded) != len(text):  # some letters are longer in lower case
        return text
    pieces, start = [], 0
    while (index := folded.find(echo, start)) >= 0:
        pieces.append(text[start:index])
        start = index + len(echo)
    return "…".join([*pieces, text[start:]])
