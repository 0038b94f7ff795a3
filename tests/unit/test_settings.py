"""Settings: masking of server addresses for display."""

import pytest

from weighbridge.errors import InvalidSettingError
from weighbridge.settings import masked, read_settings


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://user@localhost:6379/0", "redis://user@localhost:6379/0"),
        ("redis://user:secret@localhost:6379/0", "redis://user:***@localhost:6379/0"),
        ("rediss://:secret@[::1]:6379/1", "rediss://:***@[::1]:6379/1"),
        ("redis://user:@localhost", "redis://user:***@localhost"),
        ("redis://user:sec%40ret%2Fx@host/0", "redis://user:***@host/0"),
        ("redis://user:sec@ret@host:6379/0", "redis://user:***@host:6379/0"),
        ("redis://user:a:secret@host/0", "redis://user:***@host/0"),
        ("redis://host/0?password=secret&db=2", "redis://host/0?password=***&db=2"),
        ("redis://host/0?ssl_keyfile_password=secret", "redis://host/0?ssl_keyfile_password=***"),
        ("redis://host/0?pass%77ord=secret", "redis://host/0?pass%77ord=***"),
        ("redis://host/0?PASSWORD=secret", "redis://host/0?PASSWORD=***"),
        ("unix:///tmp/a/redis.sock?db=0", "unix:///tmp/a/redis.sock?db=0"),
        ("unix://user:secret@/tmp/redis.sock", "unix://user:***@/tmp/redis.sock"),
        ("redis+socket:///tmp/x?virtual_host=0&password=secret", None),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str | None) -> None:
    assert "secret" not in masked(url)
    if shown:
        assert masked(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "redis://:sec/ret@host:6379/0",
        "redis://user:sec?ret@host:6379/0",
        "redis://user:sec#ret@host:6379/0",
        "redis://user:12/ret@host:6379/0",
        "redis://user:12#ret@host:6379/0",
        "redis://user:ret@[::1/0",
        "redis://host:ret/0",
    ],
)
def test_an_improper_address_shows_no_part_of_a_password(url: str) -> None:
    assert "ret" not in masked(url)
    assert "sec" not in masked(url)


@pytest.mark.parametrize("url", ["", "nonsense", "://", "redis://", "redis://[", "@", ":@"])
def test_whatever_it_is_given_masking_does_not_raise(url: str) -> None:
    assert isinstance(masked(url), str)


def test_settings_do_not_show_the_passwords_of_their_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_REDIS_URL", "redis://:secret@host")
    settings = read_settings()
    assert "secret" not in repr(settings)
    assert settings.store_address == settings.broker_address == "redis://:secret@host"


def test_the_broker_can_be_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_REDIS_URL", "redis://store")
    monkeypatch.setenv("WEIGHBRIDGE_BROKER_URL", "redis://broker")
    assert read_settings().broker_address == "redis://broker"
    assert read_settings().store_address == "redis://store"


def test_a_wrong_environment_variable_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_CHUNK_LIMIT_JOBS", "hunter2")
    with pytest.raises(InvalidSettingError) as refusal:
        read_settings()
    assert "WEIGHBRIDGE_CHUNK_LIMIT_JOBS" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("HEARTBEAT_SECONDS", "9", "WEIGHBRIDGE_HEARTBEAT_TTL_SECONDS"),
        ("JOB_DEADLINE_SECONDS", "60", "WEIGHBRIDGE_CHUNK_SOFT_LIMIT_SECONDS"),
        ("CHUNK_SOFT_LIMIT_SECONDS", "90", "WEIGHBRIDGE_CHUNK_HARD_LIMIT_SECONDS"),
    ],
)
def test_settings_that_would_break_a_promise_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, other: str
) -> None:
    monkeypatch.setenv(f"WEIGHBRIDGE_{name}", value)
    with pytest.raises(InvalidSettingError, match=f"WEIGHBRIDGE_{name} must be less than {other}"):
        read_settings()


@pytest.mark.parametrize("name", ["", "q" * 201, "two\nlines", "cut\x06\x16here", "\udc80"])
def test_a_queue_whose_messages_would_not_arrive_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_QUEUE", name)
    with pytest.raises(InvalidSettingError, match="WEIGHBRIDGE_QUEUE"):
        read_settings()


def test_an_empty_folder_of_state_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_STATE_DIR", "")
    assert read_settings().state_dir is None


@pytest.mark.parametrize(("value", "as_json"), [("json", True), ("text", False), ("", False)])
def test_logs_are_json_only_if_their_format_says_so(
    monkeypatch: pytest.MonkeyPatch, value: str, as_json: bool
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_LOG_FORMAT", value)
    assert read_settings().logs_json is as_json
