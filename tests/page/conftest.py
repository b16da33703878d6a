"""A browser without a network, in which the committed page is opened from disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "paper/report.html"

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}

Opened = Callable[..., Any]


def why_no_browser() -> str | None:
    """Why tests in a browser cannot run; None if they can."""
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as error:
        return f"not run: {error.name} is not installed (pip install -e '.[browser]')"
    if shutil.which("chromium") is None:
        return "not run: no chromium on the PATH (apt-get install chromium)"
    return None


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    reason = why_no_browser()
    if reason is not None:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_ARGUMENTS
        )
        yield launched
        launched.close()


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
