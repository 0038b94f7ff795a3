"""Fixtures with a real Chromium on the real service."""

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
    """A service with workers for all browser tests, which use separate batches."""
    with Served(tmp_path_factory.mktemp("served")) as served:
        yield served


# Limited to this package, because no other event loop can run in a thread while Playwright is active.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium; if there is none, the test is skipped, or fails in CI."""
    try:
        with chromium() as browser:
            yield browser
    except NoChromiumError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


# One for all modules, which may have their own, because creating one takes as long as some tests.
@pytest.fixture(scope="package")
def context_and_watch(browser: Browser, served: Served) -> Iterator[tuple[BrowserContext, Watch]]:
    """The browser context for the tests, and its `Watch`."""
    with watched(browser, served.url) as opened:
        yield opened


@pytest.fixture
def watch(context_and_watch: tuple[BrowserContext, Watch]) -> Watch:
    """The watch over the `page`."""
    return context_and_watch[1]


@pytest.fixture
def page(context_and_watch: tuple[BrowserContext, Watch]) -> Iterator[Page]:
    """An empty page of desktop size; the test fails if the pages shown in it violate the rules of `Watch`."""
    with visited(*context_and_watch) as page:
        yield page


@pytest.fixture(scope="session")
def traces(served: Served) -> str:
    """The graded batch of the example traces: 10 runs of a shop's agent with three graders; five runs fail."""
    return served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
