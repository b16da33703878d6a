"""Text of pages: what is included from elsewhere, and links that lead to the same page in the site.

In the repository a path in code is what a reader can open: ``docs/logs.md`` becomes a link to that
page. A line ``--8<-- "README.md#Heading"`` stands for a section of a file, without the heading
for the whole file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

FENCED = re.compile(r"(^(?P<fence>`{3,}).*?^(?P=fence)`*[ \t]*$)", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"(?<!\[)`([\w./-]+\.md)`(?!\])")
INCLUDED = re.compile(r'^--8<-- "(?P<path>[^"#]+)(?:#(?P<heading>[^"]+))?"$', re.MULTILINE)
FROM_ROOT = re.compile(r"\]\(docs/([\w./-]+\.md(?:#[\w-]+)?)\)")


def with_included(markdown: str, root: Path) -> str:
    """The text with what it includes; links of the README lead from the folder of pages."""

    def included(found: re.Match[str]) -> str:
        text = (root / found["path"]).read_text(encoding="utf-8")
        if found["heading"] is not None:
            text = section(text, found["heading"])
        return FROM_ROOT.sub(r"](\1)", text.strip())

    return INCLUDED.sub(included, markdown)


def section(text: str, heading: str) -> str:
    r"""What stands below a heading, up to the next of its level or a higher one.

    Examples
    --------
    >>> section("# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n", "B")
    'b\n\n### C\n\nc'
    """
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"No heading {heading!r} is there to be included. Correct the page.")
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start() if end else None].strip()


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
