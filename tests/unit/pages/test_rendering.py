"""The content of pages: escaped, readable, and without resources from other hosts."""

import re
from hashlib import sha256

import orjson
import pytest

from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.pages.causes import why
from weighbridge_producer.pages.rendering import asset
from weighbridge_producer.templating import (
    STATIC_FOLDER,
    pictured,
    pretty_json,
    prose,
    shown,
)


def test_htmx_is_the_file_that_its_makers_published() -> None:
    told = (STATIC_FOLDER / "VENDORED.md").read_text()
    (digest,) = re.findall(r"`([0-9a-f]{64})`", told)
    assert sha256((STATIC_FOLDER / "htmx.min.js").read_bytes()).hexdigest() == digest
    (version,) = re.findall(r"htmx ([0-9.]+),", told)
    assert f'"{version}"' in (STATIC_FOLDER / "htmx.min.js").read_text()
    assert (STATIC_FOLDER / "htmx.LICENSE.txt").read_text().startswith("Zero-Clause BSD")


def test_what_templates_cut_ends_in_a_mark() -> None:
    cut = re.compile(r"\[:\d+\] ?\| ?(?:visible|prose|pictured)")
    templates = list((STATIC_FOLDER.parent / "templates").rglob("*.html"))
    assert [file.name for file in templates if cut.search(file.read_text())] == []
    assert templates


@pytest.mark.parametrize("is_error", [True, False])
def test_a_reason_in_a_table_that_is_cut_ends_in_a_mark(is_error: bool) -> None:
    check = {"check": "c", "passed": False, "step_ids": [], "description": "so " * 200}
    result = {"passed": False, "score": 0.0, "verdict": "fail", "details": {}, "evidence": [check]}
    error = {"code": "C", "message": "so " * 200, "hint": ""}
    judged = {"status": "errored", "result": None, "error": error}
    judged = judged if is_error else {"status": "graded", "result": result, "error": None}
    line = dict.fromkeys(ResultRow.__struct_fields__) | {"line": 1, "custom_id": "a"} | judged
    shown_reason = why(ResultRow.from_bytes(orjson.dumps(line)))
    assert shown_reason.endswith("…")
    assert len(shown_reason) == 300


def test_styles_and_scripts_take_nothing_from_elsewhere() -> None:
    for file in [
        *STATIC_FOLDER.glob("*.css"),
        STATIC_FOLDER / "page.js",
        STATIC_FOLDER / "upload.js",
        STATIC_FOLDER / "columns.js",
        STATIC_FOLDER / "folders.js",
        STATIC_FOLDER / "problems.js",
        STATIC_FOLDER / "report.js",
    ]:
        text = file.read_text()
        assert "url(" not in text, file
        assert "@import" not in text, file
        assert "http" not in text.replace("XMLHttpRequest", "").lower().replace("https", "http"), (
            file
        )


@pytest.mark.parametrize(
    "name", ["page.js", "upload.js", "folders.js", "problems.js", "columns.js"]
)
def test_our_scripts_make_no_markup_of_text(name: str) -> None:
    script = (STATIC_FOLDER / name).read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)
    assert len(script.splitlines()) < 200


def test_an_asset_changes_its_address_with_its_content() -> None:
    digest = sha256((STATIC_FOLDER / "style.css").read_bytes()).hexdigest()
    assert asset("style.css") == f"/static/style.css?v={digest[:12]}"


def test_prose_sets_code_and_escapes_both() -> None:
    assert prose("`<b>` & `x`") == "<code>&lt;b&gt;</code> &amp; <code>x</code>"
    assert prose("a ` alone <i>") == "a ` alone &lt;i&gt;"
    assert prose("`a` and ` alone") == "<code>a</code> and ` alone"


def test_symbols_of_invisible_characters_are_ones_of_every_font_with_their_names() -> None:
    assert pictured("a <b>") == "a &lt;b&gt;"
    html = pictured("␠␊␉␍␇<\u2420")
    assert re.findall(r'title="([^"]*)">([^<]*)<', html) == [
        ("space", "·"),
        ("line break", "↵"),
        ("tab", "→"),
        ("carriage return", "^M"),
        ("control character U+0007", "^G"),
        ("space", "·"),
    ]
    assert "&lt;" in html
    assert not re.search("[\u2400-\u2420]", html)


def test_any_value_can_be_shown() -> None:
    assert shown("text") == "text"
    assert shown({"a": [1, None]}) == '{"a":[1,null]}'
    assert shown(2**70) == str(2**70)
    assert pretty_json({"a": 1}) == '{\n  "a": 1\n}'
    assert pretty_json({"a": 2**70}) == "{'a': 1180591620717411303424}"
