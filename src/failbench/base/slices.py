"""Which runs: those of a setting, those that a study compares, and those that look alike."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import AfterValidator, Field, field_validator

from failbench.base.records import Record
from failbench.base.scenarios import Architecture, Optimizer
from failbench.base.vocabulary import FEATURE_SET_NAMES


def _all_differ(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("names a seed twice")
    return seeds


Seeds = Annotated[  # seeds of runs: one at least, none twice
    tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), AfterValidator(_all_differ)
]

PARTNER_SCHEMA = pl.Schema(
    {"scenario": pl.String, "partner": pl.String, "partner_category": pl.String}
)
SURFACE = ("outcome", "has_error", "exit_signal")  # what a run shows without its telemetry


class RunSetting(Record):
    """Which runs: a setting of the recording."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str

    @property
    def name(self) -> str:
        """Its name, which its recordings and bounds bear."""
        scale = "" if self.scale == "small" else f"-{self.scale}"
        return f"{self.architecture}-{self.optimizer}{scale}"

    @property
    def runs(self) -> pl.Expr:
        """Which rows of a table of runs belong to the setting."""
        keys = {"architecture": self.architecture, "optimizer": self.optimizer, "scale": self.scale}
        return pl.all_horizontal(pl.col(key) == value for key, value in keys.items())

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table of runs that belong to the setting."""
        return table.filter(self.runs)


class ReferenceStudy(RunSetting):
    """The runs that methods are compared on; no run of a tested scenario is trained on."""

    run_seeds: Seeds
    seed: int = Field(ge=0)

    def failures(self, features: pl.DataFrame) -> pl.DataFrame:
        """The failing runs of the study, one per scenario and seed, from a table of all runs."""
        of_seeds = pl.col("seed").is_in(self.run_seeds)
        return self.of(features).filter(pl.col("kind") == "failure", of_seeds)

    def with_seed(self, seed: int) -> ReferenceStudy:
        """The same study of the runs of one seed: one run per scenario."""
        return self.model_copy(update={"run_seeds": (seed,)})

    def successes(self, features: pl.DataFrame) -> pl.DataFrame:
        """The successful runs of the same setting, of every seed."""
        return self.of(features).filter(pl.col("kind") == "success")


class AcrossArchitectures(Record):
    """The runs of all architectures; of methods on the monitor, those of ``monitored_seeds``."""

    optimizer: Optimizer
    scale: str
    known_seed: int = Field(ge=0)
    monitored_seeds: Seeds
    repeats: int = Field(ge=1)
    feature_sets: tuple[str, ...] = Field(min_length=1)
    seed: int = Field(ge=0)

    def slice(self, features: pl.DataFrame) -> pl.DataFrame:
        """The runs of the study, of every architecture and kind, from the table of all runs."""
        return features.filter(pl.col("optimizer") == self.optimizer, pl.col("scale") == self.scale)

    @field_validator("feature_sets")
    @classmethod
    def _are_feature_sets(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in FEATURE_SET_NAMES]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(map(repr, FEATURE_SET_NAMES))}")
        return names


def partners(failing: pl.DataFrame) -> pl.DataFrame:
    """Partners: labelled scenarios with the same surface as an unknown one."""
    surfaces = (
        failing.with_columns(has_error=pl.col("error_type").is_not_null())
        .select("scenario", "category", *SURFACE)
        .unique()
    )
    unknown = pl.col("category") == "unknown"
    labelled = surfaces.filter(~unknown).rename(
        {"scenario": "partner", "category": "partner_category"}
    )
    return (
        surfaces.filter(unknown)
        .drop("category")
        .join(labelled, on=SURFACE, nulls_equal=True)
        .select("scenario", "partner", "partner_category")
        .unique()
        .sort("scenario", "partner_category", "partner")
    )
