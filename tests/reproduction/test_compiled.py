"""Two papers are compared by the text of their pages."""

from __future__ import annotations

import typst

from failbench.publish.reproduction.printed import compiled_differences, page_texts
from failbench.publish.reproduction.tolerances import rule_of

RULE = rule_of("paper/paper.pdf")


def paper(text: str) -> bytes:
    return typst.compile(f"#set page(width: 6cm, height: 6cm)\n{text}".encode(), format="pdf")


def test_where_a_line_breaks_does_not_count() -> None:
    narrow, wide = (f"#box(width: {width}cm)[one two three four five six]" for width in (2, 5))
    assert page_texts(paper(narrow)) == page_texts(paper(wide))


def test_a_last_digit_may_differ_by_one() -> None:
    before, after = paper("It reaches 60.7 of them."), paper("It reaches 60.8 of them.")
    (difference,) = compiled_differences(before, after, RULE)
    assert difference.share <= 1


def test_another_number_is_a_change() -> None:
    before, after = paper("It reaches 60.7 of them."), paper("It reaches 61.7 of them.")
    (difference,) = compiled_differences(before, after, RULE)
    assert difference.share > 1
