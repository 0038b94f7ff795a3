"""Remote files: `https://`, `s3://`, `gs://` and the other schemes of fsspec, which is an optional dependency."""

from __future__ import annotations

import glob
import io
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import urlsplit

from weighbridge.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMES = ("http", "https", "s3", "gs")
_NEEDED = {"http": "http", "https": "http", "s3": "s3fs", "gs": "gcsfs"}
_INSTALL = "pip install 'weighbridge[remote]'"
_VERSION_FIELDS = ("ETag", "etag", "LastModified", "updated", "mtime", "generation")


def is_url(text: str) -> bool:
    """Whether a text is the URL of a remote file."""
    return "://" in text


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file by its URL, with what `Path` has of the methods that reading an input needs."""

    url: str

    @property
    def name(self) -> str:
        """Its name, without what follows a question mark."""
        return PurePosixPath(urlsplit(self.url).path).name or self.url

    def __str__(self) -> str:
        return _without_password(self.url)

    def open(self, _mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open it for reading; raises InputError where it cannot be had."""
        system, path = _system_of(self.url)
        opened = _translated(self.url, lambda: system.open(path, "rb"))
        size = buffering if buffering > 0 else io.DEFAULT_BUFFER_SIZE
        return cast("BinaryIO", io.BufferedReader(_Remote(opened, self.url), size))

    def size(self) -> int | None:
        """Return its bytes; None where the server does not tell."""
        size = self._info().get("size")
        return size if isinstance(size, int) else None

    def version(self) -> list[str | int]:
        """Return a value that changes with the file, if the server provides one."""
        info = self._info()
        told = [str(info[name]) for name in _VERSION_FIELDS if info.get(name) is not None]
        return [self.url, info.get("size") or 0, *told]

    def _info(self) -> dict[str, Any]:
        system, path = _system_of(self.url)
        return cast("dict[str, Any]", _translated(self.url, lambda: system.info(path)))


def remote_files(url: str) -> tuple[RemoteFile, ...]:
    """Return the files that a URL names: itself, or those that it matches as a pattern in a bucket.

    Raises InputError for a scheme that is not known, and where there is none.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise InputError(
            f"{_without_password(url)!r} has a scheme that is not supported",
            f"known are {', '.join(f'{known}://' for known in SCHEMES)}",
        )
    if scheme in {"http", "https"} or not glob.has_magic(url):
        return (RemoteFile(url),)
    system, path = _system_of(url)
    found = sorted(cast("list[str]", _translated(url, lambda: system.glob(path))))
    if not found:
        raise InputError(f"no file matches the pattern {_without_password(url)!r}")
    return tuple(RemoteFile(f"{scheme}://{each}") for each in found)


class _Remote(io.RawIOBase):
    """An open remote file, whose errors are those of a local one."""

    def __init__(self, opened: Any, url: str) -> None:
        self._opened = opened
        self._url = url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._opened.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._opened.seek(offset, whence))

    def tell(self) -> int:
        return int(self._opened.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._opened.read(len(buffer))
        except OSError:
            raise
        except Exception as error:  # each kind of server has errors of its own
            raise OSError(_in_words(error)) from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._opened.close()
        super().close()


def _system_of(url: str) -> tuple[Any, str]:
    """Return the file system that a URL is of, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise InputError(f"reading {_without_password(url)!r} needs fsspec", _INSTALL) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        package = _NEEDED[url.partition("://")[0].lower()]
        raise InputError(
            f"reading {_without_password(url)!r} needs {package}: {error}", _INSTALL
        ) from None
    return system, path


def _translated(url: str, work: Callable[[], Any]) -> Any:
    """Do something with a remote file; whatever its server's library raises becomes an InputError."""
    try:
        return work()
    except FileNotFoundError as error:
        # fsspec says so of a server that cannot be reached as well.
        if isinstance(error.__cause__, OSError):
            why = _in_words(error.__cause__)
            raise InputError(
                f"the input {_without_password(url)!r} cannot be read: {why}"
            ) from None
        raise InputError(f"the input {_without_password(url)!r} does not exist") from None
    except PermissionError as error:
        raise InputError(
            f"the input {_without_password(url)!r} cannot be accessed: {_in_words(error)}",
            "set the credentials as for the server's own tools, such as AWS_PROFILE",
        ) from None
    except Exception as error:  # each kind of server has errors of its own
        raise InputError(
            f"the input {_without_password(url)!r} cannot be read: {_in_words(error)}"
        ) from error


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def _without_password(url: str) -> str:
    """Return a URL without the secrets that may be in it: a password, and the parameters of a signed link."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return (
        parts._replace(netloc=host, query="...").geturl()
        if parts.query
        else parts._replace(netloc=host).geturl()
    )
