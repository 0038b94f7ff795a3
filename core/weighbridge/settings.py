"""Every setting with its default, read once at a process's edge from `WEIGHBRIDGE_*` and passed down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, model_validator

from weighbridge.errors import InvalidSettingError

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Positive = Annotated[int, Gt(0)]
PositiveFloat = Annotated[float, Gt(0)]


class Settings(BaseModel):
    """The product's settings; each field is also an environment variable, `WEIGHBRIDGE_<FIELD>`."""

    model_config = ConfigDict(frozen=True)

    redis_url: SecretStr | None = None
    broker_url: SecretStr | None = None  #: Celery's own server, where it is not the store's
    queue: str = "weighbridge"
    api_url: SecretStr | None = None  #: of `weighbridge serve`, for the Python client
    api_key: SecretStr | None = None  #: that the Python client shows there

    line_limit_bytes: Annotated[int, Gt(0), Le(256 * MIB)] = 32 * MIB
    batch_limit_lines: Positive = 10_000_000
    batch_limit_bytes: Positive = 64 * GIB
    expansion_limit: Positive = 200  #: decompressed over compressed bytes, judged past 8 MiB

    chunk_limit_bytes: Positive = 2 * MIB
    chunk_limit_jobs: Positive = 5_000
    chunk_target_seconds: PositiveFloat = 0.2

    job_deadline_seconds: PositiveFloat = 10.0
    #: Past it the done part is recorded, the rest reopened.
    chunk_budget_seconds: PositiveFloat = 2.0
    chunk_soft_limit_seconds: Positive = 60
    chunk_hard_limit_seconds: Positive = 90
    #: Renewed at a third of it, so that a chunk comes back soon from a worker that is cut off.
    lease_seconds: PositiveFloat = 8.0
    heartbeat_seconds: PositiveFloat = 1.0
    heartbeat_ttl_seconds: PositiveFloat = 4.0
    sweep_seconds: PositiveFloat = 1.0
    #: How long jobs wait for a worker with their grader, when none lives any more.
    capability_patience_seconds: PositiveFloat = 60.0
    observed_deaths_limit: Positive = 3
    child_memory_limit_bytes: Positive = 512 * MIB  #: beyond what the child has at start-up
    child_cgroup: Path | None = None  #: a delegated cgroup, in which each child gets one of its own

    batch_expiry_seconds: Positive = 24 * 3600
    result_ttl_seconds: Positive = 7 * 24 * 3600
    memory_high_water: Annotated[float, Gt(0)] = 0.7
    full_server_patience_seconds: PositiveFloat = 300.0
    #: For the server to confirm that a sealed batch is on its disk, and again for its replicas; at most 7, for
    #: connections that may not wait for long end after 8.
    confirm_seconds: Annotated[float, Gt(0), Le(7)] = 5.0

    upload_limit_bytes: Positive = 8 * GIB  #: of one request's body, as it is sent
    uploads_at_once: Positive = 8  #: in one process of the service
    upload_silence_seconds: PositiveFloat = 60.0  #: past it an upload is broken off
    listeners_at_once: Positive = 2_000  #: to events and followed results, in one process
    rate_limit_per_minute: Annotated[int, Ge(0)] = 600  #: requests of one API key; 0: no limit
    project_limit_bytes: Annotated[int, Ge(0)] = 0  #: of input kept for one project; 0: no limit
    try_it_limit_bytes: Annotated[int, Gt(0), Le(256 * MIB)] = 4 * MIB
    public_hosts: str | None = None  #: the names that the service answers to, by commas; None: any
    trusted_proxies: str | None = None  #: addresses whose X-Forwarded-For is believed, by commas

    @model_validator(mode="after")
    def _refuse_what_would_break_promises(self) -> Self:
        orders = (
            ("heartbeat_seconds", "heartbeat_ttl_seconds"),
            ("job_deadline_seconds", "chunk_soft_limit_seconds"),
            ("chunk_soft_limit_seconds", "chunk_hard_limit_seconds"),
        )
        for smaller, larger in orders:
            if getattr(self, smaller) >= getattr(self, larger):
                raise ValueError(
                    f"WEIGHBRIDGE_{smaller.upper()} must be under WEIGHBRIDGE_{larger.upper()}"
                )
        return self

    @property
    def store_address(self) -> str | None:
        """The store's URL in the clear, for clients only; show `masked(...)` to people."""
        return self.redis_url.get_secret_value() if self.redis_url else None

    @property
    def broker_address(self) -> str | None:
        """Celery's URL in the clear: its own where given, else the store's."""
        return self.broker_url.get_secret_value() if self.broker_url else self.store_address


def read_settings() -> Settings:
    """Read the settings from the environment; raises InvalidSettingError."""
    # Not by pydantic-settings: loading it took a fourth of the time in which a short command runs.
    given = {name: os.environ.get(f"WEIGHBRIDGE_{name.upper()}") for name in Settings.model_fields}
    try:
        return Settings.model_validate(
            {name: text for name, text in given.items() if text is not None}
        )
    except ValidationError as error:
        # Never the value: it may hold a password.
        faults = [
            f"WEIGHBRIDGE_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}"
            if fault["loc"]
            else fault["msg"].removeprefix("Value error, ")
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise InvalidSettingError("; ".join(faults), "mend or unset the variable") from None


def masked(url: str) -> str:
    """Return a URL that is safe to show: its password replaced, and its query's too; never raises."""
    try:
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        for one in host.split(","):  # of sentinels or of a cluster
            _ = urlsplit(
                f"//{one}"
            ).port  # raises where a bare / ? or # in the password has cut it short
    except ValueError:
        return _masked_roughly(url)
    in_path = "@" in parts.path + parts.fragment and parts.scheme != "unix"
    if in_path or "://" not in url:
        return _masked_roughly(url)
    name = user.partition(":")[0]
    netloc = f"{name}:***@{host}" if at and ":" in user else parts.netloc
    query = "&".join(
        f"{key}=***" if "password" in unquote(key).lower() else f"{key}{equals}{value}"
        for key, equals, value in (pair.partition("=") for pair in parts.query.split("&") if pair)
    )
    # urlunsplit would leave out the // of unix:///path.
    return f"{parts.scheme}://{netloc}{parts.path}{'?' if query else ''}{query}"


def _masked_roughly(url: str) -> str:
    """Show nothing between the scheme and the last @ of what is no proper URL."""
    scheme, found, rest = url.partition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}://***@{host}" if found and at else "***"
