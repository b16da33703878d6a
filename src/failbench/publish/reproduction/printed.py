"""Printed text and figures: equal words, and numbers that agree to the unit of their last digit."""

# Of drawings, styles are compared as texts, except colours, which may come from a scale; positions
# within an invisible distance; of a line that the renderer simplified, with a vertex more or less,
# the extent; of an embedded raster the presence.

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

from pypdf import PdfReader

from failbench.publish.reproduction import values
from failbench.publish.reproduction.values import Difference, FileRule, Tolerance, text_share

BLOCK = re.compile(r"<!-- ([\w ]+): begin -->\n(.*?)<!-- \1: end -->", re.DOTALL)
HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010]\n(?=\w)")  # in a word that a line broke
AROUND = 20  # characters that are shown on either side of what differs


TAG = re.compile(r"(<[^>]*>)")
ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
POSITION = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
HEXADECIMAL = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b")
GENERATED_NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{10}(?![0-9a-f])")
"""Id of a marker, a clip or a hatch: a hash of its shape, which changes with its last digit."""

RASTER = re.compile(r'data:image/[^"]*')
LINE = re.compile(r"^[MLe\d\s.-]+$")
POSITIONS = {"d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform", "viewBox"}

SIMPLIFIED_FROM = 20  # fewest vertices of a line that the renderer may have simplified
SHOWN = 60  # characters of an element that are shown


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


def _differing_parts(committed: str, regenerated: str) -> tuple[str, str]:
    before, after = values.normal(committed), values.normal(regenerated)
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    end = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), 0)
    first = max(start - AROUND, 0)

    def part(text: str) -> str:
        return text[first : min(len(text) - end + AROUND, first + 4 * AROUND)]

    return part(before), part(after)


def drawing_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two figures."""
    before, after = (TAG.split(_canonical(text)) for text in (committed, regenerated))
    if len(before) != len(after):
        return [Difference("", "elements", str(len(before) // 2), str(len(after) // 2))]
    differences = []
    for number, (part, other) in enumerate(zip(before, after, strict=True)):
        if part == other:
            continue
        element = f"element {number // 2}"
        if number % 2:
            differences += _element(element, part, other, rule.tolerance)
        elif share := text_share(part, other):
            differences.append(Difference(element, "text", part.strip(), other.strip(), share))
    return differences


def _element(place: str, tag: str, other: str, tolerance: Tolerance) -> list[Difference]:
    if ATTRIBUTE.sub(r"\1", tag) != ATTRIBUTE.sub(r"\1", other):
        return [Difference(place, "", tag, other)]
    name = tag.split()[0].lstrip("<")
    pairs = zip(ATTRIBUTE.findall(tag), ATTRIBUTE.findall(other), strict=True)
    return [
        Difference(f"{place} <{name}>", attribute, _short(value), _short(another), share)
        for (attribute, value), (_, another) in pairs
        if (share := _attribute_share(attribute, value, another, tolerance))
    ]


def _attribute_share(name: str, value: str, other: str, tolerance: Tolerance) -> float:
    if value == other:
        return 0.0
    if name in POSITIONS:
        return _position_share(name, value, other, tolerance)
    if HEXADECIMAL.sub("colour", value) == HEXADECIMAL.sub("colour", other):
        return _largest(_channels(value), _channels(other), values.COLOUR)
    return values.CHANGED


def _position_share(name: str, value: str, other: str, tolerance: Tolerance) -> float:
    before, after = _numbers(value), _numbers(other)
    if POSITION.sub("#", value) == POSITION.sub("#", other):
        return _largest(before, after, tolerance)
    if name == "d" and _may_be_simplified(value) and _may_be_simplified(other):
        x, y = (
            _largest(_extent(before[axis::2]), _extent(after[axis::2]), tolerance)
            for axis in (0, 1)
        )
        return max(x, y)
    return values.CHANGED


def _may_be_simplified(path: str) -> bool:
    return bool(LINE.match(path)) and len(_numbers(path)) >= 2 * SIMPLIFIED_FROM


def _largest(before: Sequence[float], after: Sequence[float], tolerance: Tolerance) -> float:
    pairs = zip(before, after, strict=True)
    return max((tolerance.share(number, another) for number, another in pairs), default=0.0)


def _extent(numbers: Sequence[float]) -> tuple[float, float]:
    return min(numbers), max(numbers)


def _numbers(value: str) -> list[float]:
    return [float(number) for number in POSITION.findall(value)]


def _channels(style: str) -> list[float]:
    return [int(level, 16) for colour in HEXADECIMAL.findall(style) for level in colour]


def _canonical(content: bytes) -> str:
    order: dict[str, int] = {}
    text = RASTER.sub("raster", content.decode("utf-8"))
    return GENERATED_NAME.sub(lambda name: str(order.setdefault(name[0], len(order))), text)


def _short(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
