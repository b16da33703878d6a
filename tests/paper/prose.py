"""The text of the paper apart from its code, and the numbers that were typed into it."""

from __future__ import annotations

import re

_REMOVED = [
    re.compile(r"(?m)(?<![:\"\w])//.*$"),  # comments
    re.compile(r'"(?:[^"\\]|\\.)*"'),  # strings: keys, names, alternative texts
    re.compile(r"`[^`]*`"),  # code in the text
    re.compile(r"\b(?:low|high|digits|size|scale|inset|width|height)\s*:\s*-?[\d.]+%?"),
    re.compile(r"\b(?:ticks|band|columns)\s*:\s*\([^()]*\)"),
    re.compile(r"-?\b\d+(?:\.\d+)?(?:pt|em|in|cm|mm|fr)\b"),  # lengths
    re.compile(r"\b(?:width|height)\s*:\s*\d+%"),
    re.compile(r"\*\s*100\b|\b100\s*\*"),
]

_TYPED = re.compile(r"(?<![\w.])\d+[.,]\d+|(?<![\w.])\d+(?:\s|~|\\u\{a0\}| )*\\?%")


def typed_numbers(source: str) -> list[tuple[int, str]]:
    """Decimals and percentages that stand in the text and not in its code.

    Returns
    -------
    list
        Line, counted from one, and the number.
    """
    kept = source
    for pattern in _REMOVED:
        kept = pattern.sub(lambda found: "\n" * found.group().count("\n"), kept)
    return [
        (number, found.group())
        for number, line in enumerate(kept.splitlines(), start=1)
        for found in _TYPED.finditer(line)
    ]
