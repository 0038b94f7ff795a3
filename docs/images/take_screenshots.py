"""Take screenshots of the pages, each in desktop and phone width, light and dark.

    python docs/images/take_screenshots.py

A new `weighbridge serve --embedded` grades the examples, and a Chromium shows the results.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect
from small_png import small_png

HERE = Path(__file__).resolve().parent
sys.path.append(
    str(HERE.parents[1] / "tests")
)  # use the test support to start the service and the browser

from support.browser import DESK, PHONE, chromium, visited, watched  # noqa: E402
from support.examples import MIXED, SHOP_AGENT, TRACE_GRADERS  # noqa: E402
from support.preloaded import fork_server  # noqa: E402
from support.served import Served  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


def show_batch(page: Page, batch: str) -> None:
    """Show the batch of the example traces."""
    page.goto(f"/batches/{batch}")
    expect(page.locator("#causes a")).not_to_have_count(0)
    expect(page.locator("table.results")).to_be_visible()


def show_result(page: Page, batch: str) -> None:
    """Show the timeline of a run with a loop."""
    page.goto(f"/batches/{batch}/result?custom_id=shop-pingpong-5&label=loop")


def show_new_batch(page: Page, _: str) -> None:
    """Show the preview of a file with errors."""
    page.goto("/new")
    page.get_by_label("True/False", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(MIXED)
    expect(page.get_by_role("table", name="Lines that cannot be graded")).to_be_visible()
    page.get_by_label("Paste lines").evaluate("(field) => field.scrollIntoView()")  # on a phone


def show_graders(page: Page, _: str) -> None:
    """Show the catalogue."""
    page.goto("/graders")


#: By picture, a function that opens the page, and the heights on desktop and phone.
PICTURES: dict[str, tuple[Callable[[Page, str], None], int, int]] = {
    "batch": (show_batch, 1000, 1000),
    "result": (show_result, 1340, 1500),
    "new-batch": (show_new_batch, 2420, 844),
    "graders": (show_graders, 700, 844),
}


def main() -> None:
    """Take all screenshots."""
    with (
        fork_server(),
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder), plugins=None) as served,
        chromium(draws=True) as browser,
    ):
        batch = served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
        for name, (show, at_desk, on_phone) in PICTURES.items():
            for size in ({**DESK, "height": at_desk}, {**PHONE, "height": on_phone}):
                for colours in ("light", "dark"):
                    options = {"viewport": size, "color_scheme": colours}
                    with (
                        watched(browser, served.url, **options) as opened,
                        visited(*opened) as page,
                    ):
                        show(page, batch)
                        picture = small_png(browser, page.screenshot())
                    (HERE / f"{name}-{size['width']}-{colours}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
