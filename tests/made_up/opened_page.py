import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "paper/report.html"

CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}


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
