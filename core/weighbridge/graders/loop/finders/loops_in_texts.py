"""Search for loops in the messages of an agent: equal or similar texts, alone or in cycles."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.empty_words import empty_words
from weighbridge.graders.loop.finders.ended_runs import stopped_runs
from weighbridge.graders.loop.finders.findings import Finding, joined
from weighbridge.graders.loop.finders.known_states import known_states
from weighbridge.graders.loop.finders.missing_answers import cut_off_answers, failed_answers
from weighbridge.graders.loop.finders.refusals import claims_inability, refused_answers
from weighbridge.graders.loop.finders.repeated_passages import repeated_passages
from weighbridge.graders.loop.finders.repeated_talk import repeated_talk, report_calls
from weighbridge.graders.loop.finders.repeated_texts import (
    LABEL_CHARACTERS,
    OBJECT_CHARACTERS,
    between_labels,
    exchanges,
    few_texts,
    is_label,
    same_beginnings,
    texts_in_order,
)
from weighbridge.graders.loop.finders.same_words import same_words
from weighbridge.graders.loop.finders.several_agents import (
    repeated_code,
    repeated_reports,
    repeated_reviews,
)
from weighbridge.graders.loop.finders.standstills import failed_steps, standstills
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.message_kinds import (
    asks_to_continue,
    is_refusal,
    only_prompts,
)
from weighbridge.graders.loop.history.similarity import RecentTexts, Threshold
from weighbridge.graders.loop.history.text_forms import ANY_KIND, lists_items
from weighbridge.graders.loop.history.written_edits import code_in
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits, WorkBudget

_QUESTIONS = 3  #: maximum questions in a row to which all players may give one answer
#: Beginnings of what is no question to players: nothing, and JSON, in which a harness tells what an agent perceives.
_OBJECTS = ("", "{", "[")
_POLLS = 3  #: different questions from which a harness is taken to ask several players
#: minimum length of a text without attempt numbers; the numbers are kept in a shorter one
_LEAST_UNCOUNTED_CHARACTERS = 80
#: length of the beginning and of the end of a text that are searched for attempt numbers
_EDGE_CHARACTERS = 120
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(
    r"\A\W{0,2}(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?Z?\W{1,3}"
)
_COUNT = re.compile(
    r"(?i)\b(?:attempt|try|retry|trial|iteration|turn|round|step|take|reflection|episode|revision|draft)\s?(?:no\.? ?|number |#)?\d{1,5}(?: ?(?:of|/) ?\d{1,5})?\b"
)
#: A greeting, or what a person sends to try an agent out.
_GREETING = re.compile(
    r"\W{0,5}(?:hi+|hello+|hey+|yo|hola|good (?:morning|afternoon|evening|day)|ping|test(?:ing)?|/?start)(?: there)?\W{0,5}",
    re.IGNORECASE,
)
#: A short question about a matter, rather than what the agent does next.
_QUESTION = re.compile(
    r"\W{0,5}(?:what|which|who|whose|where|when|how (?:many|much|old|long|far)|is there|are there)\b"
    r"(?![^?]{0,150}\b(?:you|your|next|now|action|step|move|tool|command|answer|choice|decision|plan|wrong)\b)"
    r"[^?\n]{1,150}\?\W{0,5}",
    re.IGNORECASE,
)
_OTHER_REQUESTS = 2  #: from which on a person is taken to ask, rather than a harness
#: A ballot: several players may vote alike.
_VOTE = re.compile(r"\W{0,3}(?:i vote\b|my vote\b|vote(?:d|s)?\W)", re.IGNORECASE)
_may_contain_count = occurs(_COUNT.pattern)


def loops_in_texts(
    turns: Sequence[Message],
    limits: Limits,
    budget: WorkBudget,
    *,
    with_calls: bool,
    looped_ids: Container[Any] = (),
) -> tuple[list[int], list[Finding]]:
    """Return the numbers of the turns, equal for equal turns, and the loops in them.

    Turns with calls are not reported on their own unless `with_calls` is true, which means that calls are not examined.
    `looped_ids` are the step ids of the calls in loops.
    """
    texts = _TextNumbers(limits.similarity_threshold, budget)
    row = _row(turns, texts, with_calls=with_calls)
    spoken = [with_calls or not turn.calls for turn in turns]
    requests = _some_requests(turns)
    findings = [
        finding
        for finding in (
            *texts_in_order(row, limits),
            *few_texts(row, spoken, limits),
            *repeated_reports(turns, row, limits),
            *between_labels(turns, row, limits),
            *exchanges(turns, row, limits),
        )
        if any(spoken[index] for index in finding.indices)
        and not (
            _lists_items(turns, row, finding)
            or _is_chorus(turns, finding)
            or _answers_greetings(turns, finding)
            or _answers_one_question(turns, finding, requests)
            or _answers_others(turns, finding)
            or report_calls(turns, finding.indices)
        )
    ]
    if findings:
        findings = [*_without_polls(findings, turns)]
    findings += [
        *same_beginnings(turns, limits),
        *refused_answers(turns, limits),
        *known_states(turns, limits),
        *repeated_passages(turns, limits, budget),
        *standstills(turns, looped_ids, limits),
        *empty_words(turns, limits),
        *failed_answers(turns, limits),
        *failed_steps(turns, limits),
        *cut_off_answers(turns, limits),
        *repeated_code(turns, limits),
        *repeated_reviews(turns, limits),
        *same_words(turns, limits, budget),
        *repeated_talk(turns, limits, budget, looped_ids),
        *stopped_runs(turns, limits, looped_ids),
    ]
    return row, joined(findings, row)


def _without_polls(findings: Sequence[Finding], turns: Sequence[Message]) -> Iterator[Finding]:
    """Yield the findings that are not equal answers to a few questions, each of which a harness puts to all players.

    It does so with at least three questions, to which answers differed, and of which each player answers each once. The number
    of players is the largest number of answers to one question.
    """
    asked = [""]
    for turn in turns[:-1]:
        asked.append(turn.reply or ("" if turn.calls else asked[-1]))
    polls: dict[str, int] = {}
    for question, group in groupby(range(len(turns)), asked.__getitem__):
        given = [turns[index] for index in group]
        answers = [turn.text for turn in given]
        speakers = [turn.step.name for turn in given]
        is_once_each = None in speakers or len(set(speakers)) == len(speakers)
        if question[:1] not in _OBJECTS and len(set(answers)) > 1 and is_once_each:
            polls[question] = max(len(answers), polls.get(question, 0))
    players = max(polls.values()) if len(polls) >= _POLLS else 0
    for finding in findings:
        questions = {asked[index] for index in finding.indices}
        most = players * min(len(questions), _QUESTIONS)
        if len(finding.indices) > most or any(question[:1] in _OBJECTS for question in questions):
            yield finding


def _lists_items(turns: Sequence[Message], row: Sequence[int], finding: Finding) -> bool:
    """Return whether similar texts name the items of a list one by one."""
    alike: defaultdict[int, list[str]] = defaultdict(list)
    for index in finding.indices:
        alike[row[index]].append(_without_counts(turns[index].text))
    return any(map(lists_items, alike.values()))


def _is_chorus(turns: Sequence[Message], finding: Finding) -> bool:
    """Return whether each of several agents says the same once, as players who are ready to vote."""
    speakers = [turns[index].step.name for index in finding.indices]
    return None not in speakers and len(set(speakers)) == len(speakers)


def _answers_greetings(turns: Sequence[Message], finding: Finding) -> bool:
    """Return whether texts answer a user who greets the agent again and again."""
    before = [turns[index - 1].reply for index in finding.indices if index]
    return bool(before) and all(map(_GREETING.fullmatch, before))


def _some_requests(turns: Sequence[Message]) -> set[str]:
    """Return the first different requests that do more than prompt the agent: as many as tell a person from a harness."""
    asked = dict.fromkeys(turn.reply for turn in turns if turn.reply)
    return set(islice((text for text in asked if not only_prompts(text)), _OTHER_REQUESTS + 1))


def _answers_one_question(turns: Sequence[Message], finding: Finding, requests: set[str]) -> bool:
    """Return whether texts answer a person who asks one question again and again, and other things as well.

    `requests` are some of all requests.
    """
    asked = {turns[index - 1].reply for index in finding.indices if index}
    if len(asked) != 1 or any(claims_inability(turns[index].text) for index in finding.indices):
        return False
    return len(requests - asked) >= _OTHER_REQUESTS and all(map(_QUESTION.fullmatch, asked))


def _answers_others(turns: Sequence[Message], finding: Finding) -> bool:
    """Return whether short answers, which neither ask nor refuse anything, are each to another request of the user."""
    answers = [turns[index] for index in finding.indices]
    asked = [turns[index - 1].reply for index in finding.indices if index]
    return (
        len({turn.requests_before for turn in answers}) == len(answers)
        and len(set(asked)) == len(asked)
        and all(map(_is_verdict, {turn.text for turn in answers}))
        and not any(not text or is_refusal(text) or asks_to_continue(text) for text in asked)
    )


def _is_verdict(text: str) -> bool:
    return len(text) <= OBJECT_CHARACTERS and "?" not in text and not claims_inability(text)


def _row(turns: Sequence[Message], texts: _TextNumbers, *, with_calls: bool) -> list[int]:
    spoken = [turn.text and not turn.is_action and (with_calls or not turn.calls) for turn in turns]
    for turn, is_spoken in zip(turns, spoken, strict=True):
        if is_spoken:
            texts.add(turn.text)
    inputs = _Inputs()
    numbers: dict[Any, int] = {}
    row = []
    for index, (turn, is_spoken) in enumerate(zip(turns, spoken, strict=True)):
        if not is_spoken and len(turn.calls) == 1:
            # Most turns are one call, and the garbage collector does not track a number.
            row.append(numbers.setdefault(turn.calls[0].pair_id, len(numbers)))
            continue
        key: tuple[object, ...] = (texts.number(turn.text) if is_spoken else None,)
        if turn.calls:
            key += tuple([call.pair_id for call in turn.calls])
        else:
            key += (inputs.number(key[0], turn.step.input, index),)
        if is_spoken and (code := code_in(turn.text)):  # a changed line may be what was asked for
            key += ("".join(code.split()),)
        if is_spoken and turn.step.input is None and is_label(turn.text):
            key += (index if _VOTE.match(turn.text) else turn.requests_before,)
        row.append(numbers.setdefault(key, len(numbers)))
    return row


def _without_counts(text: str) -> str:
    """Return a text without a leading time and attempt numbers, unless it is too short without them."""
    if not (_DIGIT.search(text[:_EDGE_CHARACTERS]) or _DIGIT.search(text[-_EDGE_CHARACTERS:])):
        return text
    timeless = _CLOCK.sub("", text)
    if len(timeless) > LABEL_CHARACTERS:
        text = timeless
    start, end = _EDGE_CHARACTERS, max(_EDGE_CHARACTERS, len(text) - _EDGE_CHARACTERS)
    uncounted = f"{_masked(text[:start])}{text[start:end]}{_masked(text[end:])}"
    return uncounted if len(uncounted) >= _LEAST_UNCOUNTED_CHARACTERS else text


def _masked(part: str) -> str:
    """Replace attempt numbers in the beginning or the end of a text."""
    return _COUNT.sub("#", part) if _may_contain_count(part) or not part.isascii() else part


class _TextNumbers:
    """Numbering of texts in which similar texts get equal numbers."""

    def __init__(self, threshold: float, budget: WorkBudget) -> None:
        self._budget = budget
        self._known: dict[str, int] = {}
        self._same_as: dict[int, int] = {}  #: a number, and a smaller equivalent number
        self._recent = RecentTexts(Threshold(threshold, ANY_KIND), budget)

    def add(self, text: str) -> None:
        """Compare a text with recent different texts; texts that are similar to the same text become equivalent."""
        if text in self._known:
            return
        number = self._known[text] = len(self._known)
        if not self._budget.is_left:
            return
        alike = self._recent.add(number, _without_counts(text), self._least)
        least = min(alike, default=number)
        self._same_as |= dict.fromkeys(alike | {number}, least)
        del self._same_as[least]

    def number(self, text: str) -> int:
        """Return the number of a text that was added."""
        return self._least(self._known[text])

    def _least(self, number: int) -> int:
        while number in self._same_as:
            number = self._same_as[number]
        return number


class _Inputs:
    """Inputs of turns, which distinguish equal texts about different inputs."""

    def __init__(self) -> None:
        #: by what was said: first and last input
        self._last: dict[object, tuple[bytes, bytes]] = {}

    def number(self, text: object, given: Any, index: int) -> object:
        """Return the input of a turn, or the first input of the conversation that it continues."""
        if given is None:
            return None if text is not None else index
        now = canonical(given)
        first, before = self._last.get(text, (now, now))
        first = first if _continues(before, now) else now
        self._last[text] = first, now
        return first


def _continues(before: bytes, now: bytes) -> bool:
    """Return whether an input equals or extends the previous one, as the messages of a conversation do."""
    return now.startswith(before.removesuffix(b"]"))
