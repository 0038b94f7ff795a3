"""What a user orders to be done a number of times, `Run it 12 times`, or again and again: `Check it every ten minutes`."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import NamedTuple

from weighbridge.graders.loop.linear_patterns import linear, occurs

_CHARACTERS = 4_000  #: of the beginning of a message that are searched
_THINGS_CHARACTERS = 600  #: of the beginning of a message that are searched for what is wanted
_FEWEST = 4  #: things, of which fewer need no order
_FOUND = 20  #: maximum numbers of times in a message that are examined
_NUMBERS = {
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
}
_NUMBER = rf"\d{{1,3}}(?:,\d{{3}})+|\d{{1,6}}|{'|'.join(_NUMBERS)}"
_VERB = (
    "run|re-?run|execute|repeat|call|perform|do|invoke|roll|flip|toss|throw|sample|measure|query|ping|probe|poll|check|test"
    "|send|press|click|play|generate|evaluate|time|fetch|request|open|ask|try|retry|restart|hit"
)
#: Verbs of payments and messages.
_ACT = "pay|refund|transfer|charge|debit|credit|deposit|withdraw|wire|donate|post|publish|notify|message|e?mail|text|remind|invite"
_TIMES = (
    rf"[\s(]({_NUMBER})"
    r"(?:x\b| (?:[^\W\d]{1,20} ){0,2}(?:times|runs|repetitions|repeats|samples|measurements|readings)\b)"
)
_may_order = occurs(_TIMES)
_times = linear(_TIMES)
#: The beginning of a clause that orders something.
_IMPERATIVE = re.compile(
    r"\W*(?:(?:please|kindly|now|just|also|first|next|ok|okay|(?:can|could|would|will) you|i want you to|you (?:should|must|need to)"
    rf"|let'?s)\W*){{0,5}}(?:{_VERB}|{_ACT})\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;:!?]\s|\n")
_CONDITION = re.compile(r"\b(?:if|unless|whenever|in case)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;:!?,]\s|\n|\b(?:and|then|but|so)\s", re.IGNORECASE)
#: A number that is a limit is no order, nor is a rate or a comparison.
_NO_ORDER = re.compile(
    r"\b(?:at most|up to|max(?:imum)?|no more than|not more than|more than|less than|fewer than|within|never|not|if|was|were|has"
    r"|have|had|failed)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\s{1,3}(?:(?:a|an|per|each|every)\s{1,3}(?:second|minute|hour|day|week|month|year)"
    r"|slower|faster|longer|shorter|more|less|larger|bigger|smaller|higher|lower|as|than)\b",
    re.IGNORECASE,
)
_UNIT = r"(?:second|sec|minute|min|hour)s?"
_RATE = rf"\bevery (?:(?:{_NUMBER}|few|other|half an|quarter of an) ?)?{_UNIT}\b|\b(?:once|twice) (?:a|an|per|every|each) {_UNIT}\b"
_may_state_rate = occurs(_RATE)
_rates = linear(_RATE)
#: The user wants something to be looked at again and again, which a rate alone does not say: `It fails every ten minutes`.
_looks = re.compile(
    rf"(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bour )(?<!\bits )(?<!\bmy )\b(?:{_VERB}|look|see|watch|monitor|observe|patrol|verify|inspect|review|read"
    r"|report|tell|update|refresh|record|log|take|keep|get|list|scan|visit|return|come back|go)\b",
    re.IGNORECASE,
).search
_states = re.compile(
    r"\b(?:runs|ran|running|fails|failed|failing|fires|fired|executes|executed|happens|happened|occurs|occurred|triggers|crashes|crashed|restarts|restarted"
    r"|starts|polls|checks|sends|updates|writes|reads|logs|expires|rotates|returns|breaks|dies|gets|was|were|been|hangs|stops)\b",
    re.IGNORECASE,
).search
_orders_watch = occurs(
    rf"\b(?:monitor|watch|patrol|observe|keep (?:an eye|watch|monitor|check)\w{{0,3}}|wait)\b.{{0,120}}\b(?:until|till|at most|for (?:the next )?(?:{_NUMBER}|an?|half an?) {_UNIT})\b"
)
#: A number and the words after it, which may name things that are wanted.
_THINGS = rf"\b({_NUMBER}) ((?:[^\W\d][\w-]{{0,20}} ){{0,3}}[^\W\d][\w-]{{0,20}})"
_may_want_things = occurs(_THINGS)
_things = linear(_THINGS)
_FUNCTION_WORDS = frozenset(
    ("of", "to", "or", "and", "in", "on", "at", "for", "from", "with", "is")
)
_is_unit = re.compile(
    rf"(?:{_UNIT}|times|turns|steps|rounds|iterations|attempts|tries|days|weeks|months|years)\Z",
    re.IGNORECASE,
).match
_BEFORE_CHARACTERS = 120  #: before a number, in which its clause begins
_WORD = re.compile(r"[^\W\d_]{4,}|\bpay\b")
_COUNTING = frozenset({"times", "runs", "repetitions", "repeats", "samples", "please", *_NUMBERS})


class Order(NamedTuple):
    """What a user orders to be done a number of times, or to be watched."""

    times: int
    words: frozenset[str]  #: of four letters and more in its clause, and `pay`, in lower case
    is_watch: bool = False  #: to look at something again and again, with waits between
    things: frozenset[int] = frozenset()  #: how many of something are wanted, of four and more


def order_in(text: str) -> Order | None:
    """Return the order with the largest number of times in a message, with whether it orders a watch; None if it orders neither."""
    text = text[:_CHARACTERS]
    orders = []
    for found in islice(_times.finditer(text) if _may_order(text) else (), _FOUND):
        sentence = _SENTENCE_END.split(
            text[max(0, found.start() - _BEFORE_CHARACTERS) : found.start(1)]
        )[-1]
        clause = _CLAUSE_END.split(sentence)[-1]
        is_order = _IMPERATIVE.match(clause) and not (
            _CONDITION.search(sentence)
            or _NO_ORDER.search(clause)
            or _COMPARES.match(text, found.end())
        )
        if is_order:
            words = frozenset(_WORD.findall(f"{clause}{found[0]}".lower())) - _COUNTING
            orders.append(Order(_value_of(found[1]), words))
    watch = Order(0, frozenset(), _orders_watch(text) or _orders_rate(text))
    most = max(orders, key=lambda order: order.times, default=watch)._replace(
        is_watch=watch.is_watch, things=_things_in(text)
    )
    return most if most.times or most.is_watch or most.things else None


def _things_in(text: str) -> frozenset[int]:
    """Return how many of something a message names."""
    text = text[:_THINGS_CHARACTERS]
    found = islice(_things.finditer(text) if _may_want_things(text) else (), _FOUND)
    numbers = [_value_of(each[1]) for each in found if _names_things(each[2])]
    return frozenset(number for number in numbers if number >= _FEWEST)


def _names_things(words: str) -> bool:
    """Return whether words after a number name several things."""
    named = takewhile(lambda word: word not in _FUNCTION_WORDS, words.lower().split(" "))
    return any(word.endswith("s") and not _is_unit(word) for word in named)


def _value_of(number: str) -> int:
    return _NUMBERS.get(number.lower()) or int(number.replace(",", ""))


def _orders_rate(text: str) -> bool:
    """Return whether a sentence with a rate orders to look at something, rather than to say how often it happens."""
    for found in islice(_rates.finditer(text) if _may_state_rate(text) else (), _FOUND):
        start, end = found.span()
        before = _SENTENCE_END.split(text[max(0, start - _BEFORE_CHARACTERS) : start])[-1]
        after = _SENTENCE_END.split(text[end : end + _BEFORE_CHARACTERS])[0]
        if (_looks(before) and not _states(before)) or (not before.strip() and _looks(after)):
            return True
    return False
