"""What a path of an input names: a file, a folder, a pattern, a URL, or files that were grouped before."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from weighbridge.errors import InputError
from weighbridge_producer.input.files.file_groups import FileGroup
from weighbridge_producer.input.files.file_search import SearchResult, search
from weighbridge_producer.input.files.folder_files import (
    endings_of,
    files_of_folder,
    is_input,
    is_ours,
    listed_names,
    shown_names,
)
from weighbridge_producer.input.files.path_patterns import (
    folder_of_pattern,
    matches,
    matching_files,
)
from weighbridge_producer.input.files.remote_files import RemoteFile, RemoteFolder, is_url
from weighbridge_producer.input.files.result_files import without_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.files.input_paths import InputFile
    from weighbridge_producer.input.files.read_as import ReadAs


class NamedInput(Protocol):
    """The files that one path of an input names."""

    @property
    def files(self) -> Sequence[InputFile]:
        """The files in reading order."""

    @property
    def skipped(self) -> Sequence[str]:
        """The names of files that a search found, and that are not read."""

    @property
    def results(self) -> Sequence[str]:
        """The names of files that a search found, and that have results of earlier runs."""

    @property
    def is_search(self) -> bool:
        """True if the files were found by a search, and there may be several."""

    def name_of(self, file: InputFile) -> str:
        """Return a file's name, of a search relative to its folder."""

    def would_take(self, file: str) -> bool:
        """Return whether a file with this path would be one of the files when they are read again."""


def named_input(path: Path | RemoteFile | RemoteFolder | FileGroup, read_as: ReadAs) -> NamedInput:
    """Return the files that a path names; raises InputError if a search finds none to read."""
    match path:
        case FileGroup():
            return _Group(path)
        case RemoteFile():
            return _Url(path)
        case RemoteFolder():
            return _UrlOfFolder(path, read_as)
    if _is_folder(path):
        return _Folder(path, read_as)
    if glob.has_magic(str(path)) and not _exists(path):
        return _Pattern(path, read_as)
    return _File(path)


class _Named:
    """Files that are named one by one."""

    is_search = False
    skipped: Sequence[str] = ()
    results: Sequence[str] = ()

    def __init__(self, *files: InputFile) -> None:
        self.files = files

    def name_of(self, file: InputFile) -> str:
        return file.name


class _File(_Named):
    """A file."""

    def would_take(self, file: str) -> bool:  # noqa: ARG002
        return False  # it is read again, and no other one is looked for


class _Group(_Named):
    """A group of files that was found before."""

    def __init__(self, group: FileGroup) -> None:
        super().__init__(group)
        self._paths = {file.absolute() for file in group.every()}

    def would_take(self, file: str) -> bool:
        return _absolute(file) in self._paths


class _Url(_Named):
    """The file at a URL."""

    def would_take(self, file: str) -> bool:
        return is_url(file)


class _UrlOfFolder(_Url):
    """The files in the folder at a URL."""

    is_search = True

    def __init__(self, folder: RemoteFolder, read_as: ReadAs) -> None:
        super().__init__(*files_of_folder(str(folder), folder.files, read_as))
        self._folder = folder
        read = set(self.files)
        left_out = [file for file in folder.files if file not in read]
        self.skipped = shown_names(left_out, folder.name_of)

    def name_of(self, file: InputFile) -> str:
        return self._folder.name_of(file) if isinstance(file, RemoteFile) else file.name


class _Search(_Named):
    """The files that a search finds."""

    is_search = True

    def __init__(
        self, kind: str, path: Path, base: Path, found: SearchResult, results: Sequence[Path]
    ) -> None:
        """Take the files that were found for a path, with names relative to `base`; InputError if none of them is read."""
        super().__init__(*found.read)
        self._base = base
        self.results = shown_names(results, self.name_of)
        self.skipped = shown_names(found.left_out, self.name_of)
        if not self.files:
            raise InputError(
                f"the {kind} {str(path)!r} has no run to read, only files that are kept beside runs"
                f" ({listed_names(self.skipped)})",
                "give the folder that has the runs, or name a file to read it as it is",
            )

    def name_of(self, file: InputFile) -> str:
        own = file.path if isinstance(file, FileGroup) else file
        if isinstance(own, Path) and own.is_relative_to(self._base) and own != self._base:
            return own.relative_to(self._base).as_posix()
        return file.name


class _Folder(_Search):
    """The files in a folder, and in the folders in it."""

    def __init__(self, folder: Path, read_as: ReadAs) -> None:
        every, results = without_results(
            [file for file in sorted(folder.rglob("*")) if file.is_file()]
        )
        if results and not every:
            raise _only_results("folder", folder)
        chosen = files_of_folder(str(folder), every, read_as)
        super().__init__("folder", folder, folder, search(chosen, read_as, every), results)
        self._folder = folder
        self._endings = endings_of(read_as)

    def would_take(self, file: str) -> bool:
        path = _absolute(file)
        folders = {self._folder.absolute(), self._folder.resolve()}
        inside = any(path.is_relative_to(folder) for folder in folders)
        return inside and is_input(path.name, self._endings)


class _Pattern(_Search):
    """The files that match a pattern."""

    def __init__(self, pattern: Path, read_as: ReadAs) -> None:
        matching, results = without_results(matching_files(str(pattern)))
        if not matching:
            raise _only_results("pattern", pattern)
        found = search(matching, read_as)
        super().__init__("pattern", pattern, folder_of_pattern(pattern), found, results)
        self._pattern = pattern

    def would_take(self, file: str) -> bool:
        path = _absolute(file)
        return matches(path.parts, _absolute(self._pattern).parts) and not is_ours(path.name)


def _only_results(kind: str, path: Path) -> InputError:
    return InputError(
        f"the {kind} {str(path)!r} has only results without their cases",
        "give the cases, or write results with --with-cases (`run` and `results`), which can be graded again",
    )


def _absolute(path: str | Path) -> Path:
    """Return the absolute path of a file, without resolving links."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
