"""What measuring difficulty and reporting it share."""

from typing import Self

import polars as pl
from pydantic import Field, model_validator

from failbench.base.records import Record
from failbench.base.vocabulary import ANSWERS
from failbench.features.catalogue import FEATURE_SETS

KEYS = ("scenario", "category")
WORDS = ("instead", "declared", "symptom_category", "rationale", "measured")
NEAREST = ("nearest", "nearest_category")
NUMBERS = ("ease", "instead_share", "neighbours_own", "neighbours_instead")
DIFFICULTY_SCHEMA = pl.Schema(
    {
        **dict.fromkeys((*KEYS, *WORDS, *NEAREST), pl.String()),
        **dict.fromkeys((*ANSWERS, *NUMBERS), pl.Float64()),
        "runs": pl.Int32(),
        **dict.fromkeys(("by_surface", "by_neighbours"), pl.Boolean()),
    }
)
SHARE_SCHEMA = pl.Schema(
    {**dict.fromkeys((*KEYS, "view", "name"), pl.String()), "ease": pl.Float64()}
)


class DifficultyDesign(Record):
    """How difficulty is measured; the section ``difficulty`` of params.yaml."""

    feature_set: str
    left_out: tuple[str, ...]
    hard_below: float = Field(gt=0, lt=1)
    easy_from: float = Field(gt=0, le=1)
    hardest: int = Field(ge=1)
    neighbours: int = Field(ge=1)

    @model_validator(mode="after")
    def _levels_are_in_order(self) -> Self:
        if self.hard_below > self.easy_from:
            raise ValueError("hard_below must not exceed easy_from")
        if self.feature_set not in FEATURE_SETS:
            raise ValueError(f"feature_set must be one of {', '.join(FEATURE_SETS)}")
        return self
