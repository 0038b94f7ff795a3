"""The user's interfaces (command line, Python client, HTTP), which return plain values or raise `Refused`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import httpx

from weighbridge.errors import WeighbridgeError
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli import Cli

Page = tuple[list[bytes], str]  #: result lines, and the cursor that follows them
_CODE = re.compile(r"^([A-Z][A-Z_]{3,}): ", re.MULTILINE)
_CURSOR = re.compile(r"^cursor: (\S+)", re.MULTILINE)
_COMMAND_SECONDS = 150
_UPLOAD_SECONDS = 90


class Refused(Exception):  # noqa: N818 - the code says what is wrong
    """An error response; `code` is empty if it has none."""

    def __init__(self, code: str, told: str) -> None:
        super().__init__(f"{code or 'no code'}: {told[-600:]}")
        self.code = code


class Reader(Protocol):
    """An interface to read, cancel, retry and delete a batch."""

    def status(self, batch: str) -> dict[str, Any]: ...
    def page(self, batch: str, cursor: str | None) -> Page: ...
    def cancel(self, batch: str) -> None: ...
    def retry(self, batch: str) -> None: ...
    def delete(self, batch: str) -> None: ...


class CliReader:
    """The `weighbridge` command."""

    def __init__(self, cli: Cli, redis_url: str) -> None:
        self._cli = cli
        self._url = redis_url

    def _run(self, *words: str) -> tuple[str, str]:
        try:
            ended = self._cli(*words, seconds=_COMMAND_SECONDS, redis_url=self._url)
        except subprocess.TimeoutExpired as late:
            raise Refused("", f"{words} did not end in {_COMMAND_SECONDS} s") from late
        if ended.status:
            raise refusal(ended.err)
        return ended.out, ended.err

    def status(self, batch: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._run("status", batch, "--json")[0])
        return told

    def page(self, batch: str, cursor: str | None) -> Page:
        after = ["--cursor", cursor] if cursor else []
        out, err = self._run("results", batch, *after)
        told = _CURSOR.search(err)
        return [line.encode() for line in out.splitlines()], told[1] if told else cursor or ""

    def cancel(self, batch: str) -> None:
        self._run("cancel", batch)

    def retry(self, batch: str) -> None:
        self._run("retry", batch)

    def delete(self, batch: str) -> None:
        self._run("delete", batch)

    def batches(self) -> list[dict[str, Any]]:
        """Return all batches that are listed."""
        told: list[dict[str, Any]] = json.loads(
            self._run("batches", "--json", "--most", "100000")[0]
        )
        return told


class PythonReader:
    """The Python client, over Redis or over HTTP depending on the URL."""

    def __init__(self, url: str) -> None:
        self._client = Client(url)

    def status(self, batch: str) -> dict[str, Any]:
        with _refusals():
            return self._client.batch(batch).status().as_dict()

    def page(self, batch: str, cursor: str | None) -> Page:
        lines: list[bytes] = []
        for found, after in self.pages(batch, cursor, follow=False):
            lines += found
            cursor = after
        return lines, cursor or ""

    def pages(self, batch: str, cursor: str | None, *, follow: bool) -> Iterator[Page]:
        """Yield pages of result lines, each with the cursor that follows it."""
        with _refusals():
            for page in self._client.batch(batch).pages(cursor, follow=follow):
                yield page.lines.splitlines(), str(page.cursor)

    def cancel(self, batch: str) -> None:
        with _refusals():
            self._client.batch(batch).cancel()

    def retry(self, batch: str) -> None:
        with _refusals():
            self._client.batch(batch).retry()

    def delete(self, batch: str) -> None:
        with _refusals():
            self._client.batch(batch).delete()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class HttpReader:
    """Plain requests to the HTTP API."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(verify=False, base_url=f"{url}/api", timeout=60)

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise Refused("", f"{type(error).__name__}: {error}") from error
        if answer.is_error:
            raise Refused(_problem(answer), f"{answer.status_code} {answer.text}")
        return answer

    def status(self, batch: str) -> dict[str, Any]:
        told: dict[str, Any] = self._ask("GET", f"/batches/{batch}").json()
        return told

    def page(self, batch: str, cursor: str | None) -> Page:
        lines: list[bytes] = []
        after: str | None = cursor
        while True:
            query = {"limit": "1000"} | ({"cursor": after} if after else {})
            told = self._ask("GET", f"/batches/{batch}/results", params=query).json()
            lines += [json.dumps(row).encode() for row in told["results"]]
            if told["next_cursor"] is None:
                return lines, ""  # no cursor, because all lines were read
            after = told["next_cursor"]

    def all_lines(self, batch: str) -> list[bytes]:
        """Return all result lines of one streamed response."""
        return self._ask("GET", f"/batches/{batch}/results?format=ndjson").content.splitlines()

    def cancel(self, batch: str) -> None:
        self._ask("POST", f"/batches/{batch}/cancel")

    def retry(self, batch: str) -> None:
        self._ask("POST", f"/batches/{batch}/retry")

    def delete(self, batch: str) -> None:
        self._ask("DELETE", f"/batches/{batch}")

    def upload(self, path: Path, key: str) -> str:
        """Upload a file once with an idempotency key, and return the batch's id."""
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
        with path.open("rb") as file:
            where = f"/batches?source={quote(path.name)}"
            answer = self._ask(
                "POST", where, content=file.read(), headers=headers, timeout=_UPLOAD_SECONDS
            )
        batch: str = answer.json()["batch_id"]
        return batch


class Submissions:
    """Producers in separate processes, which can be found and killed."""

    def __init__(self, cli: Cli, redis_url: str) -> None:
        self._cli = cli
        self._url = redis_url
        self._lock = threading.Lock()
        self.running: list[subprocess.Popen[bytes]] = []

    def run(self, surface: str, path: Path, batch: str | None) -> str:
        """Submit a file, or resume a batch with it, and return the batch's id; Refused with KILLED if killed."""
        if surface == "python":
            words = [sys.executable, "-m", "faults.python_producer", str(path)]
            words += [batch] if batch else []
            process = self._start(words)
        else:
            resume = ["--resume", batch] if batch else []
            process = self._cli.start("submit", path, *resume, settings={"redis_url": self._url})
        with self._lock:
            self.running.append(process)
        try:
            out, err = process.communicate(timeout=_COMMAND_SECONDS)
        except subprocess.TimeoutExpired as late:
            process.kill()
            process.communicate()
            raise Refused("", f"submit did not end in {_COMMAND_SECONDS} s") from late
        finally:
            with self._lock:
                self.running.remove(process)
        if process.returncode < 0:
            raise Refused("KILLED", f"by signal {-process.returncode}")
        if process.returncode:
            raise refusal(err.decode())
        return out.decode().split()[-1]

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        from support.workers import environment

        return subprocess.Popen(
            words,
            env=environment(self._url),
            cwd=self._cli.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def refusal(told: str) -> Refused:
    """Return the error of a failed command."""
    code = _CODE.search(told)
    return Refused(code[1] if code else "", told)


def _problem(answer: httpx.Response) -> str:
    try:
        return str(answer.json().get("code", ""))
    except ValueError:
        return ""


class _refusals:  # noqa: N801 - reads as a statement
    """Raise Refused, with the same code, for the client's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, WeighbridgeError):
            raise Refused(error.code, error.message) from error
        if isinstance(error, (OSError, TimeoutError)):
            raise Refused("", f"{type(error).__name__}: {error}") from error
