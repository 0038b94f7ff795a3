"""A real browser, with checks for unwanted behaviour of pages."""

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
        ViewportSize,
    )

#: The first has no window to draw: it takes half of the processor time.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
HOW_TO_GET_ONE = (
    "no Chromium was found: `apt-get install chromium-headless-shell` brings one on Debian, `brew install chromium` on macOS, "
    "`python -m playwright install chromium` anywhere; CHROMIUM=/path names one"
)
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
_TIMEOUT_MILLISECONDS = 15_000  #: generous, for a machine busy with other tests
#: Logs an error for violations of the content policy, and for injected scripts, which set `pwned`.
_LOOKOUT = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error('stopped:', event.effectiveDirective, event.blockedURI, event.sample);
});
Object.defineProperty(window, 'pwned', { set(how) { console.error('pwned:', how); } });
"""


def find_chromium(playwright: Playwright) -> str | None:
    """Return the path of a Chromium: the one in CHROMIUM, the system's, or Playwright's."""
    if named := os.environ.get("CHROMIUM"):
        return named
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


#: Ends what a page's scripts wait for, and empties it: loading an empty page instead takes half of the time of a page.
_END = """() => {
  window.stop();
  for (let timer = setTimeout(() => {}); timer; timer--) clearTimeout(timer);
  document.documentElement?.remove();
}"""
#: Less work, which takes a third less CPU time: the tests are one user, one page at a time, no script runs for long, and
#: nobody sees the pages, of which hardly anything is drawn without memory for it.
_FEWER = (
    *("--in-process-gpu", "--renderer-process-limit=1", "--force-gpu-mem-available-mb=1"),
    "--js-flags=--no-opt,--single-threaded",
)


class NoChromiumError(Exception):
    """There is no Chromium; the message says how to install one."""

    def __init__(self) -> None:
        super().__init__(HOW_TO_GET_ONE)


@contextmanager
def chromium(*, draws: bool = False) -> Iterator[Browser]:
    """Start a Chromium, for pictures one that `draws` whole pages; raises NoChromiumError."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_TIMEOUT_MILLISECONDS)
    with sync_playwright() as playwright:
        path = find_chromium(playwright)
        if path is None:
            raise NoChromiumError
        # Chromium's sandbox does not work for root, which is usual in containers.
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=path, args=[*as_root, *(() if draws else _FEWER)]
        )
        yield browser
        browser.close()


class Watch:
    """Records forbidden behaviour of a context's pages: errors, dialogs, and requests to other hosts."""

    def __init__(self, context: BrowserContext, own: str) -> None:
        self.faults: list[str] = []
        self.expected_statuses: set[int] = set()  #: HTTP statuses of errors that a test provokes
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
        """Discard all records."""
        self.faults.clear()
        self.expected_statuses = set()

    def assert_clean(self) -> None:
        """Assert that nothing has been recorded."""
        for page in self._context.pages:
            page.title()  # a round trip, so that all earlier events have arrived
        assert self.faults == []


@contextmanager
def watched(browser: Browser, own: str, **options: Any) -> Iterator[tuple[BrowserContext, Watch]]:
    """Open a watched context for the pages of a service; `options` are Playwright's context options."""
    # Without motion, because a browser draws every frame of it.
    usual = {"base_url": own, "viewport": DESK, "reduced_motion": "reduce"}
    context = browser.new_context(**(usual | options))
    context.set_default_timeout(_TIMEOUT_MILLISECONDS)
    yield context, Watch(context, own)
    context.close()


@contextmanager
def visited(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    """Show an empty page, and assert at the end that it behaved correctly; its cookies are cleared.

    Tests use it one after the other, because opening a page costs as much as loading one.
    """
    page = context.pages[0] if context.pages else context.new_page()
    try:
        yield page
        watch.assert_clean()
        page.evaluate(_END)
        if page.viewport_size != DESK:
            page.set_viewport_size(DESK)
        page.emulate_media(color_scheme="light")
    except BaseException:
        context.new_page()  # the next test's, for the state of this one is unknown
        page.close()
        raise
    finally:
        for other in context.pages[1:]:
            other.close()
        context.clear_cookies()
        watch.forget()
