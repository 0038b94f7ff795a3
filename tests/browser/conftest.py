"""A real Chromium on the real service, as somebody at a screen has both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support.browser import NoChromiumError, Watch, chromium, visitor
from support.examples import SHOP_AGENT, TRACE_GRADERS
from support.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with workers for everybody in this process: tests keep apart by batches of their own."""
    with Served(tmp_path_factory.mktemp("served")) as served:
        yield served


# No longer than a module: while Playwright lives nothing else in its thread can run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium; where there is none the test skips, in CI it fails."""
    try:
        with chromium() as browser:
            yield browser
    except NoChromiumError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[tuple[Page, Watch]]:
    with visitor(browser, served.url) as (page, watch):
        yield page, watch


@pytest.fixture
def page(visit: tuple[Page, Watch]) -> Page:
    """An empty page at a desk; whatever it shows must do nothing that no page of ours may do."""
    return visit[0]


@pytest.fixture
def watch(visit: tuple[Page, Watch]) -> Watch:
    """What watches over the `page`."""
    return visit[1]


@pytest.fixture(scope="session")
def traces(served: Served) -> str:
    """The batch of the example traces: 10 runs of a shop's agent by three graders, five of which fail."""
    return served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
