"""Take the pictures of the pages: each at a desk's and a phone's width, light and dark.

    python docs/images/take_screenshots.py

A fresh `weighbridge serve --embedded` grades the example traces, and a Chromium shows what became of them.
"""
# ruff: noqa: INP001 - a script for people

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.append(
    str(HERE.parents[1] / "tests")
)  # what starts the service and the browser there does so here

from support.browser import DESK, PHONE, chromium, visitor  # noqa: E402
from support.examples import SHOP_AGENT, TRACE_GRADERS  # noqa: E402
from support.served import Served  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page

HEIGHTS = {
    "batch": (1180, 1180),
    "result": (1500, 1500),
    "new-batch": (1300, 1300),
    "graders": (760, 1180),
}


def show(page: Page, name: str, batch: str) -> None:
    """Bring a page to where its picture is taken."""
    from playwright.sync_api import expect

    if name == "batch":
        page.goto(f"/batches/{batch}")
        expect(page.locator("#causes a")).not_to_have_count(0)
        expect(page.locator("table.results")).to_be_visible()
    elif name == "result":
        page.goto(f"/batches/{batch}/result?custom_id=shop-pingpong-5&label=loop")
    elif name == "new-batch":
        page.goto("/new")
        page.get_by_label("Loop", exact=True).check()
        page.get_by_label("Or drop a file here").set_input_files(SHOP_AGENT)
        expect(page.get_by_role("region", name="Preview", exact=True)).to_contain_text(
            re.compile("0 of them")
        )
    else:
        page.goto("/graders")


def main() -> None:
    """Take every picture."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder), plugins=None) as served,
        chromium() as browser,
    ):
        batch = served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
        for name, heights in HEIGHTS.items():
            for size, height in zip((DESK, PHONE), heights, strict=True):
                for colours in ("light", "dark"):
                    viewport = {**size, "height": height}
                    with visitor(browser, served.url, viewport=viewport, color_scheme=colours) as (
                        page,
                        _,
                    ):
                        show(page, name, batch)
                        page.screenshot(path=HERE / f"{name}-{size['width']}-{colours}.png")


if __name__ == "__main__":
    main()
