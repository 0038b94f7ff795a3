"""The parts of the client over HTTP that need no connection: errors, paths, streams of results, bodies of uploads."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from urllib.parse import unquote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge import errors
from weighbridge.errors import (
    RefusedError,
    ServerError,
    ServerUnavailableError,
    WeighbridgeError,
)
from weighbridge.settings import Settings
from weighbridge_producer.client import http_session
from weighbridge_producer.client.batch import Page
from weighbridge_producer.client.http_batch import pages_in
from weighbridge_producer.client.http_session import RetryableError, error_of, in_path
from weighbridge_producer.client.http_upload import Upload
from weighbridge_producer.input.source import Source
from weighbridge_producer.service.uploads.form import Form

if TYPE_CHECKING:
    from pathlib import Path

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, WeighbridgeError) and "code" in vars(kind)
]


class TestErrors:
    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
    def test_every_error_of_ours_is_raised_here_as_it_was_there(
        self, kind: type[WeighbridgeError]
    ) -> None:
        body = {"code": kind.code, "detail": "what is wrong", "hint": "what would work"}
        error = error_of(400, orjson.dumps(body))
        # Of two that share a code it is the one that more are.
        assert type(error) is (errors.ConfigError if kind is errors.ConfigTypeError else kind)
        assert error.code == kind.code
        assert (error.message, error.hint) == ("what is wrong", "what would work")
        assert str(error) == "what is wrong (what would work)"

    def test_a_problem_of_the_services_own_keeps_its_code_and_status(self) -> None:
        body = {"code": "UPLOAD_TOO_LARGE", "detail": "too large", "hint": "send less"}
        error = error_of(413, orjson.dumps(body))
        assert isinstance(error, RefusedError)
        assert (error.problem, error.status, error.message) == (
            "UPLOAD_TOO_LARGE",
            413,
            "too large",
        )

    @pytest.mark.parametrize("body", [b"", b"<h1>Bad Gateway</h1>", b"[]", b"null", b'{"code":1}'])
    def test_an_answer_that_is_no_problem_document_is_shown(self, body: bytes) -> None:
        error = error_of(502, body)
        assert isinstance(error, RefusedError)
        assert error.message == f"HTTP 502: {body.decode()}"
        assert "weighbridge serve" in error.hint


@given(st.text())
def test_a_name_in_a_path_is_one_part_of_it_and_leads_nowhere(name: str) -> None:
    part = in_path(name)
    assert not set(part) & set("/.?#")
    assert unquote(part) == name


class TestPauses:
    """Tests with a simulated clock, which advances during sleeps and on request."""

    BROKE_OFF = RetryableError(ServerUnavailableError("the connection was lost"), not_sent=False)
    NOBODY = RetryableError(ServerUnavailableError("nothing answers"), not_sent=True)

    def fail_for_ever(self, pauses: http_session.RetryPauses) -> None:
        while True:
            pauses.before_next(self.NOBODY)

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Clock:
        clock = Clock()
        monkeypatch.setattr(http_session, "time", clock)
        return clock

    def test_what_went_well_for_long_is_tried_again_as_long_as_anything_else(
        self, clock: Clock
    ) -> None:
        pauses = http_session.RetryPauses(2.0)
        clock.sleep(3600)  # an upload, say
        pauses.before_next(self.BROKE_OFF)
        began = clock.now
        with pytest.raises(ServerUnavailableError, match="nothing answers"):
            self.fail_for_ever(pauses)
        # Its idempotency key is free again after 30 s.
        assert 35 < clock.now - began < 45

    def test_who_was_never_there_is_given_up_soon(self, clock: Clock) -> None:
        pauses = http_session.RetryPauses(2.0)
        with pytest.raises(ServerUnavailableError, match="nothing answers"):
            self.fail_for_ever(pauses)
        assert clock.now < 2


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class TestPages:
    BODY = b'{"a":1}\n{"b":2}\n\x1e"0/1-0/0"\n\x1enull\n{"c":3}\n\x1e"0/2-0/1"\n'
    PAGES = (Page(b'{"a":1}\n{"b":2}\n', "0/1-0/0"), Page(b'{"c":3}\n', "0/2-0/1"))

    @pytest.mark.parametrize("size", range(1, len(BODY) + 1))
    def test_a_page_is_whole_however_it_is_cut_on_its_way(self, size: int) -> None:
        pieces = [self.BODY[at : at + size] for at in range(0, len(self.BODY), size)]
        assert tuple(pages_in(pieces)) == (self.PAGES[0], None, self.PAGES[1])

    def test_a_page_is_given_as_soon_as_it_is_whole(self) -> None:
        def pieces() -> object:
            yield self.BODY[:30]
            raise AssertionError("read on before the page was given")

        assert next(pages_in(pieces())) == self.PAGES[0]

    @pytest.mark.parametrize("tail", [b'{"half', b'{"d":4}\n', b'\x1e"0/3-'])
    def test_lines_without_a_place_after_them_are_not_given(self, tail: bytes) -> None:
        pages = pages_in([self.BODY, tail])
        assert (next(pages), next(pages), next(pages)) == (self.PAGES[0], None, self.PAGES[1])
        with pytest.raises(ServerError, match="ended without a final cursor"):
            next(pages)

    def test_a_place_that_is_none_is_refused(self) -> None:
        with pytest.raises(ServerError, match="cannot be read"):
            list(pages_in([b'{"a":1}\n\x1e{"cursor":1}\n']))


class TestUploads:
    @staticmethod
    def upload(cases: object, **options: object) -> Upload:
        defaults = {"metadata": None, "strict": False, "resume": None}
        source = Source.of(cases, Settings())
        return Upload(source, (), Settings(), **(defaults | options))

    @staticmethod
    def received(upload: Upload) -> tuple[dict[str, str], bytes]:
        form = Form(upload.content_type)
        file = b"".join(part for piece in upload.pieces() for part in form.feed(piece))
        form.check_end()
        return dict(form.fields), file

    def test_a_file_goes_as_it_is_under_its_path(self, tmp_path: Path) -> None:
        path = tmp_path / "cases.jsonl.gz"
        path.write_bytes(content := bytes(range(256)) * 2000)
        upload = self.upload(path, strict=True, resume="wb_1", metadata={"a": "ü"})
        fields, file = self.received(upload)
        assert file == content
        assert fields == {
            "graders": "[]",
            "metadata": '{"a":"ü"}',
            "strict": "true",
            "resume": "wb_1",
            "priority": "normal",
            "project": "",
            "framed": "false",
            "source": str(path),
        }
        assert upload.rereadable
        assert self.received(upload) == (fields, content)

    def test_objects_go_framed_and_once(self) -> None:
        upload = self.upload(iter([{"custom_id": "a"}, {"custom_id": {1}}]))
        assert upload.repeatable
        fields, file = self.received(upload)
        assert fields["framed"] == "true"
        good, note, bad = file.splitlines()
        assert (good, bad) == (b'{"custom_id":"a"}', b"")
        assert orjson.loads(note[1:])["fault"]["code"] == "INVALID_JSON"
        assert not upload.repeatable

    def test_what_reading_raises_is_kept(self) -> None:
        class Broken(io.RawIOBase):
            def readinto(self, _: object) -> int:
                raise OSError("the disk is gone")

            def readable(self) -> bool:
                return True

        upload = self.upload(Broken())
        with pytest.raises(OSError, match="the disk is gone"):
            list(upload.pieces())
        assert str(upload.failure) == "the disk is gone"
