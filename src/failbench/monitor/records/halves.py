"""Halves of the scenarios: one to develop the monitor with, one to test its last version on."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Literal

import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.vocabulary import CATEGORIES

Half = Literal["development", "test"]

HALF_SCHEMA: Final = pl.Schema(
    {"scenario": pl.String(), "category": pl.String(), "half": pl.String()}
)


def halves(scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Split the scenarios, category by category, by a hash of their ids.

    Within a category the scenarios stand in the order of the SHA-256 of their ids; counted through
    all categories, every second one belongs to the test half. So the halves differ by at most one
    scenario, in every category and in all, and nobody chose who belongs where.
    """
    ordered = sorted(
        scenarios,
        key=lambda scenario: (
            CATEGORIES.index(scenario.category),
            sha256(scenario.id.encode()).hexdigest(),
        ),
    )
    names: tuple[Half, Half] = ("development", "test")
    return pl.DataFrame(
        [
            (scenario.id, scenario.category, names[place % 2])
            for place, scenario in enumerate(ordered)
        ],
        schema=HALF_SCHEMA,
        orient="row",
    )
