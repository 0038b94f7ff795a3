"""A folder that a page sends file by file, kept on disk until it is read: which files belong together depends on all of them."""

from __future__ import annotations

import errno
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import InputError
from weighbridge.settings import MIB
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.first_rows import Opened, from_first_row_on
from weighbridge_producer.input.recognition import recognise, traces_behind
from weighbridge_producer.input.repeated_ids import with_file_in_id
from weighbridge_producer.input.unmapped_rows import unmapped
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.files.table_form import TableForm
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

FOLDER_LIMIT_BYTES = 512 * MIB
FILES_LIMIT = 10_000
_DEPTH_LIMIT = 64
_NO_ROOM = "the service has no room for the folder"
_OTHERWISE = "submit it with the command line: `weighbridge submit FOLDER --url URL`"


@contextmanager
def received_folder(name: str, files: Iterable[tuple[str, BinaryIO]]) -> Iterator[Path]:
    """Provide a folder with the files of an upload, and delete it; raises ProblemError if it cannot be kept.

    `name` is that of the folder, for messages.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="weighbridge-folder-")
        folder = Path(temporary.name) / "folder"
        folder.mkdir()
    except OSError:
        raise _refused(507, _NO_ROOM) from None
    with temporary:
        left = FOLDER_LIMIT_BYTES
        for count, (file_name, stream) in enumerate(files, 1):
            if count > FILES_LIMIT:
                raise _refused(413, f"the folder has more than {FILES_LIMIT:,} files")
            left -= _keep(stream, _place(folder, file_name), file_name, left)
        try:
            yield folder
        except InputError as error:
            # The folder of this name is that of the user.
            raise InputError(error.message.replace(str(folder), name), error.hint) from None


def _place(folder: Path, name: str) -> Path:
    """Return where a file is kept; ProblemError for a path that leads out of the folder."""
    path = PurePosixPath(name)
    is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    if not is_inside or "\0" in name or "\\" in name or len(path.parts) > _DEPTH_LIMIT:
        raise ProblemError(
            422, "FORM_FIELD", f"{name[:200]!r} is not the path of a file in a folder", _OTHERWISE
        )
    return folder.joinpath(*path.parts)


def _keep(stream: BinaryIO, place: Path, name: str, most: int) -> int:
    """Write a file, and return its size."""
    size = 0
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as kept:
            while piece := stream.read(MIB):
                size += len(piece)
                if size > most:
                    raise _refused(413, f"the folder has over {FOLDER_LIMIT_BYTES:,} bytes")
                kept.write(piece)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise _refused(507, _NO_ROOM) from None
        why = error.strerror or error
        raise _refused(422, f"the file {name[:200]!r} cannot be kept: {why}") from None
    return size


def _refused(status: int, what: str) -> ProblemError:
    return ProblemError(status, "FOLDER_REFUSED", what, _OTHERWISE, {"Connection": "close"})


def mapping_of_folder(
    folder: Path, graders: Sequence[GraderSpec], settings: Settings, form: TableForm
) -> FieldMapping | None:
    """Return the mapping of the rows in a folder, None for cases and traces; MappingNeededError for columns of their own."""
    opened = Opened.all_of(Paths.of([folder]), form, ReadAs.ANYTHING)
    named = [replace(each, label=each.name) for each in opened]
    files = from_first_row_on(named, settings)
    seen = recognise(files[0], graders, settings)
    if seen is None or traces_behind(files, graders, settings):
        return None
    if found := with_file_in_id(seen, files, settings).mapping:
        return replace(found, table=form)
    raise unmapped(files[0].name, seen, graders)
