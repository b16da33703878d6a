"""The paper: the text of its pages, whose numbers come from files that are compared themselves."""

from __future__ import annotations

import re
from io import BytesIO

from pypdf import PdfReader

from failbench.publish.reproduction.difference import Difference
from failbench.publish.reproduction.printed import text_differences
from failbench.publish.reproduction.tolerances import FileRule

HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010]\n(?=\w)")
"""Between the parts of a word that a line broke."""


def compiled_differences(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    """Differences between the texts of two PDFs, a page a line, as between printed tables."""
    return text_differences(page_texts(committed), page_texts(regenerated))


def page_texts(document: bytes) -> str:
    """The text of a PDF, a page a line; where lines broke does not count."""
    pages = (page.extract_text() for page in PdfReader(BytesIO(document)).pages)
    return "\n".join(" ".join(HYPHEN.sub("", page).split()) for page in pages)
