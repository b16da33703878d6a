import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline import REPOSITORY

pytestmark = pytest.mark.system
pytest.importorskip("material", reason="the site needs the extra `site`")
PAGES = ["index", "results", "tutorials/watch_a_loop", "reference/commands", "reference/monitor"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("width", [1280, 360])
def test_pages_ask_for_nothing_outside_fit_the_screen_and_raise_no_error(
    site: Path, browser: Any, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    for name in PAGES:
        page.goto(f"file://{site}/{name}.html")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert len(asked) > len(PAGES)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert wrong == []


def test_the_search_finds_a_page_without_a_server(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"file://{site}/index.html")
    page.keyboard.press("/")
    page.keyboard.type("StoppingMonitor")
    found = page.locator(".md-search-result__link").first
    found.wait_for(timeout=20_000)
    found.click()
    page.wait_for_load_state()
    assert "StoppingMonitor" in page.locator("article").inner_text()
