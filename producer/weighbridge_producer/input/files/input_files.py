"""The files of an input: a single file, the files in a folder, or those that match a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.errors import InputError
from weighbridge_producer.input.files.file_search import search
from weighbridge_producer.input.files.folder_files import endings_of, listed_names
from weighbridge_producer.input.files.input_paths import size_of
from weighbridge_producer.input.files.named_inputs import named_input
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.trial_runs import with_trials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.files.input_paths import InputFile, Paths


class InputFiles:
    """The files of an input, in the order of its paths, sorted within each path; InputError if there are none.

    Of runs, those of Harbor's trials are groups with the ids of their trials.
    """

    def __init__(self, paths: Paths, read_as: ReadAs = ReadAs.RUNS) -> None:
        self.endings = endings_of(read_as)  #: of the files that are read in folders
        self._inputs = [named_input(path, read_as) for path in paths]
        files = tuple(file for named in self._inputs for file in named.files)
        self._left_out: list[str] = []  #: files that were named, among others, and have no run
        if read_as is ReadAs.RUNS:
            files = with_trials(self._searched(files))
        self.files: tuple[InputFile, ...] = files  #: in reading order

    def _searched(self, files: tuple[InputFile, ...]) -> tuple[InputFile, ...]:
        """Return files that were each named, as a shell does for a pattern, searched like those of a pattern; others unchanged."""
        plain = [file for file in files if isinstance(file, Path)]
        is_search = any(named.is_search for named in self._inputs)
        if len(self._inputs) < 2 or len(plain) < len(files) or is_search:
            return files
        found = search(plain, ReadAs.RUNS)
        if not found.read:
            raise InputError(
                f"none of the files has a run to read, they are kept beside runs ({listed_names(self._names(plain))})",
                "give the folder that has the runs, or name one file to read it as it is",
            )
        self._left_out = self._names(dict.fromkeys(found.left_out))
        return found.read

    def _names(self, files: Iterable[Path]) -> list[str]:
        return [self.name_of(file) for file in files]

    @property
    def may_be_several(self) -> bool:
        """True if there may be several files, so that lines need a location."""
        return len(self._inputs) > 1 or self._inputs[0].is_search

    @property
    def skipped(self) -> list[str]:
        """The names of files in folders and patterns that are not read because of their endings, or as descriptions of others."""
        return [*(name for named in self._inputs for name in named.skipped), *self._left_out]

    @property
    def results(self) -> list[str]:
        """The names of files in folders and patterns that are not read because they have results of earlier runs."""
        return [name for named in self._inputs for name in named.results]

    def size(self) -> int | None:
        """Return their total size in bytes; None if one is a pipe or device; InputError if one cannot be read."""
        sizes = [size_of(file) for file in self.files]
        return None if None in sizes else sum(map(int, filter(None, sizes)))

    def name_of(self, file: InputFile) -> str:
        """Return a file's name relative to the folder or pattern, as valid UTF-8."""
        name = str(file) if len(self._inputs) > 1 else self._inputs[0].name_of(file)
        return name.encode(errors="backslashreplace").decode()

    def would_take(self, file: str) -> bool:
        """Return whether the next search for files would include a file with this path."""
        return any(named.would_take(file) for named in self._inputs)
