"""Printed text: equal words, and numbers that agree to the unit of their last digit.

So are compared tables, the parts of README.md that are generated, and the pages of the paper, whose
numbers come from files that are compared themselves.
"""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO

from pypdf import PdfReader

from failbench.publish.reproduction.tolerances import CHANGED, Difference, FileRule, Tolerance

NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
RULER = re.compile(r"^[|:\- ]+$")
"""The line below the header of a Markdown table, whose length follows the widest entry."""

BLOCK = re.compile(r"<!-- ([\w ]+): begin -->\n(.*?)<!-- \1: end -->", re.DOTALL)
HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010]\n(?=\w)")
"""Between the parts of a word that a line broke."""

ROUNDING = 1 + 1e-9
"""0.3 - 0.2 is not 0.1 in binary."""

AROUND = 20
"""Characters that are shown on either side of what differs."""


def table_differences(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    """Differences between two files of printed text."""
    return text_differences(committed.decode("utf-8"), regenerated.decode("utf-8"))


def compiled_differences(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    """Differences between the texts of two PDFs, a page a line, as between printed tables."""
    return text_differences(page_texts(committed), page_texts(regenerated))


def page_texts(document: bytes) -> str:
    """The text of a PDF, a page a line; where lines broke does not count."""
    pages = (page.extract_text() for page in PdfReader(BytesIO(document)).pages)
    return "\n".join(" ".join(HYPHEN.sub("", page).split()) for page in pages)


def marked_differences(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    """Differences between the generated parts of two texts; prose around them is not compared."""
    before, after = (generated_blocks(text.decode("utf-8")) for text in (committed, regenerated))
    if before.keys() != after.keys():
        return [Difference("", "generated parts", ", ".join(before), ", ".join(after))]
    return [
        replace(difference, place=f"{name} {difference.place}")
        for name, table in before.items()
        for difference in text_differences(table, after[name])
    ]


def generated_blocks(text: str) -> dict[str, str]:
    r"""The generated parts of a text, by the names in the comments around them.

    Examples
    --------
    >>> generated_blocks("a <!-- t: begin -->\nb\n<!-- t: end --> c")
    {'t': 'b\n'}
    """
    return dict(BLOCK.findall(text))


def text_differences(committed: str, regenerated: str) -> list[Difference]:
    """Differences between two printed texts, line by line, ignoring column widths."""
    before, after = committed.splitlines(), regenerated.splitlines()
    if len(before) != len(after):
        return [Difference("", "lines", str(len(before)), str(len(after)))]
    return [
        Difference(f"line {number}", "", *_differing_parts(line, other), share)
        for number, (line, other) in enumerate(zip(before, after, strict=True), start=1)
        if (share := text_share(line, other))
    ]


def text_share(committed: str, regenerated: str) -> float:
    """The largest difference between the numbers of two texts, in units of their last digits.

    Examples
    --------
    >>> text_share("59.2 [51.3, 67.1] of 76", "59.2 [51.2, 67.1] of 76") <= 1
    True
    >>> text_share("59.2 of 76", "59.2 of 75")
    inf
    >>> text_share("p = 0.001", "p < 0.001")
    inf
    """
    if committed == regenerated:
        return 0.0
    line, other = _normal(committed), _normal(regenerated)
    if NUMBER.sub("#", line) != NUMBER.sub("#", other):
        return CHANGED
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return max((_share(number, another) for number, another in pairs), default=0.0)


def _share(committed: str, regenerated: str) -> float:
    (before, unit), (after, other) = _number(committed), _number(regenerated)
    # Digits that a general format omits are zeros: the finer unit applies to both.
    finer = min(filter(None, (unit, other)), default=0.0) * ROUNDING
    return Tolerance(absolute=finer, relative=0.0).share(before, after)


def _number(text: str) -> tuple[float, float]:
    """A number, and the unit of its last digit; 0 for whole numbers, which are counts."""
    plain = text.replace("−", "-")
    mantissa, _, exponent = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    is_count = not decimals and not exponent
    return float(plain), 0.0 if is_count else 10.0 ** (int(exponent or 0) - decimals)


def _normal(line: str) -> str:
    if RULER.match(line):
        return re.sub(r"-+", "-", line.replace(" ", ""))
    return re.sub(r"\s+", " ", line.strip())


def _differing_parts(committed: str, regenerated: str) -> tuple[str, str]:
    """Both lines, cut to the part that differs and a few characters around it."""
    before, after = _normal(committed), _normal(regenerated)
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    end = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), 0)
    first = max(start - AROUND, 0)

    def part(text: str) -> str:
        return text[first : min(len(text) - end + AROUND, first + 4 * AROUND)]

    return part(before), part(after)
