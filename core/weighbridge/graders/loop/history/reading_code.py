"""Code in Python that only reads files and prints what is in them, as some agents write it in place of `cat` and `sed -n`."""

from __future__ import annotations

import re

_READS = re.compile(r"\bopen\(|\bread_(?:text|bytes)\(|\blinecache\.getlines?\(")
#: Modules with which nothing is changed that the code does not also name below.
_IMPORT = re.compile(
    r"^[ \t]{0,80}(?:import|from)[ \t]{1,9}([\w.]{1,80})[^\n]{0,200}", re.MULTILINE
)
_HARMLESS = frozenset(
    ("ast", "collections", "io", "itertools", "json", "linecache", "os", "pathlib", "pprint", "re", "sys", "textwrap", "tokenize")
)  # fmt: skip
#: What writes, deletes, runs or fetches something; an assignment to a field is left out.
_ACTS = re.compile(
    r"\bopen\([^\n]{0,300},\s{0,9}(?:mode\s{0,9}=\s{0,9})?['\"][^'\"\n]{0,3}[wax+]"
    r"|\.(?:write\w*|save\w*|to_\w+|dump|unlink|rename|rmdir|mkdir|touch|chmod|symlink_to|truncate)\("
    r"|\bos\.(?:system|popen|remove|rename|replace|mkdir|makedirs|chdir|kill|environ)\b"
    r"|\b(?:subprocess|shutil|socket|urlopen|requests|importlib|ctypes)\b|\b(?:exec|eval|compile|__import__|input)\("
)
_OPENED = re.compile(r"\b(?:open|Path|getlines?)\(\s{0,9}[rbfu]{0,2}['\"]([^'\"\n]{1,300})['\"]")
#: A command that runs code which stands in it.
_RUN = re.compile(
    r"\s{0,9}(?:cd \S{1,300} (?:&&|;) )?python[\d.]{0,5} (?:-c\s{1,3}(?P<quote>[\"'])(?P<line>(?:\\.|(?!(?P=quote))[^\\]){1,4000})(?P=quote)\s{0,9}"
    r"|-?\s{0,3}<<-?\s{0,3}[\"']?(?P<end>\w{1,40})[\"']?[ \t]{0,9}\n(?P<lines>.{1,4000})\n(?P=end)\s{0,9})",
    re.DOTALL,
)


def code_in_command(command: str) -> str:
    """Return the code that a command of `python -c` or with a here-document runs; empty for any other command."""
    found = _RUN.fullmatch(command) if "python" in command else None
    return (found["line"] or found["lines"]) if found else ""


def only_reads_files(code: str) -> bool:
    """Return whether code reads files and does nothing else than to print."""
    return (
        _READS.search(code) is not None
        and _ACTS.search(code) is None
        and all(name.partition(".")[0] in _HARMLESS for name in _IMPORT.findall(code))
    )


def opened_file(code: str) -> str:
    """Return the only file that code opens by its name; empty for none or several."""
    named = set(_OPENED.findall(code))
    return named.pop() if len(named) == 1 else ""
