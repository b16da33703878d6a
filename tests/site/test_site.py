import doctest
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from builder import links, numbers
from builder.command_line import reference

from failbench.causes.catalogue import causes
from failbench.cli.main import commands
from failbench.publish.symptoms import symptoms
from pipeline import REPOSITORY

pytest.importorskip("zensical", reason="the site needs the extra `site`")
pytest.importorskip("mkdocstrings", reason="the site needs the extra `site`")

BUILD = """\
import socket, sys
from pathlib import Path

def refuse(*arguments, **keywords):
    raise OSError("a build asks for no network")

socket.socket.connect = socket.getaddrinfo = refuse
from builder.build import build

build(Path(sys.argv[2]), Path(sys.argv[1]))
"""
"""Builds the site of a checkout in a process that has no network."""

FETCHED = ("src", "srcset", "href", "xlink:href", "data", "poster")
"""Attributes whose address a browser asks for by itself, but of a link to be followed."""

NAMED_ONLY = {"canonical", "alternate", "next", "prev", "license", "author"}
"""Kinds of links of a page that a browser asks nothing of."""


@dataclass
class Page(HTMLParser):
    """What a page asks for, and its pictures without words."""

    path: Path
    fetched: list[str] = field(default_factory=list)
    without_text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "img" and not values.get("alt"):
            self.without_text.append(values.get("src", ""))
        if tag == "a" or set(values.get("rel", "").split()) & NAMED_ONLY:
            return
        self.fetched += [values[name] for name in FETCHED if values.get(name)]
        self.fetched += re.findall(r"url\(([^)]+)\)", values.get("style", ""))


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    places = [str(REPOSITORY / name) for name in ("docs", "src")]
    return subprocess.run(
        [sys.executable, "-c", BUILD, str(root), str(folder)],
        cwd=folder.parent,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*places, *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    done = build(REPOSITORY, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path) for path in site.rglob("*.html")}
    assert len(found) > 25
    return found


def is_outside(address: str) -> bool:
    return bool(urlsplit(address.strip("'\" ")).netloc)


def test_nothing_asks_for_an_outside_address(site: Path, pages: dict[Path, Page]) -> None:
    asked = {address for page in pages.values() for address in page.fetched}
    assert len(asked) > 10
    assert [address for address in asked if is_outside(address)] == []
    for path in pages:  # for diagrams the theme would fetch a script
        assert 'class="mermaid"' not in path.read_text(encoding="utf-8")
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    styles += re.findall(
        r"<style.*?</style>", "".join(path.read_text("utf-8") for path in pages), re.DOTALL
    )
    assert styles
    for style in styles:
        assert not [url for url in re.findall(r"url\(([^)]+)\)", style) if is_outside(url)]
        assert "@import" not in style


def test_every_picture_says_what_it_shows(pages: dict[Path, Page]) -> None:
    assert [each for page in pages.values() for each in page.without_text] == []


def test_each_symptom_and_cause_has_a_page_that_a_search_engine_can_show(
    site: Path, pages: dict[Path, Page]
) -> None:
    places = [f"symptoms/{each.id}" for each in symptoms()] + [
        f"causes/{each}" for each in causes()
    ]
    heads = [(site / f"{place}.html").read_text("utf-8") for place in places]
    titles = {re.findall(r"<title>(.*?)</title>", head)[0] for head in heads}
    described = {re.findall(r'<meta name="description" content="(.*?)"', head)[0] for head in heads}
    assert len(titles) == len(described) == len(places)


PAGES = ["index", "works", "symptoms/nan", "causes/graph_kept", "tutorials/watch_a_loop",
         "reference/commands", "reference/monitor"]  # fmt: skip


@pytest.mark.system
@pytest.mark.parametrize("width", [1280, 360])
def test_pages_ask_for_nothing_outside_fit_the_screen_and_raise_no_error(
    site: Path, browser: Any, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    wrong: list[str] = []
    failed: list[tuple[str, str]] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: failed.append((request.url, request.failure)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    for name in PAGES:
        page.goto(f"file://{site}/{name}.html")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(asked) > len(PAGES)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert wrong == []
    # what a page still asks for when the next one is opened is given up
    assert [each for each in failed if "ERR_ABORTED" not in each[1]] == []


@pytest.mark.system
def test_the_search_finds_a_page_without_a_server(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"file://{site}/index.html")
    page.keyboard.press("/")
    page.keyboard.type("StoppingMonitor", delay=50)
    found = page.locator('a[href*="StoppingMonitor"]').first
    found.wait_for(timeout=30_000)
    found.click()
    page.wait_for_load_state()
    assert "StoppingMonitor" in page.locator("article").inner_text()


@pytest.fixture
def documentation(tmp_path: Path) -> Path:
    """A checkout with pages that a test may change, beside the repository's own files."""
    root = tmp_path / "copy"
    shutil.copytree(REPOSITORY / "docs", root / "docs")
    for path in REPOSITORY.iterdir():
        if path.name != "docs" and not path.name.startswith("."):
            (root / path.name).symlink_to(path)
    return root


def add(root: Path, page: str, text: str) -> None:
    with (root / page).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{text}\n")


@pytest.mark.system
def test_broken_links_end_the_build(documentation: Path) -> None:
    add(documentation, "docs/logs.md", "[gone](gone.md) and [gone](#nowhere)")
    add(documentation, "docs/monitor.md", "`docs/vanished.md`")
    done = build(documentation, documentation / "built")
    assert done.returncode == 1
    said = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
    assert "3 issues found" in said
    assert not (documentation / "built").exists()


def test_a_page_without_a_place_ends_the_build_and_so_does_a_section_that_is_not_there(
    documentation: Path,
) -> None:
    add(documentation, "docs/unlisted.md", "# A page")
    done = build(documentation, documentation / "built")
    assert (done.returncode, "unlisted.md" in done.stderr) == (1, True)
    (documentation / "docs/unlisted.md").unlink()
    add(documentation, "docs/logs.md", '--8<-- "README.md#Nowhere"')
    done = build(documentation, documentation / "built")
    assert (done.returncode, "'Nowhere'" in done.stderr) == (1, True)


def test_the_reference_has_every_command_with_its_options() -> None:
    page = reference()
    assert page.count("### failbench ") == len(commands())
    sections = page.split("### failbench ")[1:]
    for command, section in zip(commands().values(), sections, strict=True):
        assert section.startswith(f"{command.name} {{ #{command.name} }}")
        arguments = command.app[command.name].assemble_argument_collection()
        options = {argument.name for argument in arguments if argument.name.startswith("--")}
        assert all(name in section for name in options)


@pytest.mark.parametrize("module", [links, numbers])
def test_examples_of_the_builder_are_true(module: Any) -> None:
    result = doctest.testmod(module)
    assert (bool(result.attempted), result.failed) == (True, 0)


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("`docs/logs.md`", "[`docs/logs.md`](logs.md)"),
        ("`CONTRIBUTING.md`", "[`CONTRIBUTING.md`](contributing.md)"),
        ("[`docs/logs.md`](logs.md)", "[`docs/logs.md`](logs.md)"),
        ("`paper/tables/cost.md`", "`paper/tables/cost.md`"),
        ("```text\n`docs/logs.md`\n```\n", "```text\n`docs/logs.md`\n```\n"),
    ],
)
def test_paths_in_prose_are_linked_and_nothing_else(text: str, linked: str) -> None:
    shared = {"CONTRIBUTING.md": "contributing.md"}
    assert links.with_links(text, "page.md", shared) == linked
    around = f"a `docs/logs.md`\n\n{text}\n\nz `docs/logs.md`\n"
    link = "[`docs/logs.md`](logs.md)"
    assert links.with_links(around, "page.md", shared) == f"a {link}\n\n{linked}\n\nz {link}\n"
