"""What measuring the ablation and reporting it share."""

from typing import Self

import polars as pl
from pydantic import Field, field_validator, model_validator

from failbench.base import measuring as st

RULES, REDUCED, FOREST = METHODS = ("improved_rules", "reduced_rules", "random_forest")

ABLATION_SCHEMA = pl.Schema({**st.PREDICTION_SCHEMA, "subset": pl.String()})
"""The columns of predictions, and ``subset``: the signals that the method sees."""


class AblationDesign(st.Record):
    """What is taken away; the section ``ablation`` of params.yaml."""

    repeats: int = Field(ge=1)
    kept: tuple[tuple[str, ...], ...] = Field(min_length=1)
    superadditive: tuple[str, str]

    @field_validator("kept")
    @classmethod
    def _are_groups(cls, kept: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        unknown = [name for groups in kept for name in groups if name not in st.SIGNAL_GROUPS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(st.SIGNAL_GROUPS)}")
        if any(not groups for groups in kept) or len(set(map(frozenset, kept))) < len(kept):
            raise ValueError("a set of signal groups is empty or named twice")
        return kept

    @model_validator(mode="after")
    def _parts_and_whole_are_kept(self) -> Self:
        left, right = self.superadditive
        if not {(left,), (right,), (left, right)} <= set(self.kept):
            raise ValueError("superadditive takes two groups that are kept alone and together")
        return self
