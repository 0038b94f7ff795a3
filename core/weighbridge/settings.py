"""The settings with their defaults, read once at the start of a process from `WEIGHBRIDGE_*` and passed down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from annotated_types import Ge, Gt, Le
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from weighbridge.errors import InvalidSettingError

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
DEFAULT_REDIS_URL = "redis://localhost:6379/0"  #: the server of a worker that is given none

Positive = Annotated[int, Gt(0)]
PositiveFloat = Annotated[float, Gt(0)]


class Settings(BaseModel):
    """Weighbridge's settings; each field is also an environment variable, `WEIGHBRIDGE_<FIELD>`.

    The `#:` comments are the descriptions in docs/reference/settings.md.
    """

    model_config = ConfigDict(frozen=True)

    #: The shared Redis server: `redis://`, `rediss://`, `unix://`, `redis+sentinel://` or `redis+cluster://`. Without
    #: it `run` starts a private one, and `python -m weighbridge_worker` connects to `localhost:6379`.
    redis_url: SecretStr | None = None
    #: Celery's broker, if it is not the Redis server of the store.
    broker_url: SecretStr | None = None
    #: The Celery queue whose workers grade the batch. Batches of one queue share its workers. A name has 1 to 200
    #: characters, none of them a control character.
    queue: Annotated[
        str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1F\x7F]*$")
    ] = "weighbridge"
    #: The server for commands without `--url` and for a Python `Client()` without a URL: the `http://` or `https://`
    #: address of a `weighbridge serve`, or a Redis server. Without it, `WEIGHBRIDGE_REDIS_URL`. `run`, `worker` and
    #: `serve` do not read it.
    url: SecretStr | None = None
    #: The API key that commands and the Python client send to that service.
    api_key: SecretStr | None = None

    #: A longer line is errored with LINE_TOO_LONG.
    line_limit_bytes: Annotated[int, Gt(0), Le(256 * MIB)] = 32 * MIB
    #: The maximum number of lines in a batch; the next one is errored with INPUT_TOO_LARGE, and the rest is not read.
    batch_limit_lines: Positive = 10_000_000
    #: The maximum number of decompressed bytes in a batch, with the same consequence.
    batch_limit_bytes: Positive = 64 * GIB
    #: The largest ratio of decompressed to compressed bytes, checked after the first 8 MiB.
    expansion_limit: Positive = 200

    #: A chunk ends with the line that reaches this size.
    chunk_limit_bytes: Positive = 2 * MIB
    #: The maximum number of jobs in a chunk.
    chunk_limit_jobs: Positive = 5_000
    #: The grading time that a chunk is sized for, from the speed measured so far.
    chunk_target_seconds: PositiveFloat = 0.2

    #: A job that takes longer is errored with TIMEOUT.
    job_deadline_seconds: PositiveFloat = 10.0
    #: After this time a child records what it has graded of a chunk and reopens the rest in smaller parts.
    chunk_budget_seconds: PositiveFloat = 2.0
    #: All graders of one line together may take half of this time; a job that still runs then is errored with TIMEOUT. If Celery
    #: kills a child at the hard limit, that counts as a failure of its job only if grading took at least this time.
    chunk_soft_limit_seconds: Positive = 60
    #: After this time of grading one chunk, Celery kills the child, and its lease is no longer renewed.
    chunk_hard_limit_seconds: Positive = 90
    #: How long a chunk belongs to an execution without a renewal. The worker renews it at a third of that time. The
    #: shorter it is, the sooner the chunks of a worker that is cut off are given to others.
    lease_seconds: PositiveFloat = 8.0
    #: How often a worker sends a heartbeat.
    heartbeat_seconds: PositiveFloat = 1.0
    #: How long a heartbeat is valid. Soon after that, the worker's chunks are given to others.
    heartbeat_ttl_seconds: PositiveFloat = 4.0
    #: How often the worker that holds the sweeper's lease checks for due batches, and the others try to get the lease.
    sweep_seconds: PositiveFloat = 1.0
    #: How long jobs wait for a worker with their grader after the last one has stopped; then they are errored with
    #: UNKNOWN_GRADER or SCHEMA_VERSION.
    capability_timeout_seconds: PositiveFloat = 60.0
    #: How often worker children may die while grading a job before the job is errored.
    observed_deaths_limit: Positive = 3
    #: The memory, resident or swapped out, that a worker child may use in addition to what it had at its start; a job
    #: that takes more is errored with OUT_OF_MEMORY. Lines of up to a sixteenth of it are graded whatever they contain,
    #: lines over a fourth of it are refused. The address space may grow by 4 times that and 1 GiB. Linux only.
    child_memory_limit_bytes: Positive = 512 * MIB
    #: The folder of a cgroup that is delegated to the worker. Each child gets a cgroup in it, in which the kernel kills
    #: the child beyond twice the memory limit. Linux only.
    child_cgroup: Path | None = None

    #: How long a batch may take from its opening; jobs that are still open then are expired.
    batch_expiry_seconds: Positive = 24 * 3600
    #: How long the inputs and results of a batch stay in Redis after its expiry.
    result_ttl_seconds: Positive = 7 * 24 * 3600
    #: The share of the `maxmemory` of Redis at which a producer pauses.
    memory_high_water: Annotated[float, Gt(0)] = 0.7
    #: How long a producer waits for room in Redis before it stops; the batch can be resumed.
    full_server_timeout_seconds: PositiveFloat = 300.0
    #: How long `submit` waits for Redis to confirm that a sealed batch is on its disk, and again for its replicas.
    #: At most 7, because connections time out after 8.
    confirm_seconds: Annotated[float, Gt(0), Le(7)] = 5.0
    #: The folder in which `weighbridge baseline set` stores results, relative to the current one.
    baseline_folder: Path = Path(".weighbridge/baselines")
    #: The folder in which `run` keeps what an interrupted run is resumed from. Without it,
    #: `$XDG_STATE_HOME/weighbridge/runs`, else `~/.local/state/weighbridge/runs`. `serve --embedded` keeps its batches
    #: in the folder `serve/`: inside this folder if the variable is set, by default next to `runs`.
    state_dir: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = None
    #: The format of a worker's log and of the audit log on the standard error of `serve`: `json` for one object per
    #: line; anything else means `text`.
    log_format: str = "text"

    #: The largest body that `POST /api/batches` takes, as it is sent, compressed or not.
    upload_limit_bytes: Positive = 8 * GIB
    #: The uploads that one process accepts at the same time, at most half of them from one project.
    uploads_at_once: Positive = 8
    #: An upload that sends nothing for this long is aborted.
    upload_silence_seconds: PositiveFloat = 60.0
    #: The clients that may listen to events, or follow results, in one process, at most half of them of one project.
    listeners_at_once: Positive = 2_000
    #: The requests per minute of one API key, or of one address without a key, in all instances of the service
    #: together; beyond it the response is 429. 0 means no limit. Where no keys are required there is none.
    rate_limit_per_minute: Annotated[int, Ge(0)] = 600
    #: The bytes of decompressed input that the batches of one project may have together; an upload beyond it is aborted
    #: within seconds with 507 PROJECT_FULL. 0 means no limit.
    project_limit_bytes: Annotated[int, Ge(0)] = 0
    #: The largest body with which a grader is tried; a larger one is answered with 413.
    try_it_limit_bytes: Annotated[int, Gt(0), Le(256 * MIB)] = 4 * MIB
    #: The host names that the service accepts, separated by commas. Without it: any name where keys are required,
    #: and only this machine's own names where they are not.
    public_hosts: str | None = None
    #: The addresses or networks, separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    trusted_proxies: str | None = None

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
                    f"WEIGHBRIDGE_{smaller.upper()} must be less than WEIGHBRIDGE_{larger.upper()}"
                )
        return self

    @property
    def store_address(self) -> str | None:
        """The store's URL with its password, for connecting only; display `masked(...)`."""
        return self.redis_url.get_secret_value() if self.redis_url else None

    @property
    def logs_json(self) -> bool:
        """Whether log lines are JSON objects."""
        return self.log_format == "json"

    @property
    def broker_address(self) -> str | None:
        """The broker's URL with its password; defaults to the store's."""
        return self.broker_url.get_secret_value() if self.broker_url else self.store_address


def read_settings() -> Settings:
    """Read the settings from the environment; raises InvalidSettingError."""
    # pydantic-settings is not used because loading it took a fourth of a short command's time.
    given = {name: os.environ.get(f"WEIGHBRIDGE_{name.upper()}") for name in Settings.model_fields}
    try:
        return Settings.model_validate(
            {name: text for name, text in given.items() if text is not None}
        )
    except ValidationError as error:
        # The value is left out because it may contain a password.
        faults = [
            f"WEIGHBRIDGE_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}"
            if fault["loc"]
            else fault["msg"].removeprefix("Value error, ")
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise InvalidSettingError("; ".join(faults), "correct or unset the variable") from None


def masked(url: str) -> str:
    """Return a URL that is safe to display, with passwords in login and query replaced; never raises."""
    try:
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        for one in host.split(","):  # several for sentinels or a cluster
            _ = urlsplit(
                f"//{one}"
            ).port  # raises if an unescaped / ? or # in the password cuts the URL short
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
    # urlunsplit would drop the // of unix:///path.
    return f"{parts.scheme}://{netloc}{parts.path}{'?' if query else ''}{query}"


def _masked_roughly(url: str) -> str:
    """Mask everything between the scheme and the last @ of an invalid URL."""
    scheme, found, rest = url.partition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}://***@{host}" if found and at else "***"
