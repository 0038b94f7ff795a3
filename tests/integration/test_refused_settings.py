"""A setting that cannot be used is named, in a line and without its value: it may hold a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.cli import Cli
from support.preloaded import WORKER
from weighbridge.broker.publisher import Publisher
from weighbridge.errors import InvalidSettingError, ServerError
from weighbridge.settings import Settings
from weighbridge.store.connection import connect
from weighbridge_producer import Client

if TYPE_CHECKING:
    from pathlib import Path

CUT_SHORT = "redis://:s3cr/t@localhost:6/0"


@pytest.mark.parametrize("command", ["run", "health"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sweep_seconds": "s3cr"}, "INVALID_SETTING: WEIGHBRIDGE_SWEEP_SECONDS"),
        ({"redis_url": CUT_SHORT}, "INVALID_URL: not a Redis URL: 'redis://***@localhost:6/0'"),
        ({"redis_url": "redis+foo://localhost"}, "INVALID_URL: not a Redis URL"),
    ],
)
def test_a_worker_says_which_setting_is_wrong_and_exits_1(
    command: str, settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    cli = Cli(tmp_path, preloaded=True)
    cli.main = WORKER
    try:
        ended = cli(command, **({"redis_url": "redis://localhost:6379/0"} | settings))
    finally:
        cli.clean_up()
    assert ended.status == 1
    assert ended.err.startswith(said)
    assert "Traceback" not in ended.err
    assert "s3cr" not in ended.out + ended.err


def test_a_client_names_a_wrong_setting_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_LEASE_SECONDS", "s3cr")
    with pytest.raises(InvalidSettingError, match="WEIGHBRIDGE_LEASE_SECONDS") as raised:
        Client()
    assert "s3cr" not in str(raised.value)


@pytest.mark.parametrize("use", [connect, lambda url: Publisher(Settings(), url)])
def test_a_password_that_cuts_its_url_short_is_not_shown_in_part(use: object) -> None:
    assert callable(use)
    with pytest.raises(ServerError) as raised:
        use(CUT_SHORT)
    assert "s3cr" not in str(raised.value)
    assert raised.value.__cause__ is None
