"""What came of a call: whether it failed, and whether it is what came of another call, noise aside."""

from __future__ import annotations

import re
from array import array
from itertools import islice, pairwise
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import orjson
import re2
from msgspec import Struct, field

from weighbridge.graders.inputs import printable
from weighbridge.graders.loop.arguments import canonical
from weighbridge.graders.loop.limits import Effort
from weighbridge.graders.loop.nature import makes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONG_CHARACTERS = 80  #: a shorter result is a receipt that many calls may get
_ECHO_CHARACTERS = 400  #: a longer result may hold an argument by chance
_ECHOED_CHARACTERS = 4
_ECHOED_VALUES = 100  #: of the arguments, the first that are looked for
_AROUND = " \t\r\n.!?;\"'\\"
_ROUGH_CHARACTERS = 200
_SORTED_CHARACTERS = 100_000  #: the words of a longer result are compared in their order
_MARKS_LIMIT = (
    1_000  #: of noise of one kind that are taken out of one result; what follows stays as it is
)
_NUMBERS_LIMIT = 1_000  #: in results with more of them nothing is told apart as noise
_OMITTED_CHARACTERS = 60
_RECEIPT_CHARACTERS = 150  #: where a receipt says that it is one
_ANSWER_CHARACTERS = 300  #: a longer result is an answer, even where it says no
_HEAD_CHARACTERS = 600  #: where a failure says that it is one
_VAIN_CHARACTERS = 250  #: a longer result is an answer, whatever it says that is not
_WORK_CHARACTERS = (
    80  #: of one argument: from here on it is what is sent or made, and its new id tells nothing
)
_WORDS_BESIDE_IDS = 4
_STEADY_WORDS = 10  #: from here on a number that goes up and down is noise beside what stays


def _linear(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that takes linear time on any text; what it returns is used as `re`'s own."""
    compiled: re.Pattern[str] = re2.compile("(?i)" + pattern.replace("\n", ""))
    return compiled


#: Where a result begins to say what it has to say: after a heading, a line with a number such as a time, or as a field.
_START = r"""(?:^(?:\W{0,3}(?:observation|output|(?:tool )?(?:result|response))\s{0,3}:\s{0,3})?(?:[^\n\d]{0,60}\d[^\n]{0,100}\n)?
|"(?:output|result|response|observation|message|content|text|detail|stdout|stderr|body)"\s?:\s?")[\s\[(<*#]{0,5}"""
_FAILURE = _linear(
    _START
    + r"""(?:\w{0,40}(?:error|exception)\b|traceback\b|fail(?:ed|ure)\b|fatal\b|invalid\b|unable to\b
|cannot\b|could not\b|not found\b|no such\b|denied\b|time(?:d ?|-)?out\b|connection (?:refused|reset)|unauthori[sz]ed
|forbidden\b|bad request|too many requests|rate limit|(?:http\W{0,4})?[45]\d\d (?:[a-z]|$))
|"error(?:_message)?"\s?:\s?(?:"[^"]|\{|true|[1-9])|"(?:success|ok)"\s?:\s?false|"is_?error"\s?:\s?true
|"status"\s?:\s?"(?:error|fail)|exit[_ ](?:code|status)\W{1,4}[1-9]|traceback \(most recent|command not found
|no such file or directory|permission denied|^.{0,80}\b(?:has )?failed(?: to\b|[:.!]|$)|\bwrong password\b
|^.{0,80}\b(?:does not exist|doesn't exist|already exists|is (?:required|not allowed|not valid|invalid)|timed out)\b
|\b[1-9]\d{0,5} (?:tests? )?(?:failed|failures?|failing)\b|(?-i:\bFAIL(?:ED|URES?)?\b)
|\n[ \t]{0,4}(?:fatal|[\w.]{0,40}(?:error|exception))(?:\[\w{1,10}\])?: |<(?:tool_use_)?error>|\b(?:http|status)\W{0,4}(?:code)?\W{0,4}[45]\d\d\b"""
)
#: What a short result says that came to nothing, though it speaks of no error.
_VAIN = _linear(
    r"""\bnothing (?:happen|chang)|\bnot found\b|\bno (?:such|results?|match(?:es)?|effect|response|answer)\b|\b(?:is|are|was) (?:not|still)\b
|\b(?:isn't|aren't|wasn't|can't|cannot|couldn't|won't|that's not|don't|doesn't|didn't|unable|impossible|unavailable|busy|locked|blocked|refused
|rejected|declined|bump|no replacement|did not (?:appear|match)|err_[a-z_]{3,40}|unknown|unrecogni[sz]ed|expired|disabled
|exceeded|(?:try|trying) again|please (?:hold|wait|try))\b"""
)
#: What is said of work that was done, or of something that was not found: it comes for many different calls.
_RECEIPT = _linear(
    r"""\b(?:success\w*|updated|saved|created|written|wrote|edited|applied|sent|added|modified|changed|deleted|removed
|inserted|replaced|queued|stored|done|completed?|ok)\b"""
)
_NOTHING = _linear(r"\b(?:no|not|none|nothing|could ?n[o']t|unable|sorry|empty|0)\b")
#: A picture that was left out of the trace says nothing of what it showed.
_OMITTED = re.compile(
    r"\W{0,5}(?:image|screenshot|picture)(?:[ _](?:omitted|removed|data|url|content))?\W{0,5}",
    re.IGNORECASE,
)
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_UNIT = r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)"
_SPAN = rf"\d{{1,9}}(?:\.\d{{1,9}})? ?{_UNIT}"
_LABEL = (
    r"(?:(?:\w{0,30}_)?(?:timestamp|time|date|duration|latency|elapsed|uptime|ms|nonce|etag|uuid|guid|token|pid|ts|now"
    r"|as_of|attempts?|retry|retries|retry_?count|(?:request|trace|span|session|correlation)(?:_?id)?)"
    r"|elapsed_\w{1,20}|took|x-[a-z-]{0,20}(?:runtime|time|request-id)|(?:cf-)?ray(?: id)?"
    r"|\w{1,30}_(?:at|on)|(?-i:[a-z]\w{0,30}(?:At|Time|Date|Ms)))"
)
#: A time that is left tells of progress: its number is one of the groups.
_TIME_LEFT = _linear(
    rf"\beta:? (\d{{1,9}}) ?{_UNIT}\b|\b(\d{{1,9}}) ?{_UNIT} (?:left|remaining|to go)\b"
    r"|\b(?:(?:estimated|expected|remaining)_?(?:wait_?)?(?:time|duration|seconds|ms)|(?:time|seconds)_?(?:left|remaining))"
    r"""["']?\s?[:=]\s?(\d{1,9}(?:\.\d{1,9})?)"""
)
#: Names that machines give: they are noise beside a text, and the text itself where there is little else.
_IDS = _linear(
    r"""\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]{1,32}\b
|\b(?:(?:[0-9]{1,2}[a-f]|[a-f]{1,2}[0-9])[0-9a-f]{4}|(?:[0-9]{3,4}[a-f]|[a-f]{3,4}[0-9])[0-9a-f]{2}
|[0-9]{5,20}[a-f]|[a-f]{5,20}[0-9])[0-9a-f]{0,60}\b
|\bref(?:erence)?(?: id| no)?[:#]? ?[0-9a-f]{6,40}\b
|\b(?:req|request|trace|span|call|session|msg|run|evt|chatcmpl)[_-][a-z0-9_-]{0,40}\d[a-z0-9_-]{0,40}\b"""
)
_MADE_ID = _linear(r"""["']?\b(?:\w{1,30}_)?id["']?\s?[:=]""")
#: Times and durations, and whatever a label says is one of these, an id or an attempt's number.
_TIMES = _linear(
    rf"""\b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)?\b
|\b(?:{_DAY},? )?(?:\d{{1,2}} )?{_MONTH} \d{{1,4}}(?:,? \d{{4}})?\b
|\b0x[0-9a-f]{{6,32}}\b|\bpid \d{{1,9}}\b|/tmp[./]?[a-z0-9_-]{{0,20}}/?tmp[.a-z0-9_]{{6,14}}\b
|\b(?:ad|advert|advertisement|sponsored|promoted) ?: [^\n"'\\]{{1,80}}
|\b\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?: ?[ap]m)?\b
|\b1\d{{9}}(?:\d{{3}}){{0,3}}\b
|\b{_SPAN}\b|\b(?:\d{{1,5}}[dhm] ?){{1,3}}\d{{1,2}}[hms]\b|(?:  |\t)\d{{1,4}}[mhd]\b
|\b[a-z][\w.-]{{0,40}}\[\d{{3,8}}\]:
|\b{_LABEL}["']?\s?[:=]\s?(?:"[^"]{{0,80}}"|'[^']{{0,80}}'|[^\s,;}}\]]{{1,80}})"""
)
_DAY_OR_MONTH = re.compile(
    "mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?")
_WORD = re.compile(r"\w+")
_VARIES = re.compile(r"\d|/tmp\b|\b[Aa]d:")
_OPENING = ("{", "[")  #: of an object or an array, written as text
_ORDERED_CHARACTERS = 20_000  #: longer ones are compared as they stand
_NAMED = re.compile(r"(?<!\w)\d*+[^\W\d]\w*+")  # words that are no numbers
_COUNTER = re.compile(
    r"(?:attempts?|tr(?:y|ies)|retr(?:y|ies)|requests?|calls?|pid|port|id|seq)\W{0,4}$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r" ?(?:more |failed |login )?(?:attempts?|tr(?:y|ies)|retr(?:y|ies))\b", re.IGNORECASE
)


class Outcome(Struct, eq=False, gc=False):
    """What came of one call, in the forms in which it is compared, each made when it is first needed."""

    _output: Any
    _error: Any = None
    _asked: Any = None
    _effort: Effort = field(default_factory=Effort)
    _tool: str = ""
    _text: str | None = None
    _failed: bool | None = None
    _steady: str | None = None
    _words: str | None = None

    @property
    def text(self) -> str | None:
        """The result as text, without an echo of what was asked; None where the trace does not tell it."""
        if self._text is None:
            text = _text_of(self._output if self._output is not None else self._error)
            self._text = text and _without_echo(text, self._asked)
        return self._text

    @property
    def has_failed(self) -> bool:
        """Whether it says that the call failed."""
        if self._failed is None:
            head = (self.text or "")[:_HEAD_CHARACTERS]
            self._failed = self._error is not None or _FAILURE.search(head) is not None
        return self._failed

    @property
    def is_vain(self) -> bool:
        """Whether it says that the call came to nothing: it failed, or there was nothing to be had."""
        text = self.text or ""
        return self.has_failed or (len(text) <= _VAIN_CHARACTERS and _VAIN.search(text) is not None)

    @property
    def rough(self) -> str | None:
        """Its beginning, up to a number: it is equal for nearly all results that are the same but for noise."""
        text = self.text
        # What stands right before a number may belong to it: an id may begin with letters, a date with a day or a month.
        head = text and text[: _varies_at(text)].rstrip(ascii_letters)
        while head and _DAY_OR_MONTH.fullmatch(head.rstrip(", ")[-3:]):
            head = head.rstrip(", ").rstrip(ascii_letters)
        return head

    @property
    def steady(self) -> str:
        """The result without what differs from one time to the next: times, durations, ids, addresses."""
        if self._steady is None:
            text = self.text or ""
            self._steady = self._without_noise(text) if self._effort.is_left else text
        return self._steady

    def _without_noise(self, text: str) -> str:
        if text[:1] in _OPENING:
            text = _in_order(text)
        if not _VARIES.search(text):
            return text
        if _TIME_LEFT.search(text):
            text = _masked(_TIME_LEFT, r"left \1\2\3 ", text, self._effort)
        text = _masked(_TIMES, "#", text, self._effort)
        named = _masked(_IDS, "#", text, self._effort)
        if named == text or (self._asks_for_work() and self._is_receipt(named)):
            return named
        is_enough = len(_WORD.findall(named[:_HEAD_CHARACTERS])) >= _WORDS_BESIDE_IDS
        return named if is_enough and not (_MADE_ID.search(text) and makes(self._tool)) else text

    def _is_receipt(self, text: str) -> bool:
        return _RECEIPT.search(text[:_RECEIPT_CHARACTERS]) is not None or makes(self._tool)

    def _asks_for_work(self) -> bool:
        """Whether an argument is long enough to be what is sent or made: whoever asks twice asks for the same again."""
        if type(self._asked) is not dict:
            return False
        values = islice(self._asked.values(), _ECHOED_VALUES)
        return any(type(value) is str and len(value) >= _WORK_CHARACTERS for value in values)

    @property
    def words(self) -> str:
        """The words of the steady part, one a line, whatever their order and the numbers between."""
        if self._words is None:
            self._words = self.steady
            if len(self.steady) <= _SORTED_CHARACTERS and self._effort.is_left:
                words = sorted(_NAMED.findall(self.steady))
                self._effort.read(self.steady, len(words))
                self._words = "\n".join(words)
        return self._words

    @property
    def numbers(self) -> array[float] | None:
        """The numbers of the steady part, in order; None where these are too many to compare."""
        if not self._effort.is_left:
            return None
        found = islice(_NUMBER.finditer(self.steady), _NUMBERS_LIMIT + 1)
        numbers = array("d", [float(number[0]) for number in found])
        self._effort.read(self.steady, len(numbers))
        return numbers if len(numbers) <= _NUMBERS_LIMIT else None

    @property
    def is_long(self) -> bool:
        """Whether it is more than a word or two, so that hardly two different calls come to it."""
        return self.text is not None and len(self.text) >= LONG_CHARACTERS

    @property
    def is_telling(self) -> bool:
        """Whether it answers what was asked, rather than to say that something was done, failed or not found."""
        if not self.is_long or self.has_failed:
            return False
        head = (self.text or "")[:_ANSWER_CHARACTERS]
        if _RECEIPT.search(head[:_RECEIPT_CHARACTERS]):
            return False
        return len(head) == _ANSWER_CHARACTERS or not _NOTHING.search(head)


def _in_order(text: str) -> str:
    """Return JSON with its keys in order; any other text as it is."""
    if len(text) > _ORDERED_CHARACTERS:
        return text
    try:
        return canonical(orjson.loads(text)).decode()
    except orjson.JSONDecodeError:
        return text


def _varies_at(text: str) -> int:
    found = _VARIES.search(text, 0, _ROUGH_CHARACTERS)
    return found.start() if found else _ROUGH_CHARACTERS


def _text_of(output: Any) -> str | None:
    if output is None:
        return None
    text = (
        printable(output) if type(output) is str else canonical(output).decode("utf-8", "replace")
    )
    is_short = len(text) < _OMITTED_CHARACTERS
    return None if is_short and _OMITTED.fullmatch(text) else text


def _without_echo(text: str, asked: Any) -> str:
    """Leave out the arguments that a short result repeats, so that it is the same for a call in other words."""
    if type(asked) is not dict or len(text) > _ECHO_CHARACTERS:
        return text
    for value in islice(asked.values(), _ECHOED_VALUES):
        if type(value) is str and len(value) <= _ECHO_CHARACTERS:
            echo = value.strip(_AROUND).lower()
            if len(echo) >= _ECHOED_CHARACTERS and echo in text.lower():
                text = _without(text, echo)
    return text


def _without(text: str, echo: str) -> str:
    folded = text.lower()
    if len(folded) != len(text):  # some letters have longer small forms
        return text
    pieces, start = [], 0
    while (place := folded.find(echo, start)) >= 0:
        pieces.append(text[start:place])
        start = place + len(echo)
    return "…".join([*pieces, text[start:]])


def _masked(noise: re.Pattern[str], mark: str, text: str, effort: Effort) -> str:
    masked, marks = noise.subn(mark, text, count=_MARKS_LIMIT)
    effort.mask(text, marks)
    return masked


def only_noise(outcomes: Sequence[Outcome]) -> bool:
    """Whether results of one call, all of the same words, differ by nothing that could be progress.

    A number that only rises or only falls is progress, unless it counts attempts; one that goes up and down is noise
    where enough stays the same beside it.
    """
    rows = [numbers for outcome in outcomes if (numbers := outcome.numbers) is not None]
    if len(rows) < len(outcomes) or len({len(row) for row in rows}) > 1:
        return False
    if len({tuple(sorted(row)) for row in rows}) == 1:
        return True
    steady, words = outcomes[0].steady, outcomes[0].words
    is_short = not words or words.count("\n") + 1 < _STEADY_WORDS
    if is_short and not all(outcome.has_failed for outcome in outcomes):
        return not any(_telling(steady, rows))
    return not moves_one_way(steady, rows)


def moves_one_way(steady: str, rows: Sequence[array[float]]) -> bool:
    """Whether a number of results only rises or only falls; each row has the numbers of one, the text is the first's."""
    return any(map(_goes_one_way, _telling(steady, rows)))


def _telling(steady: str, rows: Sequence[array[float]]) -> Iterator[tuple[float, ...]]:
    """Yield the numbers that differ, each with its values, without those that count attempts or name an error."""
    for number, values in zip(_NUMBER.finditer(steady), zip(*rows, strict=True), strict=True):
        place = number.start()
        is_one = len(set(values)) == 1 or all(400 <= value < 600 for value in values)
        is_counter = _COUNTER.search(steady[max(0, place - 20) : place])
        if not (is_one or is_counter or _COUNTED.match(steady, number.end())):
            yield values


def _goes_one_way(values: Sequence[float]) -> bool:
    steps = [later - earlier for earlier, later in pairwise(values)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)
