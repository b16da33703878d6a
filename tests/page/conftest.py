"""A browser without a network, in which the committed page is opened from disk."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from opened_page import DESKTOP, PAGE, why_no_browser

Opened = Callable[..., Any]


@pytest.fixture
def page_at(browser: Any) -> Iterator[Opened]:
    """Opens the page at a route, with the network cut: ``page_at("#/failures", theme="dark")``.

    At the end of the test nothing may have been written to the console as an error, no script may
    have thrown, and nothing may have been asked for but the file itself and data in it.
    """
    contexts, troubles = [], []

    def opened(
        route: str = "#/", *, viewport: dict[str, int] = DESKTOP, theme: str = "light"
    ) -> Any:
        context = browser.new_context(viewport=viewport, color_scheme=theme)
        context.set_offline(True)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda message: troubles.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((PAGE.as_uri(), "data:"))
                else troubles.append(f"asked for {request.url}")
            ),
        )
        page.goto(PAGE.as_uri() + route)
        page.locator("main h1").wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def axe() -> Callable[[Any], list[str]]:
    """What axe-core finds against WCAG 2.2 AA and good practice, a line for each."""
    reason = why_no_browser()
    if reason is not None:
        pytest.skip(reason)
    from axe_playwright_python.sync_playwright import Axe

    checker = Axe()

    def violations(page: Any) -> list[str]:
        found = checker.run(page).response["violations"]
        return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]

    return violations
