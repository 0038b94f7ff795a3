"""Classification of calls by tool name and command: read-only, trial, wait, navigation and others."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, TypeGuard

from weighbridge.graders.loop.history.commands import READING_QUERY
from weighbridge.graders.loop.history.reading_code import code_in_command, only_reads_files
from weighbridge.graders.loop.history.tool_names import (
    NAME_CHARACTERS,
    moves_money,
    named_like,
    pays,
    sends,
    tells_of,
    with_underscores,
)
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call

_is_reading_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:get|read|view|list|search|find|fetch|show|cat|open|grep|ls|head|tail|think|stat|look|lookup|browse"
        r"|describe|check|verify|query|inspect|calculate|count|retrieve|scan|explore|help|info)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
_is_searching_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:search|find|grep|glob|query|lookup|retrieve)(?:[_\W]|$)", re.IGNORECASE
    )
)
#: Names of the argument that says what is searched for.
_SEARCHED = (
    *("query", "q", "pattern", "regex", "search_query", "search_term", "term", "text"),
    *("keyword", "keywords", "question"),
)
_COMMAND_CHARACTERS = 2_000  #: longer commands are not classified
_DISCARDED_OUTPUT = re.compile(r"\d?>{1,2}\s?(?:&\d|/dev/null)")
#: Separators of commands, and what runs the command after it for each name that it is given.
_BETWEEN_COMMANDS = re.compile(
    r"&&|\|\||\\?;|[|\n]|\bxargs(?:\s{1,3}-\S{1,20}(?:\s{1,3}\d{1,9})?){0,5}|\s-exec(?:dir)?\b"
)
#: Commands that only show something, by name, by subcommand, or because of an option such as --help.
_READING_COMMAND = re.compile(
    r"\s*(?:(?:ls|ll|cat|open|goto|scroll_up|scroll_down|find_file|e?grep|rg|ag|find|fd|head|tail|pwd|which|whereis|type|wc|tree|less|more|stat|file|du|df|free|ps|top|uname"
    r"|whoami|who|id|groups|hostname|printenv|date|uptime|nproc|lsof|lsblk|ss|netstat|ip|ifconfig|arp|ping|traceroute|nc|host"
    r"|getent|nvidia-smi|pgrep|diff|cmp|sort|uniq|cut|tr|awk|jq|column|nl|xxd|strings|ldd|man|zcat|realpath|md5sum|sha256sum|echo"
    r"|printf|cd|tac|rev|paste|fold|expand|comm|join|base64|od|hexdump|sha1sum|cksum|basename|dirname|seq|expr|bc|sed(?! (?:\S{1,40} ){0,3}-(?:\w{0,5}i|-in-place))|journalctl|dmesg|dig|nslookup|git (?:branch|remote|rev-parse|blame|ls-files|reflog))(?:\s|$)"
    r"|[\w./-]{1,60} (?:(?!apply|run|exec|install|create|delete|rm|add|remove|set|push|start|stop|restart)[a-z]{1,20} ){0,2}"
    r"(?:list|ls|show|status|info|describe|get|history|current|heads|versions?|view|inspect|logs?|diff|help|search|freeze|images"
    r"|ps|top|explain|whoami|providers|output|outdated|(?:list|get|describe|is|current)-[\w-]{1,40})(?:\s|$)"
    r"|\S{1,100} (?:--?version|-V|--help)\s*$|env\s*$|(?:get|read|view|list|search|fetch|show|open|describe)_\w{1,40}\b)"
)
_SUBMITS = re.compile(r"\W{0,3}(?:submit|guess|check_?flag|answer)(?:[_\W]|$)", re.IGNORECASE)
#: Commands that print nothing if they work.
_SILENT_COMMAND = re.compile(
    r"\s*(?:sudo )?(?:rm|rmdir|cp|mv|mkdir|touch|ln|ch(?:mod|own|grp)|cd|pushd|popd|export|unset|set|alias|source|\.|sed|perl -\w{0,3}i|patch|truncate|install"
    r"|kill|pkill|sleep|wait|true|false|test|\[|git (?:add|checkout|config|reset|restore|stash|rm|mv|apply|fetch)|py_compile|python3? -m py_compile"
    r"|gcc|g\+\+|cc|clang|make -s|tar|unzip -q|gunzip|gzip|useradd|usermod|mount|umount|crontab|ip|iptables"
    # Checks that print nothing if they find nothing.
    r"|(?:npx |pnpm |yarn |bunx )?(?:tsc|eslint|prettier|oxlint)|gofmt|go (?:build|vet|fmt|mod)|javac|rustfmt|node (?:--check|-c)|(?:ba|z)?sh -n"
    r"|(?:uv run |python3? -m )?(?:ruff|flake8|pyflakes|black|isort)|cmp|diff|git diff|dos2unix"
    # Of PowerShell and cmd.
    r"|(?i:(?:set|add|clear)-content|out-(?:file|null)|(?:new|remove|copy|move|rename|set|clear)-item(?:property)?|set-location|start-sleep"
    r"|(?:start|stop)-(?:process|service|job)|set-executionpolicy|set-variable|expand-archive|compress-archive|del|erase|copy|move|md|rd|ren|attrib))(?:\s|$)"
)
#: Options with which a command that reads writes or deletes, and the commands of which -o is none of them.
_WRITES = re.compile(r"\s-(?:delete|fprint\w{0,4}|o|-output|i inplace)\b|\bxxd\b.{0,99}\s-r\b")
_SELECTS_BY_O = re.compile(
    r"\s*(?:[ef]?grep|rg|ag|ps|ls|lsof|ss|kubectl|find(?!.*\s-(?:delete|fprint)))\b"
)
#: A query whatever its argument is called: other texts may begin with `show` or `with` too.
_SELECTS = re.compile(
    r"\s*(?:select\b.{1,2000}?\bfrom\b|show (?:tables|databases|columns)\b|desc(?:ribe)? \S{1,80}\s*;?\s*\Z)",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = re.compile(r"[^\W\d]{2}.{0,80}?\s[^\W\d]{2}")
_QUERY = re.compile(
    r"\A\s*(?:select|with|show|describe|explain|pragma|insert|update|delete|create|match|graph|prefix)\b"
    r"|\bselect\b[^\n]{1,200}\bfrom\b",
    re.IGNORECASE,
)
_READING_ACTION = re.compile(
    r"\s*(?:search|find|look ?up|retrieve|get|read|view|list|show|query|inspect|examine|open|ask)\s?[\[(]",
    re.IGNORECASE,
)
_COMMAND_MARK = re.compile(r"\w\.\w|/|\s-{1,2}\w|\s\|\s")
_is_notebook = named_like(
    re.compile(r"python|jupyter|notebook|cell|code|repl", re.IGNORECASE), splits_words=False
)
_READING_LINE = re.compile(
    r"(?:(?:print|len|type|dir|list|sorted|display|repr)\()*[\w.\[\]'\"]{1,120}?(?:\.(?:head|tail|info|describe|sample|sum|mean|min|max"
    r"|unique|nunique|value_counts|keys|values|items|isna|isnull|any|all|count)\(\d{0,4}\))*\)*;?"
)
_is_trial_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:run|test|tests|exec|execute|build|compile|lint|check|validate|verify|evaluate|eval|submit|deploy|start"
        r"|launch|simulate|status|poll|wait|try|play|solve|apply|install|python\w*|pytest|make|npm|node|code|answer)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Tools by which the agent reports that it is done.
_is_completion_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:finish\w*|done|complete\w*|completion|terminate|finalize|conclude|end|stop|exit)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
_CLAIM_WORDS = 4  #: fewer words are an answer, and each answer may be a new attempt
#: Longer arguments are content, such as an edit, and may differ each time; the limit for commands is higher.
ARGUMENTS_CHARACTERS = 240
COMMAND_CHARACTERS = 1_000
_QUESTIONS = frozenset(("query", "q", "question", "prompt", "task", "instruction", "request"))
_VALUES_EXAMINED = 100
_WAIT = r"wait|sleep|delay|pause|back_?off"
_mentions_wait = occurs(_WAIT)
_PRINTED_TEXT = re.compile(r"\s{0,9}cat\s{0,3}<<")
_is_named_wait = named_like(re.compile(_WAIT, re.IGNORECASE | re.ASCII), splits_words=False)
#: what a log shows in place of arguments
_LABELS = frozenset(("summary", "title", "description", "label"))
#: Tools and commands that write something, each time anew.
_is_writing_tool = named_like(
    re.compile(
        r"(?:^|[_\W])(?:edit|insert|append|replace|patch|write|update|save|store|upload|add|create|book|reserve|schedule|register"
        r"|order|send|post|reply|comment|publish)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
#: Names of arguments with an amount of money, and with a recipient.
_AMOUNT = re.compile(
    r"(?:\b|_)(?:amounts?|sum|cents|price|total|currency|eur|usd|gbp|money)(?:\b|_)", re.IGNORECASE
)
_RECIPIENT = re.compile(
    r"(?:\b|_)(?:to|recipients?|receivers?|e_?mails?|phone|channel|chat|users?|customers?|contacts?|members?|subject|address(?:es)?)(?:\b|_)",
    re.IGNORECASE,
)
_APPENDING_COMMAND = re.compile(r"\s*(?:echo|printf|cat|tee)\b[^\n]{0,400}(?:>>|\s-a\b)")


def is_read_only(call: Call) -> bool:
    """Return whether a call only reads, so that a call that failed before it still fails after it."""
    if call.reads is None:
        call.reads = _only_reads(call)
    return call.reads


def _only_reads(call: Call) -> bool:
    command = call.command
    if command is not None:
        if len(command) > _COMMAND_CHARACTERS:
            return False
        return _is_reading_command(command) or only_reads_files(code_in_command(command))
    code = _code_of(call)
    if code is not None:
        lines = [line.strip() for line in code[:_COMMAND_CHARACTERS].splitlines() if line.strip()]
        is_whole = len(code) <= _COMMAND_CHARACTERS and bool(lines)
        is_plain = is_whole and all(map(_READING_LINE.fullmatch, lines))
        return is_plain or (is_whole and only_reads_files(code))
    value = call.arguments.value
    query = value.get("sql", value.get("query")) if type(value) is dict else None
    if query is None and type(value) is dict and len(value) == 1:
        ((name, query),) = value.items()
        is_code = name == "code" and type(query) is str and len(query) <= _COMMAND_CHARACTERS
        if is_code and only_reads_files(query):
            return True
        if type(query) is str and not _SELECTS.match(query):
            return _is_reading_tool(call.tool) or _is_reading_text(query)
    if type(query) is str and READING_QUERY.match(query):
        return True
    return _is_reading_tool(call.tool)


def _is_reading_text(text: str) -> bool:
    """Return whether the only argument of any tool is a call that reads (`search[x]`) or a command that only shows something."""
    if len(text) > _COMMAND_CHARACTERS:
        return False
    has_marks = _COMMAND_MARK.search(text) is not None
    return _READING_ACTION.match(text) is not None or (has_marks and _is_reading_command(text))


def _is_reading_command(command: str) -> bool:
    shown = _DISCARDED_OUTPUT.sub("", command)
    parts = [part for part in _BETWEEN_COMMANDS.split(shown) if part.strip()]
    writes = ">" in shown or any(
        _WRITES.search(part) and not _SELECTS_BY_O.match(part) for part in parts
    )
    return bool(parts) and not writes and all(map(_READING_COMMAND.match, parts))


def searched_text(call: Call) -> str:
    """Return the text or pattern that a tool other than a shell searches for; empty for any other call."""
    given = call.arguments.value
    if call.command is not None or type(given) is not dict or not _is_searching_tool(call.tool):
        return ""
    texts = (given[name] for name in _SEARCHED if name in given)
    return next((text for text in texts if type(text) is str), "")


def is_trial(call: Call) -> bool:
    """Return whether a call is a trial, such as a test run, that earlier changes may let pass."""
    if call.command is not None:
        return not is_read_only(call)
    return _is_trial_tool(call.tool)


def is_command(call: Call) -> bool:
    """Return whether a call runs a command line."""
    return call.command is not None


def is_guess(call: Call) -> bool:
    """Return whether a call submits an answer that is refused."""
    said = call.command or call.tool[:NAME_CHARACTERS]
    return _SUBMITS.match(said) is not None and call.result.is_unsuccessful


def prints(call: Call) -> bool:
    """Return whether a call reads, or runs a command that usually prints something, so that nothing is an outcome of its own."""
    command = call.command
    if command is None:
        return is_read_only(call)
    shown = _DISCARDED_OUTPUT.sub("", command[:_COMMAND_CHARACTERS])
    parts = [part for part in _BETWEEN_COMMANDS.split(shown) if part.strip()]
    return bool(parts) and ">" not in shown and not _SILENT_COMMAND.match(parts[-1])


def is_short(call: Call) -> bool:
    """Return whether the arguments of a call are too short to be content, such as an edit."""
    length = len(call.arguments.key)
    return length <= ARGUMENTS_CHARACTERS or (length <= COMMAND_CHARACTERS and is_command(call))


def is_request(call: Call) -> bool:
    """Return whether a call is a request, rather than a submission of content."""
    return is_short(call) or has_question(call)


def has_question(call: Call) -> bool:
    """Return whether an argument of a call is called a question, a query, or the like."""
    given = call.arguments.value
    return type(given) is dict and not _QUESTIONS.isdisjoint(given)


def runs_code(call: Call) -> bool:
    """Return whether a call runs code, as in a notebook."""
    return _code_of(call) is not None


def is_natural_language(call: Call) -> bool:
    """Return whether a call's arguments are natural language, rather than a command, a database query or names."""
    if is_command(call) or runs_code(call):
        return False
    value = call.arguments.value
    values = value.values() if type(value) is dict else [value]
    texts = [each for each in values if type(each) is str]
    return any(map(_WORDS.search, texts)) and not any(map(_QUERY.search, texts))


def ends_work(call: Call) -> bool:
    """Return whether a call ends the work, whatever it says."""
    return _is_completion_tool(call.tool)


def claims_done(call: Call) -> bool:
    """Return whether a call reports that the work is done."""
    if not ends_work(call):
        return False
    said = call.arguments.texts
    return not said or said.count(" ") >= _CLAIM_WORDS


def is_wait(call: Call) -> bool:
    """Return whether a call waits, so that a call that failed before it may succeed after it."""
    if call.waits is None:
        command = call.command
        if command and _PRINTED_TEXT.match(command):  # which may tell of waiting
            command = command.partition("\n")[0]
        call.waits = _mentions_wait(command) if command else _is_named_wait(call.tool)
    return call.waits


def is_abridged(call: Call) -> bool:
    """Return whether the trace has only a label in place of a call's arguments."""
    value = call.arguments.value
    return type(value) is dict and len(value) > 0 and value.keys() <= _LABELS


def writes(call: Call) -> bool:
    """Return whether a call edits a file, sends a message, or creates something."""
    command = call.command
    if command is None:
        return _is_writing_tool(call.tool)
    program = command[:NAME_CHARACTERS].split(None, 1)[:1]
    return _APPENDING_COMMAND.match(command) is not None or any(map(_is_writing_tool, program))


def acts_outside(call: Call) -> bool:
    """Return whether a call pays or sends something, by the name of its tool.

    A name such as `transfer` or `send` may mean something else: such a call has to have an amount, or a recipient.
    """
    value, tool = call.arguments.value, call.tool
    if type(value) is not dict or not value or tells_of(tool) or is_read_only(call):
        return False
    if pays(tool):
        return True
    keys = " ".join(map(with_underscores, filter(_is_text, islice(value, _VALUES_EXAMINED))))
    return (moves_money(tool) and _AMOUNT.search(keys) is not None) or (
        sends(tool) and _RECIPIENT.search(keys) is not None
    )


def _is_text(value: object) -> TypeGuard[str]:
    return type(value) is str


def _code_of(call: Call) -> str | None:
    """Return the code that a call runs, as in a notebook, or None; a command is none."""
    value = None if call.command is not None else call.arguments.value
    code = value.get("code", value.get("source")) if type(value) is dict else None
    return code if type(code) is str and _is_notebook(call.tool) else None
