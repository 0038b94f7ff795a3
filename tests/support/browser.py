"""A real browser, and watching what its pages do beyond what is asked of them."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Dialog,
        Page,
        Playwright,
        Request,
    )

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_ONE = (
    "no Chromium was found: `apt-get install chromium` brings one on Debian, `brew install chromium` on macOS, "
    "`python -m playwright install chromium` anywhere; CHROMIUM=/path names one"
)
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
_TIMEOUT_MILLISECONDS = 15_000  #: on a machine that is busy with other tests
#: Makes an error on the console of what the content policy stops, and of a stranger's script that sets `pwned`.
_LOOKOUT = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error('stopped:', event.effectiveDirective, event.blockedURI, event.sample);
});
Object.defineProperty(window, 'pwned', { set(how) { console.error('pwned:', how); } });
"""


def find_chromium(playwright: Playwright) -> str | None:
    """Return the path of a Chromium: the one that CHROMIUM names, the system's, or Playwright's own."""
    if named := os.environ.get("CHROMIUM"):
        return named
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


class NoChromiumError(Exception):
    """There is none; it says how to get one."""

    def __init__(self) -> None:
        super().__init__(HOW_TO_GET_ONE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a Chromium; NoChromiumError."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_TIMEOUT_MILLISECONDS)
    with sync_playwright() as playwright:
        path = find_chromium(playwright)
        if path is None:
            raise NoChromiumError
        # Chromium's own sandbox refuses to run for root, as in a container.
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=as_root)
        yield browser
        browser.close()


class Watch:
    """Notes whatever a context's pages do that no page of ours may do."""

    def __init__(self, context: BrowserContext, own: str) -> None:
        self.faults: list[str] = []
        self.expected_statuses: set[int] = set()  #: of refusals that a test provokes
        self._own = own
        self._context = context
        context.add_init_script(_LOOKOUT)
        context.on("request", self._on_request)
        context.on("dialog", self._on_dialog)
        context.on("weberror", lambda error: self.faults.append(f"script error: {error.error}"))
        context.on("console", self._on_console)

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._own}/", "blob:", "data:")):
            self.faults.append(f"a request to a stranger: {request.url}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _on_console(self, message: ConsoleMessage) -> None:
        is_provoked = any(
            f"status of {status} " in message.text for status in self.expected_statuses
        )
        if message.type in {"error", "warning"} and not is_provoked:
            self.faults.append(
                f"console {message.type}: {message.text} at {message.location['url']}"
            )

    def forget(self) -> None:
        """Begin anew."""
        self.faults.clear()
        self.expected_statuses = set()

    def assert_clean(self) -> None:
        """Make sure that nothing was noted so far."""
        for page in self._context.pages:
            page.title()  # what the page has told until now arrives before this answer
        assert self.faults == []


@contextmanager
def watched(browser: Browser, own: str, **options: Any) -> Iterator[tuple[BrowserContext, Watch]]:
    """Open a context for the pages of a service, and watch over them; `options` are Playwright's of a context."""
    context = browser.new_context(**({"base_url": own, "viewport": DESK} | options))
    context.set_default_timeout(_TIMEOUT_MILLISECONDS)
    context.new_page()  # a context without any would close its window, and open another for the next
    yield context, Watch(context, own)
    context.close()


@contextmanager
def visited(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    """Open a page; in the end it must have done nothing that no page of ours may do, and leaves nothing behind."""
    try:
        yield context.new_page()
        watch.assert_clean()
    finally:
        for page in context.pages[1:]:
            page.close()
        context.clear_cookies()
        watch.forget()
