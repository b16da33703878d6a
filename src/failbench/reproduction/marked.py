"""The tables that are generated into README.md; the prose around them is written by hand."""

from __future__ import annotations

import re

from failbench.reproduction.difference import Difference
from failbench.reproduction.printed import printed_differences

BLOCK = re.compile(r"<!-- ([\w ]+): begin -->\n(.*?)<!-- \1: end -->", re.DOTALL)


def marked_blocks(text: str) -> dict[str, str]:
    r"""The generated parts of a text, by the names in the comments around them.

    Examples
    --------
    >>> marked_blocks("a <!-- t: begin -->\nb\n<!-- t: end --> c")
    {'t': 'b\n'}
    """
    return dict(BLOCK.findall(text))


def marked_differences(committed: str, regenerated: str) -> list[Difference]:
    """What differs between the generated parts of two texts."""
    before, after = marked_blocks(committed), marked_blocks(regenerated)
    if before.keys() != after.keys():
        return [Difference("", "generated parts", ", ".join(before), ", ".join(after))]
    return [
        Difference(f"{name} {difference.place}", *_rest(difference))
        for name, table in before.items()
        for difference in printed_differences(table, after[name])
    ]


def _rest(difference: Difference) -> tuple[str, str, str, float]:
    return difference.field, difference.committed, difference.regenerated, difference.share
