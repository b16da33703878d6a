"""Claims: what the paper's section 7.4 says of onsets, signs and texts, as statements to measure.

Each claim names how its verdict is reached. The rules were fixed with the claims, before any
result was seen, and none of them looks at a figure of another claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import polars as pl

from failbench.studies.onset.estimates import Rule
from failbench.vocabulary import Category

Verdict = Literal["holds", "does not hold", "undecided"]
Test = Literal["chance", "base", "half", "margin", "gain", "absent"]

GRADUAL: Final = pl.col("onset") == "gradual"
ABRUPT: Final = pl.col("onset") != "gradual"
"""Sudden or without any sign: nothing grew worse for long before the end."""


def of(*categories: Category) -> pl.Expr:
    """Whether a run's cause is of one of these categories."""
    return pl.col("category").is_in(categories)


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "gradual": Rule(GRADUAL, of("optimization", "memory_hardware")),
        "sudden_software": Rule(ABRUPT, of("model_software")),
        "sudden_trigger": Rule(ABRUPT, pl.col("switched_on")),
        "sudden_either": Rule(ABRUPT, of("model_software") | pl.col("switched_on")),
        "norm_above_paper": Rule(pl.col("norm_above_paper"), of("optimization")),
        "norm_above_healthy": Rule(pl.col("norm_above_healthy"), of("optimization")),
        "norm_grew": Rule(pl.col("norm_grew"), of("optimization")),
        "text_named": Rule(
            pl.col("named").is_not_null(), (pl.col("named") == pl.col("category")).fill_null(False)
        ),
    }
)
"""By name: what is measured as precision and recall."""

OF_ONSET: Final = ("gradual", "sudden_software", "sudden_trigger", "sudden_either")
"""The rules whose sign is the kind of onset."""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, and how it is decided."""

    name: str
    place: str
    said: str
    measured: str
    test: Test


CLAIMS: Final = (
    Claim(
        "association",
        "7.4",
        "How a failure sets in helps to tell its cause",
        "Cramér's V of category and kind of onset, against permuted categories",
        "chance",
    ),
    Claim(
        "gradual",
        "7.4",
        "Gradual degradation points to optimization or to resources that run out",
        "gradual failures that are of optimization or memory",
        "base",
    ),
    Claim(
        "sudden_software",
        "7.4",
        "Sudden failures point to wrong configuration",
        "sudden failures, or without a sign, that are of model software",
        "base",
    ),
    Claim(
        "sudden_trigger",
        "7.4",
        "Sudden failures point to an event that triggered them",
        "sudden failures, or without a sign, whose fault was switched on in mid-run",
        "base",
    ),
    Claim(
        "sudden_either",
        "7.4",
        "Sudden failures point to one of the two",
        "the same, of model software or switched on in mid-run",
        "base",
    ),
    Claim(
        "software_sudden",
        "3.1",
        "Failures of model software crash right away and do not degrade",
        "failures of model software that are sudden or without a sign",
        "half",
    ),
    Claim(
        "norm_above_paper",
        "7.4",
        "An explosion of gradient norms is a clear sign of optimization",
        "runs with a norm above the paper's threshold that are of optimization",
        "half",
    ),
    Claim(
        "norm_above_healthy",
        "7.4",
        "The same, with a threshold from healthy runs",
        "runs with a norm above healthy ones that are of optimization",
        "half",
    ),
    Claim(
        "norm_grew_elsewhere",
        "7.3.1",
        "In no other category do gradient norms grow tenfold",
        "failures of other categories in which they do",
        "absent",
    ),
    Claim(
        "text_wrong",
        "7.4",
        "Words of an error text do not suffice to name the category",
        "runs whose text names a category that is not that of the cause",
        "margin",
    ),
    Claim(
        "corroborated",
        "7.4",
        "Error texts need other signals beside them",
        "gain in accuracy of reading the step series beside the text, on runs with a text",
        "gain",
    ),
)


@dataclass(frozen=True)
class Measured:
    """What was measured of a claim."""

    value: float
    ci_low: float
    ci_high: float
    base: float | None
    p: float | None
    scenarios: float
    runs: int


def verdict(test: Test, measured: Measured, margin: float, alpha: float) -> Verdict:
    """What a measured value says of a claim."""
    if test == "chance":
        assert measured.p is not None
        return "holds" if measured.p < alpha else "undecided"
    if test == "absent":
        return "holds" if measured.value == 0 else "does not hold"
    lower, upper = {
        "base": (measured.base or 0.0, (measured.base or 0.0) + margin),
        "half": (0.5, 0.5),
        "margin": (margin, margin),
        "gain": (0.0, margin),
    }[test]
    if measured.ci_low > lower:
        return "holds"
    return "does not hold" if measured.ci_high < upper else "undecided"
