import re
from pathlib import Path

import pytest

from failbench.publish.paper import sources
from pipeline import REPOSITORY

MAIN = REPOSITORY / "paper" / "paper.typ"
TEXTS = [path for path in sources(MAIN) if "lib" not in path.parts]


REMOVED = [
    re.compile(r"(?m)(?<![:\"\w])//.*$"),  # comments
    re.compile(r'"(?:[^"\\]|\\.)*"'),  # strings: keys, names, alternative texts
    re.compile(r"`[^`]*`"),  # code in the text
    re.compile(r"\b(?:low|high|digits|size|scale|inset|width|height)\s*:\s*-?[\d.]+%?"),
    re.compile(r"\b(?:ticks|band|columns)\s*:\s*\([^()]*\)"),
    re.compile(r"-?\b\d+(?:\.\d+)?(?:pt|em|in|cm|mm|fr)\b"),  # lengths
    re.compile(r"\b(?:width|height)\s*:\s*\d+%"),
    re.compile(r"\*\s*100\b|\b100\s*\*"),
]

TYPED = re.compile(r"(?<![\w.])\d+[.,]\d+|(?<![\w.])\d+(?:\s|~|\\u\{a0\}| )*\\?%")


def typed_numbers(source: str) -> list[tuple[int, str]]:
    """Decimals and percentages of the text, not of its code, each with its line from one."""
    kept = source
    for pattern in REMOVED:
        kept = pattern.sub(lambda found: "\n" * found.group().count("\n"), kept)
    return [
        (number, found.group())
        for number, line in enumerate(kept.splitlines(), start=1)
        for found in TYPED.finditer(line)
    ]


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_no_decimal_or_percentage_is_typed(text: Path) -> None:
    assert typed_numbers(text.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The forest reaches 60.7 of them.", 1),
        ("The forest reaches 60 % of them.", 1),
        ("#supported(true, [It reaches 12%])", 1),
        ('#ci("intervals", "19") and 1.5 more', 1),
        ('#pct("ablation", "0.05", "accuracy", digits: 0)', 0),
        ('#drawing("twin", width: 60%)', 0),
        ("// 60 % was the first guess", 0),
        ("#dot-plot(((title: [points], low: -0.45, high: 0.45, ticks: (-0.4, 0.0)),))", 0),
        ("#v(-0.35em)", 0),
        ("`tau = 0.6`", 0),
    ],
)
def test_a_typed_number_is_found_and_code_is_no_text(text: str, found: int) -> None:
    assert len(typed_numbers(text)) == found
