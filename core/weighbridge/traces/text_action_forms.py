"""Forms in which agents write tool calls as text, and in which the answers to them stand in the next message."""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import islice

_LINE = r"^[ \t>*_#]{0,8}"
_NUMBER = r"[ \t]{0,3}\d{0,4}[ \t*_]{0,8}"
#: ReAct's forms of a call: `Action: search[x]`, `Action: search(x)`, `Action: {...}`, and a line of its input; and an action
#: on an element of a page by its number, as WebVoyager has them: `Action: Click [7]`.
_REACT = re.compile(
    rf"{_LINE}(?:Action|ACTION){_NUMBER}:[ \t*_]{{0,8}}(?:[\w.-]{{1,100}}[\[({{]|\s{{0,4}}(?:\{{|```))"
    rf"|{_LINE}(?:Action|ACTION){_NUMBER}:\s{{0,4}}[A-Za-z]{{1,20}}[ \t]\[(?:\d{{1,5}}|WINDOW)\]"
    rf"|{_LINE}(?:Action|ACTION)[ _](?:Input|INPUT){_NUMBER}:",
    re.MULTILINE,
)
_CALL_TAG = (
    r"<(tool_call|tool_use|tool_code|tool(?= name=)|function_calls?|function(?= name=|=)|invoke(?= name=)|execute_[a-z]{1,20}"
    r"|use_mcp_tool|access_mcp_resource|read_file|list_files|list_code_definition_names|write_to_file|replace_in_file|apply_diff"
    r"|insert_content|search_files|search_and_replace|execute_command|browser_action|ask_followup_question|switch_mode|new_task"
    r"|attempt_completion)\b"
)
#: The tags in which chat templates and agents' prompts require calls to be written. A sentence may name them, so they count
#: only at the start of a line, or where they are closed.
_TAG = re.compile(_CALL_TAG)
_TAG_AT_LINE = re.compile(f"{_LINE}{_CALL_TAG}", re.MULTILINE)
_TAGS_LIMIT = 100  #: tags of a text that are looked at to find one that is closed
#: The marks of chat templates, which are words of no language.
_MARK = re.compile(
    r"<(?:\|python_tag\||\|tool_call|\|action_start\||\|channel\|>\w{1,20} to=|\uff5ctool\u2581call"
    r"|\uff5cDSML\uff5c(?:function_calls|tool_calls|invoke)\b)(?![ \t])|^\u273fFUNCTION\u273f:"
    r"|\[TOOL_CALLS\](?: ?\[?\{|\w)",
    re.MULTILINE,
)
_MARK_SIGNS = ("<|", "<\uff5c", "\u273f", "[TOOL_CALLS]")
#: A line that says in capitals that a call begins: `----BEGIN_FUNCTION_CALL----`, `<<<TOOL_CALL>>>`.
_CAPITALS = re.compile(
    r"^[^\w\n]{0,12}(?:BEGIN[ _])?(?:TOOL|FUNCTION)[ _]CALLS?\b|\[TOOL_CALLS\]", re.MULTILINE
)
_CAPITAL_WORDS = ("_CALL", " CALL")
#: A call as JSON: its name, then its arguments.
_JSON = re.compile(
    r'"(?:action|tool|tool_name|function|name)"\s{0,9}:\s{0,9}"[^"\n]{1,100}"\s{0,9},\s{0,9}'
    r'"(?:action_input|tool_input|args|arguments|input|parameters|kwargs)"\s{0,9}:'
    r'|"keystrokes"\s{0,9}:'
)
#: An action as an object that begins with its name, which may as well be data.
_JSON_ACTION = re.compile(
    r'"(?:actions?|tool_calls?)"\s{0,9}:\s{0,9}\[?\s{0,9}\{\s{0,9}"(?:type|name|tool|action|action_type)"\s{0,9}:\s{0,9}"'
)
_JSON_WORDS = (
    *('input"', 'args"', '"arguments"', '"parameters"', '"keystrokes"'),
    *('"action"', '"actions"', '"tool_call', '"thought'),
)
#: A message that is one object, with the agent's thought and what it does: `{"thought": "...", "command": "ls"}`.
_OBJECT = re.compile(r"\s{0,20}(?:```\w{0,9}\s{0,9})?\{.*\}\s{0,20}(?:```\s{0,20})?", re.DOTALL)
_THOUGHT_KEY = re.compile(r'"thoughts?"\s{0,9}:')
_ACT_KEY = re.compile(r'"(?:command|action|tool|tool_name)"\s{0,9}:\s{0,9}"')
#: What may stand before JSON in its line: marks, other JSON, the end of a tag, or a label that says that it is a call.
_BEFORE_JSON = re.compile(
    r"[^\w\n]*|.*[>\]][^\w\n]{0,9}"
    r"|[ \t>*_#]{0,8}(?:\w{1,20}[ _]){0,2}(?:action|tool|function|call|command)s?[ \t*_]{0,4}[:=][^\w\n]{0,20}"
    r"|[^\w\n]{0,40}\w{1,40}\"\s{0,9}:.*",
    re.IGNORECASE,
)
_LINE_CHARACTERS = 4_000  #: how far before JSON the start of its line is looked for
_JSON_LIMIT = 20  #: pieces of JSON of a text that are looked at
#: Blocks whose language says that they are calls, and WebArena's actions, which stand in a line: ```click [1234]```.
_FENCED_CALL = re.compile(
    r"^```(?:mswea_bash_command|tool(?:_code|_call|_use)?|function_call|action)\b|```(?:click|type|hover|press|scroll) \[",
    re.MULTILINE,
)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
#: A message that consists of calls in Python's syntax, as Llama writes them: `[get_weather(city="Paris")]`.
_PYTHONIC = re.compile(
    r"\s{0,9}\[\s{0,9}[A-Za-z_][\w.]{0,80}\((?:\w{1,60}\s?=[^\n]{0,4000})?\)\s{0,9}\]\s{0,9}"
)
#: A message that consists of a call in Qwen-Agent's marks, and of what it gave.
_WHOLE = re.compile(r"\s*\u273fFUNCTION\u273f: ?\S.*\u273fARGS\u273f:.*", re.DOTALL)
_SCRATCHPAD = re.compile(r"\s{0,20}[*_#]{0,4}(?:Thought|Question|Action)\b", re.IGNORECASE)
_OBSERVATION_LINE = re.compile(rf"{_LINE}(?:Observation|OBSERVATION){_NUMBER}:", re.MULTILINE)

#: What stands before a call that a reader is shown: `Send this:`.
_INTRODUCTION = re.compile(r"[:\uff1a][*_\s]{0,20}\Z")
_INTRODUCTION_CHARACTERS = 30  #: how far before a call its introduction is looked for
_THOUGHT_LINE = re.compile(rf"{_LINE}(?:Thought|THOUGHT){_NUMBER}:", re.MULTILINE)
#: An action in words or as a program, which counts only where the next message is an observation.
_LOOSE_ACTION = re.compile(
    rf"{_LINE}(?:Act(?:ion)?|ACT(?:ION)?){_NUMBER}:|^```\w|<code>",
    re.MULTILINE,
)
#: An element's end at the end of a text, before the marks with which chat templates end a message, such as `<|im_end|>`.
_END_TAG = re.compile(r"</([A-Za-z][\w.-]{0,40})>(?:\s{0,9}<\|\w{1,20}\|>){0,3}\Z")
_ACTION_ELEMENTS = frozenset(("act", "action", "actions"))
#: Elements with which agents answer a reader, or think.
_NO_ACTIONS = frozenset(
    ("answer", "final_answer", "final", "response", "think", "thinking", "thought", "reasoning")
)
_OBSERVATION = re.compile(
    r"\s{0,20}[*_#]{0,4}(?:<[\w.-]{0,30}(?:results?|observ\w{0,6}|obs|information|output|response|returncode|stdout)\b"
    r"|EXECUTION RESULT of\b|The output of the OS:|Tool (?:output|result|response)\b[^\n:]{0,60}:"
    r"|(?:Tool|Function) ['\"`][^\n'\"`]{1,100}['\"`] (?:returned|failed|output|result)\b"
    r"|\[\w{1,40}(?: for [^\]\n]{1,200})?\] Result:)"
)
#: An observation that is called one, at the start or behind other text, such as a harness's rules. People write it too.
_SAID_OBSERVATION = re.compile(
    rf"\A\s{{0,20}}[*_#]{{0,4}}(?:Observation|OBSERVATION|Obs){_NUMBER}:"
    r"|\b(?:Observation|OBSERVATION)[ \t]?:"
)
#: What people write more often; it counts only in reply to a call: an error of a call, a label that says what a call gave, a
#: block of output, and an answer to a question that a call asked.
_ANSWER_TO_A_CALL = re.compile(
    r"Error (?:executing|calling) (?:\w{1,20} )?['\"`]\w{1,100}['\"`]:"
    r"|\s{0,9}(?:[^\s:]{1,60} ){0,4}(?:outputs?|results?|returned|response|stdout|stderr)\b[^\n:]{0,40}:"
    r"|```(?:tool_)?(?:outputs?|results?|response)\b|<answer>",
    re.IGNORECASE,
)
_ENDS = ("}", "]", ")", ">", "`")
_LAST_INPUT = re.compile(
    rf"{_LINE}(?:Action|ACTION)[ _](?:Input|INPUT){_NUMBER}:.*\Z", re.MULTILINE
)
_END_CHARACTERS = 1_000  #: how much of the end of a text is searched for its last line
_LABEL = re.compile(r"\s{0,9}([^\n:]{2,60}):")


class Form(IntEnum):
    """How surely a message has the form of a call."""

    NONE = 0
    LOOSE = 1  #: an action in words, a block of code or an element, which may as well be meant for a reader
    DATA = 2  #: JSON that may as well be data, an element `<action>`, or an action in words after a thought
    SHOWN = 3  #: a call that may be an example: a colon introduces it, or text follows it
    CALL = 4  #: a call that has a notation of its own, or the name of a tool and its arguments
    WHOLE = 5  #: a message that ends in a call in tags or marks, or consists of calls and their observations


def form_of(text: str) -> Form:
    """Return the form of a call that a text has outside any code block that it displays to a reader."""
    form = _written_call(text)
    if form and (_WHOLE.fullmatch(text) or _is_scratchpad(text)):
        return Form.WHOLE
    if form is not Form.NONE:
        return form
    element = _last_element(text)
    if element in _ACTION_ELEMENTS:
        return Form.DATA
    if element or _LOOSE_ACTION.search(text):
        return Form.DATA if _THOUGHT_LINE.search(text) else Form.LOOSE
    return Form.NONE


def is_answer(text: str, form: Form) -> bool:
    """Return whether a message is in a form in which only a harness answers a call that was written in this form."""
    if form is Form.NONE:
        return False
    if _OBSERVATION.match(text) or (form >= Form.DATA and _SAID_OBSERVATION.search(text)):
        return True
    return form >= Form.CALL and _is_label_or_json(text)


def may_be_answer(text: str, form: Form) -> bool:
    """Return whether a message is in a form in which harnesses and people answer what was written in this form."""
    if form is Form.LOOSE:
        return _SAID_OBSERVATION.search(text) is not None
    return form is Form.SHOWN and _is_label_or_json(text)


def ends_in_a_call(text: str) -> bool:
    """Return whether nothing is said after the call in a text, as far as its end shows."""
    end = text[-_END_CHARACTERS:].rstrip()
    return end.endswith(_ENDS) or _LAST_INPUT.search(end) is not None


def label_of(text: str) -> tuple[str, str] | None:
    """Return the first and last word of the label that a message begins with, or None if it begins with none."""
    found = _LABEL.match(text)
    words = found[1].split() if found else []
    return (words[0], words[-1]) if words else None


def _written_call(text: str) -> Form:
    # A substring search takes a tenth of the time of a regex, and most texts contain none of these words.
    might_react = "Action" in text or "ACTION" in text
    might_tag, might_mark = "<" in text, any(sign in text for sign in _MARK_SIGNS)
    might_json = any(word in text for word in _JSON_WORDS)
    might_use_capitals = any(word in text for word in _CAPITAL_WORDS)
    if _PYTHONIC.fullmatch(text):
        return Form.CALL
    if not (
        might_react or might_tag or might_mark or might_json or might_use_capitals or "```" in text
    ):
        return Form.NONE
    if "```" in text:
        if _FENCED_CALL.search(text):
            return Form.CALL
        if not text.lstrip().startswith(("```", "Action")):
            text = _FENCED.sub("```", text)
    call = (
        (_first_mark(text) if might_mark else None)
        or (_first_tag(text) if might_tag else None)
        or (_REACT.search(text) if might_react else None)
        or (_first_json(_JSON, text) if might_json else None)
        or (_CAPITALS.search(text) if might_use_capitals else None)
    )
    if call:
        return _form_of_call(call, text)
    if might_json and (_first_json(_JSON_ACTION, text) or _is_thought_and_act(text)):
        return Form.DATA
    return Form.NONE


def _form_of_call(call: re.Match[str], text: str) -> Form:
    """Return the form of a text's first call, by what stands before and after it."""
    line = text.rfind("\n", 0, call.start()) + 1
    is_introduced = _INTRODUCTION.search(text[max(0, line - _INTRODUCTION_CHARACTERS) : line])
    if is_introduced or not (ends_in_a_call(text) or call.re is _CAPITALS):
        return Form.SHOWN
    is_at_line = not text[line : call.start()].strip() or text.lstrip().startswith(_MARK_SIGNS)
    is_whole = (call.re is _MARK and is_at_line) or _ends_in_a_tag(text)
    return Form.WHOLE if is_whole else Form.CALL


def _is_quoted(text: str, found: re.Match[str]) -> bool:
    return text[found.start() - 1 : found.start()] == "`"


def _first_mark(text: str) -> re.Match[str] | None:
    """Return the first mark of a call in a text that is not quoted."""
    return next((mark for mark in _MARK.finditer(text) if not _is_quoted(text, mark)), None)


def _first_tag(text: str) -> re.Match[str] | None:
    """Return a call's tag at the start of a line of a text, or else one that is closed and not quoted."""
    if at_line := _TAG_AT_LINE.search(text):
        return at_line
    for tag in islice(_TAG.finditer(text), _TAGS_LIMIT):
        if not _is_quoted(text, tag) and text.find(f"</{tag[1]}>", tag.end()) > 0:
            return tag
    return None


def _ends_in_a_tag(text: str) -> bool:
    """Return whether a text ends with the end of a call's tag that begins a line."""
    end = _END_TAG.search(text[-_END_CHARACTERS:].rstrip())
    tags = islice(_TAG_AT_LINE.finditer(text), _TAGS_LIMIT)
    return end is not None and any(
        tag[1] == end[1] and tag[0].lstrip(" \t").startswith("<") for tag in tags
    )


def _first_json(form: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a text's JSON of a form, with nothing before it in its line that makes it part of a sentence."""
    for found in islice(form.finditer(text), _JSON_LIMIT):
        start = max(0, found.start() - _LINE_CHARACTERS)
        line = text.rfind("\n", start, found.start()) + 1 or start
        if _BEFORE_JSON.fullmatch(text[line : found.start()]):
            return found
    return None


def _is_thought_and_act(text: str) -> bool:
    return all((_THOUGHT_KEY.search(text), _ACT_KEY.search(text), _OBJECT.fullmatch(text)))


def _is_scratchpad(text: str) -> bool:
    """Return whether a text is a run by itself: thoughts or actions, with observations after them."""
    if not _SCRATCHPAD.match(text):
        return False
    act = _REACT.search(text)
    return act is not None and _OBSERVATION_LINE.search(text, act.end()) is not None


def _last_element(text: str) -> str | None:
    """Return the name of the element that a text ends with, such as `<search>...</search>`, if it is no answer or thought."""
    end = _END_TAG.search(text[-_END_CHARACTERS:].rstrip())
    if end is None or end[1] in _NO_ACTIONS or f"<{end[1]}" not in text:
        return None
    return end[1]


def _is_label_or_json(text: str) -> bool:
    """Return whether a text is what people write too where something has given a result."""
    stripped = text.strip()
    is_json = stripped.startswith(("{", "[")) and stripped.endswith(("}", "]"))
    return is_json or _ANSWER_TO_A_CALL.match(text) is not None
