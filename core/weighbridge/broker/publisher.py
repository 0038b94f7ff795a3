"""Celery as the hint: settings that producer and workers must share, and the one message that they exchange."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from redis.exceptions import OutOfMemoryError

from weighbridge.errors import ServerError, ServerUnavailableError
from weighbridge.jobs.model import SCHEMA_VERSION
from weighbridge.settings import masked
from weighbridge.store.addresses import checked_url, one_server, parse_group
from weighbridge.store.connection import connect, sentinel_options, translate_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celery.app.base import Celery

    from weighbridge.settings import Settings
    from weighbridge.store.addresses import ServerGroup

GRADE_TASK = "weighbridge.grade_chunk"
_CERTIFICATES = {
    "required": ssl.CERT_REQUIRED,
    "optional": ssl.CERT_OPTIONAL,
    "none": ssl.CERT_NONE,
}


def broker_url(url: str) -> str:
    """Return a redis-py URL as kombu writes it, of sentinels the first one's. Raises ServerError."""
    group = parse_group(checked_url(url))
    if group and group.kind == "cluster":
        raise ServerError(
            f"Celery's broker cannot be a Redis Cluster: {masked(url)}",
            "set WEIGHBRIDGE_BROKER_URL to a separate Redis server, redis:// or redis+sentinel://, for all of"
            " producers, workers and services; the cluster remains the store",
        )
    parts = urlsplit(one_server(url))
    if parts.scheme != "unix":
        return one_server(url)
    query = parse_qs(parts.query)
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    options = urlencode({"virtual_host": query.get("db", ["0"])[0]})
    return f"redis+socket://{login}{quote(unquote(parts.path))}?{options}"


def make_celery(settings: Settings, url: str) -> Celery:
    """Return the Celery application for a broker, the same for whoever sends and whoever works."""
    # Most commands send nothing, and it takes a while to load; `celery` itself cannot be imported by two threads at once.
    from celery.app.base import Celery

    from weighbridge.broker.transport import ONE_SERVER, SENTINELS

    group = parse_group(url)
    # Before a + kombu reads the transport's name, whatever `broker_transport` says.
    broker = broker_url(url).replace("redis+", f"{ONE_SERVER}+", 1)
    app = Celery("weighbridge", broker=broker, set_as_current=False)
    app.conf.update(
        # The store decides what is done, so a message is acknowledged only after its chunk is recorded.
        task_acks_late=True,
        task_acks_on_timeout=True,
        # True would deliver a poison chunk for ever (celery#9082); the sweeper and the supervisor own retries.
        task_reject_on_worker_lost=False,
        worker_prefetch_multiplier=1,  # nobody hoards chunks
        # No soft limit: it would raise in a child that waits for the server. Jobs have limits of their own.
        task_time_limit=settings.chunk_hard_limit_seconds,
        broker_transport_options={
            # A message is a wake-up that may be lost: which of them are under way is kept in memory alone.
            "ack_emulation": False,
            "socket_timeout": 30,
            "socket_connect_timeout": 5,
            "socket_keepalive": not url.startswith("unix:"),
            "health_check_interval": 25,  # with kombu's own None a publish can hang for ever
            **(_sentinels(group) if group else {}),
        },
        broker_transport=SENTINELS if group else ONE_SERVER,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,
        broker_pool_limit=2,
        # Results and errors live in the store.
        task_ignore_result=True,
        result_backend=None,
        # Half-open publish/subscribe connections stop a worker (celery#10502): own heartbeat keys instead.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        task_serializer="json",
        accept_content=["json"],  # never pickle: a broker is not a trusted party
        task_default_queue=settings.queue,
        task_create_missing_queues=True,
        worker_max_tasks_per_child=5_000,
        worker_lost_wait=0.2,  # how long a dead child's result is waited for: ours are in the store
        worker_soft_shutdown_timeout=30,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        enable_utc=True,
        **_tls(url),
    )
    return app


def _sentinels(group: ServerGroup) -> dict[str, Any]:
    return {
        "sentinels": list(group.hosts),
        "master_name": group.service,
        "sentinel_kwargs": sentinel_options(group),
    }


def _tls(url: str) -> dict[str, Any]:
    """Say to kombu what redis-py reads from a `rediss://` URL itself."""
    parts = urlsplit(one_server(url))
    if parts.scheme != "rediss":
        return {}
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    options: dict[str, Any] = {
        name: query[name]
        for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
        if name in query
    }
    options["ssl_cert_reqs"] = _CERTIFICATES.get(
        query.get("ssl_cert_reqs", "required"), ssl.CERT_REQUIRED
    )
    return {"broker_use_ssl": options}


class _Sent:
    """What Celery returns for a message; its own class looks for a store of results, in each thread anew, for 20 ms."""

    def __init__(self, task_id: str) -> None:
        self.id = task_id


class Publisher:
    """Sends the one message there is: there is work on a queue."""

    def __init__(self, settings: Settings, url: str) -> None:
        broker_url(url)  # a mistake in it is told before anything is submitted
        self._settings = settings
        self._url = url
        self.queue = settings.queue

    @cached_property
    def app(self) -> Celery:
        """The Celery application that sends."""
        return make_celery(self._settings, self._url)

    def connect(self) -> None:
        """Open the connection ahead of the first message, which takes a while."""
        with plain_broker_errors(self._url), self.app.producer_or_acquire() as producer:
            _ = producer.channel

    def wake(self, queue: str = "", lane: str = "", hops: int = 0) -> None:
        """Wake a worker of a queue, by default its own; losing or doubling the message is harmless."""
        message = {"schema_version": SCHEMA_VERSION, "lane": lane, "hops": hops}
        queue = queue or self.queue
        with plain_broker_errors(self._url):
            try:
                self._send(message, queue)
            except AttributeError:
                # After errors of a full server, kombu now and then uses a channel that it has closed.
                self._send(message, queue)

    def _send(self, message: dict[str, Any], queue: str) -> None:
        self.app.send_task(
            GRADE_TASK,
            kwargs=message,
            # Through the exchange that is there of itself, the broker need not be asked who is bound to it.
            exchange="",
            routing_key=queue,
            ignore_result=True,
            result_cls=_Sent,  # type: ignore[arg-type]
            add_to_parent=False,  # whoever submits in a task of their own has results of their own
            retry=True,
            retry_policy={
                "max_retries": 10,
                "interval_start": 0.05,
                "interval_step": 0.2,
                "interval_max": 2.0,
            },
        )

    def queue_length(self, queue: str = "") -> int:
        """Return how many messages wait for a worker of a queue, by default its own."""
        try:
            with translate_errors():
                return int(self._redis.llen(queue or self.queue))
        except ServerUnavailableError as error:
            raise ServerUnavailableError(
                f"no answer from the broker {masked(self._url)}: {error.message}", error.hint
            ) from error

    @cached_property
    def _redis(self) -> Any:
        # Celery would make a connection for each question.
        return connect(self._url, retry=False)

    def close(self) -> None:
        """Drop the connections."""
        if "app" in self.__dict__:
            self.app.close()
        if "_redis" in self.__dict__:
            self._redis.close()


@contextmanager
def plain_broker_errors(url: str) -> Iterator[None]:
    """Turn Celery's and the transport's errors into ours."""
    from kombu.exceptions import OperationalError

    try:
        with translate_errors():
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, OutOfMemoryError):
            with translate_errors():
                raise error.__cause__ from error
        raise ServerUnavailableError(
            f"no answer from the broker {masked(url)}: {error}",
            "is the broker running, and is the URL right?",
        ) from error
    except OSError as error:
        raise ServerError(f"the broker {masked(url)} cannot be used: {error}") from error
    except ValueError:
        # Why is left out, for it may quote a password.
        raise ServerError(f"the broker {masked(url)} cannot be used") from None
