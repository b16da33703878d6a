"""Studies: the reference architecture, and all of them: pooled, and one at a time left out."""

from __future__ import annotations

import polars as pl
from pydantic import Field, field_validator

from failbench.errors import BadInputError
from failbench.evaluation.fold_plans import POOLED, by_architecture, by_scenario
from failbench.evaluation.nested_cv import nested_cv
from failbench.evaluation.splits import first_repeats
from failbench.features import FEATURE_SETS
from failbench.scenarios import Architecture, Optimizer, Record


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


def across_architectures(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    study: AcrossArchitectures,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict the runs of all architectures, by fits that saw all of them and by fits that did not.

    Parameters
    ----------
    features
        The feature table of all runs, of any architecture, optimizer and scale.
    splits
        Repeats and folds; those that the study does not want are left out.
    method, settings
        Name in ``methods.registry.METHODS`` and its settings.
    study
        Which runs to take, and how.
    workers
        Processes; results do not depend on it.

    Returns
    -------
    polars.DataFrame
        Rows of ``nested_cv.PREDICTION_SCHEMA``. In the study ``pooled`` each run is predicted by a
        fit to all architectures that never saw its scenario; for the studies
        ``leave_one_architecture_out`` and ``known_scenarios`` see
        :func:`failbench.evaluation.fold_plans.by_architecture`.

    Raises
    ------
    BadInputError
        If only one architecture was recorded, as without it there is nothing to train on; or if
        the splits have fewer repeats than the study wants.
    """
    taken = study.slice(features)
    architectures = taken["architecture"].unique().to_list()
    if len(architectures) < 2:
        raise BadInputError(
            "features",
            "architecture",
            f"{len(architectures)} architecture was recorded with {study.optimizer} at scale "
            f"{study.scale}; leaving one out takes two.",
            "Run `failbench record` for another architecture.",
        )
    folds = first_repeats(splits, study.repeats, "across_architectures")
    return nested_cv(
        taken.filter(pl.col("kind") == "failure"),
        taken.filter(pl.col("kind") == "success"),
        folds,
        method,
        settings,
        {name: FEATURE_SETS[name] for name in study.feature_sets},
        study.seed,
        workers,
        (*by_scenario(POOLED, folds), *by_architecture(folds, architectures, study.known_seed)),
    )
