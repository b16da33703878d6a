"""What measuring the controls and judging them share."""

import polars as pl
from pydantic import Field

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.slices import RunSetting

CHANCE = 0.20
"""One of five categories; balanced accuracy of any answer that ignores the input."""

PERMUTED_LABELS = "permuted_labels"
"""The one control that is judged by the mean over permutations."""

OF_BOTH = ("before_onset", "twins", "twins_step_times", "nominal_configuration")
"""Controls that are run on both authors' causes; those of author B end with ``_b``."""

PLANTED = "planted"
NOTHING, TESTED_LABELS, ALL_LABELS = "nothing", "labels_of_tested_runs", "labels_of_all_runs"
"""What the leak test plants in a column."""

CONTROL_SCHEMA = pl.Schema({"control": pl.String(), **PREDICTION_SCHEMA})
PLANTED_SCHEMA = pl.Schema({**PREDICTION_SCHEMA, PLANTED: pl.String()})
PERMUTED_SCHEMA = pl.Schema(
    {"control": pl.String, **dict.fromkeys(("permutation", "scenarios"), pl.Int32)}
    | {"balanced_accuracy": pl.Float64}
)


class ControlDesign(RunSetting):
    """How the controls are run, on runs of every kind and seed; a section of params.yaml."""

    trees: int = Field(ge=1)
    folds: int = Field(ge=2)
    repeats: int = Field(ge=1)
    permutations: int = Field(ge=20)
    significance: float = Field(gt=0, lt=1)
    upper_bound: float = Field(gt=CHANCE, lt=1)
    seed: int = Field(ge=0)
