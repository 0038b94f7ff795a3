"""Which files of a folder are read: those with cases, traces or rows, by their names, and agents' databases and Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from weighbridge.errors import InputError
from weighbridge.text import printable
from weighbridge_producer.input.files.databases.stored_sessions import is_known_store
from weighbridge_producer.input.files.file_groups import part
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.remote_files import RemoteFile
from weighbridge_producer.input.files.text_logs import begins_text_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_NAMES_SHOWN = 3  #: of files that are not read
_OF_RUNS = (".jsonl", ".ndjson", ".json", ".traj", ".eval")
_OF_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", ".arrow", ".feather")
_DATABASES = (".db", ".sqlite", ".sqlite3")  #: read in folders if they are known stores of agents
#: What Hugging Face writes beside the rows of a data set.
DESCRIPTIONS = frozenset(
    {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}
)
_STATE = "state.json"  #: a name that may be anything without another one of these
_AIDER_HISTORY = ".aider.chat.history.md"  #: read in a folder that has nothing else to read
_MARKDOWN = ".md"
_HEAD_BYTES = 512  #: of a file, which show whether it is a history
_PACKED = (".gz", ".zst")
OUR_RESULTS = ".results.jsonl"  #: suffix of the default output of `run`, never read as input

_FileT = TypeVar("_FileT", Path, RemoteFile)


def endings_of(read_as: ReadAs) -> tuple[str, ...]:
    """Return the endings of the names of files that are read in folders."""
    return _OF_RUNS + (_OF_TABLES if read_as.takes_tables else ())


def endings_sent_of_folders() -> tuple[str, ...]:
    """Return the endings of the names of files in a folder that may be read, or are read together with one of them."""
    logs = tuple(f"{ending}-wal" for ending in _DATABASES)
    return (*endings_of(ReadAs.ANYTHING), *_DATABASES, *logs, _MARKDOWN)


def files_of_folder(folder: str, every: Sequence[_FileT], read_as: ReadAs) -> tuple[_FileT, ...]:
    """Return those of the files in a folder that are read, or else aider's hidden histories; InputError if there are none."""
    endings = endings_of(read_as)
    files = _without_descriptions(
        [
            file
            for file in every
            if is_input(file.name, endings)
            or (read_as.takes_stores and (_is_store(file) or _is_history(file)))
        ]
    )
    files = files or tuple(file for file in every if file.name == _AIDER_HISTORY)
    if not files:
        names = [file.name for file in every]
        others = f", only {listed_names(names)}" if names else ""
        raise InputError(
            f"the folder {folder!r} has no file to read{others}",
            f"files that end in {', '.join(endings)}, also with .gz or .zst, are read, except hidden ones and those that end"
            f" in {OUR_RESULTS}, and SQLite databases and Markdown in which agents keep sessions; a file of another name is"
            " read if you name it",
        )
    return files


def listed_names(names: Sequence[str]) -> str:
    """Return the first of some names, for a message."""
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"{printable(', '.join(names[:_NAMES_SHOWN]))}{more}"


def _without_descriptions(files: Sequence[_FileT]) -> tuple[_FileT, ...]:
    """Return files without those in which Hugging Face describes the others; all of them if there are no others."""
    names = {file.name for file in files}
    is_described = not names.isdisjoint(DESCRIPTIONS - {_STATE})
    if not is_described and not any(name.endswith(".arrow") for name in names):
        return tuple(files)
    return tuple(file for file in files if file.name not in DESCRIPTIONS) or tuple(files)


def shown_names(files: Iterable[_FileT], name_of: Callable[[_FileT], str]) -> list[str]:
    """Return the names of files that are not read, for the user: without hidden ones and earlier results."""
    names = map(name_of, files)
    return [name for name in names if not (_is_hidden(name) or is_ours(name))]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def is_input(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a file in a folder is read, by its name."""
    return unpacked_name(name).endswith(endings) and not (is_ours(name) or name.startswith("."))


def _is_store(file: Path | RemoteFile) -> bool:
    """Return whether a file in a folder is a database in which an agent keeps its sessions."""
    is_named = file.name.endswith(_DATABASES) and not file.name.startswith(".")
    return is_named and isinstance(file, Path) and is_known_store(file)


def _is_history(file: Path | RemoteFile) -> bool:
    """Return whether a file in a folder is Markdown in which an agent's sessions are recorded."""
    if not file.name.endswith(_MARKDOWN) or file.name.startswith(".") or not isinstance(file, Path):
        return False
    return begins_text_log(part(file, 0, _HEAD_BYTES).lstrip())


def is_ours(name: str) -> bool:
    """Return whether a file is of the results of an earlier run, by its name."""
    return unpacked_name(name).endswith(OUR_RESULTS)


def unpacked_name(name: str) -> str:
    """Return a file's name without compression suffixes."""
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    return name
