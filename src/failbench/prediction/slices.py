"""Studies: the reference architecture, and all of them: pooled, and one at a time left out."""

from __future__ import annotations

import polars as pl
from pydantic import Field, field_validator

from failbench.features.catalogue import FEATURE_SETS
from failbench.records import Record
from failbench.scenarios import Architecture, Optimizer


class ReferenceStudy(Record):
    """The runs that methods are compared on, one a scenario; the section ``nested_cv``."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str
    run_seed: int = Field(ge=0)
    seed: int = Field(ge=0)

    def failures(self, features: pl.DataFrame) -> pl.DataFrame:
        """The failing runs of the study, from the feature table of all runs."""
        of_seed = pl.col("seed") == self.run_seed
        return self._slice(features).filter(pl.col("kind") == "failure", of_seed)

    def successes(self, features: pl.DataFrame) -> pl.DataFrame:
        """The successful runs of the same setting, of every seed."""
        return self._slice(features).filter(pl.col("kind") == "success")

    def _slice(self, features: pl.DataFrame) -> pl.DataFrame:
        return features.filter(
            pl.col("architecture") == self.architecture,
            pl.col("optimizer") == self.optimizer,
            pl.col("scale") == self.scale,
        )


class AcrossArchitectures(Record):
    """Which runs the studies of all architectures take; the section ``across_architectures``."""

    optimizer: Optimizer
    scale: str
    known_seed: int = Field(ge=0)
    repeats: int = Field(ge=1)
    feature_sets: tuple[str, ...] = Field(min_length=1)
    seed: int = Field(ge=0)

    def slice(self, features: pl.DataFrame) -> pl.DataFrame:
        """The runs of the study, of every architecture and kind, from the table of all runs."""
        return features.filter(pl.col("optimizer") == self.optimizer, pl.col("scale") == self.scale)

    @field_validator("feature_sets")
    @classmethod
    def _are_feature_sets(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in FEATURE_SETS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(map(repr, FEATURE_SETS))}")
        return names


class RunSetting(Record):
    """Which runs: a setting of the recording."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table of runs that belong to the setting."""
        return table.filter(
            pl.col("architecture") == self.architecture,
            pl.col("optimizer") == self.optimizer,
            pl.col("scale") == self.scale,
        )
