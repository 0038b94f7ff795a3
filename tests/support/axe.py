"""Accessibility checks of pages with axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import axe_core_python

from support.browser import DESK, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

_AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
_SERIOUS = {"serious", "critical"}
#: Rules whose violations are never serious: a fifth of all rules, which take a tenth of the time.
_MILD_RULES = """() => axe._audit.rules
  .filter((rule) => [...rule.any, ...rule.all, ...rule.none].every(
    (check) => ['minor', 'moderate'].includes(axe._audit.data.checks[check.id ?? check].impact)))
  .map((rule) => rule.id)"""
#: Checked on every screen, because they depend on its size and colours.
_OF_SCREENS = ["color-contrast", "scrollable-region-focusable"]
_SCREENS: tuple[tuple[ViewportSize, Literal["light", "dark"]], ...] = (
    (DESK, "light"),
    (PHONE, "dark"),
)


def serious_faults(page: Page) -> list[str]:
    """Return the serious violations on a page, on a light desktop screen and on a dark phone screen."""
    # Evaluated directly, because the content policy blocks script elements.
    page.evaluate(f"{_AXE}; 0")
    mild = set(page.evaluate(_MILD_RULES)) - set(_OF_SCREENS)
    rules: dict[str, object] = {"rules": {rule: {"enabled": False} for rule in mild}}
    faults = []
    for size, colours in _SCREENS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours)
        faults += _violations(page, rules)
        rules = {"runOnly": _OF_SCREENS}
        content, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if content > screen:
            faults.append(f"{page.url} is {content} wide on a screen of {screen}")
    return faults


def _violations(page: Page, rules: dict[str, object]) -> list[str]:
    found: dict[str, Any] = page.evaluate(
        "(options) => axe.run(options)",
        {"resultTypes": ["violations"], "selectors": False, **rules},
    )
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in _SERIOUS or fault["id"] in _OF_SCREENS
        for node in fault["nodes"]
    ]
