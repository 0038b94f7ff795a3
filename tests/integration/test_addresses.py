"""Addresses of servers: logins, TLS, separate brokers, and masked passwords."""

from __future__ import annotations

import shutil
import socket
import ssl
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
import redis
import trustme

from support.cases import assert_graded_right, results_by_id, true_false_cases
from support.cli import Cli
from support.http import HttpServer
from support.servers import TcpServer
from weighbridge.errors import CertificateError, ServerError, ServerUnavailableError
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

SECRET = "s3cret-Pa55"
WRONG = "wr0ng-Pa55"


def grades(client: RedisClient, count: int = 500) -> None:
    """Assert that submitted cases are graded and can be collected."""
    batch = client.submit(true_false_cases(count))
    batch.wait(30)
    results = results_by_id(batch)
    assert len(results) == count
    assert_graded_right(results, count)


def test_broker_and_store_may_be_two_servers(
    own_server: EmbeddedServer, tcp_server: TcpServer, start_worker: StartWorker
) -> None:
    start_worker(own_server.url, broker_url=tcp_server.url)
    settings = Settings(broker_url=tcp_server.url)  # type: ignore[arg-type]
    with RedisClient(own_server.url, settings=settings) as client:
        grades(client)
        with redis.Redis(port=tcp_server.port) as broker:
            assert broker.keys("wb:*") == []
            assert broker.keys("_kombu*") != []
        assert client.store.redis.keys("_kombu*") == []


@pytest.mark.parametrize("user", ["", "grader"])
def test_a_user_name_and_a_password_in_the_url_work_and_are_never_shown(
    tmp_path: Path, start_worker: StartWorker, user: str
) -> None:
    options = (
        {"user": f"grader on >{SECRET} ~* &* +@all", "requirepass": "other"}
        if user
        else {"requirepass": SECRET}
    )
    with TcpServer(tmp_path, **options) as server:
        address = f"redis://{user}:{SECRET}@127.0.0.1:{server.port}/0"
        worker = start_worker(address, log_level="debug")
        with RedisClient(address) as client:
            grades(client)
        server.kill()
        # The worker now logs connection errors, which must not contain the password.
        from support.waiting import eventually

        eventually(lambda: "annot connect" in worker.log or "no answer" in worker.log, 20)
        server.start()
        with RedisClient(address) as client:
            grades(client)
        assert SECRET not in worker.log
        assert SECRET not in worker.output
        with pytest.raises(ServerError) as raised:
            RedisClient(address.replace(SECRET, WRONG)).submit(true_false_cases(1))
        assert raised.value.code == "REDIS_ERROR"
        assert WRONG not in all_said(raised.value)


def all_said(error: BaseException) -> str:
    """Return an error's text as a traceback would show it, causes too."""
    import traceback

    return "".join(traceback.format_exception(error))


def test_an_address_that_nobody_answers_at_is_shown_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from support.servers import free_port
    from weighbridge.broker.publisher import Publisher
    from weighbridge.store import Store, connection

    monkeypatch.setattr(connection, "RETRIES", 1)  # not 20 s of them
    address = f"redis://someone:{SECRET}@127.0.0.1:{free_port()}/0"
    with pytest.raises(ServerUnavailableError) as raised:
        Store(address, retry=False).batches()
    assert SECRET not in all_said(raised.value)
    publisher = Publisher(Settings(), address)
    with pytest.raises(ServerUnavailableError, match=r"redis://someone:\*\*\*@127") as raised:
        publisher.queue_length()
    assert SECRET not in str(raised.value)
    with pytest.raises(ServerUnavailableError) as raised:
        publisher.wake()
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("address", ["nonsense", "ftp://localhost", f"redis://:{SECRET}@h:port/0"])
def test_what_is_no_address_is_refused_in_plain_words(address: str) -> None:
    with pytest.raises(ServerError) as raised:
        RedisClient(address).batches()
    assert raised.value.code == "INVALID_URL"
    assert raised.value.hint
    assert SECRET not in str(raised.value)


@contextmanager
def tls_proxy(port: int, folder: Path) -> Iterator[tuple[int, Path]]:
    """Take TLS off connections to a server; give the port to connect to, and the authority's certificate."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=serve, args=(plain,), daemon=True).start()

    def serve(plain: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(plain, server_side=True) as outer,
            socket.create_connection(("127.0.0.1", port)) as inner,
        ):
            back = threading.Thread(target=pump, args=(inner, outer), daemon=True)
            back.start()
            pump(outer, inner)
            back.join(5)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError, ValueError):
            while data := source.recv(65536):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=accept, daemon=True).start()
    with closing(listener):
        yield listener.getsockname()[1], folder / "ca.pem"


def test_tls_addresses_work_for_store_and_broker_and_check_the_certificate(
    tcp_server: TcpServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    with tls_proxy(tcp_server.port, tmp_path) as (port, authority):
        address = f"rediss://localhost:{port}/0?ssl_ca_certs={authority}"
        start_worker(address)
        with RedisClient(address) as client:
            grades(client)
        # Without the authority's certificate, the server is not trusted.
        with pytest.raises(CertificateError, match="unable to get local issuer") as refused:
            RedisClient(f"rediss://localhost:{port}/0", settings=Settings()).batches()
        assert "?ssl_ca_certs=/path" in refused.value.hint
        stranger = shutil.copy(authority, tmp_path / "stranger.pem")
        trustme.CA().cert_pem.write_to_path(stranger)
        from weighbridge.broker.publisher import Publisher

        publisher = Publisher(Settings(), f"rediss://localhost:{port}/0?ssl_ca_certs={stranger}")
        with pytest.raises(ServerError):
            publisher.queue_length()


def test_a_service_with_a_certificate_of_an_own_authority_is_trusted_if_that_is_named(
    tcp_server: TcpServer, tmp_path: Path
) -> None:
    with (
        HttpServer(tcp_server.url) as service,
        tls_proxy(service.port, tmp_path) as (port, ca),
        ExitStack() as after,
    ):
        cli = Cli(tmp_path)
        after.callback(cli.clean_up)
        url = f"https://localhost:{port}"
        ended = cli("batches", url=url)
        assert ended.status == 1
        assert f"CERTIFICATE_INVALID: {url}: the certificate of the service is not" in ended.err
        assert "SSL_CERT_FILE=/path/to/ca.pem" in ended.err
        assert "service: CERTIFICATE_INVALID" in cli("doctor", url=url).out
        cli.environment["SSL_CERT_FILE"] = str(ca)
        assert cli("batches", url=url).status == 0


def test_tls_without_a_check_is_had_by_asking_for_it(
    tcp_server: TcpServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    with tls_proxy(tcp_server.port, tmp_path) as (port, _):
        address = f"rediss://127.0.0.1:{port}/0?ssl_cert_reqs=none"
        start_worker(address)
        with RedisClient(address) as client:
            grades(client)
