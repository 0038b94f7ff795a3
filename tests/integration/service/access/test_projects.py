"""Projects: a key opens its own project's batches and cannot even tell whether another's exist."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from support.http import HttpServer
from support.uploads import NDJSON, HalfUpload, problem
from support.waiting import eventually
from weighbridge.store import new_batch_id
from weighbridge_producer import Client, pages
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

http = httpx.Client(verify=False, timeout=60, limits=httpx.Limits(max_keepalive_connections=0))
LINES = b'{"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "y"}}\n'
SUBMIT = "/api/batches?grader=string-match"
HTML = {"Accept": "text/html"}
ALPHA, BETA = "alpha", "beta"


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, rate_limit_per_minute=0) as service:
        yield service


@pytest.fixture(scope="module")
def keys(guarded: HttpServer) -> dict[str, dict[str, str]]:
    """Keys by role: of alpha and of beta under the project's name and role, and an admin's."""
    made = {
        f"{project} {role}": guarded.make_key(role, f"{project}-{role}", project)
        for project in (ALPHA, BETA)
        for role in ("read", "submit", "manage")
    }
    made["admin"] = guarded.make_key("admin", "boss")
    return {name: bearer(token) for name, token in made.items()}


@pytest.fixture(scope="module")
def alphas(guarded: HttpServer, keys: dict[str, dict[str, str]], worker: WorkerProcess) -> str:
    """A graded batch of alpha."""
    batch = submitted(guarded, keys["alpha submit"])
    status = f"{guarded.url}/api/batches/{batch}"
    eventually(
        lambda: http.get(status, headers=keys["alpha read"]).json()["status"] == "completed", 60
    )
    return batch


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def submitted(guarded: HttpServer, key: dict[str, str], query: str = "") -> str:
    answer = http.post(guarded.url + SUBMIT + query, content=LINES, headers=NDJSON | key)
    assert answer.status_code == 201, answer.text
    return answer.json()["batch_id"]


def routes_of_a_batch(guarded: HttpServer) -> list[tuple[str, str]]:
    """Every method and address of the API and the page that names a batch."""
    routers = [*guarded.app.state.api_routers, pages.router]
    return sorted(
        (method, route.path)
        for router in routers
        for route in routes_in(router)
        for method in route.methods or ()
        if "{batch_id}" in route.path
    )


def routes_in(router: object) -> list:
    found = []
    for route in router.routes:
        nested = getattr(route, "original_router", None) or getattr(route, "router", None)
        found += routes_in(nested) if nested else [route]
    return [route for route in found if hasattr(route, "methods")]


def asked(guarded: HttpServer, method: str, path: str, batch: str, key: dict[str, str]):
    address = path.replace("{batch_id}", batch).replace("{custom_id:path}", "a")
    address = address.replace("{act}", "delete")
    params = {"custom_id": "a", "step": "1"} if path.startswith("/batches/") else {}
    if path.endswith("/slices"):
        params = {"by": "metadata.topic"}
    answer = http.request(
        method,
        guarded.url + address,
        params=params,
        headers=key | ({} if path.startswith("/api") else HTML),
        timeout=60,
    )
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, answer.text.replace(batch, "BATCH"), headers


def test_every_route_answers_another_projects_batch_as_one_that_does_not_exist(
    guarded: HttpServer, keys: dict[str, dict[str, str]], alphas: str
) -> None:
    routes = routes_of_a_batch(guarded)
    assert len(routes) >= 18, routes
    missing = new_batch_id(int(time.time()), 100_000)
    for method, path in routes:
        theirs = asked(guarded, method, path, alphas, keys["beta manage"])
        nobodys = asked(guarded, method, path, missing, keys["beta manage"])
        assert theirs == nobodys, (method, path)
        assert theirs[0] == 404, (method, path, theirs)
    state = http.get(f"{guarded.url}/api/batches/{alphas}", headers=keys["alpha read"])
    assert state.json()["counts"]["failed"] == 1


def test_every_route_that_only_reads_answers_the_projects_own_readers(
    guarded: HttpServer, keys: dict[str, dict[str, str]], alphas: str
) -> None:
    for method, path in routes_of_a_batch(guarded):
        if method == "GET" and "step" not in path:
            status, text, _ = asked(guarded, method, path, alphas, keys["alpha read"])
            assert status == 200, (path, text)


def test_a_batch_that_is_deleted_or_was_never_there_is_the_same_to_another_project(
    guarded: HttpServer, keys: dict[str, dict[str, str]]
) -> None:
    batch = submitted(guarded, keys["alpha submit"])
    address = f"{guarded.url}/api/batches/"
    assert http.delete(address + batch, headers=keys["alpha manage"]).status_code == 204
    deleted = http.get(address + batch, headers=keys["beta read"])
    malformed = http.get(f"{address}no-such-batch", headers=keys["beta read"])
    assert deleted.status_code == malformed.status_code == 404
    assert deleted.text.replace(batch, "X") == malformed.text.replace("no-such-batch", "X")


@pytest.mark.parametrize("role", ["read", "submit", "manage"])
def test_lists_pages_and_metrics_hold_only_the_projects_own(
    guarded: HttpServer, keys: dict[str, dict[str, str]], alphas: str, role: str
) -> None:
    key = keys[f"beta {role}"]
    betas = submitted(guarded, keys["beta submit"])
    listed = http.get(f"{guarded.url}/api/batches?limit=200", headers=key).json()["batches"]
    assert betas in {each["batch_id"] for each in listed}
    assert {each["project"] for each in listed} == {BETA}
    for path in ("/", "/workers", "/metrics", "/api/health"):
        answer = http.get(guarded.url + path, headers=key | HTML)
        assert answer.status_code == 200
        assert alphas not in answer.text
        assert ALPHA not in answer.text


def test_metrics_count_the_jobs_of_the_keys_project(
    guarded: HttpServer, keys: dict[str, dict[str, str]]
) -> None:
    with HalfUpload(guarded.port, query="?grader=string-match", **keys["alpha submit"]) as upload:
        upload.send(LINES * 3 + b"\n" * 300_000)

        def active(name: str) -> float:
            told = http.get(f"{guarded.url}/metrics", headers=keys[name]).text
            [number] = re.findall(r"^weighbridge_batches_active (\S+)", told, re.MULTILINE)
            return float(number)

        eventually(lambda: active("alpha read") >= 1, 30, "the open batch")
        # Batches of earlier tests may end between two questions.
        eventually(lambda: active("admin") >= active("alpha read"), 10, "the batches of all")
        eventually(lambda: active("beta read") < active("admin"), 10, "the batches of others")
    told = http.get(f"{guarded.url}/metrics", headers=keys["beta read"]).text
    assert "weighbridge_http_requests" not in told


def test_an_admin_sees_every_project_and_may_choose_one(
    guarded: HttpServer, keys: dict[str, dict[str, str]], alphas: str
) -> None:
    betas = submitted(guarded, keys["admin"], "&project=beta")
    address = f"{guarded.url}/api/batches"
    everything = http.get(f"{address}?limit=200", headers=keys["admin"]).json()["batches"]
    assert {alphas, betas} <= {each["batch_id"] for each in everything}
    of_beta = http.get(f"{address}?limit=200&project=beta", headers=keys["admin"]).json()
    assert {each["project"] for each in of_beta["batches"]} == {BETA}
    assert http.get(f"{address}/{betas}", headers=keys["beta read"]).status_code == 200
    assert http.get(f"{address}/{betas}", headers=keys["alpha manage"]).status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_other_key_names_another_project(
    guarded: HttpServer, keys: dict[str, dict[str, str]], method: str
) -> None:
    for project in (ALPHA, "no-such-project"):
        answer = http.request(
            method,
            f"{guarded.url}/api/batches?project={project}",
            content=LINES if method == "POST" else None,
            headers=NDJSON | keys["beta manage"],
        )
        assert problem(answer) == (403, "OTHER_PROJECT")


def test_a_batch_says_whose_it_is_and_who_submitted_it(
    guarded: HttpServer, keys: dict[str, dict[str, str]], alphas: str
) -> None:
    options = http.get(f"{guarded.url}/api/batches/{alphas}", headers=keys["alpha read"]).json()[
        "options"
    ]
    assert options["project"] == ALPHA
    assert options["submitted_by"] == "alpha-submit"
    page = http.get(f"{guarded.url}/batches/{alphas}", headers=keys["alpha read"] | HTML).text
    assert "alpha-submit" in page


def test_deleting_needs_a_manage_key(guarded: HttpServer, keys: dict[str, dict[str, str]]) -> None:
    batch = submitted(guarded, keys["alpha submit"])
    address = f"{guarded.url}/api/batches/{batch}"
    assert problem(http.delete(address, headers=keys["alpha submit"])) == (403, "ROLE_TOO_LOW")
    assert http.delete(address, headers=keys["alpha manage"]).status_code == 204


# --- Going on with a batch ----------------------------------------------------------------------------


@pytest.fixture
def begun(guarded: HttpServer, keys: dict[str, dict[str, str]]) -> str:
    """A batch that one submit key of alpha began and did not finish."""
    idempotent = {"Idempotency_Key": f"k{time.monotonic_ns()}"}
    named = keys["alpha submit"] | idempotent
    before = set(guarded.service.client.store.batches())
    with HalfUpload(guarded.port, query="?grader=string-match", **named) as upload:
        upload.send(LINES)
        found = eventually(lambda: set(guarded.service.client.store.batches()) - before)
    [batch] = found
    return batch


def resume(guarded: HttpServer, key: dict[str, str], batch: str) -> httpx.Response:
    more = LINES + LINES.replace(b'"a"', b'"b"')
    query = f"{SUBMIT}&resume={batch}"
    return http.post(guarded.url + query, content=more, headers=NDJSON | key, timeout=60)


def test_another_key_cannot_take_over_an_open_batch(
    guarded: HttpServer, keys: dict[str, dict[str, str]], begun: str
) -> None:
    other = bearer(guarded.make_key("submit", "alpha-submit", ALPHA))  # even of the same name
    assert problem(resume(guarded, other, begun)) == (403, "BATCH_OF_ANOTHER_KEY")
    assert not guarded.service.client.batch(begun).status().sealed
    missing = new_batch_id(int(time.time()), 100_000)
    theirs, nobodys = (resume(guarded, keys["beta manage"], batch) for batch in (begun, missing))
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.text.replace(begun, "X") == nobodys.text.replace(missing, "X")


@pytest.mark.parametrize("who", ["alpha submit", "alpha manage", "admin"])
def test_the_key_that_opened_a_batch_and_those_that_manage_it_go_on_with_it(
    guarded: HttpServer, keys: dict[str, dict[str, str]], begun: str, who: str
) -> None:
    answer = resume(guarded, keys[who], begun)
    assert answer.status_code == 201, answer.text
    assert answer.json()["batch_id"] == begun
    assert answer.json()["counts"]["total"] == 2
    shown = http.get(f"{guarded.url}/api/batches/{begun}", headers=keys["alpha read"]).json()
    # Nothing had arrived, so a request by the batch's opener is not recorded as a resumption.
    more = [] if who == "alpha submit" else ["resume"]
    assert [entry["action"] for entry in shown["history"]] == ["submit", *more]


def test_an_idempotency_key_leads_each_caller_to_a_batch_of_their_own(
    guarded: HttpServer, keys: dict[str, dict[str, str]]
) -> None:
    named = {"Idempotency-Key": f"shared-{time.monotonic_ns()}"}
    one, other = (submitted(guarded, keys[who] | named) for who in ("alpha submit", "beta submit"))
    assert one != other


def test_the_python_client_names_a_project(
    guarded: HttpServer, keys: dict[str, dict[str, str]], server: EmbeddedServer
) -> None:
    with RedisClient(server.url) as direct:
        batch = direct.submit([LINES], graders=["string-match"], project=ALPHA)
        assert batch.options().project == ALPHA
        assert batch.id in {state.batch_id for state in direct.batches(project=ALPHA)}
        assert batch.id not in {state.batch_id for state in direct.batches(project=BETA)}
    token = keys["admin"]["Authorization"].removeprefix("Bearer ")
    with Client(guarded.url, key=token) as client:
        batch = client.submit([LINES], graders=["string-match"], project=BETA)
        assert client.batch(batch.id).options().project == BETA
        assert batch.id in {state.batch_id for state in client.batches(project=BETA)}


def test_without_keys_there_is_one_project_and_everything_is_visible(
    server: EmbeddedServer, guarded: HttpServer, alphas: str
) -> None:
    with HttpServer(server.url) as service:
        batch = submitted(service, {})
        options = http.get(f"{service.url}/api/batches/{batch}").json()["options"]
        assert (options["project"], options["submitted_by"]) == ("default", "local")
        assert http.get(f"{service.url}/api/batches/{alphas}").status_code == 200
