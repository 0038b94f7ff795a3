"""What axe-core finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_core_python

from support.browser import DESK, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
SERIOUS = {"serious", "critical"}


#: What axe-core judges by colours and sizes; the rest is the same in every colour scheme and width.
BY_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "meta-viewport"]


def serious_faults(page: Page) -> list[str]:
    """Return what axe-core finds on a page, in both colour schemes and widths, that keeps somebody from using it."""
    # By hand: a script element with it would be stopped by the content policy.
    page.evaluate(f"{AXE}; 0")
    faults = _violations(page, {})
    for size, colours in ((DESK, "dark"), (PHONE, "dark"), (PHONE, "light")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours)
        faults += _violations(page, {"runOnly": BY_LOOKS})
        content, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if content > screen:
            faults.append(f"{page.url} is {content} wide on a screen of {screen}")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    return faults


def _violations(page: Page, options: dict[str, Any]) -> list[str]:
    found = page.evaluate(
        "(options) => axe.run(document, options)", {**options, "resultTypes": ["violations"]}
    )
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]
