"""Fixtures for tests that need a server or a worker, all of them real."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from contextlib import ExitStack, closing
from functools import cache
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

# Before their first import, so that their failed assertions show the values.
pytest.register_assert_rewrite("support")

from support.preloaded import fork_server  # noqa: E402
from support.servers import ReusedServer, TcpServer  # noqa: E402
from support.workers import StartWorker, WorkerProcess, environment  # noqa: E402
from weighbridge.embedded.server import EmbeddedServer  # noqa: E402
from weighbridge.settings import MIB  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.store import Store
    from weighbridge_producer.client.redis_client import RedisClient


# Nearly all objects created before the tests start are kept, and garbage collection took a quarter of that time.
gc.disable()
# Seldom, as the worker's children collect: collecting garbage took a twentieth of the suite's time.
gc.set_threshold(50_000, 20, 50)
# A shell makes background jobs ignore SIGINT, which processes started by the tests would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The profile "ci" has deterministic examples without deadlines; 60 of them instead of 100.
settings.register_profile("full", settings.get_profile("ci"), max_examples=60)
settings.load_profile("full")
settings.register_profile("fast", settings.get_profile("ci"), max_examples=10)


def pytest_configure(config: pytest.Config) -> None:
    """Run one process from which those of all xdist processes are forked."""
    if not hasattr(config, "workerinput"):
        stack = ExitStack()
        stack.enter_context(fork_server())
        config.add_cleanup(stack.close)
    elif not (config.option.xmlpath or config.option.durations):
        config.pluginmanager.register(_BriefReports())


class _BriefReports:
    """Sends xdist's main process only what it shows: sending everything takes a fiftieth of the suite's time."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test; send its outcome, and those of its setup and teardown only if they did not pass."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Iterator[dict[str, Any] | None]:
        """Leave out the keywords, which nothing shows."""
        data = yield
        if data is not None:
            data["keywords"] = {}
        return data


_ID_CHARACTERS = 80  #: of a parameter, in the name of a test


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test with a long text by its beginning and length: xdist sends all names from process to process."""
    if isinstance(val, str | bytes) and len(val) > _ID_CHARACTERS:
        return f"{val[:_ID_CHARACTERS]!a}... of {len(val)}"
    return None


_TESTS = Path(__file__).parent
#: Folders in which the tests of a module share expensive fixtures, and one in which all tests share a service.
_SHARED_BY_MODULE = (
    *("integration/pages/", "integration/service/", "integration/test_clients.py"),
    *("integration/test_cluster.py", "integration/test_remote_files.py"),
    *("integration/test_results.py", "acceptance/test_compose.py"),
    *("acceptance/test_contributing.py", "acceptance/test_server_users.py", "unit/sandbox/"),
)
_SHARED_BY_ALL = "browser/"
#: A folder with thousands of quick tests: xdist hands them out a module at a time, which takes less than one by one.
_QUICK = "unit/"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Group tests with shared fixtures in one xdist process, so that the fixtures are started only once."""
    for item in items:
        module = _module_of(item.path)
        if module.mark and (module.shared or not item.get_closest_marker("slow")):
            item.add_marker(module.mark)
    yield
    if getattr(config.option, "loadgroup", False):
        for item in items:
            # xdist adds the group to the id, which it cannot from pytest 9.2 on; then it ignores groups silently.
            if "@" not in item.nodeid and item.get_closest_marker("xdist_group"):
                raise pytest.UsageError(
                    f"pytest-xdist ignores groups with pytest {pytest.__version__}: install constraints.txt"
                )
        # Otherwise a module's fixtures would be started again for each of its tests.
        items[:] = _interleaved(items)


#: Share of the run after which only quick tests start, so that none waits alone at the end.
_WAITED_FOR = 0.88


class _Module(NamedTuple):
    """How the tests of a module are handed out."""

    mark: pytest.MarkDecorator | None  #: of its group
    shared: bool  #: the slow tests are in the group, too
    quick: bool  #: most of its tests compute, and are quick


@cache
def _module_of(path: Path) -> _Module:
    name = path.relative_to(_TESTS).as_posix()
    quick = name.startswith(_QUICK)
    shared_by_all = name.startswith(_SHARED_BY_ALL)
    shared = shared_by_all or name.startswith(_SHARED_BY_MODULE)
    group = _SHARED_BY_ALL if shared_by_all else name
    return _Module(pytest.mark.xdist_group(group) if shared or quick else None, shared, quick)


class _Handed(NamedTuple):
    """A test with what its place in the order depends on."""

    item: pytest.Item
    group: str  #: that runs in one process; a test without a group is one of its own
    quick: bool
    seconds: float  #: about how long a test of this kind takes: the average of its kind, measured on two cores


def _handed(item: pytest.Item) -> _Handed:
    group = item.get_closest_marker("xdist_group")
    is_slow = item.get_closest_marker("slow") is not None
    quick = _module_of(item.path).quick
    if quick:
        seconds = 0.2 if is_slow else 0.015
    elif is_slow:
        seconds = 3.0
    else:
        seconds = 0.2 if group else 0.7
    return _Handed(item, group.args[0] if group else item.nodeid, quick, seconds)


def _interleaved(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the slowest tests, so that none of them runs alone at the end, then the others, large groups first.

    Those that compute, groups that share a service, and single ones, which mostly wait for processes, alternate, and
    those of one module are far apart, because they often wait alike; so all cores are always busy.
    """
    tests = list(map(_handed, items))
    slowest: list[pytest.Item] = []
    computing: list[_Handed] = []
    sharing: list[_Handed] = []
    waiting: list[_Handed] = []
    sizes = Counter(test.group for test in tests)
    lengths, positions = Counter(item.path for item in items), Counter[Path]()
    order: list[tuple[int, float, _Handed]] = []
    for test in tests:
        path = test.item.path
        positions[path] += 1
        # Modules in one group stay whole, because their fixtures would be started again for each test.
        share = positions[path] / (lengths[path] + 1) if test.group != _SHARED_BY_ALL else 0.0
        order.append((-sizes[test.group], share, test))
    for _, _, test in sorted(order, key=itemgetter(0, 1)):
        if test.group == _SHARED_BY_ALL or test.item.get_closest_marker("timeout"):
            slowest.append(test.item)
        elif test.quick:
            computing.append(test)
        else:
            (sharing if sizes[test.group] > 1 else waiting).append(test)
    placed = [
        (share * end, item)
        for kind, end in ((computing, 1.0), (sharing, _WAITED_FOR), (waiting, _WAITED_FOR))
        for share, item in _by_share_of_time(kind)
    ]
    return slowest + [item for _, item in sorted(placed, key=itemgetter(0))]


def _by_share_of_time(tests: Sequence[_Handed]) -> list[tuple[float, pytest.Item]]:
    """Pair each test with the share of the tests' expected time that passes before its group starts."""
    groups: dict[str, list[_Handed]] = {}
    for test in tests:
        groups.setdefault(test.group, []).append(test)
    ends = list(accumulate(sum(test.seconds for test in group) for group in groups.values()))
    starts = [0.0, *ends]
    return [
        (start / ends[-1], test.item)
        for start, group in zip(starts, groups.values(), strict=False)
        for test in group
    ]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Enable garbage collection again after the tests are collected."""
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exclude all objects loaded so far from garbage collection."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Collect the tests' garbage, and exclude what is left from the five collections with which pytest ends."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server for all tests in this process, which use separate batches."""
    folder = tmp_path_factory.mktemp("server")
    with EmbeddedServer.start(folder, maxmemory_bytes=1024 * MIB) as server:
        yield server


@pytest.fixture(scope="session")
def _reused_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusedServer]:
    with closing(ReusedServer(tmp_path_factory)) as server:
        yield server


@pytest.fixture
def own_server(_reused_server: ReusedServer) -> EmbeddedServer:
    """A server for a single test, which may end or configure it."""
    return _reused_server.renewed()


@pytest.fixture
def tcp_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TcpServer]:
    """A server for a single test, which keeps its address when it is restarted."""
    with TcpServer(tmp_path_factory.mktemp("tcp-server")) as server:
        yield server


def _worker_starter(folders: pytest.TempPathFactory) -> Iterator[StartWorker]:
    with ExitStack() as stack:

        def start(
            url: str,
            concurrency: int = 2,
            *,
            command: Sequence[str] = (),
            plug_ins: bool = True,
            is_awaited: bool = True,
            **settings: object,
        ) -> WorkerProcess:
            log = folders.mktemp("worker") / "worker.log"
            env = environment(url, plug_ins=plug_ins, **settings)
            worker = WorkerProcess(url, concurrency, env, log, command)
            stack.callback(worker.clean_up)
            if is_awaited:
                worker.await_heartbeat()
            return worker

        yield start


@pytest.fixture
def start_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartWorker]:
    """Start workers: `start_worker(url, concurrency=2, job_deadline_seconds=1)`."""
    yield from _worker_starter(tmp_path_factory)


@pytest.fixture(scope="session")
def worker(
    server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkerProcess]:
    """A worker on the `server` for all tests, which must not harm it."""
    for start in _worker_starter(tmp_path_factory):
        yield start(server.url)


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client of the `server`; its batches are graded only with the fixture `worker`."""
    from weighbridge_producer.client.redis_client import (
        RedisClient,  # imported here, because unit tests do not need Celery
    )

    with RedisClient(server.url) as client:
        yield client


@pytest.fixture
def store(server: EmbeddedServer) -> Iterator[Store]:
    """The store on the `server`."""
    from weighbridge.store import Store

    store = Store(server.url)
    yield store
    store.close()


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """Remove the user's settings from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("WEIGHBRIDGE_"):
                patch.delenv(name)
        yield
