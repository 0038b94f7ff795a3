"""Remote files: `https://`, `s3://`, `gs://` and the other schemes of fsspec, which is an optional dependency."""

from __future__ import annotations

import glob
import io
import logging
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import urlsplit

from weighbridge.errors import InputError
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMES = ("http", "https", "s3", "gs")
_NEEDED = {"http": "http", "https": "http", "s3": "s3fs", "gs": "gcsfs"}
_AFTER_PATH = re.compile("[?#]")
_TRY_AGAIN = "try again, or download the file yourself"
_INSTALL = "pip install 'weighbridge[remote]'"
#: Loggers of the libraries, whose warnings Python prints if nobody configures logging; errors are raised as well.
_LOGGERS = ("aiobotocore", "botocore", "fsspec", "gcsfs", "google", "s3fs", "urllib3")
_NO_CREDENTIALS = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError", "RefreshError"}
)
_CREDENTIALS_HINT = "set the credentials as for the server's own tools, such as AWS_PROFILE"
#: Encodings of a reply that are read as compressed files are, whose missing end is noticed.
_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "zstd"})
_RANGE = re.compile(r"bytes[ =](\d+)-")
_VERSION_FIELDS = ("ETag", "etag", "LastModified", "updated", "mtime", "generation")


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a remote file."""
    return "://" in text


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at a URL, with the methods of `Path` that are needed to read input."""

    url: str

    @property
    def name(self) -> str:
        """The file name; that of a web address is without its query."""
        is_on_web = self.url.lower().startswith(("http://", "https://"))
        place = self.url.partition("://")[2]
        path = _AFTER_PATH.split(place)[0].partition("/")[2] if is_on_web else self.url
        return PurePosixPath(path).name or self.url

    def __str__(self) -> str:
        return _without_password(self.url)

    def open(self, _mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open the file for reading; raises InputError if that fails."""
        system, path = _system_of(self.url)
        opened = _translated(self.url, lambda: system.open(path, "rb"))
        size = buffering if buffering > 0 else io.DEFAULT_BUFFER_SIZE
        return cast("BinaryIO", io.BufferedReader(_Remote(opened, self.url), size))

    def size(self) -> int | None:
        """Return the size in bytes; None if the server does not report it."""
        size = self._info().get("size")
        return size if isinstance(size, int) else None

    def is_folder(self) -> bool:
        """Return whether it is a folder; raises InputError if nothing is there."""
        return self._info().get("type") == "directory"

    def version(self) -> list[str | int]:
        """Return a value that changes with the file, if the server provides one."""
        info = self._info()
        versions = [str(info[name]) for name in _VERSION_FIELDS if info.get(name) is not None]
        return [self.url, info.get("size") or 0, *versions]

    def _info(self) -> dict[str, Any]:
        system, path = _system_of(self.url)
        return cast("dict[str, Any]", _translated(self.url, lambda: system.info(path)))


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """The files in a folder of a bucket, and in the folders in it."""

    url: str
    files: tuple[RemoteFile, ...]  #: sorted by name

    @property
    def name(self) -> str:
        """The folder's name."""
        return PurePosixPath(self.url).name

    def __str__(self) -> str:
        return self.url

    def name_of(self, file: RemoteFile) -> str:
        """Return a file's name relative to the folder."""
        return file.url.removeprefix(f"{self.url.rstrip('/')}/")


def remote_files(url: str) -> tuple[RemoteFile | RemoteFolder, ...]:
    """Return the file at a URL, or the folder in a bucket, or the files in a bucket that match it as a pattern.

    An object with exactly that name is no pattern. Raises InputError if the URL is invalid or its scheme unknown, or no
    file matches.
    """
    scheme, _, place = url.partition("://")
    scheme = scheme.lower()
    url = f"{scheme}://{place}"
    if scheme not in SCHEMES:
        raise InputError(
            f"{_without_password(url)!r} has a scheme that is not supported",
            f"known are {', '.join(f'{known}://' for known in SCHEMES)}",
        )
    if scheme in {"http", "https"}:
        _check_web_address(url)
        return (RemoteFile(url),)
    system, path = _system_of(url)
    if glob.has_magic(url) and not system.isfile(path):
        found = _files_in(_translated(url, lambda: system.glob(path, detail=True)), scheme)
        if not found:
            raise InputError(f"no file matches the pattern {_without_password(url)!r}")
        return found
    file = RemoteFile(url)
    if not url.endswith("/") and not file.is_folder():
        return (file,)
    listed = _translated(url, lambda: system.find(f"{path}/", detail=True))
    found = _files_in(listed, scheme)
    if not found and not file.is_folder():
        raise InputError(f"the input {_without_password(url)!r} is not a folder")
    return (RemoteFolder(url, found),)


def _check_web_address(url: str) -> None:
    """Raise InputError if a URL has no valid host or port."""
    try:
        parts = urlsplit(url)
        why = "" if parts.hostname else "it names no host"
        _ = parts.port
    except ValueError:
        # Not Python's own words, which quote what may be a password.
        why = "its host or port is not valid; a port is a number up to 65535"
    if why:
        raise InputError(
            f"{_without_password(url)!r} is not a valid URL: {why}",
            "write http://HOST/FILE or http://HOST:PORT/FILE; brackets enclose an IPv6 address, as in http://[::1]/FILE",
        )


def _files_in(listed: dict[str, dict[str, Any]], scheme: str) -> tuple[RemoteFile, ...]:
    """Return the files of a listing, in the order in which those of a local folder are."""
    paths = [path for path, info in listed.items() if info["type"] == "file" and path[-1:] != "/"]
    return tuple(RemoteFile(f"{scheme}://{path}") for path in sorted(paths, key=PurePosixPath))


class _Remote(io.RawIOBase):
    """An open remote file, which raises the same errors as a local one."""

    def __init__(self, opened: Any, url: str) -> None:
        self._opened = opened
        self._url = url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        # Without a size, fsspec reads from the beginning to the end only.
        return bool(self._opened.seekable()) and self._opened.size is not None

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._opened.seek(offset, whence))

    def tell(self) -> int:
        return int(self._opened.tell())

    def readinto(self, buffer: Any) -> int:
        data = _translated(self._url, lambda: self._opened.read(len(buffer)))
        size = self._opened.size
        if not data and size is not None and len(buffer) and self.tell() < size:
            raise InputError(
                f"the input {_without_password(self._url)!r} cannot be read:"
                f" the server sent {self.tell():,} of its {size:,} bytes",
                _TRY_AGAIN,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._opened.close()
        super().close()


def _system_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise InputError(f"reading {_without_password(url)!r} needs fsspec", _INSTALL) from None
    _keep_quiet()
    try:
        # Not `url_to_fs`, which reads a `::` in a name as a chain of file systems.
        scheme = url.partition("://")[0].lower()
        system = fsspec.filesystem(scheme, **_OPTIONS.get(_NEEDED[scheme], {}))
    except (ImportError, ValueError) as error:
        package = _NEEDED[url.partition("://")[0].lower()]
        raise InputError(
            f"reading {_without_password(url)!r} needs {package}: {error}", _INSTALL
        ) from None
    return system, system._strip_protocol(url)  # noqa: SLF001 - as `url_to_fs` does


class _ReplyError(Exception):
    """A web server's reply is not the file, or not what was asked for."""


async def _check_reply(reply: Any) -> None:
    """Raise _ReplyError if a reply is another part of the file than was asked for, or in an encoding that cannot be read.

    aiohttp would take both, and a compressed reply without its end, as the whole file.
    """
    encoding = reply.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise _ReplyError(f"the server sends it with the encoding {encoding[:40]!r}, unasked")
    if reply.status != HTTPStatus.PARTIAL_CONTENT:
        return
    sent = reply.headers.get("Content-Range", "")
    wanted, given = _RANGE.match(reply.request_info.headers.get("Range", "")), _RANGE.match(sent)
    if not (wanted and given and wanted[1] == given[1]):
        asked = "another part of it was asked for" if wanted else "all of it was asked for"
        raise _ReplyError(
            f"the server sent only a part of it ({sent[:80] or 'unnamed'}), but {asked}"
        )


#: Of fsspec's file systems, by what they need: replies are taken as they were sent, and checked.
_OPTIONS: dict[str, dict[str, Any]] = {
    "http": {
        "client_kwargs": {
            "headers": {"Accept-Encoding": "identity"},
            "auto_decompress": False,
            "raise_for_status": _check_reply,
        }
    }
}


def _keep_quiet() -> None:
    """Make the libraries log only to what the user has configured."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _translated(url: str, work: Callable[[], Any]) -> Any:
    """Perform an operation on a remote file, with all exceptions of its library translated to InputError."""
    try:
        return work()
    except FileNotFoundError as error:
        # fsspec also raises this for a server that cannot be reached, or that answers otherwise.
        why = _failure_on_the_web(error.__cause__)
        what = f"cannot be read: {why}" if why else "does not exist"
        raise InputError(f"the input {_without_password(url)!r} {what}") from None
    except PermissionError as error:
        raise InputError(
            f"the input {_without_password(url)!r} cannot be accessed: {_in_words(error)}",
            _CREDENTIALS_HINT,
        ) from None
    except _ReplyError as error:
        raise InputError(
            f"the input {_without_password(url)!r} cannot be read: {error}", _TRY_AGAIN
        ) from None
    except Exception as error:  # each storage library has its own exceptions
        raise InputError(
            f"the input {_without_password(url)!r} cannot be read: {_in_words(error)}",
            _CREDENTIALS_HINT if type(error).__name__ in _NO_CREDENTIALS else "",
        ) from error


def _failure_on_the_web(error: BaseException | None) -> str:
    """Return why a file could not be had from a web server; empty if the server has no such file."""
    if isinstance(error, _ReplyError):
        return str(error)
    if isinstance(error, OSError):
        return _in_words(error)
    try:
        import aiohttp
    except ImportError:
        return ""
    if isinstance(error, aiohttp.TooManyRedirects):
        visited = [answer.url for answer in error.history]
        many = f"the server redirects more than {pluralize(len(visited), 'time')}"
        return "the server redirects in a loop" if len(set(visited)) < len(visited) else many
    if isinstance(error, aiohttp.RedirectClientError):
        target = _without_password(str(error.args[0] if error.args else ""))
        return f"the server redirects to {target!r}, and only http:// and https:// are followed"
    if isinstance(error, aiohttp.ClientResponseError):
        is_missing = error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
        return "" if is_missing else f"the server answered {error.status} {error.message}"
    return _in_words(error) if isinstance(error, aiohttp.ClientError) else ""


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def _without_password(url: str) -> str:
    """Return a URL without possible secrets: a password, and the query of a signed link."""
    scheme, _, place = url.partition("://")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # its host or port is invalid, which a password may have made so
        return f"{scheme}://{place.rpartition('@')[2].partition('?')[0].partition('#')[0]}"
    host = parts.netloc.rpartition("@")[2]
    query = "..." if parts.query else ""
    return parts._replace(netloc=host, query=query, fragment="").geturl()
