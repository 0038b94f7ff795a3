"""The files of nginx and systemd in `deploy`: a real nginx passes uploads and events on, and the units' commands exist."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import time
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import trustme

from generators.commands import every_command
from support.cases import true_false_cases
from support.http import HttpServer
from support.servers import free_port
from support.uploads import NDJSON, lines_of
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@contextmanager
def nginx(folder: Path, service_port: int) -> Iterator[tuple[int, ssl.SSLContext]]:
    """Run nginx with the documented block in front of a service; yield its port, and what to trust."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        pytest.skip("there is no nginx")
    authority, port = trustme.CA(), free_port()
    issued = authority.issue_cert("localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(folder / "both.pem")
    block = (DEPLOY / "nginx.conf").read_text()
    for documented, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("server_name grades.example", "server_name localhost"),
        ("/etc/ssl/grades.example.pem", str(folder / "both.pem")),
        ("/etc/ssl/grades.example.key", str(folder / "both.pem")),
        ("http://127.0.0.1:8000", f"http://127.0.0.1:{service_port}"),
    ):
        assert block.count(documented) == 1, documented
        block = block.replace(documented, here)
    config = folder / "nginx.conf"
    paths = "".join(
        f"{name}_temp_path {folder};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{block}}}\n"
    )
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    process = subprocess.Popen([program, "-p", folder, "-c", config])
    try:

        def answers() -> bool:
            try:
                return httpx.get(f"https://localhost:{port}/healthz", verify=trusted).is_success
            except httpx.ConnectError:
                return False

        eventually(answers, 20)
        yield port, trusted
    finally:
        process.terminate()
        process.wait(20)


def test_nginx_passes_uploads_and_events_on_while_they_arrive(
    own_server: EmbeddedServer, tmp_path: Path
) -> None:
    with (
        HttpServer(
            own_server.url,
            keys_required=True,
            public_hosts="localhost",
            trusted_proxies="127.0.0.1",
            chunk_limit_jobs=100,
        ) as service,
        nginx(tmp_path, service.port) as (port, trusted),
        httpx.Client(
            base_url=f"https://localhost:{port}",
            verify=trusted,
            headers={"Authorization": f"Bearer {service.make_key('submit')}"},
            timeout=60,
        ) as http,
    ):
        client = service.service.client
        seen: list[bool] = []

        def slowly() -> Iterator[bytes]:
            yield lines_of(true_false_cases(500))
            eventually(lambda: any(state.lines for state in client.batches()), 30)
            seen.append(client.batches()[0].sealed)
            yield lines_of(true_false_cases(20_000, 500))

        answer = http.post("/api/batches", content=slowly(), headers=NDJSON)
        assert (answer.status_code, answer.json()["lines"]) == (201, 20_500)
        assert answer.json()["input_bytes"] > 2_000_000
        assert seen == [False], "jobs arrived before the upload ended"
        began = time.monotonic()
        with http.stream("GET", f"/api/batches/{answer.json()['batch_id']}/events") as events:
            assert "event: counts" in events.iter_lines()
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_a_command_that_exists_and_gives_it_time_to_stop(path: Path) -> None:
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(path)
    service = unit["Service"]
    program, *words = service["ExecStart"].split()
    folder = Path("/opt/weighbridge/bin")
    if words[:2] == ["-m", "weighbridge_worker"]:
        assert program == str(folder / "python")
        assert int(service["TimeoutStopSec"]) > 30
    else:
        assert program == str(folder / "weighbridge")
        command = dict(every_command())[f"weighbridge {words[0]}"]
        assert set(words[1:]) <= {option for each in command.params for option in each.opts}
    assert re.fullmatch(r"/etc/weighbridge\S*\.env", service["EnvironmentFile"])
