"""Commands about the API keys of `weighbridge serve`."""

from __future__ import annotations

import time
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json, shown, table
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from weighbridge.store.api_keys import ApiKey

_DAY_SECONDS = 24 * 3600


class _Role(StrEnum):
    READ = "read"
    SUBMIT = "submit"
    MANAGE = "manage"
    ADMIN = "admin"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
    group.command("make")(make)
    group.command("list")(list_keys)
    group.command("revoke")(revoke)
    app.add_typer(group, name="keys")


def make(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A name that identifies who or what uses the key.",
            callback=opt.utf8,
        ),
    ],
    role: Annotated[
        _Role,
        typer.Option(
            help="Within its project, read: view; submit: also submit, cancel, retry, try graders; manage: also delete, "
            "and read the audit log. admin: all of this in every project; drain workers, pause queues, make keys."
        ),
    ],
    project: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="The project that the key gives access to; for an admin key, the project that it submits to.",
            callback=opt.utf8,
        ),
    ] = "default",
    days: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="Days until the key expires (default: valid until revoked)."
        ),
    ] = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Create an API key and print it; it cannot be shown again, because only a digest is stored."""
    from weighbridge.store.api_keys import Role

    with opt.client(url) as client:
        lives_seconds = None if days is None else days * _DAY_SECONDS
        key, token = client.make_key(name, Role(role), lives_seconds, project=project)
    if as_json:
        print_json({**asdict(key), "key": token})
        return
    where = "in every project" if key.role is Role.ADMIN else f"in project {shown(key.project)}"
    err.print(
        f"key {key.id} ({shown(key.name)}) has the role {key.role} {where}, and is valid {_validity(key, key.created_at)}; it"
        " is shown only now:"
    )
    out.print(token)


def list_keys(url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """List the API keys, without their secrets."""
    with opt.client(url) as client:
        known = client.keys()
    if as_json:
        print_json([asdict(key) for key in known.keys])
        return
    rows = table("id", "name", "role", "project", "made", "valid")
    for key in known.keys:
        rows.add_row(
            *(shown(key.id), shown(key.name), str(key.role), shown(key.project)),
            *(_date(key.created_at), _validity(key, known.now)),
        )
    out.print(rows)


def revoke(
    key_id: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A key's id, as `keys list` shows it.", callback=opt.utf8
        ),
    ],
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Revoke an API key, effective immediately."""
    with opt.client(url) as client:
        revoked = client.revoke_key(key_id)
        if as_json:
            print_json({"id": key_id, "revoked": revoked})
        elif revoked:
            out.print(f"key {shown(key_id)} is revoked")
        if revoked:
            return
        named = [key.id for key in client.keys().keys if key.name == key_id]
    if len(named) == 1:
        err.print(f"{shown(key_id)} is a name; run: weighbridge keys revoke {named[0]}")
    elif named:
        err.print(
            f"{shown(key_id)} is the name of {len(named)} keys; give the id of one: {', '.join(named)}"
        )
    else:
        err.print(f"there is no key {shown(key_id)}; `weighbridge keys list` shows all")
    raise typer.Exit(ERROR)


def _validity(key: ApiKey, now: float) -> str:
    if key.expires_at is None:
        return "until revoked"
    return f"{'expired' if key.has_expired(now) else 'until'} {_date(key.expires_at)}"


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
