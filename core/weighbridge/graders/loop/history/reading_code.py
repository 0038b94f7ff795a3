"""Code in Python that only reads files and prints what is in them, as some agents write it in place of `cat` and `sed -n`."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

_CHARACTERS = 4_000  #: longer code does more
_REMEMBERED = 256
_READERS = frozenset(("open", "read_text", "read_bytes", "getline", "getlines"))
_MODULES = frozenset(
    ("ast", "collections", "itertools", "json", "linecache", "os", "pathlib", "pprint", "re", "sys", "textwrap")
)  # fmt: skip
#: What code may call that changes nothing, by its last name.
_CALLS = _READERS | frozenset(
    (
        *("print", "len", "range", "enumerate", "sorted", "reversed", "list", "tuple", "set", "dict", "str", "int", "float", "repr"),
        *("min", "max", "sum", "zip", "any", "all", "ord", "chr", "hex", "type", "isinstance", "Path", "Counter", "pprint"),
        *("read", "readline", "readlines", "close", "splitlines", "split", "rsplit", "partition", "strip", "lstrip", "rstrip"),
        *("join", "find", "rfind", "index", "count", "startswith", "endswith", "lower", "upper", "decode", "encode", "format"),
        *("expandtabs", "ljust", "rjust", "zfill", "isdigit", "isalpha", "isspace", "items", "keys", "values", "get", "append"),
        *("search", "match", "fullmatch", "findall", "finditer", "group", "groups", "start", "end", "sub", "loads", "load", "dumps"),
        *("parse", "walk", "unparse", "abspath", "basename", "dirname", "exists", "isfile", "is_file", "most_common", "insert"),
    )
)  # fmt: skip
_READING = frozenset(("r", "rt", "rb"))  #: modes of a file
_REPLACED = 2  #: arguments with which `replace` is that of a text; one renames a file
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
    may_read = len(code) <= _CHARACTERS and any(map(code.__contains__, _READERS))
    return may_read and _only_reads(code)


@lru_cache(_REMEMBERED)
def _only_reads(code: str) -> bool:
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called = [_name_of(node.func) for node in nodes if isinstance(node, ast.Call)]
    return not _READERS.isdisjoint(called) and all(map(_is_harmless, nodes))


def _is_harmless(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return all(each.name.partition(".")[0] in _MODULES for each in names)
        case ast.ImportFrom(module=module):
            return (module or "").partition(".")[0] in _MODULES
        case ast.Call():
            return _is_harmless_call(node)
        case ast.Delete() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return False
        case ast.Assign(targets=targets):
            return all(isinstance(each, ast.Name | ast.Tuple) for each in targets)
    return True


def _is_harmless_call(call: ast.Call) -> bool:
    name, given = _name_of(call.func), call.args
    named = {each.arg: each.value for each in call.keywords}
    if name == "replace":
        return len(given) >= _REPLACED
    if name == "print":
        return "file" not in named
    if name == "open":
        modes = given if isinstance(call.func, ast.Attribute) else given[1:]
        modes = [*modes[:1], *(named[key] for key in ("mode", None) if key in named)]
        return all(isinstance(mode, ast.Constant) and mode.value in _READING for mode in modes)
    return name in _CALLS


def _name_of(called: ast.expr) -> str:
    match called:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def opened_file(code: str) -> str:
    """Return the only file that code opens by its name; empty for none or several."""
    named = set(_OPENED.findall(code))
    return named.pop() if len(named) == 1 else ""
