"""Makes links of the paths of pages: ``docs/logs.md`` in code leads to that page of the site.

In the repository a path in code is what a reader can open; a link to a page that is not there ends
the build, as every broken link does.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

FENCED = re.compile(r"(^(?P<fence>`{3,}).*?^(?P=fence)`*[ \t]*$)", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"(?<!\[)`([\w./-]+\.md)`(?!\])")


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Link the paths in the prose of a page, those of shared files too."""
    shared = {source: place for place, source in config.extra["shared"].items()}
    return with_links(markdown, page.file.src_uri, shared)


def with_links(markdown: str, place: str, shared: Mapping[str, str] = {}) -> str:
    """The text with links.

    Parameters
    ----------
    markdown
        A page; what stands in fenced blocks stays.
    place
        Where the page lies, from the folder of pages.
    shared
        Where in the site files from elsewhere in the repository lie.

    Examples
    --------
    >>> with_links("Read `docs/logs.md`.", "tutorials/index.md")
    'Read [`docs/logs.md`](../logs.md).'
    """

    def link(found: re.Match[str]) -> str:
        path = found[1]
        target = path.removeprefix("docs/") if path.startswith("docs/") else shared.get(path)
        if target is None:
            return found[0]
        return f"[{found[0]}]({posixpath.relpath(target, posixpath.dirname(place) or '.')})"

    parts = FENCED.split(markdown)
    # Of each three parts: prose, a fenced block, and the fence alone, which the block has already.
    return "".join(
        PATH.sub(link, part) if number % 3 == 0 else part
        for number, part in enumerate(parts)
        if number % 3 != 2
    )
