"""URLs of one Redis server, of sentinels and of a cluster's nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from redis.connection import SSLConnection, parse_url

from weighbridge.errors import InvalidUrlError
from weighbridge.settings import masked

Host = tuple[str, int]

_GROUP = re.compile(
    r"(?P<scheme>rediss?)\+(?P<kind>sentinel|cluster)://(?:(?P<login>[^/?#]*)@)?(?P<hosts>[^@/?#]+)"
    r"(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:,\[\]\s]+)(?::(?P<port>\d{1,5}))?")
_SCHEMES = ("redis", "rediss", "unix")  #: of one server
_PORTS = {"sentinel": 26379, "cluster": 6379}
_SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password")


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """Addresses of sentinels, or of nodes of a cluster."""

    kind: Literal["sentinel", "cluster"]
    hosts: tuple[Host, ...]
    service: str  #: the sentinels' name of the primary; empty for a cluster
    #: URL of the first host as if it were a single server, with login, database and options.
    server_url: str = field(repr=False)
    sentinel_login: dict[str, str] = field(repr=False)  #: `username` and `password`, if given

    def connection_options(self) -> dict[str, Any]:
        """Return redis-py's connection options without host and port; TLS becomes `ssl`. Raises ValueError."""
        options = dict(parse_url(self.server_url))  # type: ignore[no-untyped-call]
        options.pop("host", None)
        options.pop("port", None)
        if options.pop("connection_class", None) is SSLConnection:
            options["ssl"] = True
        return options


def parse_group(url: str) -> ServerGroup | None:
    """Parse the URL of several servers; return None for the URL of one server. Raises InvalidUrlError.

    `redis+sentinel://user:password@host:26379,host2/<service>/<db>?sentinel_password=...` and
    `redis+cluster://user:password@host:6379,host2:6379`; `rediss+` for TLS.
    """
    scheme = url.partition("://")[0].lower()
    if not scheme.endswith(("+sentinel", "+cluster")):
        return None
    found = _GROUP.fullmatch(url)
    if not found:
        raise invalid_url(url)
    kind: Literal["sentinel", "cluster"] = (
        "sentinel" if found["kind"].lower() == "sentinel" else "cluster"
    )
    service, database = _path(url, kind, found["path"] or "")
    options = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    login = {
        name.removeprefix("sentinel_"): options.pop(name)
        for name in _SENTINEL_OPTIONS
        if name in options
    }
    hosts = tuple(_host(url, host, _PORTS[kind]) for host in found["hosts"].split(","))
    return ServerGroup(kind, hosts, service, _server_url(found, hosts[0], database, options), login)


def _server_url(found: re.Match[str], host: Host, database: int, options: dict[str, str]) -> str:
    login = f"{found['login']}@" if found["login"] is not None else ""
    name = f"[{host[0]}]" if ":" in host[0] else host[0]
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return f"{found['scheme'].lower()}://{login}{name}:{host[1]}/{database}{query}"


def _path(url: str, kind: str, path: str) -> tuple[str, int]:
    """Return the service's name and the database."""
    parts = [unquote(part) for part in path.split("/")[1:]]
    if kind == "cluster":
        if "".join(parts) not in ("", "0"):
            raise InvalidUrlError(
                f"a Redis Cluster has no databases: {masked(url)!r}", "leave out the path"
            )
        return "", 0
    match parts:
        case [service, *rest] if service and len(rest) < 2:
            database = "".join(rest) or "0"
            if database.isdecimal():
                return service, int(database)
    raise InvalidUrlError(
        f"not the address of sentinels: {masked(url)!r}",
        "write redis+sentinel://host:26379,host2:26379/<name of the service>/<database>",
    )


def _host(url: str, written: str, port: int) -> Host:
    found = _HOST.fullmatch(written.strip())
    if not found or int(found["port"] or port) > 65_535:
        raise invalid_url(url)
    return found["host"].strip("[]"), int(found["port"] or port)


def one_server(url: str) -> str:
    """Return the URL of one server unchanged; for several servers, the URL of the first with TLS and login."""
    group = parse_group(url)
    return group.server_url if group else url


def checked_url(url: str) -> str:
    """Return the URL if it is a valid Redis URL; raise InvalidUrlError otherwise."""
    try:
        url.encode()  # raises if an environment variable was not UTF-8
        parts = urlsplit(one_server(url))
        _ = parts.port  # raises if an unescaped / ? or # in the password cuts the URL short
    except ValueError:
        raise invalid_url(url) from None
    if parts.scheme not in _SCHEMES:
        raise invalid_url(url)
    return url


def invalid_url(url: str) -> InvalidUrlError:
    """Return the error for an invalid URL, without the parser's reason, which may quote a password."""
    return InvalidUrlError(
        f"not a Redis URL: {masked(url)!r}",
        "write redis://[[user]:password@]host[:port][/db], rediss:// for TLS, unix:///path/to.sock?db=0,"
        " redis+sentinel://host:26379,host2:26379/<service>/<db> or redis+cluster://host:6379,host2:6379;"
        " in a password write / ? # and @ as %2F %3F %23 and %40",
    )
