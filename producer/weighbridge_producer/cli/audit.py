"""The command that shows the audit log."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json, shown, table

if TYPE_CHECKING:
    from weighbridge.store.audit import Entry

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_AGO = re.compile(r"(\d{1,9})([smhd])")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(audit)


def _since(text: str | None) -> str | None:
    if text is not None:
        _seconds(text)
    return text


def audit(
    batch: Annotated[
        str | None,
        typer.Option(metavar="BATCH", help="Only entries about this batch.", callback=opt.utf8),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="P", help="Only entries of this project.", callback=opt.utf8),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only entries of this last period, such as 90m, 12h or 7d, or since this time (UTC), such as 2026-11-21T10:00.",
            callback=_since,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", min=1, help="The number of entries to show, newest first.")
    ] = 100,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show who submitted, resumed, cancelled, retried or deleted batches, made or revoked keys, or drained workers."""
    first = _seconds(since) if since else 0.0
    with opt.client(url) as client:
        entries = client.audit(batch=batch, project=project, since=first, most=most)
    if as_json:
        print_json([entry.as_dict() for entry in entries])
        return
    rows = table("when (UTC)", "who", "did", "project", "what")
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.at))
        rows.add_row(
            *(when, shown(_who(entry)), str(entry.action), shown(entry.project)),
            shown(_what(entry)),
        )
    out.print(rows)
    if not entries:
        err.print("no entry of the audit log matches")


def _who(entry: Entry) -> str:
    return f"{entry.actor.name} ({entry.actor.key_id})" if entry.actor.key_id else entry.actor.name


def _what(entry: Entry) -> str:
    details = " ".join(f"{name}={value}" for name, value in entry.details.items())
    return f"{entry.batch} {details}".strip()


def _seconds(text: str) -> float:
    """Parse an ISO 8601 time, or a duration before now, into seconds since the epoch."""
    if ago := _AGO.fullmatch(text):
        return time.time() - int(ago[1]) * _UNIT_SECONDS[ago[2]]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("write 90m, 12h, 7d, or a time as 2026-11-21T10:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
