"""Classification of results by their text: failed, nothing found, done, or an answer."""

from __future__ import annotations

import re

from weighbridge.graders.loop.linear_patterns import begins, occurs
from weighbridge.traces.images import OMITTED

_HEAD_CHARACTERS = 600  #: first characters of a result that are searched for an error
_END_CHARACTERS = 60  #: last characters of a longer result that are searched for a time-out
_SHORT_CHARACTERS = 250  #: a longer result is an answer, even with a phrase such as `not found`
_CONFIRMATION_CHARACTERS = 150  #: first characters of a result that are searched for a confirmation
_ANSWER_CHARACTERS = 300  #: a longer result is an answer, even where it says no
_OMITTED_CHARACTERS = 100

#: What may stand above or before a result's content.
_HEADING = r"""(?:observation|output|(?:tool )?(?:result|response))\s{0,3}:\s{0,3}"""
_LABEL = rf"(?:\W{{0,3}}{_HEADING})?"
_FIELD = r'''"(?:output|result|response|observation|message|content|text|detail|stdout|stderr|body)"\s?:\s?"'''
#: A first line with a number, such as a time.
_NUMBERED_LINE = r"[^\n\d]{0,60}\d[^\n]{0,100}\n"
_NUMBERED_CHARACTERS = 200  #: of a label and such a line, at most
#: Start of the content of a result that reports a failure.
_FAILURE = r"""[\s\[(<*#]{0,5}(?:sorry: )?(?:[\w.]{0,60}(?:error|exception)\b|traceback\b|fail(?:ed|ure)\b|fatal\b|(?:invalid|illegal|rejected)\b|unable to\b
|cannot\b|could not\b|not found\b|no such\b|denied\b|time(?:d ?|-)?out\b|connection (?:refused|reset)|unauthori[sz]ed
|no (?:replacements?|changes?|edits?) (?:was|were) (?:performed|made|applied)\b|multiple occurrences of\b
|forbidden\b|blocked\b|malformed\b|validation failed for (?:tool|function)\b|(?:tool|function) (?:\S{1,60})? ?not found\W{0,9}$|bad request|too many requests|rate limit|(?:http(?:/[\d.]{1,3})?\W{0,4})?[45]\d\d (?:[a-eg-z]|f(?:[a-hj-z]|$)|$))"""
#: A field that denies success, in JSON, in a literal of Python, or on a line of its own.
_UNSUCCESSFUL = r"""(?:["']|^|\n)(?:success(?:ful)?|succeeded|ok)["']?\s?[:=]\s?false\b"""
#: A field after the output, as the last one of an object, that says that a command was cut off.
_TIMED_OUT = re.compile(r'"timed_?out"\s?:\s?true\s{0,9}\}\s{0,9}\Z', re.IGNORECASE)
_denies_success = occurs(_UNSUCCESSFUL)
#: A part of a file that an edit should replace is not in the file.
_UNMATCHED_EDIT = r"""\b(?:blocks?|hunks?|patch|diff|edits?) (?:has |have )?(?:failed to (?:match|apply)|(?:does|do|did) not (?:match|apply)|(?:could not|cannot) be applied)\b
|\b(?:could not|couldn't|cannot|unable to|failed to) (?:find|locate) (?:an? |any |the )?(?:exact |specified |given |matching ){1,2}(?:match|content|text|block|string|lines?|snippet)\b
|\bdid not appear verbatim\b|\b(?:string|text|pattern|code)(?: to replace)? (?:was )?not found\b"""
_mentions_unmatched_edit = occurs(_UNMATCHED_EDIT)
#: What only the beginning of a result says of a failure.
_BEGINNING = (
    _LABEL
    + _FAILURE
    + r"""|(?:\w{1,20} ){1,3}time(?:d ?|-)?out\b|.{0,80}\b(?:has )?failed(?: to\b|[:.!]|$)
|.{0,80}\b(?:syntax error|unmatched|unrecogni[sz]ed|unterminated|unexpected (?:eof|end of|token|character)|illegal (?:option|variable|character)
|unknown (?:option|predicate|command|argument|column|table|function|tool|flag)|(?:never|not) defined|undefined (?:reference|function|variable|symbol)|unsupported operand|(?:missing|extra) (?:operand|argument)
|invalid (?:option|number|argument|input|syntax|character|command|choice|value|range|path|credentials|password|login|user(?:name)?|token|request)|must precede)\b
|.{0,20}\bbefore (?:\w{2,20} ){0,2}\w{2,20}ing\b.{0,60}\byou (?:first )?(?:need|must|have) to\b|.{0,80}\byou (?:need|must|have) (?:to )?first\b
|.{0,80}\b(?:does not exist|doesn't exist|already (?:exists|taken|occupied)|is (?:required|not allowed|not valid|invalid)|timed out|not authori[sz]ed|access ?denied|failed because|rollback_complete|limit reached|(?:tool|reading|editing|writing) disabled)\b
|\W{0,5}(?:[a-z]{1,20} ){1,2}(?:error|exception): |.{0,40}\b(?:encountered|got) an? (?:\w{1,20} )?error\b|.{0,15}\ban? (?:\w{1,20} )?error (?:has )?occurred\b|(?:an? )?(?:api|server|client|network|internal|http|tool|execution|unexpected|unknown) error (?:while|when|during)\b"""
)
_fails_below_number = begins(_LABEL + _NUMBERED_LINE + _FAILURE)
_mentions_failure = occurs(
    rf"(?:\n{_HEADING}|{_FIELD}){_FAILURE}"
    r"""|"error(?:_message)?"\s?:\s?(?:"[^"]|\{|true|[1-9])|"is_?error"\s?:\s?true
|"timed_?out"\s?:\s?true|"status"\s?:\s?"(?:error|fail|denied|rejected|declined|refused|forbidden)|(?:exit[_ ]?(?:code|status)|return ?code)\W{1,4}[1-9]|traceback \(most recent|command not found
|no such file or directory|no module named\b|permission denied|\bwrong password\b
|(?:^|\n)[\w./-]+(?:\(\d+,\d+\)|:\d+(?::\d+)?): (?:fatal )?error\b
|(?:^|\n)(?:make(?:\[\d{1,3}\])?: \*\*\* |npm (?:err!|error) |go: [^\n]{0,80}\b(?:cannot|not found|no required module)\b)
|\b[1-9]\d{0,5} (?:tests? )?(?:failed|failures?|failing)\b|(?-i:\bFAIL(?:ED|URES?)?\b)
|"""
    + _UNSUCCESSFUL
    + r"""|\bfatal error\b|\bpanic: |\bsegmentation fault\b|\bcore dumped\b|"""
    + _UNMATCHED_EDIT
    + r"""|\bpanicked at\b|\bis_?error=true\b|\n[a-z]{1,9}: (?:cannot|paths must|missing|unknown|invalid|unrecogni[sz]ed|extra operand)\b
|(?:^|\n)[ \t]{0,4}(?:last |previous )?(?:tool|action|command|api)(?: (?:call|use|execution))? (?:error|exception): |\n[ \t]{0,4}failed to\b|\n[ \t]{0,4}(?:fatal|[\w.]{0,40}(?:error|exception))(?:\[\w{1,10}\])?: |<(?:title|h1)>[^<]{0,40}\b[45]\d\d\b|<(?:tool_use_)?error>|\b(?:http|status)\W{0,4}(?:code)?\W{0,4}[45]\d\d\b""",
    _BEGINNING,
)
#: Phrases of a short result that reports no error but had no effect.
_mentions_no_effect = occurs(
    r"""^\s{0,9}usage: |\bnothing (?:happen|chang)|\bnot found\b|\bno (?:such|results?|match(?:es)?|effect|response|answer)\b|\b(?:is|are|was) (?:not|still)\b
|(?:^|[^\w(])(?:wrong|incorrect)\b|\b(?:isn't|aren't|wasn't|can't|cannot|couldn't|won't|that's not|\w{1,30},? don't|doesn't|didn't|unable|impossible|unavailable|busy|locked|blocked|refused
|rejected|declined|bump|no replacement|did not (?:appear|match)|err_[a-z_]{3,40}|unknown|unrecogni[sz]ed|expired|disabled
|exceeded|(?:try|trying) again|please (?:hold|wait|try))\b
|\bno (?:\w{1,20} ){1,3}(?:(?:is|are|was|were) )?(?:currently )?(?:loaded|opened|selected|active|connected|running|configured|initiali[sz]ed)\b"""
)
#: Phrases that confirm work or say that nothing was found: many different calls return these.
_mentions_success = occurs(
    r"""\b(?:success\w*|updated|saved|created|written|wrote|edited|applied|sent|added|modified|changed|deleted|removed
|inserted|replaced|queued|stored|done|completed?|ok)\b"""
)
_ACKNOWLEDGEMENT_CHARACTERS = 20
#: An object with nothing but a status, as a log keeps it in place of results.
_BARE_STATUS = re.compile(
    r'\{(?:"\w{1,20}":(?:""|null),){0,5}"(?:status|success|ok)":(?:"(?:success|ok|done|completed)"|true)(?:,"\w{1,20}":(?:""|null)){0,5}\}'
)
_EMPTY_CHARACTERS = 20  #: of a result that holds nothing, with its white space
_EMPTY = frozenset(("", "[]", "{}", "()", "null", "None", '""'))
_BLANK_CHARACTERS = 16  #: of a row of zeros, at least
_BLANK_BEGINNINGS = frozenset("0\0\\ \t\n'\"b\u2003\u3000")
_BLANK_DATA = re.compile(r"b?(?:0|\\x00|\\0|\\u2003|[\s\0'\"])+")
_SILENCE_CHARACTERS = 160  #: of a result that says only that nothing was printed, at most
#: What harnesses write in place of the output of a command that succeeded and printed nothing.
_SILENCE = re.compile(
    r"""\s{0,9}(?:
    exitcode:\ 0\ \(execution\ succeeded\)\s{1,3}code\ output:
    |the\ script\ ran\ but\ produced\ no\ output\ to\ console\.\ the\ posix\ exit\ code\ was:\ 0\b.{0,99}
    |<returncode>0</returncode>\s{0,3}<output>(?:\s{0,3}bash\ execution\ output:)?\s{0,9}</output>
    |exit\ ?code:\ 0(?:\s{1,3}wall\ time:\ [\d.]{1,12}\ \w{1,12})?(?:\s{1,3}output:)?
    |[\[(]?(?:the\ |your\ )?(?:bash|shell|powershell|command|tool|process|script)\ (?:ran|executed|completed|finished|exited)\ (?:successfully\W{1,2})?(?:and\ |but\ )?
        (?:with\ no|without|with\ empty|did\ not\ produce\ any|produced\ no|with\ (?:exit\ )?code\ 0\ and\ no)\ (?:any\ )?output
    |[\w./…-]{1,80}\ executed\ successfully\.\ no\ output
    |[\[(]?(?:no\ (?:std)?output|no\ content|empty\ output)
    |\{"(?:output|stdout)":\s?"(?:\(no\ output\))?",(?:\s?"stderr":\s?"",)?\s?"(?:exit_?code|return_?code)":\s?0\}
    )[\s.\])]{0,9}""",
    re.IGNORECASE | re.VERBOSE,
)
_mentions_negation = occurs(r"\b(?:no|not|none|nothing|could ?n[o']t|unable|sorry|empty|0)\b")
_mentions_no_results = occurs(
    r"""\bno (?:\w{1,20} ){0,2}(?:results?|match(?:es)?|data|records?|items?|hits|entries|documents|files (?:were |was )?found)\b
|\b(?:results?|items|documents|hits|records|matches|data|rows|entries)"?\s?:\s?(?:\[\]|0\b)|^\s*(?:\[\]|\{\}|\(\)|null|none|"")\s*$|\btext='(?:\[\]|\{\})?'|\bnothing (?:was )?found\b"""
)
#: Beginning of a longer text that says that nothing was found, before what is similar.
_FOUND_NOTHING = re.compile(
    r"\W{0,9}(?:could not find|couldn't find|nothing (?:was )?found|no (?:exact )?(?:results?|match(?:es)?) (?:were |was )?(?:found )?for)\b[^\n]{0,300}\bsimilar\b",
    re.IGNORECASE,
)
#: Field with an empty list of what was found, which hints may follow.
_has_no_results = occurs(
    r""""(?:results|items|documents|hits|records|matches|rows|entries)"\s?:\s?\[\]"""
)
_SUGGESTION_CHARACTERS = 400  #: of a result, in which suggestions begin
_OBJECT_CHARACTERS = 600  #: of an object with such a field
#: What Claude Code returns for the calls beside one that fails.
_NOT_RUN = re.compile(
    r"\W{0,5}(?:<tool_use_error>)?(?:sibling tool call errored|cancelled: parallel tool call )",
    re.IGNORECASE,
)
#: Placeholder of an image that the trace omits, whose content is unknown.
_OMITTED = re.compile(
    r"\W{0,5}(?:base64[ _-])?(?:image|screenshot|picture)(?:[ _/:]{1,2}(?:omitted|removed|redacted|elided|data|base64|url|content|png|jpe?g|\w{1,40}\.(?:png|jpe?g))){0,3}\W{0,5}",
    re.IGNORECASE,
)


def reports_failure(text: str) -> bool:
    """Return whether a result says that the call failed."""
    head = text[:_HEAD_CHARACTERS]
    if _mentions_failure(head):
        return True
    if "\n" in head[:_NUMBERED_CHARACTERS] and _fails_below_number(head):
        return True
    return (
        len(text) > _HEAD_CHARACTERS
        and _TIMED_OUT.search(text, len(text) - _END_CHARACTERS) is not None
    )


def was_not_run(result: object) -> bool:
    """Return whether a result says that a call was not run, because another one of its message failed."""
    return type(result) is str and _NOT_RUN.match(result) is not None


def refuses_edit(text: str) -> bool:
    """Return whether a result says that an edit was not made because its context is not in the file."""
    return _mentions_unmatched_edit(text[:_HEAD_CHARACTERS])


def reports_no_effect(text: str) -> bool:
    """Return whether a result reports no error but says that the call had no effect or found nothing."""
    return len(text) <= _SHORT_CHARACTERS and _mentions_no_effect(text)


def reports_success(text: str) -> bool:
    """Return whether a result says that work was done."""
    head = text[:_CONFIRMATION_CHARACTERS]
    return _mentions_success(head) and not _denies_success(head)


def acknowledges(text: str) -> bool:
    """Return whether a result says that the call was done, and nothing else."""
    return len(text) <= _ACKNOWLEDGEMENT_CHARACTERS and reports_success(text)


def tells_nothing(text: str | None) -> bool:
    """Return whether a result is not recorded, or only says that the call was done, so that each call may have shown something new."""
    return text is None or acknowledges(text) or _BARE_STATUS.fullmatch(text) is not None


def is_answer(text: str) -> bool:
    """Return whether a result is an answer, rather than a confirmation or a statement that nothing was found."""
    is_long = len(text) >= _ANSWER_CHARACTERS
    return not reports_success(text) and (is_long or not _mentions_negation(text))


def holds_nothing(text: str | None) -> bool:
    """Return whether a result is recorded and empty, also as an empty list, object or string."""
    return text is not None and len(text) <= _EMPTY_CHARACTERS and text.strip() in _EMPTY


def is_silence(text: str) -> bool:
    """Return whether a result only says that a command succeeded and printed nothing."""
    return len(text) <= _SILENCE_CHARACTERS and _SILENCE.fullmatch(text) is not None


def is_blank_data(text: str) -> bool:
    """Return whether a result is a row of zeros, of NUL characters or of white space, in whatever notation."""
    return (
        len(text) >= _BLANK_CHARACTERS
        and text[:1] in _BLANK_BEGINNINGS
        and _BLANK_DATA.fullmatch(text) is not None
    )


def reports_no_results(text: str) -> bool:
    """Return whether a result says that nothing was found."""
    if len(text) <= _SHORT_CHARACTERS:
        return _mentions_no_results(text) or _FOUND_NOTHING.match(text) is not None
    if without_suggestions(text) != text:
        return True
    is_object = len(text) <= _OBJECT_CHARACTERS and text.startswith("{")
    return is_object and _has_no_results(text[:_SHORT_CHARACTERS])


def without_suggestions(text: str) -> str:
    """Return a result without the names of what is similar, if it says that nothing was found."""
    found = _FOUND_NOTHING.match(text) if "imilar" in text[:_SUGGESTION_CHARACTERS] else None
    return found[0] if found else text


def is_omitted_image(text: str) -> bool:
    """Return whether a result is the placeholder of an omitted image, alone or after a short confirmation."""
    if len(text) >= _OMITTED_CHARACTERS:
        return False
    return text.endswith(f"\n{OMITTED}") or _OMITTED.fullmatch(text) is not None
