"""The tables that are generated into README.md; the prose around them is written by hand."""

from __future__ import annotations

import re
from dataclasses import replace

from failbench.publish.reproduction.difference import Difference
from failbench.publish.reproduction.printed import text_differences

BLOCK = re.compile(r"<!-- ([\w ]+): begin -->\n(.*?)<!-- \1: end -->", re.DOTALL)


def generated_blocks(text: str) -> dict[str, str]:
    r"""The generated parts of a text, by the names in the comments around them.

    Examples
    --------
    >>> generated_blocks("a <!-- t: begin -->\nb\n<!-- t: end --> c")
    {'t': 'b\n'}
    """
    return dict(BLOCK.findall(text))


def generated_differences(committed: str, regenerated: str) -> list[Difference]:
    """Differences between the generated parts of two texts."""
    before, after = generated_blocks(committed), generated_blocks(regenerated)
    if before.keys() != after.keys():
        return [Difference("", "generated parts", ", ".join(before), ", ".join(after))]
    return [
        replace(difference, place=f"{name} {difference.place}")
        for name, table in before.items()
        for difference in text_differences(table, after[name])
    ]
