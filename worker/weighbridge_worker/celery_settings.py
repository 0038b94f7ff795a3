"""Celery's settings in a worker."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from celery.app.base import Celery

from weighbridge.broker.publisher import checked_broker
from weighbridge.store.addresses import one_server, parse_group
from weighbridge.store.connection import sentinel_options
from weighbridge_worker.transport import ONE_SERVER, SENTINELS

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge.store.addresses import ServerGroup

_CERTIFICATES = {
    "required": ssl.CERT_REQUIRED,
    "optional": ssl.CERT_OPTIONAL,
    "none": ssl.CERT_NONE,
}


def broker_url(url: str) -> str:
    """Convert a redis-py URL to kombu's form, with only the first of several sentinels; raises ServerError."""
    server = one_server(checked_broker(url))
    parts = urlsplit(server)
    if parts.scheme != "unix":
        return server
    query = parse_qs(parts.query)
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    options = urlencode({"virtual_host": query.get("db", ["0"])[0]})
    return f"redis+socket://{login}{quote(unquote(parts.path))}?{options}"


def make_celery(settings: Settings, url: str) -> Celery:
    """Return the Celery application that reads a broker's messages."""
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
