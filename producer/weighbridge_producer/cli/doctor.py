"""The command that checks a server, its workers and its work."""

from __future__ import annotations

from dataclasses import asdict

import typer

from weighbridge.settings import masked, read_settings
from weighbridge.text import pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import out, print_json, shown
from weighbridge_producer.client.address import address_of
from weighbridge_producer.doctor import examine_at
from weighbridge_producer.gating.gates import ERROR


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """Report problems of Redis, the workers and the batches, and what to do about each.

    Exit status: 0 when there is no problem (there may be warnings), 1 when there is one.
    """
    settings = read_settings()
    address = address_of(url, settings)
    findings = examine_at(address, settings)
    problems = [finding for finding in findings if finding.severity == "problem"]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in (*problems, *(found for found in findings if found not in problems)):
            out.print(f"{finding.severity}: {finding.subject}: {shown(finding.what, 400)}")
            out.print(f"  {shown(finding.advice, 400)}")
        warnings = len(findings) - len(problems)
        out.print(
            f"{shown(masked(address))}: {pluralize(len(problems), 'problem')}, {pluralize(warnings, 'warning')}"
        )
    if problems:
        raise typer.Exit(ERROR)
