"""Removal of noise from results: times, durations, ids, addresses and adverts."""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple

import orjson

from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.linear_patterns import Mask, occurs
from weighbridge.graders.loop.work_budget import WorkBudget

_BEGINNING_CHARACTERS = 200
_SHORT_CHARACTERS = 300  #: a longer result rarely comes again
_REMEMBERED = 128  #: last short results that are known without noise
_ORDERED_CHARACTERS = 20_000  #: the keys of longer JSON are not sorted
#: Maximum matches of one kind of noise removed from one result.
_MARKS_LIMIT = 1_000
_HEAD_CHARACTERS = 600
_NOTICE_CHARACTERS = 300  #: length of the end of a result that is searched for notices
_WORDS_BESIDE_IDS = 4

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_UNIT = r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)"
_SPAN = rf"\d{{1,9}}(?:\.\d{{1,9}})? ?{_UNIT}"
#: Work whose duration is noise, as that of what was processed, a film or a flight is not.
_WORK_WORDS = (
    *("build", "compute", "cpu", "deploy", "exec", "execution", "generate", "inference", "load"),
    *("query", "render", "request", "response", "run", "total", "wall"),
)
_WORK = f"(?:{'|'.join(_WORK_WORDS)})"
#: Words that the name of such a duration may begin with.
_MEASURED_WORDS = (
    *(*_WORK_WORDS, "api", "call", "command", "compile", "fetch", "llm", "processing", "search"),
    *("server", "test", "tool", "avg", "elapsed", "max", "mean", "min", "real", "sys", "user"),
)
_MEASURED = f"(?:{'|'.join(_MEASURED_WORDS)})"
_CAPITALIZED = f"(?:{'|'.join(map(str.capitalize, _MEASURED_WORDS))})"
_LABEL = (
    r"(?:(?:\w{0,30}_)?(?:timestamp|time|date|duration|latency|elapsed|uptime|ms|nonce|etag|uuid|guid|token|pid|ts|now"
    r"|as_of|attempts?|retry|retries|retry_?count|(?:request|trace|span|session|correlation)(?:_?id)?)"
    r"|(?:context|operation|invocation|response|message|log)_id"
    rf"|{_WORK}(?:_\w{{1,20}})?_seconds|(?-i:(?:{_WORK})Seconds)"
    r"|elapsed_\w{1,20}|took|x-[a-z-]{0,20}(?:runtime|time|request-id)|(?:cf-)?ray(?: id)?"
    r"|\w{1,30}_(?:at|on)|(?-i:[a-z]\w{0,30}(?:At|Time|Date|Ms)))"
)
_UNIT_OF_KEY = (
    "(?:ns|us|ms|s|secs?|seconds?|(?:milli|micro|nano)s(?:ec(?:ond)?s)?|mins?|minutes?|hours?)"
)
#: A remaining time, whose number (one of the groups) is kept because it shows progress.
_TIME_LEFT = Mask(
    rf"\beta:? (\d{{1,9}}) ?{_UNIT}\b|\b(\d{{1,9}}) ?{_UNIT} (?:left|remaining|to go)\b"
    r"|\b(?:(?:estimated|expected|remaining)_?(?:wait_?)?(?:time|duration|seconds|ms)|(?:time|seconds)_?(?:left|remaining))"
    rf"""(?:_?{_UNIT_OF_KEY})?\\{{0,3}}["']?\s?[:=]\s?(\d{{1,9}}(?:\.\d{{1,9}})?)"""
)
_NUMBER = r"""\\{0,3}["']?\d[^\s,;}\]]{0,40}"""
_FRACTION = r"""\\{0,3}["']?\d{0,9}\.\d[^\s,;}\]]{0,40}"""
_PARTS = r"""\{(?:[\s,]{0,3}\\{0,3}["']?\w{1,20}\\{0,3}["']?\s?:\s?[\d.]{1,20}){1,3}\s?\}"""
_TIMED = r"(?:duration|latency|elapsed|run_?time|wall_?(?:time|clock)|took)"
_SPENT = r"(?:_(?:taken|spent|used|elapsed|in)){1,2}"
_SMALL_UNIT = (
    "(?:ns|us|ms|s|secs?|seconds?|(?:milli|micro|nano)s(?:ec(?:ond)?s)?|millis|micros|nanos)"
)
_END_OF_KEY = r"""\\{0,3}["']?\s?[:=]\s?"""
#: Durations whose key names a unit of seconds or less (`duration_seconds`, `latencyInMs`), that have parts (`{"secs": 0, "nanos": 5}`) or a fraction,
#: also in a text within JSON. A `runtime` in whole numbers without a unit, and minutes, are mostly content.
_DURATIONS = Mask(
    rf"""\b(?:{_MEASURED}_){{0,3}}(?:(?:{_TIMED}|time)(?:{_SPENT})?_{_SMALL_UNIT}{_END_OF_KEY}{_NUMBER}|time{_SPENT}{_END_OF_KEY}{_NUMBER}
|(?:{_TIMED}|time)(?:{_SPENT})?{_END_OF_KEY}{_PARTS}|{_TIMED}(?:{_SPENT})?{_END_OF_KEY}{_FRACTION})
|\b(?-i:(?:{_MEASURED}{_CAPITALIZED}{{0,2}}(?:Duration|Latency|Elapsed|Time)|duration|latency|elapsed|runtime|time)(?:In|Taken)?(?:Ns|Us|Ms|S|Secs?|Seconds|Milli(?:s|seconds)|Micros|Nanos)){_END_OF_KEY}{_NUMBER}"""
)
#: Generated ids, which are noise within a text, but the result itself if there is little other text.
_IDS = Mask(
    r"""\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]{1,32}\b
|\b(?:saved|written|stored|logged|dumped) (?:to|in|at|as)\b[^\n]{0,200}?_(?:(?:[0-9][a-f]|[a-f][0-9])[0-9a-f]{4}|(?:[0-9]{2}[a-f]|[a-f]{2}[0-9])[0-9a-f]{3}|(?:[0-9]{3}[a-f]|[a-f]{3}[0-9])[0-9a-f]{2}
|(?:[0-9]{4}[a-f]|[a-f]{4}[0-9])[0-9a-f]|[0-9]{5}[a-f]|[a-f]{5}[0-9])[0-9a-f]{0,60}\.[a-z]
|\b(?:(?:[0-9]{1,2}[a-f]|[a-f]{1,2}[0-9])[0-9a-f]{4}|(?:[0-9]{3,4}[a-f]|[a-f]{3,4}[0-9])[0-9a-f]{2}
|[0-9]{5,20}[a-f]|[a-f]{5,20}[0-9])[0-9a-f]{0,60}\b
|\b((?:ref(?:erence)?(?: id| no)?|id|job)[:#]? ?)[0-9a-f-]{6,40}\b|(?:^|[\s"'#:=(/])(?:0[0-9]{6,19}|[0-9]{12,20})\b
|\b(?:req|request|trace|span|call|session|msg|run|evt|chatcmpl)[_-][a-z0-9_-]{0,40}\d[a-z0-9_-]{0,40}\b"""
)
_mentions_id = occurs(r"""["']?\b(?:\w{1,30}_)?id["']?\s?[:=]""")
#: Kinds of noise that few results have. In one pattern with times, they take ten times as long, as the states of what counts
#: characters multiply; each has one of these beginnings or ends.
_ADVERT_LABEL = r"\b(?:ad|advert|advertisement|sponsored|promoted) ?: "
_ADVERT = rf"""|{_ADVERT_LABEL}[^\n"'\\]{{1,80}}"""
_PROCESS = r"|\b[a-z][\w.-]{0,40}\[\d{3,8}\]:"  # as in `sshd[4711]:`
_KEY_IN_URL = r"|[?&]\w{1,40}=[a-z_-]{0,40}[0-9](?:[\w-]|:|%3a){18,500}"
_may_hold_rare_noise = occurs(rf"{_ADVERT_LABEL}|\[\d{{3,8}}\]:|[?&]\w{{1,40}}=")


def _times(advert: str = "", process: str = "", key_in_url: str = "") -> str:
    """Return the pattern of times, durations, turns that a harness counts, and values labelled as a time, an id or the like."""
    return rf"""\b\d{{4}}-\d\d-\d\d[T_ -]\d\d-\d\d-\d\d(?:-\d{{1,6}})?Z?|\b20\d{{6}}[T_-]?\d{{6}}
|\b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)?\b
|\b(?:{_DAY},? )?(?:\d{{1,2}} )?{_MONTH} \d{{1,4}}(?:,? \d{{4}})?\b
|\b0x[0-9a-f]{{6,32}}\b|\bpid \d{{1,9}}\b|\b(?:process|thread|tid)[ =:#]{{1,2}}\d{{3,9}}\b
|(?:/tmp/)?\bipykernel_\d{{1,9}}(?:/\w{{1,40}}\.py)?
|/tmp/pytest-of-[\w-]{{1,40}}/pytest-\d{{1,6}}\b|/tmp[./]?[a-z0-9_-]{{0,20}}/?tmp[.a-z0-9_]{{6,14}}\b(?:/[\w.-]{{0,40}}[-_.][0-9a-f]{{5,20}}\b)?|/tmp/[\w.-]{{0,40}}[-_.][0-9a-f]{{5,20}}\b
{advert}
|\b\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?: ?[ap]m)?\b
|\b1\d{{9}}(?:\d{{3}}){{0,3}}\b
|\b\d{{1,9}}(?:\.\d{{1,9}})? ?(?:[kmg]?i?b(?:ytes)?/s|it/s|s/it)\b
|(?:(?:^|\n|\\r|\\n) {{0,9}}\d{{1,3}}(?: {{1,12}}[\d.]{{1,9}}[kmg]?){{5,7}}(?: {{1,9}}[-\d]{{1,4}}:[-\d]{{2}}:[-\d]{{2}}){{3}} {{1,9}}[\d.]{{1,9}}[kmg]?)+
|\b{_SPAN}\b|\b(?:\d{{1,5}}[dhm] ?){{1,3}}\d{{1,2}}[hms]\b|(?:  |\t)\d{{1,4}}[mhd]\b
{process}
|\byou (?:only |still )?have (?:only )?\d{{1,5}} (?:more )?(?:steps?|turns?|iterations?|rounds?|actions?|messages?|interactions?|chances?|tries|attempts?) (?:left|remaining)\b
|\bcurrent[ _](?:step|turn|iteration|round|action)(?:[ _]number)?["']?\s?[:=#]?\s?\d{{1,5}}(?:\s?(?:/|of)\s?\d{{1,5}})?
|\b(?:remaining[ _](?:steps?|turns?|iterations?|rounds?|actions?)|(?:steps?|turns?|iterations?|rounds?|actions?)[ _](?:left|remaining))["']?\s?[:=]\s?\d{{1,5}}
|\bobservation ?#?\d{{1,5}} ?:
|\b(?:turn|tick|round|move)s? ?[:=#] ?\d{{1,5}}(?:\s?(?:/|of)\s?\d{{1,5}})?\b|\b(?:time|turn|tick|round|move) \d{{1,5}}:|\bin \d{{1,5}} (?:moves?|turns?)\b
{key_in_url}
|\b(?:in|out|cell in) ?\[\d{{1,5}}\]|<ipython-input-\d{{1,5}}-[0-9a-f]{{1,40}}>
|\b{_LABEL}\\{{0,3}}["']?\s?[:=]\s?(?:"[^"]{{0,80}}"|'[^']{{0,80}}'|[^\s,;}}\]]{{1,80}})"""


_TIMES = Mask(_times())
_TIMES_AND_RARE_NOISE = Mask(_times(_ADVERT, _PROCESS, _KEY_IN_URL))
#: What counts the agent's own failures, or how long it is still shut out. A pattern of its own, as RE2 has limits for one.
_COUNTERS = Mask(
    r"""\b(?:failed|wrong|invalid|unsuccessful)[ _](?:log-?ins?|attempts?|tries|guesses|requests?)["']?\s?[:=]\s?\d{1,9}
|\berrors?[ _]so[ _]far["']?\s?[:=]\s?\d{1,9}|\b(?:retry-after|restarts?|restart_?count|tries)["']?\s?[:=]\s?\d{1,9}
|\bcrashloopbackoff {1,20}\d{1,6}(?: {1,3}\([^()\n]{1,12} ago\))?"""
)
#: Last lines that state the agent's use of tokens, or that its budget of steps ends; never the first line of a result.
_NOTICES = Mask(
    r"""\n\W{0,9}(?:tokens: )?[\d.,]{1,12}k? (?:(?:prompt|completion|input|output|total) tokens|(?:tokens )?sent)\b[^\n]{0,120}
|\n[^\n]{0,40}\b(?:you|this)\b[^\n]{0,40}\b(?:last|final) (?:step|turn|action|attempt|iteration|round|chance|message|response|try)\b[^\n]{0,120}
|\nonly \d{1,4} \w{1,20} (?:are |were )?allowed\b[^\n]{0,80}"""
)
_NOTICE_WORDS = ("tokens", "sent", "last", "final", "allowed")  #: each notice has one of them
_DAYS_AND_MONTHS = frozenset(
    {
        *("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
        *("jan", "feb", "mar", "apr", "may", "jun"),
        *("jul", "aug", "sep", "oct", "nov", "dec"),
    }
)
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_DIGITS_MARKED = bytes(code in b"0123456789" for code in range(256))
_VARYING = ("tmp", "Ad:", "ad:")  #: beginnings of noise that may have no digit
_OPENING = ("{", "[")  #: first characters of JSON


class ResultOrigin(NamedTuple):
    """Origin of a result, which determines whether a new id in it is noise."""

    is_asked_again: bool  #: the call repeats one request: a new id in its confirmation is noise
    creates_things: bool  #: each call creates a new thing, which the new id names


def beginning_of(text: str) -> str:
    """Return the beginning of a result up to the first number, equal for most results that differ only by noise."""
    beginning = text[:_BEGINNING_CHARACTERS]
    end = _index_of_digit(beginning)
    for mark in _VARYING:
        index = beginning.find(mark, 0, end)
        end = index if index >= 0 else end
    # Letters before a number may belong to it, as in an id, and so may a day or a month, as in a date.
    head = beginning[:end].rstrip(ascii_letters)
    while head.rstrip(", ")[-3:].lower() in _DAYS_AND_MONTHS:
        head = head.rstrip(", ").rstrip(ascii_letters)
    return head


def _index_of_digit(text: str) -> int:
    """Return the index of the first digit of a text, or the text's length if there is none."""
    if text.isascii():
        index = text.encode().translate(_DIGITS_MARKED).find(1)
        return index if index >= 0 else len(text)
    found = _DIGIT.search(text)
    return found.start() if found else len(text)


def without_noise(text: str, work: ResultOrigin, budget: WorkBudget) -> str:
    """Return a result without noise."""
    if len(text) > _SHORT_CHARACTERS:
        return _without_noise(text, work, budget)
    bare, units = _short_without_noise(text, work)
    budget.spent += units
    return bare


@lru_cache(_REMEMBERED)  # as short results, such as failures, come again
def _short_without_noise(text: str, work: ResultOrigin) -> tuple[str, float]:
    """Return the same of a short result, and the units of work that it takes."""
    budget = WorkBudget()
    return _without_noise(text, work, budget), budget.spent


def _without_noise(said: str, work: ResultOrigin, budget: WorkBudget) -> str:
    text = said
    if text[:1] in _OPENING:
        text = _in_order(text)
    if "\r" in text:
        text = _overwritten(text)
    text = _without_notices(text, budget)
    if not _DIGIT.search(text) and not any(mark in text for mark in _VARYING):
        return text
    if _TIME_LEFT.may_occur(text):
        text = _masked(_TIME_LEFT, r"left \1\2\3 ", text, budget)
    text = _masked(_DURATIONS, "#", text, budget)
    times = _TIMES_AND_RARE_NOISE if _may_hold_rare_noise(text) else _TIMES
    text = _masked(times, "#", text, budget)
    if _COUNTERS.may_occur(text):
        text = _masked(_COUNTERS, "#", text, budget)
    named = _masked(_IDS, r"\1#", text, budget)
    if named == text:
        return named
    if work.is_asked_again and (work.creates_things or reports_success(said)):
        return named
    is_enough = len(_WORD.findall(named[:_HEAD_CHARACTERS])) >= _WORDS_BESIDE_IDS
    return named if is_enough and not (work.creates_things and _mentions_id(text)) else text


def _overwritten(text: str) -> str:
    """Return a text as a terminal shows it, where a carriage return overwrites the line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _without_notices(text: str, budget: WorkBudget) -> str:
    """Return a text without notices of a harness on the agent's budget at its end."""
    start = max(0, len(text) - _NOTICE_CHARACTERS)
    end = text[start:].lower()
    if "\n" not in end or not any(word in end for word in _NOTICE_WORDS):
        return text
    return text[:start] + _masked(_NOTICES, "", text[start:], budget)


def _in_order(text: str) -> str:
    """Return JSON with sorted keys, or any other text unchanged."""
    if len(text) > _ORDERED_CHARACTERS:
        return text
    try:
        return canonical(orjson.loads(text)).decode()
    except orjson.JSONDecodeError:
        return text


def _masked(noise: Mask, mark: str, text: str, budget: WorkBudget) -> str:
    masked, marks = noise.subn(mark, text, _MARKS_LIMIT)
    budget.count_masking(text, marks)
    return masked
