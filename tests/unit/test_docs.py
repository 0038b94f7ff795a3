"""The documentation of settings, keys, scripts, commands, errors and files is correct."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from generators import INSERTED, PARTS, fill, names_of_parts, renewed
from generators.commands import every_command
from generators.http_api import document
from generators.site_links import dead_links
from support.result_lines import graded
from weighbridge.errors import LineError, WeighbridgeError
from weighbridge.graders import Registry
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.settings import GIB, MIB, Settings
from weighbridge.store import Store, key_names
from weighbridge.store.health import Health
from weighbridge.traces import FORMATS
from weighbridge.traces.importer import Importer
from weighbridge_producer.service.api.comparisons import RESULTS_LIMIT
from weighbridge_producer.service.metrics import RequestMetrics
from weighbridge_worker.child import child
from weighbridge_worker.parent import liveness, supervisor, sweeper

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
)
ARCHITECTURE = "docs/explanation/architecture.md"
PROTOCOL = "docs/explanation/protocol.md"
THREATS = "docs/explanation/threat-model.md"
DEPLOYMENT = "docs/how-to/deployment.md"
HTTP = "docs/how-to/http.md"
CASES = "docs/reference/case-format.md"
#: Folders that a path on these pages may be relative to; only one of them has the file.
PATHS_BEGIN_IN = [
    ROOT,
    *(ROOT / name for name in ("core/weighbridge", "worker/weighbridge_worker")),
    ROOT / "producer/weighbridge_producer",
]
#: Internal variables: between a process and its worker, between a shell's script and the command, and in a CI service.
INTERNAL = {"WEIGHBRIDGE_LIFELINE_FD", "WEIGHBRIDGE_COMPLETE", "WEIGHBRIDGE_PACKAGE"}


@cache
def read(page: str) -> str:
    """Return a page with its generated parts."""
    return fill((ROOT / page).read_text(encoding="utf-8"))


@cache
def rows(page: str) -> dict[str, str]:
    """Return, for each table row, the first cell without backticks, and the other cells unchanged."""
    return {
        cells[1].strip().strip("`"): "|".join(cells[2:]).strip()
        for line in read(page).splitlines()
        if line.startswith("| `")
        for cells in [line.split("|")]
    }


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_every_generated_part_has_a_page() -> None:
    used = {name for page in PAGES for name in names_of_parts((ROOT / page).read_text("utf-8"))}
    assert used == set(PARTS)


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_a_page_are_those_of_the_code(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert renewed(text) == text, "`make reference` renews it"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_settings_page_has_every_setting_with_its_default_and_a_description(name: str) -> None:
    default = Settings.model_fields[name].default
    told = rows("docs/reference/settings.md")[f"WEIGHBRIDGE_{name.upper()}"]
    shown, _, description = told.partition(" | ")
    assert shown.startswith("none" if default is None else f"`{default}`")
    assert len(description) > 20


def test_the_settings_page_has_every_variable_that_the_code_names() -> None:
    named = {
        name
        for folder in ("core", "worker", "producer")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"WEIGHBRIDGE_[A-Z_]*[A-Z]", path.read_text())
    }
    assert named - INTERNAL <= set(rows("docs/reference/settings.md"))


def test_the_protocol_names_every_key_and_every_script() -> None:
    text = read(PROTOCOL)
    scripts = {path.stem for path in (ROOT / "core/weighbridge/store/scripts").glob("*.lua")}
    assert "record" in scripts
    named = sorted({*key_names.KEYS, *scripts} - {"prelude"})
    assert [name for name in named if f"`{name}`" not in text] == []


def fields_in_the_protocol(key: str) -> list[list[str]]:
    """Return the rows of the table of a key's fields, each with its cells."""
    section = read(PROTOCOL).partition(f"### Fields of `{key}`")[2].partition("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("key", ["meta", "chunks"])
def test_the_writers_and_readers_of_each_field_in_the_protocol_exist(key: str) -> None:
    folder = ROOT / "core/weighbridge/store/scripts"
    scripts = {path.stem: path.read_text() for path in folder.glob("*.lua")}
    prelude = scripts.pop("prelude")
    scripts = {name: prelude + script for name, script in scripts.items()}
    scripts |= dict.fromkeys(("finish", "make_ready"), prelude)
    found = fields_in_the_protocol(key)
    assert len(found) >= 10
    for fields, _, writers, readers in found:
        names = set(re.findall(r"`([^`]+)`", fields))
        using = set(re.findall(r"`([^`]+)`", f"{writers} {readers}")) - (names - set(scripts))
        assert {name for name in using - set(scripts) if not hasattr(Store, name)} == set()
        # The names of counts come from the tally.
        plain = {name for name in names if re.fullmatch(r"[a-z_]+", name)} - set(Outcome)
        for name in using & set(scripts):
            method = inspect.getsource(getattr(Store, name)) if hasattr(Store, name) else ""
            assert [field for field in plain if field not in scripts[name] + method] == [], name


#: What the page of the protocol says, with the value that the code has for it.
NUMBERS_OF_THE_PROTOCOL = {
    "the worker that sweeps, a lease of {:g} s": sweeper._LEAD_SECONDS,
    "One worker sweeps at a time, every {:g} s": Settings().sweep_seconds,
    "at most {:g} in one sweep": sweeper.BATCHES_AT_ONCE,
    "active ones within {:g} minutes": sweeper._AUDIT_SECONDS / 60,
    "a pause of {:g} s that doubles": sweeper._SUSPECT_PAUSE_SECONDS,
    "each time up to {:g} s": sweeper._SUSPECT_PAUSE_SECONDS * 2**sweeper._SUSPECT_PAUSES,
    "if none comes from it for another {:g} s": liveness._SURE_SECONDS,
    "under a fresh token for {:g} s": Settings().lease_seconds,
    "(`renew`) every {:.1f} s": Settings().lease_seconds / supervisor._RENEWALS_IN_LEASE,
    "s, for at most {:g} s": Settings().chunk_hard_limit_seconds,
    "After {:g} s of grading": Settings().chunk_budget_seconds,
    "over its deadline of {:g} s": Settings().job_deadline_seconds,
    "its heartbeat (every {:g} s": Settings().heartbeat_seconds,
    ", valid for {:g} s)": Settings().heartbeat_ttl_seconds,
    "was within the last {:g} s": Settings().capability_timeout_seconds,
    "messages wait for {:g} s": supervisor._DEAF_SECONDS,
    "still runs after {:g} s is killed": supervisor._END_GRACE_SECONDS,
    "At {:g} failures of one kind": Settings().observed_deaths_limit,
    "sends the message on after {:g} ms": 1000 * child._HOP_SECONDS,
    "ms, at most {:g} times": child._HOPS,
}


@pytest.mark.parametrize("phrase", NUMBERS_OF_THE_PROTOCOL)
def test_the_protocol_states_the_numbers_of_the_code(phrase: str) -> None:
    text = " ".join(read(PROTOCOL).split())
    assert phrase.format(NUMBERS_OF_THE_PROTOCOL[phrase]) in text


DEFAULTS = Settings()
#: What pages other than that of settings say of their defaults.
DEFAULTS_ON_PAGES = {
    (PROTOCOL, "its expiry ({:g} hours)"): DEFAULTS.batch_expiry_seconds / 3600,
    (PROTOCOL, "its time to live ({:g} days)"): DEFAULTS.result_ttl_seconds / 86_400,
    (PROTOCOL, "the producer pauses from {:g} %"): 100 * DEFAULTS.memory_high_water,
    (PROTOCOL, "write is repeated for {:g} minutes"): DEFAULTS.full_server_timeout_seconds / 60,
    (PROTOCOL, "a job takes over {:g} MiB"): DEFAULTS.child_memory_limit_bytes / MIB,
    (PROTOCOL, "64 at most, have {:g} s together"): DEFAULTS.chunk_soft_limit_seconds / 2,
    (THREATS, "{:g} requests per minute"): DEFAULTS.rate_limit_per_minute,
    (THREATS, "Lines are bounded by {:g} MiB"): DEFAULTS.line_limit_bytes / MIB,
    (THREATS, "a batch by {:,} lines"): DEFAULTS.batch_limit_lines,
    (THREATS, "lines and {:g} GiB"): DEFAULTS.batch_limit_bytes / GIB,
    (THREATS, "a job is limited to {:g} s"): DEFAULTS.job_deadline_seconds,
    (THREATS, "the graders of a line to {:g} s"): DEFAULTS.chunk_soft_limit_seconds / 2,
    (THREATS, "a child to {:g} MiB"): DEFAULTS.child_memory_limit_bytes / MIB,
    (DEPLOYMENT, "A job may take {:g} MiB"): DEFAULTS.child_memory_limit_bytes / MIB,
    (DEPLOYMENT, "After {:g} hours (`W"): DEFAULTS.batch_expiry_seconds / 3600,
    (DEPLOYMENT, "{:g} days later (`W"): DEFAULTS.result_ttl_seconds / 86_400,
    (HTTP, "over {:g} GiB; refused"): DEFAULTS.upload_limit_bytes / GIB,
    (HTTP, "sent nothing for {:g} s"): DEFAULTS.upload_silence_seconds,
    (HTTP, "already has {:g} uploads"): DEFAULTS.uploads_at_once,
    (CASES, "| one line | {:g} MiB |"): DEFAULTS.line_limit_bytes / MIB,
    (CASES, "| one batch | {:,} lines"): DEFAULTS.batch_limit_lines,
    (CASES, "lines, {:g} GiB decompressed"): DEFAULTS.batch_limit_bytes / GIB,
    (CASES, "expands {:g}-fold"): DEFAULTS.expansion_limit,
}


@pytest.mark.parametrize(("page", "phrase"), DEFAULTS_ON_PAGES)
def test_pages_state_the_defaults_of_settings(page: str, phrase: str) -> None:
    assert phrase.format(DEFAULTS_ON_PAGES[page, phrase]) in " ".join(read(page).split())


def test_the_diagram_of_the_protocol_is_in_line() -> None:
    diagram = read(PROTOCOL).split("```")[1]
    posts = {match.start() for match in re.finditer("│", diagram.splitlines()[2])}
    assert len(posts) == 4
    for line in diagram.splitlines():
        assert {at for at, mark in enumerate(line) if mark in "│├┤"} <= posts, line


def test_the_page_of_commands_has_every_command_with_every_option() -> None:
    text = read("docs/reference/commands.md")
    found = list(every_command())
    assert {"weighbridge run", "weighbridge keys make", "weighbridge graders"} <= {
        path for path, _ in found
    }
    for path, command in found:
        section = text.partition(f"\n## {path.removeprefix('weighbridge ')}\n")[2]
        section = section.partition("\n## ")[0]
        assert path in section
        names = [name for p in command.params if p.name != "help" for name in p.opts]
        assert [name for name in names if name.startswith("-") and f"`{name}`" not in section] == []


def test_the_page_of_errors_explains_every_code() -> None:
    of_jobs, others = read("docs/reference/errors.md").split("\n## ")[1:3]
    for code in ErrorCode:
        assert re.search(
            rf"^\| `{code}` \| [^|]+\. \| [^|]+\. \| (yes|no) \|$", of_jobs, re.MULTILINE
        )
    for kind in subclasses(WeighbridgeError):
        assert (f"| `{kind.code}` | `{kind.__name__}` |" in others) is (kind is not LineError)


def subclasses(base: type[WeighbridgeError]) -> list[type[WeighbridgeError]]:
    found = [kind for kind in base.__subclasses__() if kind.__module__ == "weighbridge.errors"]
    return [each for kind in found for each in (kind, *subclasses(kind))]


def test_the_problems_of_http_are_those_that_the_guide_and_the_pages_name() -> None:
    text = read("docs/reference/errors.md").partition("## Problems of HTTP")[2]
    for code in ("IDEMPOTENCY_KEY_REUSED", "UPLOAD_TOO_LARGE", "PROJECT_FULL", "WRONG_HOST"):
        assert f"`{code}`" in text


def test_the_problems_of_http_include_those_of_unknown_addresses_and_methods() -> None:
    problems = rows("docs/reference/errors.md")
    assert problems["NOT_FOUND"].startswith("404 | there is nothing at this address")
    assert problems["METHOD_NOT_ALLOWED"].startswith("405 |")


def test_numbers_in_the_problems_of_http_are_written_as_the_service_writes_them() -> None:
    problems = rows("docs/reference/errors.md")
    assert "within 60 s" in problems["BODY_TOO_SLOW"]
    assert f"at most {RESULTS_LIMIT:,} results" in problems["COMPARISON_TOO_LARGE"]


def test_every_type_field_parameter_and_response_of_the_api_has_a_description() -> None:
    schemas = document()["components"]["schemas"]
    operations = [
        (f"{method} {path}", operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    described = [
        *schemas.items(),
        *(
            (f"{name}.{field}", of_field)
            for name, schema in schemas.items()
            for field, of_field in schema.get("properties", {}).items()
        ),
        *(
            (f"{of}: {given['name']}", given if "description" in given else given["schema"])
            for of, operation in operations
            for given in operation.get("parameters", ())
        ),
        *(
            (f"{of}: {status}", answer)
            for of, operation in operations
            for status, answer in operation["responses"].items()
        ),
    ]
    unclear = {None, "", "Successful Response"}
    assert [name for name, part in described if part.get("description") in unclear] == []


def test_types_of_the_api_are_named_by_what_they_are() -> None:
    assert [name for name in document()["components"]["schemas"] if name.endswith("Shape")] == []


def test_the_page_of_deployment_lists_every_metric() -> None:
    text = (ROOT / "docs/how-to/deployment.md").read_text("utf-8")
    health = Health(
        0,
        workers=[],
        stuck=[],
        dead_letters=[],
        active_batches=0,
        paused_batches=[],
        paused_queues=[],
    )
    metrics = RequestMetrics()
    metrics.count({"type": "http", "method": "GET"}, 200, 0.1)
    told = re.findall(r"^# TYPE (\w+)", metrics.text(health, []).decode(), re.MULTILINE)
    assert len(told) > 8
    missing = [name for name in told if not name.endswith("_created") and f"`{name}`" not in text]
    assert missing == []


@pytest.mark.parametrize("grader_id", Registry().ids())
def test_the_page_of_a_grader_has_its_configuration(grader_id: str) -> None:
    page = (ROOT / f"docs/reference/graders/{grader_id}.md").read_text("utf-8")
    assert f"<!-- generated: grader-config {grader_id} -->" in page


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.id)
def test_the_page_of_trace_formats_has_each_with_the_fields_that_it_carries(
    known: Importer,
) -> None:
    text = read("docs/reference/trace-formats.md")
    section = text.partition(f"\n## {known.name}\n")[2].partition("\n## ")[0]
    fields = [f"| `{ours}` | {theirs} |" for ours, theirs in known.fields]
    assert [line for line in section.splitlines() if line.startswith("| `")] == fields
    assert known.lacks in section


@pytest.mark.parametrize("package", ["weighbridge", "weighbridge_worker", "weighbridge_producer"])
def test_the_page_of_the_architecture_has_the_rooms_in_the_order_of_the_import_rules(
    package: str,
) -> None:
    section = re.search(
        rf"^### [^\n]*/{package}`\n(.*?)^##", read(ARCHITECTURE), re.MULTILINE | re.DOTALL
    )
    assert section
    told = re.findall(r"^\| (\d+) \| `(\w+)` \| \S", section[1], re.MULTILINE)
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [layers] = [
        rule["layers"] for rule in rules["contracts"] if rule.get("containers") == [package]
    ]
    rows = [(number, room) for number, row in enumerate(layers, 1) for room in row.split(" | ")]
    assert sorted((int(number), room) for number, room in told) == sorted(rows)


@pytest.mark.parametrize(("page", "least"), [(ARCHITECTURE, 60), (PROTOCOL, 20)])
def test_every_file_and_name_on_the_page_is_in_the_code(page: str, least: int) -> None:
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`([\w./-]+\.(?:py|lua|html|md|toml))(?::([\w.]+))?`", text)
    assert len(named) > least
    missing = []
    for path, name in named:
        files = [root / path for root in PATHS_BEGIN_IN if (root / path).is_file()]
        if len(files) != 1 or (name and not defines(files[0], name)):
            missing.append(f"{path}:{name}")
    assert missing == []


def defines(file: Path, name: str) -> bool:
    """Whether a module has a function, a class, a method or a constant of that name."""
    body = ast.parse(file.read_text()).body
    for part in name.split("."):
        found = [node for node in body if part in names_of(node)]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return True


def names_of(node: ast.stmt) -> list[str]:
    targets = [
        *getattr(node, "targets", []),
        *([node.target] if isinstance(node, ast.AnnAssign) else []),
    ]
    return [getattr(each, "id", getattr(each, "name", "")) for each in [node, *targets]]


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_table_on_the_page_has_as_many_cells_as_its_header(page: str) -> None:
    uneven = []
    header = 0
    for row in (ROOT / page).read_text("utf-8").splitlines():
        cells = len(re.findall(r"(?<!\\)\|", row)) - 1 if row.startswith("|") else 0
        header = header if header and cells else cells
        if cells != header:
            uneven.append(row)
    assert not uneven


@pytest.mark.parametrize("page", PAGES)
def test_every_link_on_the_page_leads_somewhere(page: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text("utf-8")):
        if re.match(r"[a-z]+:", target) or target.endswith("changelog.md"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_every_page_that_a_message_names_can_be_opened() -> None:
    named = {
        target
        for folder in ("core", "worker", "producer")
        for path in (ROOT / folder).rglob("*.py")
        for target in re.findall(r"docs/[\w/-]+\.md(?:#[\w-]+)?", path.read_text(encoding="utf-8"))
    }
    assert "docs/how-to/grade-your-own-fields.md#answers-in-json" in named
    pages = {target: target.partition("#") for target in named}
    assert not [
        target
        for target, (page, _, anchor) in pages.items()
        if not (ROOT / page).is_file() or (anchor and anchor not in anchors(ROOT / page))
    ]


def anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", fill(file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


#: Scripts that pages write and run: the page and the source.
SCRIPTS = [
    (page, re.sub(r"^> ?", "", source, flags=re.MULTILINE))
    for page in PAGES
    for source in re.findall(
        r"^\$ cat > \w+\.py <<'END'\n((?:>.*\n)*?)> END$", (ROOT / page).read_text(), re.MULTILINE
    )
]
OF_RESULTS = [(page, source) for page, source in SCRIPTS if 'row["result"]' in source]


@pytest.mark.parametrize(("page", "source"), OF_RESULTS, ids=[page for page, _ in OF_RESULTS])
def test_scripts_on_the_page_read_results_of_errored_and_unreadable_cases(
    page: str, source: str, tmp_path: Path
) -> None:
    cases = [b"{", b'{"custom_id": "w"}', b'{"custom_id": "u", "inputs": {"trace": {"a": 1}}}']
    grader = GraderSpec("budget", {"max_steps": 9}) if "budget" in page else GraderSpec("loop")
    [results] = re.findall(r'open\("(\w+\.jsonl)"\)', source)
    (tmp_path / results).write_bytes(b"".join(graded(cases, [grader])))
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""


def test_scripts_that_read_results_are_found() -> None:
    assert len(OF_RESULTS) >= 5


def test_links_to_a_missing_page_and_to_a_missing_anchor_are_dead(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top-of-a">A</h1> <a href="b.html#there">good</a> <a href="#top-of-a">good</a>'
        '<a href="c.html">no page</a> <a href="b.html#gone">no anchor</a> <img src="d.png">'
        '<source srcset="e.png 2x"> <a href="https://example.com/#any">elsewhere</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>')
    assert dead_links(tmp_path) == [
        "a.html: c.html",
        "a.html: b.html#gone",
        "a.html: d.png",
        "a.html: e.png",
    ]


def test_the_pages_of_reference_can_be_written_with_their_tables(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "generators", tmp_path]
    subprocess.run(command, check=True, cwd=ROOT / "docs", timeout=60)
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    assert pages.keys() == {"http-api.md", "trace-formats.md"}
    assert "### GET /readyz" in pages["http-api.md"]
    assert not any(map(INSERTED.search, pages.values()))
