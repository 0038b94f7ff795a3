"""A real Chromium on the real service, as somebody at a screen has both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support.browser import NoChromiumError, Watch, chromium, visited, watched
from support.examples import SHOP_AGENT, TRACE_GRADERS
from support.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with workers for all of these tests: they keep apart by batches of their own."""
    with Served(tmp_path_factory.mktemp("served")) as served:
        yield served


# No longer than these tests: while Playwright lives nothing else in its thread can run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium; where there is none the test skips, in CI it fails."""
    try:
        with chromium() as browser:
            yield browser
    except NoChromiumError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


# For a module, because a new one for every test would take longer than most tests.
@pytest.fixture(scope="module")
def context_and_watch(browser: Browser, served: Served) -> Iterator[tuple[BrowserContext, Watch]]:
    """Where the pages of a module's tests are opened, and what watches over them."""
    with watched(browser, served.url) as opened:
        yield opened


@pytest.fixture
def watch(context_and_watch: tuple[BrowserContext, Watch]) -> Watch:
    """What watches over the `page`."""
    return context_and_watch[1]


@pytest.fixture
def page(context_and_watch: tuple[BrowserContext, Watch]) -> Iterator[Page]:
    """An empty page at a desk; whatever it shows must do nothing that no page of ours may do."""
    with visited(*context_and_watch) as page:
        yield page


@pytest.fixture(scope="session")
def traces(served: Served) -> str:
    """The batch of the example traces: 10 runs of a shop's agent by three graders, five of which fail."""
    return served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
