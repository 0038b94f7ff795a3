"""What axe-core finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_core_python

from support.browser import DESK, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

_AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
_SERIOUS = {"serious", "critical"}
_SCREENS = ((DESK, "light"), (PHONE, "dark"))


def serious_faults(page: Page) -> list[str]:
    """Return what keeps somebody from using a page, on a light desk's and a dark phone's screen."""
    # By hand: a script element with it would be stopped by the content policy.
    page.evaluate(f"{_AXE}; 0")
    faults = []
    for size, colours in _SCREENS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours)
        faults += _violations(page)
        content, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if content > screen:
            faults.append(f"{page.url} is {content} wide on a screen of {screen}")
    return faults


def _violations(page: Page) -> list[str]:
    found: dict[str, Any] = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in _SERIOUS
        for node in fault["nodes"]
    ]
