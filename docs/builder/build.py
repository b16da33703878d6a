"""Builds the site: ``python -m builder [FOLDER]`` with ``docs`` on the path.

All pages are made first, as plain Markdown in a folder of their own; the generator of the site
reads no more than that folder and its configuration, and can be another one tomorrow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.catalogue import catalogue_pages
from builder.command_line import reference
from builder.links import with_included, with_links
from builder.study_tables import tables

ROOT = Path(__file__).parents[2]
CONFIGURATION = "zensical.toml"
SHARED = {"CONTRIBUTING.md": "contributing.md"}
"""Files from elsewhere in the repository, by their place in the site."""

BESIDE_THE_NAVIGATION = "causes/"
"""Pages that the page of all of them leads to: too many for a list at the side."""


def build(site: Path, root: Path = ROOT) -> None:
    """Build the site of a checkout into a folder; a broken link ends it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        stage(root, folder)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", CONFIGURATION]
        if subprocess.run(command, cwd=folder, check=False).returncode:
            raise SystemExit("The site has faults, which stand above: correct them.")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(folder / "site", site)


def stage(root: Path, folder: Path) -> None:
    """Write all pages, what they show and the configuration into a folder."""
    pages = folder / "pages"
    left_out = shutil.ignore_patterns("builder", "__pycache__")
    shutil.copytree(root / "docs", pages, ignore=left_out)
    shutil.copytree(root / "figures", pages / "figures")
    shutil.copy(root / CONFIGURATION, folder)
    (folder / "src").symlink_to(root / "src")
    for source, place in SHARED.items():
        shutil.copy(root / source, pages / place)
    for path in pages.rglob("*.md"):
        text = with_included(path.read_text(encoding="utf-8"), root)
        path.write_text(text, encoding="utf-8")
    for place, text in generated(root, pages):
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        (pages / place).write_text(text, encoding="utf-8")
    for path in pages.rglob("*.md"):
        place = path.relative_to(pages).as_posix()
        text = with_links(path.read_text(encoding="utf-8"), place, SHARED)
        path.write_text(text, encoding="utf-8")
    refuse_unlisted(folder)


def generated(root: Path, pages: Path) -> Iterator[tuple[str, str]]:
    """Pages that nobody writes, by their place; pictures go beside them."""
    yield "reference/commands.md", reference()
    yield "tables.md", tables(root)
    yield from catalogue_pages(root, pages)


def refuse_unlisted(folder: Path) -> None:
    """Refuse pages that no list of the site leads to."""
    configuration = (folder / CONFIGURATION).read_text(encoding="utf-8")
    listed = set(_leaves(tomllib.loads(configuration)["project"]["nav"]))
    pages = {path.relative_to(folder / "pages").as_posix() for path in folder.rglob("*.md")}
    unlisted = {page for page in pages - listed if not page.startswith(BESIDE_THE_NAVIGATION)}
    if unlisted or listed - pages:
        missing = ", ".join(sorted(unlisted | (listed - pages)))
        raise SystemExit(f"{CONFIGURATION} and docs/ differ in {missing}. List each page once.")


def _leaves(entry: object) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, Mapping | list):
        for each in entry.values() if isinstance(entry, Mapping) else entry:
            yield from _leaves(each)


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve())
