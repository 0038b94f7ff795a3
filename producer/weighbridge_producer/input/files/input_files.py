"""The files of an input: a single file, the files in a folder, or those that match a pattern."""

from __future__ import annotations

import glob
import os
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.errors import InputError
from weighbridge_producer.input.files.databases.sqlite_file import database_beside
from weighbridge_producer.input.files.event_folders import with_event_folders
from weighbridge_producer.input.files.file_groups import FileGroup
from weighbridge_producer.input.files.folder_files import (
    OUR_RESULTS,
    endings_of,
    files_of_folder,
    is_input,
    is_ours,
    listed_names,
    skipped_names,
)
from weighbridge_producer.input.files.input_paths import HINT, size_of
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.remote_files import RemoteFile, RemoteFolder, is_url
from weighbridge_producer.input.files.session_files import with_sub_agents, without_side_files
from weighbridge_producer.input.files.trial_folders import each_trial_once
from weighbridge_producer.input.files.trial_runs import with_trials

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge_producer.input.files.input_paths import InputFile, Paths


class InputFiles:
    """The files of an input, in the order of its paths, sorted within each path; InputError if there are none.

    Of runs, those of Harbor's trials are groups with the ids of their trials.
    """

    def __init__(self, paths: Paths, read_as: ReadAs = ReadAs.RUNS) -> None:
        self.endings = endings_of(read_as)  #: of the files that are read in folders
        self._named = [_named(path, read_as) for path in paths]
        files = tuple(file for named in self._named for file in named.files)
        self._left_out: list[str] = []  #: files that were named, among others, and have no run
        if read_as is ReadAs.RUNS:
            files = with_trials(self._grouped(files))
        self.files: tuple[InputFile, ...] = files  #: in reading order

    def _grouped(self, files: tuple[InputFile, ...]) -> tuple[InputFile, ...]:
        """Return files that were each named, as a shell does for a pattern, grouped like those of a pattern; others unchanged."""
        plain = [file for file in files if isinstance(file, Path)]
        if (
            len(self._named) < 2
            or len(plain) < len(files)
            or any(named.are_found for named in self._named)
        ):
            return files
        read = without_side_files(each_trial_once(plain))
        if not read:
            raise InputError(
                f"none of the files has a run to read, they are kept beside runs ({listed_names(self._names(plain))})",
                "give the folder that has the runs, or name one file to read it as it is",
            )
        known = set(read)
        self._left_out = self._names(dict.fromkeys(file for file in plain if file not in known))
        return _with_groups(read)

    def _names(self, files: Iterable[Path]) -> list[str]:
        return [self.name_of(file) for file in files]

    @property
    def are_found(self) -> bool:
        """True if there may be several files, so that lines need a location."""
        return len(self._named) > 1 or self._named[0].are_found

    @property
    def skipped(self) -> list[str]:
        """The names of files in folders and patterns that are not read because of their endings, or as descriptions of others."""
        return [*(name for named in self._named for name in named.skipped), *self._left_out]

    def size(self) -> int | None:
        """Return their total size in bytes; None if one is a pipe or device; InputError if one cannot be read."""
        sizes = [size_of(file) for file in self.files]
        return None if None in sizes else sum(map(int, filter(None, sizes)))

    def name_of(self, file: InputFile) -> str:
        """Return a file's name relative to the folder or pattern, as valid UTF-8."""
        name = str(file) if len(self._named) > 1 else self._named[0].name_of(file)
        return name.encode(errors="backslashreplace").decode()

    def would_take(self, file: str) -> bool:
        """Return whether the next search for files would include a file with this path."""
        return any(named.would_take(file) for named in self._named)


def _with_groups(files: Iterable[Path]) -> tuple[Path | FileGroup, ...]:
    """Return files, with those of one run as a group."""
    return with_sub_agents(with_event_folders(files))


def _named(
    path: Path | RemoteFile | RemoteFolder | FileGroup, read_as: ReadAs
) -> _Named | _Url | _Group:
    if isinstance(path, FileGroup):
        return _Group(path)
    if isinstance(path, RemoteFolder):
        return _UrlOfFolder(path, read_as)
    return _Named(path, read_as) if isinstance(path, Path) else _Url(path)


class _Group:
    """A group of files that was found before."""

    are_found = False
    skipped: Sequence[str] = ()

    def __init__(self, group: FileGroup) -> None:
        self.files = (group,)

    def name_of(self, file: InputFile) -> str:
        return file.name

    def would_take(self, file: str) -> bool:
        path = Path(os.path.abspath(file))  # noqa: PTH100 - must not resolve links
        return any(path == each.absolute() for each in self.files[0].every())


class _Url:
    """The file at a URL."""

    are_found = False
    skipped: Sequence[str] = ()

    def __init__(self, *files: RemoteFile) -> None:
        self.files = files

    def name_of(self, file: InputFile) -> str:
        return file.name

    def would_take(self, file: str) -> bool:
        return is_url(file)


class _UrlOfFolder(_Url):
    """The files in the folder at a URL."""

    are_found = True

    def __init__(self, folder: RemoteFolder, read_as: ReadAs) -> None:
        self._folder = folder
        files = files_of_folder(str(folder), folder.files, read_as)
        super().__init__(*files)
        self.skipped = skipped_names(folder.files, files, folder.name_of)

    def name_of(self, file: InputFile) -> str:
        return self._folder.name_of(file) if isinstance(file, RemoteFile) else file.name


class _Named:
    """The files of one path."""

    def __init__(self, path: Path, read_as: ReadAs) -> None:
        self._path = path
        self._endings = endings_of(read_as)
        takes_side_files = read_as.takes_side_files
        self._is_folder = _is_folder(path)
        self._is_pattern = not self._is_folder and glob.has_magic(str(path)) and not _exists(path)
        self.files: tuple[Path | FileGroup, ...] = (path,)  #: in reading order
        self.skipped: Sequence[str] = ()
        if self._is_folder:
            every = [file for file in sorted(path.rglob("*")) if file.is_file()]
            found = files_of_folder(str(path), every, read_as)
            files = without_side_files(each_trial_once(found), takes_side_files=takes_side_files)
            self.files = _with_groups(files)
            every = _without_logs(every, files)
            self.skipped = skipped_names(
                every, files, lambda file: file.relative_to(path).as_posix()
            )
            self._check_that_some_are_read("folder")
        elif self._is_pattern:
            matching = _of_pattern(str(path))
            files = without_side_files(each_trial_once(matching), takes_side_files=takes_side_files)
            self.files = _with_groups(files)
            self.skipped = skipped_names(_without_logs(matching, files), files, self.name_of)
            self._check_that_some_are_read("pattern")

    def _check_that_some_are_read(self, kind: str) -> None:
        """Raise InputError if no file is left, because all of them lie beside runs."""
        if not self.files:
            raise InputError(
                f"the {kind} {str(self._path)!r} has no run to read, only files that are kept beside runs"
                f" ({listed_names(self.skipped)})",
                "give the folder that has the runs, or name a file to read it as it is",
            )

    @property
    def are_found(self) -> bool:
        """True if the files were found by a search in a folder or by a pattern."""
        return self._is_folder or self._is_pattern

    def name_of(self, file: InputFile) -> str:
        """Return a file's name relative to the folder or pattern."""
        base = self._path
        if self._is_pattern:
            base = Path(*takewhile(lambda part: not glob.has_magic(part), base.parts))
        own = file.path if isinstance(file, FileGroup) else file
        if self.are_found and isinstance(own, Path) and own.is_relative_to(base) and own != base:
            return own.relative_to(base).as_posix()
        return file.name

    def would_take(self, file: str) -> bool:
        """Return whether the next search for files would include a file with this path."""
        path = Path(os.path.abspath(file))  # noqa: PTH100 - must not resolve links
        if self._is_folder:
            folders = {self._path.absolute(), self._path.resolve()}
            inside = any(path.is_relative_to(folder) for folder in folders)
            return inside and is_input(path.name, self._endings)
        if self._is_pattern:
            pattern = Path(os.path.abspath(self._path))  # noqa: PTH100 - the same
            return _fits(path.parts, pattern.parts) and not is_ours(path.name)
        return False


def _without_logs(every: Iterable[Path], files: Iterable[InputFile]) -> list[Path]:
    """Return files without those that SQLite keeps beside the databases that are read, of which logs are read with them."""
    read = set(files)
    return [file for file in every if file in read or database_beside(file) not in read]


def _of_pattern(pattern: str) -> tuple[Path, ...]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - absolute patterns too
    matching = _each_once([file for file in found if file.is_file()])
    files = tuple(file for file in matching if not is_ours(file.name))
    if matching and not files:
        raise InputError(
            f"the pattern {pattern!r} matches only results of earlier runs",
            f"files that end in {OUR_RESULTS} are never read as input",
        )
    if not files:
        raise InputError(f"no file matches the pattern {pattern!r}", HINT)
    return files


def _each_once(files: Sequence[Path]) -> list[Path]:
    """Return files without those that `**` found again, through links to folders, which may lead in a circle."""
    folders = {folder: folder.resolve() for folder in {file.parent for file in files}}
    first: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: len(file.parts)):
        first.setdefault(folders[file.parent] / file.name, file)
    kept = set(first.values())
    return [file for file in files if file in kept]


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path matches a pattern, part by part; `**` matches any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


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
