"""Figures: elements, colours and texts of SVG files.

The points of a figure, in ``data/plots``, are compared separately. The drawing is compared element
by element: styles as texts, except colours, which may come from a scale; positions within an
invisible distance; texts like those of tables. A line that the renderer simplified may have a
vertex more or less: then its extent is compared. Of an embedded raster only the presence is
compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from failbench.publish.reproduction.printed import text_share
from failbench.publish.reproduction.tolerances import (
    CHANGED,
    COLOUR,
    Difference,
    FileRule,
    Tolerance,
)

TAG = re.compile(r"(<[^>]*>)")
ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
POSITION = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
HEXADECIMAL = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b")
GENERATED_NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{10}(?![0-9a-f])")
"""Id of a marker, a clip or a hatch: a hash of its shape, which changes with its last digit."""

RASTER = re.compile(r'data:image/[^"]*')
LINE = re.compile(r"^[MLe\d\s.-]+$")
POSITIONS = {"d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform", "viewBox"}

SIMPLIFIED_FROM = 20
"""Fewest vertices of a line that the renderer may have simplified."""

SHOWN = 60
"""Characters of an element that are shown."""


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
        return _largest(_channels(value), _channels(other), COLOUR)
    return CHANGED


def _position_share(name: str, value: str, other: str, tolerance: Tolerance) -> float:
    before, after = _numbers(value), _numbers(other)
    if POSITION.sub("#", value) == POSITION.sub("#", other):
        return _largest(before, after, tolerance)
    if name == "d" and _may_be_simplified(value) and _may_be_simplified(other):
        return max(
            _largest(_extent(before[axis::2]), _extent(after[axis::2]), tolerance)
            for axis in (0, 1)
        )
    return CHANGED


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
    """A figure without rasters, with generated ids replaced by their order."""
    order: dict[str, int] = {}
    text = RASTER.sub("raster", content.decode("utf-8"))
    return GENERATED_NAME.sub(lambda name: str(order.setdefault(name[0], len(order))), text)


def _short(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
