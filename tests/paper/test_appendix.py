"""The appendix: its sections, and how long the whole may be."""

from __future__ import annotations

import re

from failbench.publish.paper import sources
from failbench.publish.reproduction.printed import page_texts
from pipeline import REPOSITORY

PAPER = REPOSITORY / "paper"
SHARED = {"appendix", "parts"}
APPENDIX = [path for path in sources(PAPER / "paper.typ") if path.parent.name == "appendix"]
MOST_PAGES = 40


def test_each_section_of_the_appendix_is_in_it() -> None:
    appendix = (PAPER / "appendix" / "appendix.typ").read_text(encoding="utf-8")
    included = re.findall(r'#include "([^"]+)"', appendix)
    assert included == sorted(path.name for path in APPENDIX if path.stem not in SHARED)


def test_each_section_says_how_much_was_asked_before_it_shows() -> None:
    """Its first lines are prose: a heading and a paragraph, and no table right below a heading."""
    for source in APPENDIX:
        if source.stem in {*SHARED, "e-wide-tables"}:
            continue
        lines = source.read_text(encoding="utf-8").splitlines()
        heading = next(place for place, line in enumerate(lines) if line.startswith("= "))
        first = next(line for line in lines[heading + 1 :] if line.strip())
        assert re.match(r"#(?:pictured|generated|long|wide)\(", first) is None, source.name


def test_text_and_appendix_together_stay_within_their_pages() -> None:
    text = page_texts((PAPER / "paper.pdf").read_bytes())
    assert len(text.splitlines()) <= MOST_PAGES
