"""What the text of the paper says of the parameters."""

from __future__ import annotations

from collections.abc import Sequence

from failbench.statistics.settings import StatisticsSettings

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Whole numbers as prose has them."""

SPACE = "\u00a0"
"""Between a number and its unit a line is not broken."""


def facts(
    statistics: StatisticsSettings, folds: int, repeats: int, seeds: Sequence[int]
) -> dict[str, str]:
    """The parameters that the text names, as it prints them.

    Examples
    --------
    >>> settings = StatisticsSettings(
    ...     confidence=0.95, resamples=10_000, seed=0, wilson_from=0.9, wilson_below=10,
    ...     practical_equivalence=0.05, equivalence_margin=0.1, power=0.8,
    ... )
    >>> facts(settings, 5, 10, [0, 1, 2])["resamples"]
    '10,000'
    """
    return {
        "confidence": f"{_trimmed(100 * statistics.confidence)}{SPACE}%",
        "level": _trimmed(1 - statistics.confidence),
        "resamples": f"{statistics.resamples:,}",
        "practical_equivalence": _points(statistics.practical_equivalence),
        "equivalence_margin": _points(statistics.equivalence_margin),
        "power": f"{statistics.power:.2f}",
        "folds": _word(folds),
        "repeats": _word(repeats),
        "seeds": _word(len(seeds)),
    }


def _word(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else f"{count:,}"


def _points(share: float) -> str:
    return f"{_trimmed(100 * share)}{SPACE}points"


def _trimmed(value: float) -> str:
    return f"{value:.10g}"
