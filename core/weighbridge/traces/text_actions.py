"""Detection of tool calls in plain text, so that a run with unread calls is not taken for one without calls."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.fields import Notes
    from weighbridge.traces.model import Capability, Step

#: Reason why the tool calls of such a run are missing. A grader that reads the agent's text can still judge the run.
ACTIONS_IN_TEXT = "the agent's actions are written as text, which is not read as tool calls"
_LEFT_BEHIND = (
    "the source has tool calls in fields that are not read: see what was not carried over"
)

#: Reason why calls are missing of which only the results are recorded. A number of calls that the source states replaces it.
UNASKED = "there are tool results whose calls the source does not have"

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
#: The tags and marks in which chat templates and agents' prompts require calls to be written.
_TAG = re.compile(
    r"<(?:tool_call|tool_use|tool_code|function_calls?|function=|invoke name=|execute_[a-z]|use_mcp_tool|read_file"
    r"|write_to_file|replace_in_file|apply_diff|search_files|attempt_completion|\|python_tag\||\|tool_call"
    r"|\uff5ctool\u2581call|\|channel\|>commentary to=)"
)
#: A line that says in capitals that a call begins: `----BEGIN_FUNCTION_CALL----`, `<<<TOOL_CALL>>>`.
_CAPITALS = re.compile(r"^[^\w\n]{0,12}(?:BEGIN[ _])?(?:TOOL|FUNCTION)[ _]CALLS?\b", re.MULTILINE)
_CAPITAL_WORDS = ("_CALL", " CALL")
#: A call as JSON: its name, then its arguments; or an action as an object that begins with its name.
_JSON = re.compile(
    r'"(?:action|tool|tool_name|function|name)"\s{0,9}:\s{0,9}"[^"\n]{1,100}"\s{0,9},\s{0,9}'
    r'"(?:action_input|tool_input|args|arguments|input|parameters|kwargs)"\s{0,9}:'
    r'|"(?:actions?|tool_calls?)"\s{0,9}:\s{0,9}\[?\s{0,9}\{\s{0,9}"(?:type|name|tool|action|action_type)"\s{0,9}:\s{0,9}"'
    r'|"keystrokes"\s{0,9}:'
)
_JSON_WORDS = (
    *('input"', 'args"', '"arguments"', '"parameters"', '"keystrokes"'),
    *('"action"', '"actions"', '"tool_call'),
)
#: Blocks whose language says that they are calls, and WebArena's actions, which stand in a line: ```click [1234]```.
_FENCED_CALL = re.compile(
    r"^```(?:mswea_bash_command|tool_code|tool_call)\b|```(?:click|type|hover|press|scroll) \[",
    re.MULTILINE,
)
#: An action in words or as a program, which counts only where the next message is an observation.
_LOOSE_ACTION = re.compile(
    rf"{_LINE}(?:Act(?:ion)?|ACT(?:ION)?){_NUMBER}:|^```(?:bash|sh|python|py)\b|<code>",
    re.MULTILINE,
)
_OBSERVATION_LINE = re.compile(rf"{_LINE}(?:Observation|OBSERVATION){_NUMBER}:", re.MULTILINE)
_OBSERVATION = re.compile(
    rf"\s{{0,20}}[*_#]{{0,4}}(?:(?:Observation|OBSERVATION|Obs){_NUMBER}:"
    r"|<(?:tool_response|tool_result|function_results?|observation|returncode)\b"
    r"|EXECUTION RESULT of\b|The output of the OS:|Tool (?:output|result|response)\b[^\n:]{0,60}:"
    r"|(?:Tool|Function) ['\"`][^\n'\"`]{1,100}['\"`] (?:returned|failed|output|result)\b"
    r"|\[\w{1,40}(?: for [^\]\n]{1,200})?\] Result:)"
)
#: An observation behind other text, such as a harness's rules, which counts only in reply to an action, also a loose one.
_LATE_OBSERVATION = re.compile(r"\b(?:Observation|OBSERVATION)[ \t]?:")
#: An error of a call, which people report too; it counts only in reply to a call.
_FAILED_CALL = re.compile(r"Error (?:executing|calling) (?:\w{1,20} )?['\"`]\w{1,100}['\"`]:")
_WHOLE = re.compile(r"\s*<(tool_call|tool_use|function_calls?)>.*</\1>\s*", re.DOTALL)
_SCRATCHPAD = re.compile(r"\s{0,20}[*_#]{0,4}(?:Thought|Question|Action)\b")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def missing_calls(
    steps: Sequence[Step], notes: Notes, *, in_text: bool = True
) -> dict[Capability, str]:
    """Return tool calls as missing, with the reason; empty if no call seems to be missing.

    They are missing if most of them are in fields that are not read, if results have no call, or if all are in text.
    `in_text`: whether to search the agent's text, for formats that may have calls there.
    """
    calls = 0
    for step in steps:
        calls += step.type == "tool"
    if notes.calls_left > calls:
        return {"tool_calls": _LEFT_BEHIND}
    if notes.has_unasked_results:
        return {"tool_calls": UNASKED}
    if calls or not in_text or not _acts_in_text(steps):
        return {}
    return {"tool_calls": ACTIONS_IN_TEXT}


def _acts_in_text(steps: Sequence[Step]) -> bool:
    """Return whether a run without tool calls writes them as text.

    One message in the form of a call may be an example for the reader. Calls of the run itself are: several such messages,
    one that an observation follows, one that consists of a call between tags, and one with several observations.
    """
    acts = observations = 0
    before = ""  #: text of the message before, if it is the agent's
    for step in steps:
        text = step.output
        if type(text) is not str:
            continue
        if step.type == "llm":
            is_act = _is_act(text)
            if is_act and (_is_scratchpad(text) or _WHOLE.fullmatch(text)):
                return True
            acts += is_act
            before = text
            continue
        is_observation = _OBSERVATION.match(text) is not None
        is_reply = is_observation or _LATE_OBSERVATION.search(text) is not None
        if (is_reply and _LOOSE_ACTION.search(before)) or (
            (is_reply or _FAILED_CALL.match(text)) and _is_act(before)
        ):
            return True
        observations += is_observation
        before = ""
    return acts > 1 or observations > 1


def _is_act(text: str) -> bool:
    """Return whether a text has the form of a call outside any code block that it displays to a reader."""
    # A substring search takes a tenth of the time of a regex, and most texts contain none of these words.
    might_react = "Action" in text or "ACTION" in text
    might_tag = "<" in text
    might_json = any(word in text for word in _JSON_WORDS)
    might_say = any(word in text for word in _CAPITAL_WORDS)
    if not (might_react or might_tag or might_json or might_say or "```" in text):
        return False
    if "```" in text and not text.lstrip().startswith(("```", "Action")):
        if _FENCED_CALL.search(text):
            return True
        text = _FENCED.sub("```", text)
    return (
        (might_react and _REACT.search(text) is not None)
        or (might_tag and _is_tagged(text))
        or (might_json and _JSON.search(text) is not None)
        or (might_say and ("[TOOL_CALLS]" in text or _CAPITALS.search(text) is not None))
    )


def _is_tagged(text: str) -> bool:
    return any(text[tag.start() - 1 : tag.start()] != "`" for tag in _TAG.finditer(text))


def _is_scratchpad(text: str) -> bool:
    """Return whether a text is a whole run: thoughts, actions and observations one after another."""
    if not _SCRATCHPAD.match(text):
        return False
    return len(list(islice(_OBSERVATION_LINE.finditer(text), 2))) == 2
