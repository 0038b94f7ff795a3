"""Celery's settings, each of which keeps a promise; and addresses as Celery writes them."""

from __future__ import annotations

import pytest

from weighbridge.settings import Settings, masked
from weighbridge_worker.celery_settings import broker_url, make_celery


def test_celery_is_set_as_promised() -> None:
    conf = make_celery(Settings(), "redis://localhost:6379/0").conf
    promised = {
        "task_acks_late": True,
        "task_acks_on_timeout": True,
        "task_reject_on_worker_lost": False,
        "worker_prefetch_multiplier": 1,
        "task_ignore_result": True,
        "result_backend": None,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_channel_error_retry": True,
        "worker_soft_shutdown_timeout": 30,
        "task_default_queue": "weighbridge",
    }
    assert {name: conf[name] for name in promised} == promised
    assert conf.worker_max_tasks_per_child > 0
    transport = conf.broker_transport_options
    assert transport["ack_emulation"] is False
    assert transport["socket_timeout"] == 30
    assert transport["socket_connect_timeout"] == 5
    assert transport["socket_keepalive"] is True


def test_time_limits_are_each_below_the_next() -> None:
    settings = Settings()
    conf = make_celery(settings, "redis://localhost:6379/0").conf
    limits = [
        settings.job_deadline_seconds,
        settings.chunk_soft_limit_seconds,
        conf.task_time_limit,
    ]
    assert limits == sorted(set(limits))
    assert conf.task_soft_time_limit is None


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("redis://localhost:6379/3", "redis://localhost:6379/3"),
        ("rediss://u:p@h:1/0?ssl_cert_reqs=none", "rediss://u:p@h:1/0?ssl_cert_reqs=none"),
        ("unix:///tmp/a.sock", "redis+socket:///tmp/a.sock?virtual_host=0"),
        ("unix:///tmp/a b.sock?db=2", "redis+socket:///tmp/a%20b.sock?virtual_host=2"),
        ("unix://u:p%40@/tmp/a.sock?db=1", "redis+socket://u:p%40@/tmp/a.sock?virtual_host=1"),
    ],
)
def test_an_address_is_written_as_kombu_reads_it(url: str, written: str) -> None:
    assert broker_url(url) == written


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://:secret@localhost/0", "redis://:***@localhost/0"),
        ("rediss://me:secret@localhost/0", "rediss://me:***@localhost/0"),
        ("redis://me:se@cret@localhost/0", "redis://me:***@localhost/0"),
        ("redis://h/0?password=secret&db=1", "redis://h/0?password=***&db=1"),
        ("unix://me:secret@/tmp/a.sock?db=0", "unix://me:***@/tmp/a.sock?db=0"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert masked(url) == shown
