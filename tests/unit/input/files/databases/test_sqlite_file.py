"""SQLite databases: the latest changes count, nothing beside the file changes, and torn and crafted ones end in an error."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from support.databases import ITEMS, SDK_ROWS, faults_in, lines_of, traces_in, write
from weighbridge.settings import Settings
from weighbridge.traces import read_traces
from weighbridge_producer.input.files.databases import sqlite_rows
from weighbridge_producer.input.files.databases.sqlite_file import database_without_log
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_rows_of_a_write_ahead_log_count_and_nothing_beside_the_file_changes(sdk: Path) -> None:
    with closing(sqlite3.connect(sdk, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO agent_messages VALUES (9, 'u', ?)", (json.dumps(ITEMS[0]),))
        before = {each.name: each.read_bytes() for each in sdk.parent.iterdir()}
        assert [trace.id for trace in traces_in(lines_of(sdk))] == ["s", "t", "u"]
        assert not Source(sdk, Settings()).is_one_stream
        link = sdk.parent.parent / "link.db"
        link.symlink_to(sdk)
        assert len(traces_in(lines_of(link))) == 3
        # A copy without the files of the writer: none of them may be made.
        copy = sdk.with_name("copy.db")
        for end in ("", "-wal"):
            shutil.copyfile(f"{sdk}{end}", f"{copy}{end}")
            before[f"copy.db{end}"] = before[f"{sdk.name}{end}"]
        assert len(traces_in(lines_of(copy))) == 3
        assert {each.name: each.read_bytes() for each in sdk.parent.iterdir()} == before


def test_a_database_in_wal_mode_whose_log_is_gone_is_read_where_it_is(sdk: Path) -> None:
    with closing(sqlite3.connect(sdk)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    sdk.parent.chmod(0o500)
    assert len(traces_in(lines_of(sdk))) == 2
    assert [each.name for each in sdk.parent.iterdir()] == [sdk.name]


def test_a_transaction_that_was_not_ended_is_refused(sdk: Path) -> None:
    journal = sdk.with_name(f"{sdk.name}-journal")
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600))
    [(code, message)] = faults_in(lines_of(sdk))
    assert (code, "not ended" in message) == ("INPUT_TRUNCATED", True)
    journal.write_bytes(bytes(600))
    assert len(lines_of(sdk)) == 2


def test_only_a_regular_file_is_looked_at_beside_a_database(sdk: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        os.mkfifo(sdk.with_name(sdk.name + end))
    os.mkfifo(sdk.with_name("pipe.db"))
    read: list[int] = []
    for cases in (sdk, sdk.parent, sdk.parent / "*.db*"):
        # A pipe that is opened blocks for ever.
        thread = threading.Thread(target=lambda: read.append(len(lines_of(cases))), daemon=True)  # noqa: B023 - joined
        thread.start()
        thread.join(20)
    assert read == [2, 2, 2]


def test_a_database_that_is_written_to_while_it_is_read_ends_in_an_error(sdk: Path) -> None:
    lines = iter(Source(sdk, Settings()))
    read = [next(lines)]
    with closing(sqlite3.connect(sdk)) as writer, writer:
        writer.execute("INSERT INTO agent_messages VALUES (9, 'u', '{}')")
    assert "while it was read" in faults_in([*read, *lines])[-1][1]


def test_any_name_of_a_file_is_opened(tmp_path: Path) -> None:
    path = write(tmp_path / "a?b#c%20 'd'.db", {"agent_messages": SDK_ROWS})
    assert len(traces_in(lines_of(path))) == 2


def test_a_table_without_row_numbers_is_refused_with_what_helps(tmp_path: Path) -> None:
    columns = "id INTEGER PRIMARY KEY, session_id, message_data"
    for number, (command, why) in enumerate(
        (
            (f"CREATE TABLE agent_messages ({columns}) WITHOUT ROWID", "was made WITHOUT ROWID"),
            (f"CREATE TABLE agent_messages (ROWID, _rowid_, oid TEXT, {columns})", "named rowid, _rowid_, oid"),
        )
    ):  # fmt: skip
        path = write(tmp_path / f"{number}.db", {"agent_messages": SDK_ROWS}, command)
        [line] = lines_of(path)
        assert line.fault
        assert why in line.fault.message
        assert "damaged" not in line.fault.message
        assert "sqlite3 -json" in line.fault.hint


def test_a_column_named_rowid_is_not_taken_for_the_number_of_a_row(tmp_path: Path) -> None:
    for number, own in enumerate(("RowId", "_rowid_", "rowid, _ROWID_", "oid")):
        command = f"CREATE TABLE agent_messages (id, session_id, message_data, {own})"
        path = write(tmp_path / f"{number}.db", {"agent_messages": SDK_ROWS}, command)
        assert traces_in(lines_of(path)) == list(read_traces(SDK_ROWS))


def test_views_virtual_tables_and_generated_columns_are_not_read(tmp_path: Path) -> None:
    columns = "id, session_id, message_data"
    for number, command in enumerate(
        (
            "CREATE VIEW agent_messages AS SELECT 1 AS id, 's' AS session_id, '{}' AS message_data",
            f"CREATE VIRTUAL TABLE agent_messages USING fts5({columns})",
            "CREATE TABLE agent_messages (id, session_id, message_data AS (printf('%.9d', id)))",
        )
    ):
        path = write(tmp_path / f"{number}.db", {}, command)
        [(_, message)] = faults_in(lines_of(path))
        assert "not a known store" in message


def test_damaged_pages_leave_the_sessions_before_them(tmp_path: Path) -> None:
    rows = [
        {"id": number, "session_id": f"s{number}", "message_data": json.dumps({**ITEMS[0], "pad": "x" * 900})}
        for number in range(200)
    ]  # fmt: skip
    path = write(tmp_path / "a.db", {"agent_messages": rows}, "PRAGMA page_size = 4096")
    content = bytearray(path.read_bytes())
    content[4096 * 30 : 4096 * 31] = b"\xff" * 4096
    path.write_bytes(content)
    lines = lines_of(path)
    [(code, message)] = faults_in(lines)
    assert (code, "damaged" in message) == ("INPUT_TRUNCATED", True)
    traces = traces_in(lines)
    assert 50 < len(traces) < 200
    # Rows of these sessions may have been on the damaged page.
    assert all("tool_calls" in trace.missing for trace in traces)


@pytest.fixture
def paged(tmp_path: Path) -> Path:
    """A store with two sessions of 100 messages each on 60 pages, of which the second leads to all others."""
    rows = [
        {"id": number, "session_id": f"s{number % 2}", "message_data": json.dumps({**ITEMS[0], "pad": "x" * 900})}
        for number in range(200)
    ]  # fmt: skip
    return write(tmp_path / "a.db", {"agent_messages": rows}, "PRAGMA page_size = 4096")


def with_incomplete_page(content: bytearray) -> bytearray:
    return content[:-2000]


def with_page_twice(content: bytearray) -> bytearray:
    content[4096 * 20 : 4096 * 21] = content[4096 * 10 : 4096 * 11]
    return content


def with_lost_pages(content: bytearray) -> bytearray:
    content[4096 : 4096 * 2] = content[4096 * 10 : 4096 * 11]
    return content


def with_page_of_two(content: bytearray) -> bytearray:
    first, second = (4096 + int.from_bytes(content[at : at + 2]) for at in (4096 + 12, 4096 + 14))
    content[first : first + 4] = content[second : second + 4]
    return content


@pytest.mark.parametrize(
    "torn", [with_incomplete_page, with_page_twice, with_lost_pages, with_page_of_two]
)
@pytest.mark.parametrize("has_log", [False, True])
def test_a_torn_database_has_an_error_and_lower_bounds_for_each_session(
    torn: Callable[[bytearray], bytearray], has_log: bool, paged: Path
) -> None:
    content = torn(bytearray(paged.read_bytes()))
    if has_log:
        paged.with_name(paged.name + "-wal").write_bytes(b"no log, which is read with the file")
    paged.write_bytes(content)
    lines = lines_of(paged)
    [(code, message)] = faults_in(lines)
    assert (code, "damaged" in message) == ("INPUT_TRUNCATED", True)
    traces = traces_in(lines)
    assert traces
    assert all("tool_calls" in trace.missing for trace in traces)


def test_pages_of_a_log_that_has_no_others_are_not_made_up(paged: Path) -> None:
    with closing(sqlite3.connect(paged, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO agent_messages VALUES (999, 's1', ?)", (json.dumps(ITEMS[0]),))
        copy = paged.with_name("copy.db")
        shutil.copyfile(f"{paged}-wal", f"{copy}-wal")
        copy.write_bytes(paged.read_bytes()[: 4096 * 30])
        assert "are missing" in faults_in(lines_of(copy))[0][1]


def test_pages_in_a_long_chain_are_found_before_they_are_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {"agent_messages": SDK_ROWS[:1]}, "PRAGMA page_size = 512")
    content = bytearray(path.read_bytes())
    pages = [
        bytes([5, 0, 0, 0, 0, 2, 0, 0]) + (3 + number).to_bytes(4) + bytes(500)
        for number in range(60)
    ]
    content[512:] = b"".join(pages) + content[512:1024]
    content[28:32] = (len(content) // 512).to_bytes(4)
    path.write_bytes(content)
    with database_without_log(path, is_checked=True) as database:
        assert "without an end" in str(database.damage)
    assert [code for code, _ in faults_in(lines_of(path))] == ["INPUT_TRUNCATED"]


def test_the_check_of_the_pages_runs_no_code_of_a_file(sdk: Path) -> None:
    computed = "CREATE TABLE t (a, b AS (printf('%.9999c', a)) NOT NULL)"
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("CREATE TABLE c (a CHECK (printf('%.9999c', a) = 1))")
        base.execute("PRAGMA ignore_check_constraints = ON")
        base.executemany("INSERT INTO c VALUES (?)", [(1,)] * 20)
    lines = lines_of(sdk)
    assert (len(traces_in(lines)), faults_in(lines)) == (2, [])
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute(computed)
        base.executemany("INSERT INTO t VALUES (?)", [(1,)] * 20)
    lines = lines_of(sdk)
    assert "which is not checked" in faults_in(lines)[0][1]
    assert all("tool_calls" in trace.missing for trace in traces_in(lines))


@pytest.mark.parametrize(
    ("columns", "is_checked"),
    [
        ("a INT, b INT, c INT GENERATED ALWAYS AS (a - b) STORED, d generated always as (b - a)", True),
        ("a, b AS (a - 1)", False),
        ("a, b GENERATED ALWAYS AS (abs(a))", False),
        ("a, b GENERATED ALWAYS AS (a - a), c AS (abs(a))", False),
        ("a DEFAULT 'GENERATED ALWAYS AS (a - a)', b/**/AS(abs(a))", False),
    ],
)  # fmt: skip
def test_differences_of_columns_are_computed_by_the_check_and_other_expressions_are_not(
    columns: str, is_checked: bool, sdk: Path
) -> None:
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute(f"CREATE TABLE t ({columns})")
    assert not faults_in(lines_of(sdk))  # nothing is computed for an empty table
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("INSERT INTO t (a) VALUES (1)")
    assert (not faults_in(lines_of(sdk))) == is_checked


def test_differences_in_a_table_that_was_renamed_are_computed_by_the_check(sdk: Path) -> None:
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("CREATE TABLE t (a, b, c GENERATED ALWAYS AS (a - b) STORED)")
        base.execute("ALTER TABLE t RENAME TO renamed")  # SQLite now keeps the name in quotes
    assert faults_in(lines_of(sdk)) == []


@pytest.mark.parametrize("has_log", [False, True])
def test_an_index_with_a_function_that_sqlite_does_not_trust_is_no_damage_and_not_evaluated(
    sdk: Path, has_log: bool
) -> None:
    with closing(sqlite3.connect(sdk, isolation_level=None)) as base:
        base.execute("CREATE TABLE t (a)")
        base.execute("INSERT INTO t VALUES ('{')")  # no JSON: an error wherever it is evaluated
        base.execute("CREATE INDEX i ON t (length(a)) WHERE length(a) > 0")
        base.execute("PRAGMA writable_schema = ON")
        change = "replace(sql, 'length(a)', 'json_extract(a, ''$'')')"
        base.execute(f"UPDATE sqlite_master SET sql = {change} WHERE name = 'i'")
    with closing(sqlite3.connect(sdk, isolation_level=None)) as writer:
        if has_log:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("INSERT INTO agent_messages VALUES (9, 'u', ?)", (json.dumps(ITEMS[0]),))
        lines = lines_of(sdk)
    assert faults_in(lines) == []
    assert [bool(trace.missing.get("tool_calls")) for trace in traces_in(lines)] == [False] * (2 + has_log)  # fmt: skip


def test_an_index_with_a_collation_of_the_program_that_writes_it_leaves_lower_bounds(
    sdk: Path,
) -> None:
    with closing(sqlite3.connect(sdk)) as base, base:
        base.create_collation("LOCALIZED", lambda one, other: (one > other) - (one < other))
        base.execute("CREATE TABLE t (a COLLATE LOCALIZED)")
        base.execute("CREATE INDEX i ON t (a)")
    lines = lines_of(sdk)
    assert "which is not checked" in faults_in(lines)[0][1]
    assert ["tool_calls" in trace.missing for trace in traces_in(lines)] == [True] * 2


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("name", ["t", "2025"])
def test_virtual_tables_do_not_keep_the_others_from_being_checked(
    sdk: Path, monkeypatch: pytest.MonkeyPatch, name: str, runs_code: bool
) -> None:
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("CREATE VIRTUAL TABLE f USING fts5(a)")
        base.execute(f'CREATE TABLE "{name}" (a)')
    monkeypatch.setattr(sqlite_rows, "_CHECKS_VIRTUAL", runs_code)
    # SQLite takes such a name for a number of errors, and would check the virtual table too.
    is_unchecked = runs_code and name == "2025"
    lines = lines_of(sdk)
    assert bool(faults_in(lines)) is is_unchecked
    assert ["tool_calls" in trace.missing for trace in traces_in(lines)] == [is_unchecked] * 2


@pytest.mark.parametrize("runs_code", [False, True])
def test_damage_is_found_beside_virtual_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs_code: bool
) -> None:
    monkeypatch.setattr(sqlite_rows, "_CHECKS_VIRTUAL", runs_code)
    tables = {"agent_messages": SDK_ROWS, "t": [{"a": 1}, {"a": 2}]}
    path = write(tmp_path / "a.db", tables, "CREATE VIRTUAL TABLE f USING fts5(a)")
    with closing(sqlite3.connect(path)) as base:
        (page,) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'").fetchone()
        (size,) = base.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    at = (page - 1) * size + 8  # where the pointers to the two rows are, whose order is turned
    content[at : at + 4] = content[at + 2 : at + 4] + content[at : at + 2]
    path.write_bytes(content)
    lines = lines_of(path)
    assert "out of order" in faults_in(lines)[0][1]
    assert ["tool_calls" in trace.missing for trace in traces_in(lines)] == [True] * 2


@pytest.mark.parametrize("has_log", [False, True])
def test_a_schema_whose_pages_repeat_is_not_read_for_ever(tmp_path: Path, has_log: bool) -> None:
    command = "CREATE TABLE t (a UNIQUE)"
    path = write(tmp_path / "a.db", {"t": [{"a": 1}]}, "PRAGMA page_size = 4096", command)
    content = bytearray(path.read_bytes())
    first = content[:4096]
    leaves = []
    for row in (0, 1):  # the table, and its index, which may stand again
        leaf = bytearray(4096)
        leaf[:8] = bytes([13, 0, 0, 0, 1]) + first[105:108]
        leaf[8:10] = first[108 + 2 * row : 110 + 2 * row]
        leaf[2048:] = first[2048:]
        leaves.append(leaf)
    count = len(content) // 4096
    inner = count + 3  # the first of six pages that lead to the next one, many times
    pages = [*leaves]
    for number in range(6):
        below = inner + number + 1 if number < 5 else count + 2
        pages.append(inner_page(0, [below] * 400, below))
    content[100:4096] = inner_page(100, [count + 1], inner)[100:]
    content += b"".join(pages)
    content[28:32] = (len(content) // 4096).to_bytes(4)
    path.write_bytes(content)
    if has_log:
        path.with_name("a.db-wal").write_bytes(b"no log, which is read with the file")
    [(code, message)] = faults_in(lines_of(path))
    assert (code, "more steps" in message) == ("INPUT_TRUNCATED", True)


def inner_page(start: int, below: list[int], last: int) -> bytearray:
    """Return a page that leads to others, whose header begins at `start`."""
    page = bytearray(4096)
    content = 4096 - 5 * len(below)
    page[start : start + 12] = (
        bytes([5, 0, 0]) + len(below).to_bytes(2) + content.to_bytes(2) + b"\0" + last.to_bytes(4)
    )
    for cell, child in enumerate(below):
        at = content + 5 * cell
        page[at : at + 5] = child.to_bytes(4) + b"\x01"
        page[start + 12 + 2 * cell : start + 14 + 2 * cell] = at.to_bytes(2)
    return page


def test_no_statement_but_a_read_of_a_table_is_allowed_after_the_check(sdk: Path) -> None:
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("CREATE VIEW v AS SELECT * FROM agent_messages")
    with database_without_log(sdk, is_checked=True) as database:
        assert database.damage is None
        assert len(list(database.rows("agent_messages", ["id"]))) == len(SDK_ROWS)
        for command in ("SELECT * FROM v", "PRAGMA page_size", "SELECT abs(1)"):
            with pytest.raises(sqlite3.DatabaseError, match=r"authorized|prohibited"):
                database._connection.execute(command)


def test_a_file_that_only_begins_like_a_database_is_one_error() -> None:
    for content in (b"SQLite format 3\0" + b"\n" * 600, b"SQLite format 3\0"):
        [(code, _)] = faults_in(lines_of(io.BytesIO(content)))
        assert code == "INPUT_TRUNCATED"
    [line] = lines_of(io.BytesIO(b"SQLite format 3 is a form of file.\n"))
    assert "damaged" not in str(line.fault)


def test_pages_that_stand_for_themselves_many_times_are_not_read_for_ever(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {"agent_messages": SDK_ROWS[:1]}, "PRAGMA page_size = 4096")
    content = bytearray(path.read_bytes())
    leaf = content[4096:8192]
    # Each leads to the next page many times, and the last one to the leaf.
    pages = [inner_page(0, [3 + number] * 400, 3 + number) for number in range(6)]
    content[4096:] = b"".join([*pages, leaf])
    content[28:32] = (len(content) // 4096).to_bytes(4)
    path.write_bytes(content)
    [(code, message)] = faults_in(lines_of(path))
    assert (code, "do not ascend" in message) == ("INPUT_TRUNCATED", True)


def test_rows_that_share_their_pages_are_not_read_beyond_the_size_of_the_file(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": 1, "session_id": "s", "message_data": json.dumps({**ITEMS[0], "pad": "x" * 503_809})}
    ]
    path = write(tmp_path / "a.db", {"agent_messages": rows}, "PRAGMA page_size = 4096")
    content = bytearray(path.read_bytes())
    page = content[4096:8192]
    start = int.from_bytes(page[8:10])
    cell, cells = page[start:], 6
    for number in range(cells):
        at = 4096 - len(cell) * (number + 1)
        page[at : at + len(cell)] = (
            cell[:3] + bytes([number + 1]) + cell[4:]
        )  # the number of the row
        page[8 + 2 * number : 10 + 2 * number] = at.to_bytes(2)
    page[3:7] = cells.to_bytes(2) + at.to_bytes(2)
    content[4096:8192] = page
    path.write_bytes(content)
    assert "longer than the file" in faults_in(lines_of(path))[-1][1]
