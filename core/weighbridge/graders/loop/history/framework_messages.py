"""Messages in the user's role that the agent framework wrote: prompts to continue, and refusals of an answer."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from weighbridge.graders.loop.history.channel_metadata import message_id, without_metadata
from weighbridge.graders.loop.history.result_kinds import reports_failure
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.graders.loop.work_budget import FOLDED_CHARACTERS, WorkBudget
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces import Step

_REMEMBERED_MESSAGES = 6  #: number of last user messages; a repeat of one is not a new instruction
_COMPARED_CHARACTERS = 600  #: length of the beginning of a message that is compared
_FIRST_WORDS = 3  #: number of words that two equal messages share in any case
_PROMPT_CHARACTERS = 200  #: a near repeat of at least this length is from the framework
_NEARLY = 90.0  #: minimum similarity in percent
_COURTESY_CHARACTERS = 40  #: a message of at least this length is more than a courtesy
_COURTESY = re.compile(
    r"\b(?:thanks?|thx|bye|goodbye|welcome|cheers|great day|you too|take care|ok|okay|yes|no|sure|right|fine|good|continue|go on"
    r"|go ahead|keep going|proceed|next|again|more|please)\b",
    re.IGNORECASE,
)
_WORD_ASKED = re.compile(r"\W{0,5}\w{1,20}\W{0,3}\?\W{0,5}")
_STEP = re.compile(
    r"\W{0,5}(?:(?:the )?next(?: one)?|again|once more|one more|more)\W{0,5}", re.IGNORECASE
)
#: One of several things, whatever is in it: `Review 3: ok`.
_NUMBERED = re.compile(r"\s{0,9}[^\W\d]\w{0,20}[ #]{1,3}\d{1,6}\s?[:.)]\s")
_DIGITS = b"0123456789"
#: after it a message is from a person or a scheduler; a framework prompts within seconds
_PAUSE_NS = 300 * 10**9
#: An event of a task in the background, of which each is news, however alike they are.
_NOTIFICATION = re.compile(r"\s{0,9}<[\w-]{0,40}(?:notification|event)\b", re.IGNORECASE)
_ANSWER_CHARACTERS = 60  #: maximum length of an answer to a question of the agent
_QUESTION_CHARACTERS = 200  #: of the end of an agent's text that are searched for a question
_orders_again = occurs(
    r"\b(?:again|re-?try|once more|one more time|re-?run|repeat|still|instead)\b"
)
_QUOTED_CHARACTERS = 60  #: of a message that another one quotes
_ANNOUNCING_CHARACTERS = 4_000  #: of the first message that are searched for it
_QUOTED = re.compile(
    r"[\"\u201c\u201e\u00ab`]([^\"\n\u201c\u201d\u00bb`]{1,60})[\"\u201c\u201d\u00bb`]"
)
_BANNER = re.compile(r"^[ \t]{0,4}={3,80}([^=\n]{3,80})={3,80}[ \t]{0,4}$", re.MULTILINE)
_BANNER_CHARACTERS = 200  #: length of the beginning of a message that is searched for a banner
#: A message of another agent, as its framework marks it.
_FROM_AGENT = re.compile(
    r"\W{0,3}[\w .-]{1,40}: ?\(from (?:an)?other (?:bot|agent)\)", re.IGNORECASE
)
#: What the last answer took, and nothing else.
_USAGE = re.compile(
    r"\W{0,9}(?:tokens: {0,3}[\d.,]{1,15}k? (?:sent|in|input|prompt)"
    r"|[\d.,]{1,15}k? (?:(?:prompt|input|completion|output|total) )?tokens?)\b[^\n]{0,200}\s{0,9}",
    re.IGNORECASE,
)
_USAGE_CHARACTERS = 250
#: A line of a log with its time and level.
_LOG_LINE = re.compile(
    r"\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]{0,12}[\s\]|:-]{1,5}\[?(?:debug|info|warn(?:ing)?|error|critical)\b",
    re.IGNORECASE,
)
_PLANNED_CHARACTERS = range(15, 301)  #: of a step of a plan
_PLANNED_STEPS = 3  #: minimum steps of a plan that are sent one by one
_MARK_OF_ITEM = re.compile(r"\s{0,9}(?:[-*\u2022]|(?:step )?\d{1,3}[.):])?\s{0,9}", re.IGNORECASE)
#: Names of senders that are no users: other agents and parts of the framework.
_PARTS = (
    "agents?|aider|assistant|bot|chat_?bot|planner|coder|critic|executor|reviewer|evaluator|assess(?:or)?|experts?|oracle|judge|chat_?manager"
    "|monitor|observer|narrator|world|game|simulat(?:ion|or)|supervisor|orchestrator|logs?|logger|tools?|environment|env|system"
    "|results?|observations?|console|terminal|computer|output|feedback|notifications?"
)
#: One of them as a word, also of a name in camel case.
_PROGRAM = re.compile(rf"(?:^|[\W\d_]|(?<=[a-z])(?=[A-Z]))(?i:{_PARTS})(?=$|[\W\d_A-Z])")
_NAME_CHARACTERS = 60  #: of a name that are searched
_LOG_LINES = 20  #: of a message that are examined
_USER_NAME = re.compile(r"user|human|customer|client|admin", re.IGNORECASE)
#: The framework found no action in the agent's text, found several, or could not parse it.
_mentions_missing_action = occurs(
    r"""\bexactly one (?:action|command|tool call|function call|code block)\b|\btriple backticks\b|\bformat your (?:action|response|answer|output)\b
|\b(?:without|no|not (?:find|contain|include|make|use|call)|missing|lacks?) (?:any |a |an |valid )?(?:tool|function)(?: calls?)?\b
|\bno (?:valid )?(?:action|command|code ?block|code) (?:was |were |is )?(?:found|provided|given|detected|from|in)\b
|\b(?:not|couldn't|can't|don't|didn't|cannot|failed to|unable to) (?:parse|extract|detect|understand) (?:your |the |an? |any )?(?:action|response|command|tool|function|input|output|json|code|message)
|\b(?:invalid|wrong|malformed|incorrect) (?:action|format|(?:tool|function|api) calls?|json|response)\b|\b(?:parsing|parse|format) error\b
|\b(?:actions?|commands?|calls?|formats?|json|responses?|outputs?) (?:does not|do not|doesn't|don't|did not|is|are|was|were|seems?|looks?)(?: to be)? (?:not (?:be )?valid|invalid|malformed|follow|match the format)
|\b(?:response|answer|reply|message|output) (?:is|was|seems|appears)(?: to be)? (?:empty|blank)\b|\b(?:empty|blank) (?:response|answer|reply|message)\b
|\A\s*(?:tool|function) (?:results|outputs|responses)\s?:\s*\z"""
)
#: The framework asks the agent to continue, or states how many turns remain.
_asks_to_continue = occurs(
    r"""<system-reminder>|\b(?:please )?(?:continue|proceed|keep (?:working|going))\b|\byou have (?:used )?\d{1,6}\b.{0,60}\b(?:left|remain|used|turns?|steps?|iterations?)
|\b\d{1,6} (?:turns?|steps?|iterations?|attempts?) (?:left|remain)|\bif (?:you (?:think|believe|have)|the task is)\b.{0,60}\b(?:complete|solved|done|finished)"""
)
#: Prompts of known frameworks to an agent that has not acted: Inspect's and OpenHands's.
_KNOWN_PROMPT = re.compile(
    r"\s{0,9}(?:Please proceed to the next step using your best judge?ment\.|Please continue working on the task on whatever approach you think is suitable\.)"
)
#: The framework or the user says that the task is not complete.
_mentions_incomplete = occurs(
    r"""\b(?:not|isn't|n't|never) (?:yet |been )?(?:complete|done|finished|solved|accepted|passed|satisfied|correct|precise|accurate|specific|sufficient|acceptable|good enough)|\b(?:rejected|refused|declined|incomplete|unfinished)\b
|\bpatch is empty\b|\b(?:not|n't) be (?:applied|accepted|processed|executed|completed|verified)\b|\bstill (?:fail|report|missing|incorrect|wrong|broken)|\b(?:is|are) (?:still )?missing\b"""
)


def user_text(step: Step) -> str:
    """Return the text of a user's step without what a gateway writes around it, or "" if it has none."""
    return without_metadata(_whole_text(step))


def _whole_text(step: Step) -> str:
    content = step.output if step.output is not None else step.input
    return encodable(content) if type(content) is str else ""


def is_request(step: Step) -> bool:
    """Return whether a user's message is more than a courtesy or a short reply, such as thanks or yes."""
    text = user_text(step)
    is_long = len(text) >= _COURTESY_CHARACTERS
    return is_long or not _COURTESY.search(text) or _NUMBERED.match(text) is not None


def reports_missing_action(text: str) -> bool:
    """Return whether a message of the framework says that the agent's text does not contain exactly one action, or lists no results of tools."""
    return _mentions_missing_action(text[:_COMPARED_CHARACTERS])


def asks_to_continue(text: str) -> bool:
    """Return whether a message only asks the agent to continue, or says how many turns remain."""
    return _asks_to_continue(text[:_COMPARED_CHARACTERS])


def only_prompts(text: str) -> bool:
    """Return whether a message is a courtesy, a question of one word such as `ready?`, or asks the agent to continue."""
    if is_notification(text):
        return False
    is_courtesy = len(text) < _COURTESY_CHARACTERS and _COURTESY.search(text) is not None
    return is_courtesy or _WORD_ASKED.fullmatch(text) is not None or asks_to_continue(text)


def is_notification(text: str) -> bool:
    """Return whether a message is an event of a task in the background."""
    return _NOTIFICATION.match(text) is not None


def is_refusal(text: str) -> bool:
    """Return whether a message refuses the agent's answer or action."""
    beginning = text[:_COMPARED_CHARACTERS]
    return reports_missing_action(text) or _mentions_incomplete(beginning) or reports_failure(text)


def normalized_beginning(text: str) -> str:
    """Return the beginning of a message, normalized so that it is equal for repeats of one prompt."""
    beginning = text[:_COMPARED_CHARACTERS].casefold().encode("utf-8", "surrogatepass")
    undated = beginning.translate(None, _DIGITS)  # ten times as fast with bytes
    return " ".join(undated.decode("utf-8", "surrogatepass").split())


def prompt_indices(steps: Sequence[Step]) -> set[int]:
    """Return the indices of the user's messages that are not new requests.

    The first order of a run, given again, is a request, unless a call failed just before: then a harness gives it to an agent
    that has not got on. So is a short message that comes again after a turn with a call and an answer, such as that of a
    scheduler, one that the first message of the run announces in quotation marks, and one that comes minutes after the
    agent's answer.

    No requests are the steps of the agent's own plan; messages that are soon repeated, including the first one; near repeats
    whose length or text shows that they are from the framework; those with the banner of an earlier one; short answers to
    what the agent asks after a failure; empty ones; lines of logs; and messages of other agents, about a missing action or
    usage.
    """
    found = _planned_steps(steps)
    names = {step.name for step in steps if step.type == "user"}
    last: deque[_UserMessage] = deque(maxlen=_REMEMBERED_MESSAGES)
    budget = WorkBudget()
    first: _UserMessage | None = None
    announced: frozenset[str] | None = None
    for index, step in enumerate(steps):
        if step.type != "user":
            continue
        message = _UserMessage(index, user_text(step), message_id(_whole_text(step)))
        text = message.text
        if is_notification(text) or _follows_pause(steps, index):
            continue
        first = first or message
        is_again = first is not message and message.repeats(first) and _is_order(text)
        if is_again and not _has_failed_before(steps, index):
            continue
        is_trigger = len(text) < _PROMPT_CHARACTERS and _follows_turn(steps, index)
        if is_trigger and not (asks_to_continue(text) or is_refusal(text)):
            continue
        if len(text) <= _QUOTED_CHARACTERS and first is not message:
            announced = announced if announced is not None else _quoted_in(first.text)
            if text.strip() and _plain(text) in announced:
                continue
        if first is not message and _answers_failure(steps, index):
            found.add(index)
        misses_action = bool(last) and budget.is_left and reports_missing_action(text)
        gist = _gist_of_prompt(message, budget, misses_action=misses_action) if last else ""
        for earlier in last if text else ():
            if _is_near_repeat(message, earlier, gist, budget):
                found |= {earlier.index, index}
        is_empty = type(step.output) is str and not text.strip()
        is_of_program = (
            _states_usage(text)
            or _FROM_AGENT.match(text)
            or _KNOWN_PROMPT.match(text)
            or _is_log(steps, index)
            or (last and _names_program(step.name) and (len(names) > 1 or text[:1] == "{"))
        )
        if is_empty or (gist and misses_action) or is_of_program:
            found.add(index)
        last.append(message)
    return found


def _is_near_repeat(
    message: _UserMessage, earlier: _UserMessage, gist: str, budget: WorkBudget
) -> bool:
    """Return whether a message, whose gist is given, repeats an earlier one, or nearly so, or has its banner."""
    if message.is_another_than(earlier):
        return False
    if message.repeats(earlier) or (gist and _are_near(earlier.gist, gist, budget)):
        return True
    return bool(message.banner) and message.banner == earlier.banner


def _planned_steps(steps: Sequence[Step]) -> set[int]:
    """Return the indices of messages that are lines of one answer of the agent, in its order: its plan, which a harness sends step by step."""
    items = {
        index: _item_of(user_text(step))
        for index, step in enumerate(steps)
        if step.type == "user" and len(text := user_text(step)) in _PLANNED_CHARACTERS
        if "?" not in text  # a question that the agent proposed is the user's
    }
    if len(items) < _PLANNED_STEPS:
        return set()
    found: set[int] = set()
    plan: dict[str, int] = {}
    sent: list[int] = []  #: indices of the messages that are steps of the plan
    last = -1  #: place of the last of them in the plan
    for index, step in enumerate(steps):
        if step.type == "llm" and not sent and type(step.output) is str and "\n" in step.output:
            plan = {_item_of(line): place for place, line in enumerate(step.output.split("\n"))}
        elif step.type == "user":
            place = plan.get(items[index], -1) if index in items else -1
            if place > last:
                sent.append(index)
            elif sent:
                sent = []
            last = place if sent else -1
            if len(sent) >= _PLANNED_STEPS:
                found.update(sent[-_PLANNED_STEPS:])
    return found


def _item_of(line: str) -> str:
    return _MARK_OF_ITEM.sub("", line, count=1).strip().casefold()


def _answers_failure(steps: Sequence[Step], index: int) -> bool:
    """Return whether a short message answers what the agent asks after a failure, and does not order the same again."""
    text, question = user_text(steps[index]), steps[index - 1]
    return (
        len(text) <= _ANSWER_CHARACTERS
        and question.type == "llm"
        and type(question.output) is str
        and "?" in question.output[-_QUESTION_CHARACTERS:]
        and "?" not in text
        and not _orders_again(text)
        and _has_failed_before(steps, index)
    )


def _follows_pause(steps: Sequence[Step], index: int) -> bool:
    """Return whether a message comes minutes after an answer in words; False if the times are not known."""
    answer, began = steps[index - 1] if index else None, steps[index].started_at
    if answer is None or answer.type != "llm" or answer.error is not None or began is None:
        return False
    ended = answer.started_at if answer.ended_at is None else answer.ended_at
    is_in_words = type(answer.output) is str and answer.output != ""
    return is_in_words and ended is not None and began - ended >= _PAUSE_NS


def _quoted_in(text: str) -> frozenset[str]:
    """Return what a message quotes, such as the words that will start a task again: `whenever I write "again"`."""
    return frozenset(map(_plain, _QUOTED.findall(text[:_ANNOUNCING_CHARACTERS])))


def _plain(text: str) -> str:
    return text.strip(" \n.!").casefold()


def _is_order(text: str) -> bool:
    """Return whether a message orders something, rather than to ask a question, to agree, to refuse or to ask to continue."""
    if not text or "?" in text or len(text) >= _PROMPT_CHARACTERS:
        return False
    is_courtesy = len(text) < _COURTESY_CHARACTERS and _COURTESY.search(text) is not None
    return not (is_courtesy or asks_to_continue(text) or is_refusal(text))


def _has_failed_before(steps: Sequence[Step], index: int) -> bool:
    """Return whether the last call since the user's message before failed."""
    for at in range(index - 1, -1, -1):
        step = steps[at]
        if step.type == "user":
            break
        if step.type == "tool":
            said = step.output if type(step.output) is str else ""
            return bool(step.error) or reports_failure(said)
    return False


def starts_step(steps: Sequence[Step], index: int) -> bool:
    """Return whether a short message of the user starts one more step of work, as `next` does, after the one before is done."""
    return _STEP.fullmatch(user_text(steps[index])) is not None and _follows_turn(steps, index)


def _follows_turn(steps: Sequence[Step], index: int) -> bool:
    """Return whether the agent has answered the user's message before with a call that succeeded, and then with a text."""
    answer = steps[index - 1] if index else None
    if (
        answer is None
        or answer.type != "llm"
        or type(answer.output) is not str
        or not answer.output
    ):
        return False
    for at in range(index - 2, -1, -1):
        if steps[at].type == "tool":
            return not _has_failed_before(steps, index)
        if steps[at].type == "user":
            break
    return False


class _UserMessage:
    """Message of the user, with its forms for comparison."""

    __slots__ = ("_first_words", "_gist", "_same", "id", "index", "text")

    def __init__(self, index: int, text: str, given_id: str | None) -> None:
        self.index = index
        self.text = text
        self.id = given_id  #: as a gateway to chat channels gave it
        self._first_words = [
            word.casefold() for word in text.split(None, _FIRST_WORDS)[:_FIRST_WORDS]
        ]
        self._same: str | None = None
        self._gist: str | None = None

    def is_another_than(self, earlier: _UserMessage) -> bool:
        """Return whether a gateway says that a person sent two messages, however alike they are."""
        return self.id is not None and earlier.id is not None and self.id != earlier.id

    def repeats(self, earlier: _UserMessage) -> bool:
        """Return whether two messages are equal except for case and white space."""
        # Most messages begin differently, and folding all of their text takes much longer.
        return self._first_words == earlier._first_words and self._folded == earlier._folded

    @property
    def _folded(self) -> str:
        """The message in lower case with single spaces, or unchanged if it is too long."""
        if self._same is None:
            is_folded = len(self.text) <= FOLDED_CHARACTERS
            self._same = " ".join(self.text.casefold().split()) if is_folded else self.text
        return self._same

    @property
    def banner(self) -> str:
        """The heading between signs that a program prints, such as `=== PLAN ===`, or "" if there is none."""
        found = _BANNER.search(self.text, 0, _BANNER_CHARACTERS) if "===" in self.text else None
        return found[1] if found else ""

    @property
    def gist(self) -> str:
        """The gist, computed on first use because most messages are too short to need it."""
        if self._gist is None:
            self._gist = normalized_beginning(self.text)
        return self._gist


def _gist_of_prompt(message: _UserMessage, budget: WorkBudget, *, misses_action: bool) -> str:
    """Return the gist of a message that may be from the framework, or "" for any other message."""
    if not budget.is_left:
        return ""
    beginning = message.text[:_COMPARED_CHARACTERS]
    budget.count_description(beginning, is_by_word=True)
    is_long = len(message.text) >= _PROMPT_CHARACTERS
    return message.gist if is_long or misses_action or _asks_to_continue(beginning) else ""


def _names_program(name: str | None) -> bool:
    """Return whether the sender of a message in the user's role is another agent or a part of the framework."""
    name = name[:_NAME_CHARACTERS] if name else ""
    return bool(name and _PROGRAM.search(name) and not _USER_NAME.search(name))


def _is_log(steps: Sequence[Step], index: int) -> bool:
    """Return whether a message is one of several in a row that are lines of a log, and nothing else."""
    if not _are_log_lines(user_text(steps[index])):
        return False
    beside = (steps[at] for at in (index - 1, index + 1) if 0 <= at < len(steps))
    return any(step.type == "user" and _are_log_lines(user_text(step)) for step in beside)


def _are_log_lines(text: str) -> bool:
    return all(map(_LOG_LINE.match, text.strip().split("\n", _LOG_LINES)[:_LOG_LINES]))


def _states_usage(text: str) -> bool:
    return len(text) <= _USAGE_CHARACTERS and _USAGE.fullmatch(text) is not None


def _are_near(one: str, other: str, budget: WorkBudget) -> bool:
    if one == other:
        return True
    budget.count_comparison(len(one), len(other))
    return fuzz.ratio(one, other, score_cutoff=_NEARLY) > 0
