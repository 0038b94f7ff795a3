"""Celery settings common to producer and workers, and the sending of wake-up messages."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from redis.exceptions import OutOfMemoryError

from weighbridge.broker.wake_up import WakeUp, send_wake_up
from weighbridge.errors import ServerError, ServerUnavailableError
from weighbridge.settings import masked
from weighbridge.store.addresses import checked_url, one_server, parse_group
from weighbridge.store.connection import (
    connect,
    patient_retry,
    sentinel_options,
    translate_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celery.app.base import Celery

    from weighbridge.settings import Settings
    from weighbridge.store.addresses import ServerGroup

_CERTIFICATES = {
    "required": ssl.CERT_REQUIRED,
    "optional": ssl.CERT_OPTIONAL,
    "none": ssl.CERT_NONE,
}


def broker_url(url: str) -> str:
    """Convert a redis-py URL to kombu's form, with only the first of several sentinels; raises ServerError."""
    group = parse_group(checked_url(url))
    if group and group.kind == "cluster":
        raise ServerError(
            f"Celery's broker cannot be a Redis Cluster: {masked(url)}",
            "set WEIGHBRIDGE_BROKER_URL to a separate Redis server, redis:// or redis+sentinel://, for all"
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
    """Return the Celery application for a broker, used by both producers and workers."""
    # Imported here, because it is slow and rarely needed; `celery` itself is not safe to import in threads.
    from celery.app.base import Celery

    from weighbridge.broker.transport import ONE_SERVER, SENTINELS

    group = parse_group(url)
    # kombu reads the transport's name before the +, in preference to `broker_transport`.
    broker = broker_url(url).replace("redis+", f"{ONE_SERVER}+", 1)
    app = Celery("weighbridge", broker=broker, set_as_current=False)
    app.conf.update(
        # A message is acknowledged only after its chunk has been recorded in the store.
        task_acks_late=True,
        task_acks_on_timeout=True,
        # True would redeliver a poison chunk forever (celery#9082); the sweeper and the supervisor retry instead.
        task_reject_on_worker_lost=False,
        worker_prefetch_multiplier=1,  # no prefetched messages
        # No soft limit, which would raise in a child that waits for the server. Jobs have separate limits.
        task_time_limit=settings.chunk_hard_limit_seconds,
        broker_transport_options={
            # Wake-ups may be lost, so unacknowledged messages are tracked only in memory.
            "ack_emulation": False,
            "socket_timeout": 30,
            "socket_connect_timeout": 5,
            "socket_keepalive": not url.startswith("unix:"),
            "health_check_interval": 25,  # with kombu's default None, a publish can hang forever
            **(_sentinels(group) if group else {}),
        },
        broker_transport=SENTINELS if group else ONE_SERVER,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,
        broker_pool_limit=2,
        # Results and errors are in the store.
        task_ignore_result=True,
        result_backend=None,
        # Half-open publish/subscribe connections stop a worker (celery#10502); heartbeat keys are used instead.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        task_serializer="json",
        accept_content=["json"],  # never pickle, because the broker is not trusted
        task_default_queue=settings.queue,
        task_create_missing_queues=True,
        worker_max_tasks_per_child=5_000,
        worker_lost_wait=0.2,  # wait for a dead child's result, which is not needed
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
    """Return kombu's TLS options for the parameters in a `rediss://` URL."""
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


class Publisher:
    """Sends wake-up messages, which announce work on a queue."""

    def __init__(self, settings: Settings, url: str) -> None:
        broker_url(url)  # report an invalid URL before anything is submitted
        self._settings = settings
        self._url = url
        self.queue = settings.queue

    @cached_property
    def app(self) -> Celery:
        """The Celery application for sending."""
        return make_celery(self._settings, self._url)

    def connect(self) -> None:
        """Open the connection in advance, because that is slow."""
        with translate_broker_errors(self._url), self.app.producer_or_acquire() as producer:
            _ = producer.channel

    def wake(self, queue: str = "", lane: str = "", hops: int = 0) -> None:
        """Wake a worker of a queue, by default the settings' queue; lost or duplicate messages do no harm."""
        from kombu.exceptions import OperationalError

        send = partial(self._send, WakeUp(lane=lane, hops=hops), queue or self.queue)
        with translate_broker_errors(self._url):
            try:
                # kombu does not pause when a server accepts connections but no messages, as a demoted primary does.
                patient_retry(OperationalError).call_with_retry(send, _ignore, _may_pass)
            except AttributeError:
                # After errors from a full server, kombu sometimes uses a channel that it has closed.
                send()

    def _send(self, message: WakeUp, queue: str) -> None:
        # Once again, with a new connection; `wake` repeats it with pauses.
        policy = {"max_retries": 1, "interval_start": 0.0}
        send_wake_up(self.app, message, queue, retry=True, retry_policy=policy)

    def queue_length(self, queue: str = "") -> int:
        """Return the number of messages waiting on a queue, by default the settings' queue."""
        try:
            with translate_errors():
                return int(self._redis.llen(queue or self.queue))
        except ServerUnavailableError as error:
            raise ServerUnavailableError(
                f"no answer from the broker {masked(self._url)}: {error.message}", error.hint
            ) from error

    @cached_property
    def _redis(self) -> Any:
        # Celery would open a connection for each request.
        return connect(self._url, retry=False)

    def close(self) -> None:
        """Close the connections."""
        if "app" in self.__dict__:
            self.app.close()
        if "_redis" in self.__dict__:
            self._redis.close()


def _ignore(error: Exception) -> None:
    """Do nothing between two attempts: kombu has closed the connection."""


def _may_pass(error: Exception) -> bool:
    return not isinstance(error.__cause__, OutOfMemoryError)


@contextmanager
def translate_broker_errors(url: str) -> Iterator[None]:
    """Translate errors of Celery and its transport to ServerError."""
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
        # The reason is omitted, because it may contain a password.
        raise ServerError(f"the broker {masked(url)} cannot be used") from None
