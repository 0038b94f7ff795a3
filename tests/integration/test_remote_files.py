"""Remote input: files on a web server and in a bucket, read from real local servers of these protocols."""

from __future__ import annotations

import functools
import gzip
import io
import re
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, BinaryIO

import httpx2
import orjson
import pyarrow as pa
import pytest
from pyarrow import parquet

from support.cli import Cli
from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.remote_files import RemoteFile
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ROWS = [{"id": f"r{n}", "output": f"text {n}", "gold": f"text {n % 3}"} for n in range(2_000)]
TABLE = "\n".join(["id,output,gold", *(",".join(row.values()) for row in ROWS)]).encode()
MAPPING = parse_mapping(["custom_id=id,agent_response=output,expected_output=gold"])


#: Names of objects that mean something else in a URL.
ODD = [
    f"names/{name}.jsonl"
    for name in ("a?x=1", "b#c", "d::file:///etc/hostname", "e%41", "f;g", "h i")
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server with the same rows in several forms."""
    folder = tmp_path_factory.mktemp("site")
    write_forms(folder)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def send_head(self) -> io.BytesIO | BinaryIO | None:
            """Answer `/to?to=URL` with a redirect, by default to itself, `/503` with that status, and others with a file."""
            path, _, query = self.path.partition("?")
            target = query.removeprefix("to=") or path
            if path.startswith("/cut-off"):
                is_in_chunks = path.startswith("/cut-off-chunk/")
                self.protocol_version = "HTTP/1.1"  # the version that has chunks
                self.send_response(200)
                of_size = ("Transfer-Encoding", "chunked"), ("Content-Length", str(2 * len(TABLE)))
                self.send_header(*of_size[not is_in_chunks])
                self.end_headers()
                self.close_connection = True
                return io.BytesIO(b"%x\r\n%b" % (2 * len(TABLE), TABLE) if is_in_chunks else TABLE)
            if path[1:].isdigit():
                self.send_error(int(path[1:]))
                return None
            if not path.startswith("/to"):
                return super().send_head()
            self.send_response(302)
            is_number = target.isdigit()
            self.send_header("Location", f"/to?to={int(target) + 1}" if is_number else target)
            self.end_headers()
            return None

    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


JSON_LINES = b"\n".join(map(orjson.dumps, ROWS)) + b"\n"
PACKED = gzip.compress(JSON_LINES)
CUT = PACKED[: len(PACKED) // 2]
PART = JSON_LINES[: len(JSON_LINES) // 2]
#: The status, headers and body of replies that are not the file as it is.
REPLIES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "as-it-is.jsonl": (200, {"Content-Length": ""}, JSON_LINES),
    "whole.jsonl": (200, {"Content-Encoding": "gzip"}, PACKED),
    "whole.jsonl.gz": (200, {"Content-Encoding": "x-gzip"}, PACKED),
    "cut.jsonl": (200, {"Content-Encoding": "gzip"}, CUT),
    "cut-without-length.jsonl": (200, {"Content-Encoding": "gzip", "Content-Length": ""}, CUT),
    "brotli.jsonl": (200, {"Content-Encoding": "br"}, b"\x0b\x00"),
    "part.jsonl": (
        206,
        {"Content-Range": f"bytes 0-{len(PART) - 1}/{len(JSON_LINES)}"},
        PART,
    ),
    "unnamed-part.jsonl": (206, {}, PART),
    "short.jsonl": (200, {"Length-of-head": str(len(JSON_LINES))}, PART),
}


@pytest.fixture(scope="module")
def odd_site() -> Iterator[str]:
    """A web server that sends files encoded, in part or short."""
    packed = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(ROWS), packed)
    replies = REPLIES | {"no-length.parquet": (200, {"Content-Length": ""}, packed.getvalue())}

    class Odd(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET(has_body=False)

        def do_GET(self, *, has_body: bool = True) -> None:
            status, headers, body = replies[self.path[1:]]
            if self.path == "/as-it-is.jsonl" and self.headers["Accept-Encoding"] != "identity":
                status = 406
            first = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
            of_head = headers.get("Length-of-head")
            if of_head and first:
                status, body = 206, body[int(first[1]) :]
                headers = {"Content-Range": f"bytes {first[1]}-{len(PART) - 1}/{of_head}"}
            length = of_head if of_head and not has_body else str(len(body))
            self.send_response(status)
            for name, value in ({"Content-Length": length} | headers).items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            if has_body:
                with suppress(ConnectionError):  # of a client that has seen enough
                    self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of S3's protocol with the same files in a bucket."""
    # Here, because every process that collects tests loads the modules of all.
    import boto3
    from moto.server import ThreadedMotoServer

    folder = tmp_path_factory.mktemp("bucket")
    write_forms(folder)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        for name, value in (
            ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            environment.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="runs")
        for file in folder.iterdir():
            client.upload_file(str(file), "runs", f"monday/{file.name}")
        for name, content in (
            *(("runs/", b""), ("runs/b/2.csv", TABLE), ("runs/1.jsonl", orjson.dumps(ROWS[0]))),
            *(("runs/.1.jsonl", b"{"), ("runs/1.results.jsonl", b"{"), ("runs/c/a.txt", b"{")),
        ):
            client.put_object(Bucket="runs", Key=f"monday/{name}", Body=content)
        client.create_bucket(Bucket="odd")
        patterns = ("patterns/i[1].jsonl", "patterns/j*.jsonl", "patterns/j1.jsonl")
        for number, name in enumerate((*ODD, "both", "both/a.jsonl", *patterns)):
            row = orjson.dumps({"id": str(number), "output": "a", "expected": "a"})
            client.put_object(Bucket="odd", Key=name, Body=row)
        yield "s3://runs/monday"
    server.stop()


@pytest.fixture(scope="module")
def google_bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Google Cloud Storage's protocol with the same files in a bucket, and some in folders."""
    # Here, because every process that collects tests loads the modules of all.
    from gcp_storage_emulator.server import create_server

    folder = tmp_path_factory.mktemp("google-bucket")
    write_forms(folder)
    with create_server("127.0.0.1", 0, in_memory=True) as server:
        url = f"http://127.0.0.1:{server._api._httpd.server_port}"
        with httpx2.Client(base_url=url) as client, pytest.MonkeyPatch.context() as environment:
            environment.setenv("STORAGE_EMULATOR_HOST", url)
            client.post("/storage/v1/b?project=p", json={"name": "runs"}).raise_for_status()
            objects = {file.name: file.read_bytes() for file in folder.iterdir()}
            objects |= {"runs/1.jsonl": orjson.dumps(ROWS[0]), "runs/b/2.csv": TABLE}
            for name, content in objects.items():
                told = {"uploadType": "media", "name": f"monday/{name}"}
                client.post("/upload/storage/v1/b/runs/o", params=told, content=content)
            yield "gs://runs/monday"


def write_forms(folder: Path) -> None:
    (folder / "a.csv").write_bytes(TABLE)
    (folder / "a.csv.gz").write_bytes(gzip.compress(TABLE))
    (folder / "a.jsonl").write_bytes(b"\n".join(map(orjson.dumps, ROWS)))
    packed = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(ROWS), packed)
    (folder / "a.parquet").write_bytes(packed.getvalue())


def ids(source: Source) -> list[str]:
    return [orjson.loads(line.raw)["custom_id"] for line in source if line.raw.strip()]


def of(url: str) -> Source:
    return Source(Paths.of([url]), Settings(), MAPPING)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("place", ["site", "bucket", "google_bucket"])
def test_every_form_is_read_from_elsewhere_as_from_here(
    place: str, name: str, request: pytest.FixtureRequest
) -> None:
    source = of(f"{request.getfixturevalue(place)}/{name}")
    assert ids(source) == [row["id"] for row in ROWS]
    assert ids(source) == [row["id"] for row in ROWS], "it can be read again"
    assert source.rereadable
    assert source.fingerprint() == source.fingerprint()


def test_a_pattern_in_a_bucket_is_one_input(bucket: str) -> None:
    source = of(f"{bucket}/a.csv*")
    assert [file.name for file in source.files] == ["a.csv", "a.csv.gz"]
    assert len(ids(source)) == 2 * len(ROWS)
    assert len(of(f"{bucket}/*").files) == 4, "folders match too, but are not read"


def test_folders_and_patterns_in_a_bucket_of_google_are_read(google_bucket: str) -> None:
    assert [name for name, _ in of(f"{google_bucket}/runs").streams()] == ["1.jsonl", "b/2.csv"]
    assert [file.name for file in of(f"{google_bucket}/a.csv*").files] == ["a.csv", "a.csv.gz"]
    with pytest.raises(InputError, match="does not exist"):
        of(f"{google_bucket}/b.csv")


@pytest.mark.parametrize("end", ["", "/"])
def test_a_folder_in_a_bucket_is_read_as_a_local_one_is(bucket: str, end: str) -> None:
    source = of(f"{bucket}/runs{end}")
    assert [name for name, _ in source.streams()] == ["1.jsonl", "b/2.csv"]
    assert ids(source) == [ROWS[0]["id"], *(row["id"] for row in ROWS)]
    assert source.rereadable
    assert source.fingerprint() == source.fingerprint()
    cases = Source(Paths.of([f"{bucket}/runs{end}"]), Settings())
    assert [file.name for file in cases.files] == ["1.jsonl"], "tables need a mapping"
    of_the_bucket = of(bucket.removesuffix("monday"))
    assert len(of_the_bucket.files) == 6


@pytest.mark.usefixtures("bucket")
def test_no_object_is_lost_because_of_its_name() -> None:
    assert sorted(file.name for file in of("s3://odd/names").files) == sorted(
        name.rpartition("/")[2] for name in ODD
    )
    assert len(ids(of("s3://odd/names"))) == len(ODD)


@pytest.mark.usefixtures("bucket")
def test_a_slash_at_the_end_means_the_folder_beside_an_object_of_the_same_name() -> None:
    assert [str(file) for file in of("s3://odd/both/").files] == ["s3://odd/both/a.jsonl"]


def test_a_folder_in_a_bucket_without_input_is_refused(bucket: str) -> None:
    with pytest.raises(InputError, match="has no file to read") as refused:
        of(f"{bucket}/runs/c")
    assert ".jsonl" in refused.value.hint


def test_what_is_not_there_is_reported(site: str, bucket: str) -> None:
    for url in (f"{site}/b.csv", f"{bucket}/b.csv"):
        with pytest.raises(InputError, match="does not exist"):
            of(url)
    with pytest.raises(InputError, match="no file matches the pattern"):
        of(f"{bucket}/b*.csv")


def test_a_server_that_does_not_answer_is_reported() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        of("http://127.0.0.1:9/a.csv")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("to", "the server redirects in a loop"),
        ("to?to=1", "the server redirects more than 10 times"),
        ("to?to=file:///etc/passwd", "the server redirects to 'file:///etc/passwd', and only http"),
        ("to?to=ftp://me:secret@127.0.0.1/a", "the server redirects to 'ftp://127.0.0.1/a', and"),
        ("403?key=secret", "the server answered 403 Forbidden"),
        ("503", "the server answered 503 Service Unavailable"),
    ],
)
def test_a_server_that_answers_without_the_file_is_quoted(site: str, path: str, what: str) -> None:
    with pytest.raises(InputError, match="cannot be read: ") as refused:
        of(f"{site}/{path}")
    assert what in refused.value.message
    assert "secret" not in refused.value.message


@pytest.mark.parametrize("url", ["ftp://host/a.csv", "file:///etc/passwd", "memory://a"])
def test_another_scheme_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="scheme that is not supported"):
        of(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://[::1/a.csv", "its host or port is not valid"),
        ("https://me:secret@[::1/a.csv?key=secret", "its host or port is not valid"),
        ("https://me:secret/more@host/a.csv", "its host or port is not valid"),
        ("https://me:secret#more@host/a.csv", "its host or port is not valid"),
        ("http://host:99999/a.csv", "a port is a number up to 65535"),
        ("http:///a.csv", "it names no host"),
    ],
)
def test_an_invalid_url_is_refused_in_words(url: str, why: str) -> None:
    with pytest.raises(InputError, match=r"is not a valid URL: ") as refused:
        of(url)
    assert why in refused.value.message
    assert "secret" not in refused.value.message


def test_a_scheme_in_capitals_is_the_same(site: str, bucket: str) -> None:
    for url in (site, bucket):
        scheme, _, place = url.partition("://")
        source = of(f"{scheme.upper()}://{place}/a.csv")
        assert ids(source) == [row["id"] for row in ROWS]
        assert str(source.files[0]) == f"{url}/a.csv"


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("name", ["i[1].jsonl", "j*.jsonl"])
def test_an_object_whose_name_looks_like_a_pattern_is_read(name: str) -> None:
    assert [str(file) for file in of(f"s3://odd/patterns/{name}").files] == [
        f"s3://odd/patterns/{name}"
    ]
    assert len(of("s3://odd/patterns/[ij][1*].jsonl").files) == 2


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("place", ["cut-off", "cut-off-chunk"])
def test_a_file_that_is_cut_off_is_named(site: str, place: str, name: str) -> None:
    url = f"{site}/{place}/{name}"
    with pytest.raises(InputError, match="cannot be read: ClientPayloadError") as refused:
        ids(of(url))
    assert url in refused.value.message


@pytest.mark.parametrize(
    "name", ["as-it-is.jsonl", "whole.jsonl", "whole.jsonl.gz", "no-length.parquet"]
)
def test_a_reply_that_is_compressed_unasked_or_has_no_length_is_read(
    odd_site: str, name: str
) -> None:
    assert ids(of(f"{odd_site}/{name}")) == [row["id"] for row in ROWS]


@pytest.mark.parametrize("name", ["cut.jsonl", "cut-without-length.jsonl"])
def test_a_compressed_reply_without_its_end_is_reported_after_its_rows(
    odd_site: str, name: str
) -> None:
    *rows, last = list(of(f"{odd_site}/{name}"))
    assert rows
    assert not any(row.fault for row in rows)
    assert last.fault
    assert last.fault.code == "INPUT_TRUNCATED"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("part.jsonl", "the server sent only a part of it (bytes 0-"),
        ("unnamed-part.jsonl", "the server sent only a part of it (unnamed)"),
        ("short.jsonl", f"the server sent {len(PART):,} of its {len(JSON_LINES):,} bytes"),
        ("brotli.jsonl", "the server sends it with the encoding 'br', unasked"),
    ],
)
def test_a_reply_that_is_not_the_whole_file_is_refused(odd_site: str, name: str, why: str) -> None:
    with pytest.raises(InputError, match="cannot be read: ") as refused:
        ids(of(f"{odd_site}/{name}"))
    assert why in refused.value.message


def test_secrets_in_a_url_are_not_printed() -> None:
    file = RemoteFile("https://user:password@host/a.csv?X-Amz-Signature=secret")
    assert str(file) == "https://host/a.csv?..."
    assert file.name == "a.csv"


@pytest.mark.parametrize("url", ["gs://no-bucket/a.csv", "s3://no-bucket/a.csv"])
def test_only_the_error_of_a_run_is_printed(
    url: str, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", site)
    monkeypatch.setenv("AWS_ENDPOINT_URL", site)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    cli = Cli(tmp_path)
    try:
        ended = cli("run", url, "-g", "string-match")
    finally:
        cli.clean_up()
    assert ended.status == 1
    first, *hint = ended.err.splitlines()
    assert first.startswith(f"INPUT_UNREADABLE: the input '{url}' ")
    assert all(line.startswith("  ") for line in hint)


def test_a_run_takes_a_url(site: str, tmp_path: Path) -> None:
    cli = Cli(tmp_path, preloaded=True)
    try:
        told = ("-g", "string-match", "--map", str(MAPPING), "-o", "r.jsonl")
        done = cli("run", f"{site}/a.csv.gz", *told, "--min-pass-rate", "0")
    finally:
        cli.clean_up()
    assert done.status == 0, done.err
    assert len((tmp_path / "r.jsonl").read_bytes().splitlines()) == len(ROWS)
