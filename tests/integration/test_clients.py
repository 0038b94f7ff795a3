"""The Python client, one suite for every kind of it: on Redis itself, and over HTTP on a real service."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import io
import os
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pytest
import zstandard

from support.cases import (
    assert_counts_agree,
    assert_graded_right,
    hazard_case,
    results_by_id,
    true_false_cases,
    write_cases,
)
from support.chunks import filled, recorded
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.servers import free_port
from support.waiting import eventually
from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    BatchNotFoundError,
    ChunkConflictError,
    ConfigError,
    GraderSpecError,
    InputError,
    InvalidFilterError,
    InvalidInputError,
    MappingNeededError,
    NoCasesError,
    NoGraderError,
    NoSuchResultError,
    NoSuchWorkerError,
    NotDoneError,
    ServerUnavailableError,
    StaleCursorError,
    UnknownGraderError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge.store.result_filter import ResultFilter
from weighbridge.text import pluralize
from weighbridge_producer import AsyncBatch, AsyncClient, Batch, Client, Source, parse_mapping
from weighbridge_producer.client.http_batch import HttpBatch
from weighbridge_producer.client.http_client import HttpClient
from weighbridge_producer.client.redis_batch import RedisBatch
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

KINDS = {"redis": RedisClient, "http": HttpClient}
CHUNK = 50  #: jobs at most, so that few cases are many chunks


@pytest.fixture(scope="module")
def service(server: EmbeddedServer) -> Iterator[HttpServer]:
    """A service for this module, on the `server` of everybody."""
    with HttpServer(server.url, chunk_limit_jobs=CHUNK) as service:
        yield service


@pytest.fixture
def own_service(own_server: EmbeddedServer) -> Iterator[HttpServer]:
    """A service for one test, on a server without workers."""
    with HttpServer(own_server.url, chunk_limit_jobs=CHUNK) as service:
        yield service


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of client that a test is run with."""
    return str(request.param)


@pytest.fixture
def url(kind: str, server: EmbeddedServer, service: HttpServer, worker: WorkerProcess) -> str:
    """The URL of the shared server, which has a worker."""
    return {"redis": server.url, "http": service.url}[kind]


@pytest.fixture
def own_url(kind: str, own_server: EmbeddedServer, own_service: HttpServer) -> str:
    """The URL of a separate server without workers."""
    return {"redis": own_server.url, "http": own_service.url}[kind]


def connect(url: str) -> Client:
    return Client(url, settings=Settings(chunk_limit_jobs=CHUNK))


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with connect(url) as client:
        yield client


@pytest.fixture
def lone_client(own_url: str) -> Iterator[Client]:
    with connect(own_url) as client:
        yield client


def own_methods(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if inspect.isfunction(value)}


class TestKinds:
    def test_the_scheme_of_the_url_chooses(self, client: Client, kind: str) -> None:
        assert type(client._backend) is KINDS[kind]

    @pytest.mark.parametrize(
        ("backend", "general"),
        [(RedisClient, Client), (HttpClient, Client), (RedisBatch, Batch), (HttpBatch, Batch)],
    )
    def test_each_backend_does_all_that_a_client_promises(
        self, backend: type, general: type
    ) -> None:
        promised = {name for name in own_methods(general) if not name.startswith("_")}
        assert {name for name in promised if not hasattr(backend, name)} == set()

    @pytest.mark.parametrize(("awaited", "plain"), [(AsyncClient, Client), (AsyncBatch, Batch)])
    def test_the_client_for_asyncio_has_the_same_methods(self, awaited: type, plain: type) -> None:
        public = {name for name in own_methods(plain) if not name.startswith("_")}
        assert public - own_methods(awaited) == set()

    def test_without_a_url_the_environment_says_which(
        self, url: str, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = {"redis": "WEIGHBRIDGE_REDIS_URL", "http": "WEIGHBRIDGE_URL"}[kind]
        monkeypatch.setenv(name, url)
        with Client() as client:
            assert type(client._backend) is KINDS[kind]
            assert client.workers()


def traces() -> list[dict[str, Any]]:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "assistant", "content": "ready"},
    ]
    return [{"messages": messages}, {"messages": messages[:1]}]


def dirty_lines() -> bytes:
    good = [orjson.dumps(case) for case in true_false_cases(120)]
    return b"\n".join(
        [
            *good[:60],
            b"",
            b"{half",
            good[3],
            b'{"custom_id":"c4","inputs":{}}',
            b'{"custom_id":"nan","grader":"true-false","inputs":{"agent_response":NaN}}',
            b"\xff\xfe",
            b'{"custom_id":"deep","inputs":' + b"[" * 300 + b"]" * 300 + b"}",
            b"\x1e",
            *good[60:],
        ]
    )


OBJECTS: list[Any] = [
    *true_false_cases(70),
    {"custom_id": "nan", "inputs": {"agent_response": float("nan")}, "grader": "true-false"},
    {"custom_id": "big", "inputs": {"agent_response": 2**70}, "grader": "true-false"},
    {"custom_id": "half", "inputs": {"agent_response": "\ud800"}, "grader": "true-false"},
    {"custom_id": "set", "inputs": {"agent_response": {1}}, "grader": "true-false"},
    {"custom_id": {1}},
    b'{"custom_id": "line", "inputs": {"agent_response": "yes", "expected_output": "true"}}',
    '{"custom_id": "text", "inputs": {"agent_response": "yes", "expected_output": "no"}}',
    b'\x1e{"fault":null}',
    b"two\nlines",
    "\ud800",
    *true_false_cases(2),
]


class Inputs:
    """All kinds of input of `submit`, created again for each use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        dirty = dirty_lines()
        (folder / "many").mkdir()
        write_cases(folder / "many" / "first.jsonl", true_false_cases(70))
        (folder / "many" / "second.jsonl.gz").write_bytes(gzip.compress(dirty))
        write_cases(folder / "many" / "third.jsonl", traces())
        (folder / "plain.jsonl").write_bytes(dirty)
        (folder / "packed.jsonl.gz").write_bytes(gzip.compress(dirty))
        (folder / "packed.jsonl.zst").write_bytes(zstandard.compress(dirty))
        (folder / "cut.jsonl.gz").write_bytes(gzip.compress(os.urandom(9) + dirty)[:-400])
        (folder / "array.json").write_bytes(orjson.dumps(list(true_false_cases(20))))
        write_cases(folder / "traces.jsonl", traces())

    def make(self, form: str) -> Any:
        match form:
            case "objects":
                return iter(OBJECTS)
            case "stream":
                return io.BytesIO(dirty_lines())
            case "unbuffered file":
                return (self.folder / "plain.jsonl").open("rb", buffering=0)
            case "folder":
                return self.folder / "many"
            case "pattern":
                return str(self.folder / "many" / "*.jsonl*")
        return self.folder / form


FORMS = [
    *("objects", "stream", "unbuffered file", "folder", "pattern"),
    *("plain.jsonl", "packed.jsonl.gz", "packed.jsonl.zst", "cut.jsonl.gz"),
    *("array.json", "traces.jsonl"),
]
#: Fields in which two batches of the same cases may differ.
OF_ITS_OWN = {
    *(
        "batch_id",
        "created_at",
        "expires_at",
        "ended_at",
        "arrived_at",
        "grading_seconds",
        "chunks",
    ),
    "input_bytes",  # for objects that are not lines, the size of their replacement
}


class TestSubmitting:
    @pytest.mark.parametrize("form", FORMS)
    def test_both_kinds_make_the_same_batch_of_whatever_is_submitted(
        self,
        server: EmbeddedServer,
        service: HttpServer,
        worker: WorkerProcess,
        tmp_path: Path,
        form: str,
    ) -> None:
        inputs, came = Inputs(tmp_path), []
        graders = ["loop"] if form == "traces.jsonl" else ["true-false"]
        for url in (server.url, service.url):
            with connect(url) as client:
                batch = client.submit(inputs.make(form), graders=graders)
                state = batch.wait(60)
                results = sorted(batch.results(), key=lambda result: result["line"])
                assert_counts_agree(state, results)
                came.append((results, batch.summary(), vars_of(state), batch.unread))
        assert came[0] == came[1]
        assert came[0][0]
        assert bool(came[0][3]) is (form == "cut.jsonl.gz")

    def test_standard_input_is_read_to_its_end(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reading, writing = os.pipe()
        with (
            os.fdopen(reading, "r") as stdin,
            os.fdopen(writing, "wb") as pipe,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdin", stdin)
            feeding = threading.Thread(
                target=lambda: (pipe.write(dirty_lines()), pipe.close()), daemon=True
            )
            feeding.start()
            batch = client.submit("-", graders=["true-false"])
            feeding.join(10)
        assert batch.wait(30).lines == 128

    def test_what_is_wanted_is_kept_with_the_batch(self, client: Client) -> None:
        graders = [
            "true-false",
            {"grader": "string-match", "label": "exact", "config": {"ignore_articles": False}},
        ]
        batch = client.submit(true_false_cases(3), graders=graders, metadata={"run": "7 %&ü"})
        options = batch.options()
        assert options.graders == tuple(map(GraderSpec.parse, graders))
        assert options.metadata == {"run": "7 %&ü"}
        assert client.submit(true_false_cases(1)).options().metadata == {}

    @pytest.mark.parametrize(
        ("metadata", "why"),
        [
            ({"run": 7}, r"value of 'run' is of the type int \(give strings by their names"),
            ({"run": None}, "value of 'run' is of the type NoneType"),
            ({"a": {"b": "c"}}, "value of 'a' is of the type dict"),
            ({1: "x"}, "a name of the type int, 1"),
            ([1], "metadata is of the type list"),
            ("x", "metadata is of the type str"),
            ({"run": "\ud800"}, "cannot be stored: .*UTF-8"),
            ({"run": "x" * 2**16}, r"over 64 KiB \(shorten it"),
        ],
    )
    def test_metadata_that_is_not_of_strings_is_refused_and_opens_no_batch(
        self, lone_client: Client, metadata: Any, why: str
    ) -> None:
        for begin in (lone_client.open, lambda _, **given: lone_client.submit([], **given)):
            with pytest.raises(InputError, match=why):
                begin("cases", metadata=metadata)
        assert lone_client.batches() == []

    @pytest.mark.parametrize(
        "grader",
        [
            "true-false",
            {"grader": "true-false", "config": {"case_sensitive": True}},
            GraderSpec("true-false", label="short"),
        ],
    )
    def test_a_single_grader_need_not_be_in_a_list(
        self, lone_client: Client, grader: str | dict[str, Any] | GraderSpec
    ) -> None:
        cases = list(true_false_cases(3))
        batch = lone_client.submit(cases, graders=grader)
        assert batch.options().graders == (GraderSpec.parse(grader),)
        assert lone_client.open("x", grader).options().graders == (GraderSpec.parse(grader),)
        assert lone_client.submit(cases, graders=grader, resume=batch.id).id == batch.id

    @pytest.mark.parametrize("graders", [None, 7, [None]])
    def test_what_is_no_grader_is_refused(self, lone_client: Client, graders: Any) -> None:
        with pytest.raises(GraderSpecError, match="a grader is an id, or"):
            lone_client.submit(list(true_false_cases(3)), graders=graders)
        assert lone_client.batches() == []

    def test_configurations_may_be_large(self, client: Client) -> None:
        aliases = {"true": [f"yes {number}" for number in range(9000)], "false": ["no"]}
        grader = {"grader": "true-false", "config": {"aliases": aliases}}
        case = {"custom_id": "a", "inputs": {"agent_response": "yes 8999", "expected_output": True}}
        batch = client.submit([case], graders=[grader])
        assert batch.wait(30).counts.passed == 1

    def test_graders_that_nobody_knows_are_refused(self, client: Client) -> None:
        with pytest.raises(UnknownGraderError, match="no grader 'true-flase'; did you mean"):
            client.submit(true_false_cases(3), graders=["true-flase"])

    def test_configurations_that_a_grader_refuses_are_refused(self, client: Client) -> None:
        with pytest.raises(ConfigError, match="unknown key 'case_sensitve'"):
            client.submit(
                true_false_cases(3),
                graders=[{"grader": "true-false", "config": {"case_sensitve": True}}],
            )

    def test_a_file_that_is_not_there_is_no_input(self, client: Client) -> None:
        with pytest.raises(InputError, match="does not exist"):
            client.submit("/nowhere/cases.jsonl")

    @pytest.mark.parametrize("form", ["plain.jsonl", "stream", "objects", "folder"])
    def test_strictly_nothing_is_submitted_when_a_line_is_at_fault(
        self, lone_client: Client, tmp_path: Path, form: str
    ) -> None:
        with pytest.raises(InvalidInputError, match="nothing was submitted") as raised:
            lone_client.submit(Inputs(tmp_path).make(form), graders=["true-false"], strict=True)
        assert "INVALID_JSON" in str(raised.value)
        assert lone_client.batches() == []

    def test_strictly_good_lines_are_submitted(self, client: Client) -> None:
        batch = client.submit(true_false_cases(120), strict=True)
        batch.wait(30)
        assert_graded_right(results_by_id(batch), 120)

    def test_cases_that_cannot_be_read_open_no_batch(self, own_server: EmbeddedServer) -> None:
        """Over HTTP the service may have opened one."""

        class Broken(list[dict[str, Any]]):
            def __iter__(self) -> Iterator[dict[str, Any]]:
                raise ZeroDivisionError("the source broke")

        with connect(own_server.url) as client:
            with pytest.raises(ZeroDivisionError, match="the source broke"):
                client.submit(Broken())
            assert client.batches() == []

    def test_an_iterable_that_raises_ends_its_batch_as_failed(self, lone_client: Client) -> None:
        def breaking() -> Iterator[dict[str, Any]]:
            yield from true_false_cases(2000)
            eventually(lone_client.batches, 20, "the beginning")
            raise ZeroDivisionError("the source broke")

        with pytest.raises(ZeroDivisionError, match="the source broke"):
            lone_client.submit(breaking())
        failed = [BatchStatus.FAILED]
        eventually(
            lambda: [state.status for state in lone_client.batches()] == failed, 20, "the end"
        )

    def test_a_begun_batch_whose_cases_break_off_ends_as_failed_with_the_reason(
        self, lone_client: Client
    ) -> None:
        def breaking() -> Iterator[dict[str, Any]]:
            yield from true_false_cases(20)
            raise ZeroDivisionError("the source broke")

        batch = lone_client.open("cases")
        with pytest.raises(ZeroDivisionError, match="the source broke") as raised:
            batch.fill(breaking())
        state = batch.status()
        assert state.status is BatchStatus.FAILED
        assert "the source broke" in state.reason
        kept = pluralize(state.lines, "case")
        note = f"batch {batch.id} ended as failed, with the first {kept}"
        if state.counts.cancelled:
            note += f"; {pluralize(state.counts.cancelled, 'job')} cancelled"
        assert raised.value.__notes__ == [note]

    def test_an_error_of_a_separate_broker_names_the_batch_that_is_stored(
        self, own_server: EmbeddedServer
    ) -> None:
        settings = Settings.model_validate({"broker_url": "redis://127.0.0.1:1/0"})
        cases = list(true_false_cases(3))
        with Client(own_server.url, settings=settings, retry=False) as client:
            with pytest.raises(ServerUnavailableError, match="no answer from the broker") as raised:
                client.submit(cases)
            [state] = client.batches()
            [note] = raised.value.__notes__
            assert f"submit the same cases with resume={state.batch_id!r}" in note
        with Client(own_server.url) as client:
            assert client.submit(cases, resume=state.batch_id).status().counts.total == 3

    @pytest.mark.parametrize("kind", ["redis"])
    def test_an_iterable_that_raises_is_told_which_batch_has_its_first_cases(
        self, lone_client: Client
    ) -> None:
        def breaking() -> Iterator[dict[str, Any]]:
            yield from true_false_cases(720)
            raise ZeroDivisionError("the source broke")

        with pytest.raises(ZeroDivisionError) as raised:
            lone_client.submit(breaking())
        [state] = lone_client.batches()
        assert 0 < state.lines <= 720
        [note] = raised.value.__notes__
        assert note.startswith(f"batch {state.batch_id} ended as failed, with the first ")
        assert f"first {state.lines} cases; {state.lines} jobs cancelled" in note

    @pytest.mark.parametrize(
        ("cases", "why"),
        [
            ({"custom_id": "a", "inputs": {}}, r"single dict \(give a list of cases: \[case\]\)"),
            (b'{"custom_id": "a"}', r"of the type bytes \(give a stream, io.BytesIO"),
            (None, r"of the type NoneType \(give a path, a binary stream, or an iterable"),
            (7, "of the type int"),
        ],
    )
    def test_what_is_no_iterable_of_cases_is_refused_and_opens_no_batch(
        self, lone_client: Client, cases: Any, why: str
    ) -> None:
        begun = lone_client.open("cases")
        for submit in (lone_client.submit, begun.fill):
            with pytest.raises(InputError, match=why):
                submit(cases)
        assert not begun.status().status.final
        assert [state.batch_id for state in lone_client.batches()] == [begun.id]

    @pytest.mark.parametrize("strict", [False, True])
    @pytest.mark.parametrize("form", ["list", "iterator", "file", "blank lines", "stream"])
    def test_no_cases_are_refused_and_leave_no_batch(
        self, lone_client: Client, tmp_path: Path, form: str, *, strict: bool
    ) -> None:
        (tmp_path / "empty.jsonl").write_bytes(b"")
        (tmp_path / "blank.jsonl").write_bytes(b"\n\n")
        empty: dict[str, Any] = {
            "list": [],
            "iterator": iter(()),
            "file": tmp_path / "empty.jsonl",
            "blank lines": tmp_path / "blank.jsonl",
            "stream": io.BytesIO(),
        }
        with pytest.raises(NoCasesError, match="has no cases") as refused:
            lone_client.submit(empty[form], graders=["true-false"], strict=strict)
        assert refused.value.code == "NO_CASES"
        assert lone_client.batches() == []

    def test_asynchronous_cases_are_refused_with_the_client_that_takes_them(
        self, lone_client: Client
    ) -> None:
        async def cases() -> AsyncIterator[dict[str, Any]]:
            for case in true_false_cases(3):
                yield case

        given: Any = cases()
        with pytest.raises(InputError, match=r"await AsyncClient\.submit or AsyncBatch\.fill"):
            lone_client.submit(given)
        assert lone_client.batches() == []

    def test_a_source_keeps_its_folder(self, lone_client: Client, tmp_path: Path) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(1))
        lone_client.submit(str(path))
        assert [each.source for each in lone_client.listed()] == [str(path)]

    @pytest.mark.parametrize("count", [3, 300])
    @pytest.mark.parametrize("form", ["list", "iterator", "file", "stream"])
    def test_cases_for_which_no_grader_is_named_are_refused_and_leave_no_batch(
        self, lone_client: Client, tmp_path: Path, form: str, count: int
    ) -> None:
        cases = [without(case, "grader") for case in true_false_cases(count)]
        path = write_cases(tmp_path / "cases.jsonl", cases)
        given: dict[str, Any] = {
            "list": cases,
            "iterator": iter(cases),
            "file": path,
            "stream": io.BytesIO(path.read_bytes()),
        }
        with pytest.raises(NoGraderError, match="the submission names none, and the first") as hit:
            lone_client.submit(given[form])
        assert hit.value.hint == (
            "give graders=['ID'], or give each case a 'grader'; `graders()` of the client lists them"
        )
        assert lone_client.batches() == []

    def test_cases_of_which_some_name_a_grader_are_submitted(self, lone_client: Client) -> None:
        plain, named = true_false_cases(2)
        for cases in ([without(plain, "grader"), named], iter([without(plain, "grader"), named])):
            assert lone_client.submit(cases).status().counts.total == 2

    def test_a_file_with_columns_of_its_own_is_refused_with_a_mapping_that_can_be_given(
        self, client: Client, tmp_path: Path
    ) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"qid": "a", "output": "Kyiv", "gold": "Kyiv"}\n')
        table = tmp_path / "rows.csv"
        table.write_text("qid,output,gold\na,Kyiv,Kyiv\n")
        for path in (rows, table):
            with pytest.raises(MappingNeededError, match="columns qid, output, gold") as hit:
                client.submit(path, graders=["string-match"])
            [text] = re.findall(r"its columns suggest parse_mapping\(\['(.*?)'\]\)", hit.value.hint)
            source = Source(path, Settings(), parse_mapping([text]))
            batch = client.submit(source, graders=["string-match"])
            assert batch.wait(30).counts.passed == 1

    def test_a_file_whose_rows_have_the_names_of_inputs_is_graded_as_by_the_command_line(
        self, client: Client, tmp_path: Path
    ) -> None:
        rows = tmp_path / "rows.csv"
        rows.write_text("custom_id,agent_response,expected_output\na,Kyiv,Kyiv\n")
        for given in (rows, Source(rows, Settings())):
            assert client.submit(given, graders=["string-match"]).wait(30).counts.passed == 1

    def test_several_paths_are_one_input(self, client: Client, tmp_path: Path) -> None:
        first = write_cases(tmp_path / "a.jsonl", true_false_cases(5))
        second = write_cases(tmp_path / "b.jsonl", true_false_cases(5, first=5))
        for paths in ([first, second], (str(first), str(second))):
            batch = client.submit(paths)
            batch.wait(30)
            assert_graded_right(results_by_id(batch), 10)
        with pytest.raises(InputError, match="does not exist"):
            client.submit([first, tmp_path / "c.jsonl"])

    @pytest.mark.parametrize("kind_of_rows", ["dicts", "table"])
    def test_rows_of_a_table_in_memory_are_mapped_as_those_of_a_file(
        self, client: Client, kind_of_rows: str
    ) -> None:
        rows = [
            {"qid": 1, "output": "Kyiv", "gold": "Kyiv", "score": 0.5},
            {"qid": 2, "output": "Lviv", "gold": "Kyiv", "score": None},
        ]
        given: Any = rows if kind_of_rows == "dicts" else pa.Table.from_pylist(rows)
        with pytest.raises(MappingNeededError, match="the columns qid, output, gold") as hit:
            client.submit(given, graders=["string-match"])
        [text] = re.findall(r"its columns suggest parse_mapping\(\['(.*?)'\]\)", hit.value.hint)
        source = Source(given, Settings(), parse_mapping([text]))
        for strict in (False, True):
            batch = client.submit(source, graders=["string-match"], strict=strict)
            counts = batch.wait(30).counts
            assert (counts.passed, counts.failed, counts.total) == (1, 1, 2)
            assert results_by_id(batch)["1"]["metadata"]["score"] == 0.5
        named = [{"custom_id": "a", "agent_response": "Kyiv", "expected_output": "Kyiv"}]
        assert client.submit(named, graders=["string-match"]).wait(30).counts.passed == 1

    @pytest.mark.parametrize("strict", [False, True])
    def test_a_mapped_source_accepts_each_of_several_expected_answers(
        self, client: Client, tmp_path: Path, *, strict: bool
    ) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_text(
            '{"id": "a", "answer": "Kyiv", "gold": ["Kiev", "Kyiv"]}\n'
            '{"id": "b", "answer": "Kyiv", "gold": ["Kiev", "Lviv"]}\n'
            '{"id": "c", "answer": "Kyiv", "gold": "Kyiv"}\n'
        )
        mapping = parse_mapping(["custom_id=id,agent_response=answer,expected_output=gold"])
        source = Source(rows, Settings(), mapping)
        batch = client.submit(source, graders=["string-match"], strict=strict)
        opened = client.open("rows", ["string-match"])
        opened.fill(source)
        for each in (batch, opened):
            counts = each.wait(30).counts
            assert (counts.passed, counts.failed, counts.total) == (2, 1, 3)
        # A batch keeps its graders: to resume it, they need not be named.
        assert client.submit(source, resume=batch.id, strict=strict).status().counts.total == 3
        several = client.submit(source, graders=["string-match", "true-false"])
        assert several.wait(30).counts.ungradable > 0  # true-false takes one answer

    def test_a_begun_batch_goes_on_with_the_rest_of_its_cases(
        self, client: Client, server: EmbeddedServer, tmp_path: Path
    ) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(400))
        with RedisClient(server.url, settings=Settings(chunk_limit_jobs=CHUNK)) as first:
            begun = first.open(str(path), ())
            begun.feed(
                first_source(path, first.settings),
                should_stop=lambda: first.store.position(begun.id).chunks >= 3,
            )
            assert not begun.status().sealed
        batch = client.submit(path, resume=begun.id)
        assert batch.id == begun.id
        batch.wait(30)
        assert_graded_right(results_by_id(batch), 400)

    def test_a_begun_batch_keeps_its_graders(self, lone_client: Client) -> None:
        own = {"grader": "budget", "config": {"max_tokens": 9}}
        begun = lone_client.open("cases", [own, "loop"])
        cases = list(true_false_cases(3))
        for given, why in (
            (["loop"], "is graded by budget, loop, not by loop"),
            ([own, {"grader": "loop", "label": "a"}], "is graded by budget, loop, not by .*a=loop"),
            (["budget", "loop"], "has another configuration of 'budget'"),
        ):
            with pytest.raises(ConfigError, match=f"batch {begun.id} {why}"):
                lone_client.submit(cases, graders=given, resume=begun.id)
        assert begun.status().counts.total == 0
        named = lone_client.open("cases", [])
        with pytest.raises(ConfigError, match="graded by those that its cases name, not by loop"):
            lone_client.submit(cases, graders=["loop"], resume=named.id)
        lone_client.submit(cases, graders=["loop", own], resume=begun.id)
        assert begun.status().sealed

    @pytest.mark.parametrize("kind", ["redis"])
    def test_a_configuration_that_no_batch_can_have_is_another_one(
        self, lone_client: Client
    ) -> None:
        begun = lone_client.open("cases", ["loop"])
        given = {"grader": "loop", "config": {"max_repeats": {3}}}
        with pytest.raises(ConfigError, match="has another configuration of 'loop'"):
            lone_client.submit([], graders=[given], resume=begun.id)

    def test_an_empty_id_to_resume_is_refused_and_opens_no_batch(
        self, lone_client: Client, tmp_path: Path
    ) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
        with pytest.raises(BatchNotFoundError, match="the batch to resume is empty"):
            lone_client.submit(path, resume="")
        assert lone_client.batches() == []

    @pytest.mark.parametrize("batch_id", [None, "", 7, Batch])
    def test_what_cannot_be_the_id_of_a_batch_is_refused(
        self, lone_client: Client, batch_id: Any
    ) -> None:
        with pytest.raises(BatchNotFoundError, match=r"id of the batch is (empty|of the type)"):
            lone_client.batch(batch_id)
        if batch_id:
            with pytest.raises(BatchNotFoundError, match="the id of the batch is of the type"):
                lone_client.submit(list(true_false_cases(3)), resume=batch_id)
        assert lone_client.batches() == []

    def test_a_begun_batch_takes_no_other_cases(self, client: Client, tmp_path: Path) -> None:
        batch = client.submit(write_cases(tmp_path / "a.jsonl", true_false_cases(100)))
        other = write_cases(tmp_path / "b.jsonl", true_false_cases(100, first=1))
        with pytest.raises(ChunkConflictError, match="is not what batch"):
            client.submit(other, resume=batch.id)
        batch.wait(30)
        assert_graded_right(results_by_id(batch), 100)

    def test_cases_that_are_not_those_of_a_begun_batch_do_not_end_it(
        self, lone_client: Client, own_server: EmbeddedServer, tmp_path: Path
    ) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(400))
        with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=CHUNK)) as first:
            begun = first.open("cases", ())
            begun.feed(
                first_source(path, first.settings), should_stop=lambda: begun.status().chunks > 2
            )
        with pytest.raises(ChunkConflictError):
            lone_client.submit(list(true_false_cases(400, first=1)), resume=begun.id)
        assert lone_client.batch(begun.id).status().lacks_input
        assert lone_client.submit(path, resume=begun.id).status().counts.total == 400

    def test_a_cancelled_batch_takes_no_more_cases(
        self, lone_client: Client, own_server: EmbeddedServer, tmp_path: Path
    ) -> None:
        with RedisClient(own_server.url) as first:
            begun = first.open("cases", ())
        lone_client.batch(begun.id).cancel()
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
        with pytest.raises(BatchClosedError):
            lone_client.submit(path, resume=begun.id)


def without(case: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in case.items() if name != field}


def first_source(path: Path, settings: Settings) -> Any:
    from weighbridge_producer.input.source import Source

    return Source(path, settings)


def vars_of(state: Any) -> dict[str, Any]:
    return {name: getattr(state, name) for name in state.__slots__ if name not in OF_ITS_OWN}


class TestFollowing:
    def test_an_ended_batch_tells_what_it_came_to(self, client: Client) -> None:
        batch = client.submit(true_false_cases(300))
        state = batch.wait(30)
        assert (state.batch_id, state.status) == (batch.id, BatchStatus.COMPLETED)
        assert (state.counts.passed, state.counts.failed) == (200, 100)
        assert batch.status() == state
        assert client.batch(batch.id).status() == state
        [row] = batch.summary()
        assert (row.label, row.grader, row.passed, row.failed) == (*["true-false"] * 2, 200, 100)
        assert row.causes == (("boolean_match: false negative", 100),)
        assert (row.scores[0], row.scores[9]) == (100, 200)

    def test_waiting_ends_with_the_batch(self, client: Client) -> None:
        batch = client.submit(hazard_case(f"s{n}", "sleeps", expected=0.02) for n in range(40))
        assert batch.wait().status is BatchStatus.COMPLETED

    @pytest.mark.parametrize("seconds", [0.0, 0.5])
    def test_waiting_for_longer_than_wanted_says_what_is_left(
        self, lone_client: Client, seconds: float
    ) -> None:
        batch = lone_client.submit(true_false_cases(3))
        began = time.monotonic()
        with pytest.raises(
            NotDoneError, match="3 jobs still to be graded, and no worker is"
        ) as hit:
            batch.wait(seconds)
        assert isinstance(hit.value, TimeoutError)
        assert (hit.value.code, hit.value.hint) == (
            "NOT_DONE",
            "start one with `weighbridge worker`",
        )
        assert seconds <= time.monotonic() - began < seconds + 3

    def test_with_a_worker_the_error_does_not_say_that_there_is_none(self, client: Client) -> None:
        batch = client.submit([hazard_case("s", "sleeps", expected=2)])
        with pytest.raises(NotDoneError, match=r"1 job still to be graded \(wait again"):
            batch.wait(0.1)
        batch.wait(30)

    def test_waiting_says_that_the_input_is_not_complete_and_how_it_goes_on(
        self, lone_client: Client, own_server: EmbeddedServer
    ) -> None:
        batch = lone_client.open("cases", ["true-false"])
        with pytest.raises(NotDoneError, match="no jobs have arrived, and its input is not") as hit:
            batch.wait(0)
        assert hit.value.hint == (
            f"if its producer has ended, `submit(cases, resume={batch.id!r})` with the same cases continues it"
        )
        with RedisClient(own_server.url) as direct:
            filled(direct.store, batch.id, [3], seal=False)
            with pytest.raises(NotDoneError, match="no worker is running, and its input is not"):
                batch.wait(0)
            grade_open_chunks(direct.store, batch.id)
            arrived_ms = int(direct.store.now() * 1000) - 185_000
            direct.store.redis.hset(f"wb:{{{batch.id}}}:meta", "arrived_ms", arrived_ms)
        why = "all jobs that have arrived are done, and its input is not complete, and no jobs have arrived for 3 min"
        with pytest.raises(NotDoneError, match=why):
            batch.wait(0)

    def test_waiting_says_that_a_batch_is_paused(self, client: Client) -> None:
        batch = client.submit([hazard_case("s", "sleeps", expected=2)])
        batch.pause()
        with pytest.raises(NotDoneError, match=r"and it is paused \(`unpause\(\)` continues it"):
            batch.wait(0.1)
        batch.unpause()
        batch.wait(30)

    def test_results_come_while_the_batch_is_graded_each_once(self, client: Client) -> None:
        cases = [hazard_case(f"s{n}", "sleeps", expected=0) for n in range(10 * CHUNK)]
        # The last keeps the batch open long enough for the first result to be read.
        cases.append(hazard_case("last", "sleeps", expected=1.5))
        batch = client.submit(cases)
        results = batch.results()
        first = next(results)
        assert not batch.status().status.final
        ids = [first["custom_id"], *(result["custom_id"] for result in results)]
        assert sorted(ids) == sorted(case["custom_id"] for case in cases)
        assert batch.status().status.final

    def test_without_following_there_is_what_there_is_now(self, lone_client: Client) -> None:
        batch = lone_client.submit(true_false_cases(3))
        assert list(batch.results(follow=False)) == []
        assert list(batch.pages(follow=False)) == []
        batch.cancel()
        assert {result["status"] for result in batch.results(follow=False)} == {"cancelled"}

    def test_a_cursor_from_the_middle_gives_exactly_the_rest(self, client: Client) -> None:
        batch = client.submit(true_false_cases(20 * CHUNK))
        batch.wait(30)
        pages = list(batch.pages())
        assert len(pages) >= 20
        for at in (0, 7, len(pages) - 1):
            for follow in (False, True):
                rest = batch.pages(str(pages[at].cursor), follow=follow)
                assert [page.lines for page in rest] == [page.lines for page in pages[at + 1 :]]

    def test_a_cursor_of_one_kind_of_client_is_good_for_the_other(
        self, client: Client, server: EmbeddedServer, service: HttpServer
    ) -> None:
        batch = client.submit(true_false_cases(10 * CHUNK))
        batch.wait(30)
        pages = list(batch.pages())
        for url in (server.url, service.url):
            with connect(url) as other:
                rest = list(other.batch(batch.id).pages(pages[4].cursor))
                assert [page.lines for page in rest] == [page.lines for page in pages[5:]]

    def test_collecting_and_searching_take_the_cursors_of_each_other(self, client: Client) -> None:
        batch = client.submit(true_false_cases(4 * CHUNK))
        batch.wait(30)
        lines = b"".join(page.lines for page in batch.pages()).splitlines(keepends=True)
        for limit in (1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7):
            found = batch.search(limit=limit)
            count = len(
                found.lines
            )  # less than the limit where a request ends after its share of time
            assert 0 < count <= limit
            rest = b"".join(page.lines for page in batch.pages(found.cursor))
            assert rest == b"".join(lines[count:])
        got = 0
        for page in batch.pages():
            got += page.lines.count(b"\n")
            rest = b"".join(
                line + b"\n" for line in batch.search(cursor=page.cursor, limit=1_000).lines
            )
            assert rest == b"".join(lines[got:])

    @pytest.mark.parametrize(
        "cursor",
        [
            *("nonsense", "0.0.1-1.0_0-3.0123456789abcdef.end"),
            *("0.0.1-1.0_0-3.0123456789abcdef.1", "3.0.1-1.0_0-3.0123456789abcdef.0"),
        ],
    )
    def test_a_cursor_of_another_place_is_refused(self, client: Client, cursor: str) -> None:
        batch = client.submit(true_false_cases(3))
        batch.wait(30)
        with pytest.raises(StaleCursorError):
            list(batch.results(cursor))
        with pytest.raises(StaleCursorError):
            batch.search(cursor=cursor)

    @pytest.mark.parametrize("batch_id", ["wb_nothing", "../../etc/passwd", "a b/ü?#%2F", ".."])
    def test_an_unknown_batch_is_not_found(self, client: Client, batch_id: str) -> None:
        batch = client.batch(batch_id)
        questions: list[Callable[[], object]] = [
            *(batch.status, batch.summary, batch.options, batch.wait, batch.cancel, batch.retry),
            *(batch.search, lambda: list(batch.pages()), lambda: list(batch.results(follow=False))),
            *(lambda: batch.result("c0"), lambda: batch.case("c0")),
        ]
        for question in questions:
            with pytest.raises(BatchNotFoundError):
                question()
        assert batch.delete() is False


HOSTILE_IDS = [
    *("..", ".", "../../etc/passwd", "a/b/", "/", "//", "a?b=c#d", "%2e%2e%2f", "%", "ü ✓"),
    *("<script>alert(1)</script>", "a\\b", " ", "x" * 256, "c0;c1", "+", "results", "'\"`"),
]


class TestLookingUp:
    def test_every_case_is_found_by_its_id_whatever_that_is(self, client: Client) -> None:
        cases = [
            {
                "custom_id": custom_id,
                "inputs": {"agent_response": "yes", "expected_output": "true"},
                "grader": "true-false",
            }
            for custom_id in HOSTILE_IDS
        ]
        batch = client.submit(cases)
        batch.wait(30)
        for case in cases:
            custom_id = str(case["custom_id"])
            assert [result["custom_id"] for result in batch.result(custom_id)] == [custom_id]
            assert orjson.loads(batch.case(custom_id) or b"") == case
            found = batch.search(ResultFilter(custom_id=custom_id)).lines
            assert [orjson.loads(line)["custom_id"] for line in found] == [custom_id]

    @pytest.mark.parametrize("custom_id", ["c3", "", "..", "c1/../c2", "x" * 300])
    def test_an_unknown_id_has_neither_case_nor_result(
        self, client: Client, custom_id: str
    ) -> None:
        batch = client.submit(true_false_cases(3))
        batch.wait(30)
        with pytest.raises(NoSuchResultError, match="has no case"):
            batch.result(custom_id)
        with pytest.raises(NoSuchResultError, match="has no case"):
            batch.case(custom_id)

    def test_an_id_that_is_not_finished_says_so(self, lone_client: Client) -> None:
        batch = lone_client.submit(true_false_cases(3))
        with pytest.raises(NoSuchResultError, match="is not finished"):
            batch.result("c2")
        assert batch.case("c2")

    def test_a_freed_case_is_none(self, lone_client: Client, own_server: EmbeddedServer) -> None:
        batch = lone_client.submit(true_false_cases(3))
        with RedisClient(own_server.url) as direct:
            [chunk] = direct.store.open_chunks(batch.id)
            recorded(direct.store, batch.id, chunk)
            direct.batch(batch.id).free([str(chunk)])
        assert batch.case("c2") is None

    @pytest.mark.parametrize(
        ("wanted", "count"),
        [
            (ResultFilter(), 300),
            (ResultFilter(verdict="fail"), 100),
            (ResultFilter(verdict="pass", text='"c17'), 8),
            (ResultFilter(cause="boolean_match: false negative", label="true-false"), 100),
            (ResultFilter(status="errored"), 0),
            (ResultFilter(grader="string-match"), 0),
            (ResultFilter(text="&limit=1;%20 +?"), 0),
        ],
    )
    def test_a_search_gives_what_matches_page_by_page(
        self, client: Client, wanted: ResultFilter, count: int
    ) -> None:
        batch = client.submit(true_false_cases(300))
        batch.wait(30)
        lines, cursor = [], ""
        while cursor is not None:
            page = batch.search(wanted, cursor or None, limit=37)
            assert len(page.lines) <= 37
            lines += page.lines
            cursor = page.cursor
        assert len(lines) == len(set(lines)) == count
        assert set(lines) <= {line for page in batch.pages() for line in page.lines.splitlines()}

    @pytest.mark.parametrize("limit", [0, -1, 1_000_000])
    def test_a_page_has_a_size_that_makes_sense(self, client: Client, limit: int) -> None:
        batch = client.submit(true_false_cases(3))
        with pytest.raises(InvalidFilterError, match="a page cannot have"):
            batch.search(limit=limit)


class TestEnding:
    def test_a_cancelled_batch_keeps_what_was_graded_and_can_be_retried(
        self, lone_client: Client, own_server: EmbeddedServer
    ) -> None:
        batch = lone_client.submit(true_false_cases(3 * CHUNK))
        assert batch.cancel().status is BatchStatus.CANCELLED
        assert batch.cancel().status is BatchStatus.CANCELLED
        assert batch.retry() == 3 * CHUNK
        with pytest.raises(BatchError, match="is still in_progress"):
            batch.retry()
        with RedisClient(own_server.url) as direct:
            grade_open_chunks(direct.store, batch.id)
        assert batch.wait(10).status is BatchStatus.COMPLETED
        assert_graded_right(results_by_id(batch), 3 * CHUNK)

    def test_a_batch_whose_cases_broke_off_ends_as_failed_again_after_a_retry(
        self, lone_client: Client, own_server: EmbeddedServer
    ) -> None:
        cases = list(true_false_cases(2000))

        def breaking() -> Iterator[dict[str, Any]]:
            yield from cases
            eventually(lambda: batch.status().lines > CHUNK, 20, "the beginning")
            raise ZeroDivisionError("the source broke")

        batch = lone_client.open("cases")
        with pytest.raises(ZeroDivisionError):
            batch.fill(breaking())
        failed = batch.status()
        assert 0 < failed.counts.cancelled == failed.counts.total
        with pytest.raises(BatchClosedError, match="ended as failed, because its input broke off"):
            lone_client.submit(cases[:10], resume=batch.id)  # whatever they are
        assert batch.retry() == failed.counts.total
        again = batch.status()
        assert (again.status, again.reason) == (BatchStatus.IN_PROGRESS, failed.reason)
        assert (again.fails_again, again.lacks_input) == (True, False)
        with pytest.raises(BatchClosedError, match="ended as failed"):
            lone_client.submit(cases, resume=batch.id)
        with RedisClient(own_server.url) as direct:
            grade_open_chunks(direct.store, batch.id)
        ended = batch.wait(10)
        assert (ended.status, ended.reason) == (BatchStatus.FAILED, failed.reason)
        assert ended.counts.graded == ended.counts.total == failed.counts.total
        assert_graded_right(results_by_id(batch), ended.counts.total)
        assert batch.retry() == 0
        assert batch.status().status is BatchStatus.FAILED

    def test_a_deleted_batch_is_gone(self, client: Client) -> None:
        batch = client.submit(true_false_cases(3))
        assert batch.delete() is True
        assert batch.delete() is False
        assert client.batch("wb_nothing").delete() is False
        with pytest.raises(BatchError, match="was deleted"):
            batch.status()


class TestNoAnswer:
    # With retries it is 20 s and more than 1 s.
    @pytest.mark.parametrize(("scheme", "seconds"), [("redis", 5), ("http", 1)])
    @pytest.mark.parametrize(
        "of", [Client, lambda *args, **kinds: AsyncClient(*args, **kinds).sync]
    )
    def test_without_retries_a_server_that_is_down_is_an_error_at_once(
        self, scheme: str, seconds: float, of: Callable[..., Client]
    ) -> None:
        with of(f"{scheme}://localhost:{free_port()}", retry=False) as client:
            for request in (client.batches, lambda: client.submit(list(true_false_cases(1)))):
                began = time.monotonic()
                with pytest.raises(ServerUnavailableError):
                    request()
                assert time.monotonic() - began < seconds


class TestOperating:
    def test_the_newest_batches_come_first(self, lone_client: Client) -> None:
        batches = [lone_client.submit(true_false_cases(1)).id for _ in range(5)]
        listed = lone_client.batches()
        assert {state.batch_id for state in listed} == set(batches)
        assert sorted(listed, key=lambda state: -state.created_at) == listed
        assert lone_client.batches(2) == listed[:2]
        lone_client.batch(listed[0].batch_id).delete()
        assert lone_client.batches(3) == listed[1:4]

    def test_more_batches_are_listed_than_one_answer_has(
        self, lone_client: Client, own_server: EmbeddedServer
    ) -> None:
        with RedisClient(own_server.url) as opener:
            for _ in range(207):
                opener.open("cases", ())
        assert len(lone_client.batches(205)) == 205
        assert len({state.batch_id for state in lone_client.batches(1000)}) == 207

    def test_the_catalogue_has_every_grader(self, client: Client) -> None:
        found = {grader["id"]: grader for grader in client.graders()}
        assert {"true-false", "string-match", "loop", "budget", "tool-schema"} <= set(found)
        assert found["loop"]["description"]

    def test_living_workers_are_listed_and_told_to_leave(
        self, lone_client: Client, own_server: EmbeddedServer, start_worker: StartWorker
    ) -> None:
        assert lone_client.workers() == []
        worker = start_worker(own_server.url, 1)
        [info] = lone_client.workers()
        assert (info.pid, info.concurrency, info.draining) == (worker.pid, 1, False)
        assert "true-false" in info.graders
        with pytest.raises(NoSuchWorkerError, match=r"no running worker is called '\.\./x'"):
            lone_client.drain("../x")
        lone_client.drain(info.name)
        assert worker.await_end() == 0

    def test_health_tells_what_waits(self, lone_client: Client) -> None:
        assert lone_client.health().active_batches == 0
        lone_client.submit(true_false_cases(2 * CHUNK))
        health = lone_client.health()
        assert (health.active_batches, health.workers, health.dead_letters) == (1, [], [])
        assert health.queue_length >= 2


def test_the_client_for_asyncio_does_the_same(url: str, tmp_path: Path) -> None:
    path = write_cases(tmp_path / "cases.jsonl", true_false_cases(4 * CHUNK))
    asyncio.run(use_every_method(url, path))


async def use_every_method(url: str, path: Path) -> None:
    async with AsyncClient(url) as client:
        batch = await client.submit(path, graders=["true-false"], metadata={"a": "b"})
        assert (batch.durability is None, batch.unread) == (False, None)
        assert (await batch.wait(30)).status is BatchStatus.COMPLETED
        assert [row.label for row in await batch.summary()] == ["true-false"]
        assert (await batch.options()).metadata == {"a": "b"}
        ids = [result["custom_id"] async for result in batch.results()]
        assert sorted(ids) == sorted(f"c{number}" for number in range(4 * CHUNK))
        assert len(b"".join([page.lines async for page in batch.pages()]).splitlines()) == len(ids)
        assert len((await batch.search(ResultFilter(verdict="pass"), limit=3)).lines) == 3
        assert (await batch.result("c7"))[0]["line"] == 8
        assert orjson.loads(await batch.case("c7") or b"")["custom_id"] == "c7"
        assert (await client.batch(batch.id).cancel()).status is BatchStatus.COMPLETED
        assert await batch.retry() == 0
        assert batch.id in [state.batch_id for state in await client.batches()]
        assert [worker.name for worker in (await client.health()).workers] == [
            worker.name for worker in await client.workers()
        ]
        assert len(await client.graders()) >= 5
        with pytest.raises(NoSuchWorkerError):
            await client.drain("nobody")
        assert await batch.delete() is True
        broken = await client.open("cut", ["true-false"])
        assert (broken.durability, broken.unread) == (None, None)
        await broken.fill(io.BytesIO(gzip.compress(b"{}\n" * 9)[:-9]))
        assert broken.unread is not None
        assert broken.unread.code == "INPUT_TRUNCATED"
        assert broken.durability is not None


class TestAsynchronousCases:
    """The client for asyncio reads cases of an asynchronous iterable while it submits them."""

    def test_they_are_the_same_batch_as_plain_ones(self, url: str) -> None:
        async def cases() -> AsyncIterator[dict[str, Any]]:
            async with asyncio.timeout(60):  # belongs to one task
                for number, case in enumerate(true_false_cases(3 * CHUNK)):
                    if number % 20 == 0:
                        await asyncio.sleep(0)
                    yield case

        async def use() -> None:
            async with AsyncClient(url) as client:
                opened = await client.open("cases")
                await opened.fill(cases())
                for batch in (await client.submit(cases()), opened):
                    await batch.wait(30)
                    assert_graded_right(results_by_id(batch.sync), 3 * CHUNK)

        asyncio.run(use())

    def test_they_are_read_as_fast_as_they_are_submitted(self, own_url: str) -> None:
        async def use() -> None:
            read = 0
            in_time = asyncio.Event()

            async def cases() -> AsyncIterator[dict[str, Any]]:
                nonlocal read
                for read, case in enumerate(true_false_cases(100_000)):  # noqa: B007 - the last one
                    yield case
                    if client.sync.batches():
                        in_time.set()
                        return

            async with AsyncClient(own_url) as client:
                await client.submit(cases())
                assert in_time.is_set()
                assert read < 100_000

        asyncio.run(use())

    def test_one_that_raises_ends_its_batch_as_failed(self, own_url: str) -> None:
        async def cases() -> AsyncIterator[dict[str, Any]]:
            for case in true_false_cases(20):
                yield case
            raise ZeroDivisionError("the source broke")

        async def use() -> None:
            async with AsyncClient(own_url) as client:
                opened = await client.open("cases")
                with pytest.raises(ZeroDivisionError, match="the source broke"):
                    await opened.fill(cases())
                state = await opened.status()
                assert state.status is BatchStatus.FAILED
                assert "the source broke" in state.reason

        asyncio.run(use())

    def test_a_submission_that_is_cancelled_ends_its_batch_as_failed(self, own_url: str) -> None:
        async def use() -> None:
            is_read = asyncio.Event()

            async def cases() -> AsyncIterator[dict[str, Any]]:
                # More than are read ahead: some of them were taken.
                for case in true_false_cases(1_100):
                    yield case
                is_read.set()
                await asyncio.Event().wait()

            async with AsyncClient(own_url) as client:
                opened = await client.open("cases")
                filling = asyncio.create_task(opened.fill(cases()))
                await is_read.wait()
                filling.cancel()
                with pytest.raises(asyncio.CancelledError) as cancelled:
                    await filling
                state = await opened.wait(30)
                assert state.status is BatchStatus.FAILED
                assert "reading the cases was cancelled" in state.reason
                [note] = cancelled.value.__notes__
                assert note.startswith(f"batch {opened.id} ended as failed, with the first ")

        asyncio.run(use())

    @pytest.mark.parametrize("kind", ["redis"])
    def test_a_submission_that_is_cancelled_is_told_which_batch_has_its_first_cases(
        self, own_url: str
    ) -> None:
        async def use() -> None:
            is_read = asyncio.Event()

            async def cases() -> AsyncIterator[dict[str, Any]]:
                for case in true_false_cases(1_100):
                    yield case
                is_read.set()
                await asyncio.Event().wait()

            async with AsyncClient(own_url) as client:
                submitting = asyncio.create_task(client.submit(cases()))
                await is_read.wait()
                submitting.cancel()
                with pytest.raises(asyncio.CancelledError) as cancelled:
                    await submitting
                [state] = await client.batches()
                assert state.status is BatchStatus.FAILED
                [note] = cancelled.value.__notes__
                assert note.startswith(f"batch {state.batch_id} ended as failed, with the first ")

        asyncio.run(use())

    def test_the_representation_of_a_handle_names_the_batch(self, own_url: str) -> None:
        async def use() -> None:
            async with AsyncClient(own_url) as client:
                batch = client.batch("wb_1")
                assert [repr(batch), repr(batch.sync)] == ["AsyncBatch('wb_1')", "Batch('wb_1')"]

        asyncio.run(use())
