"""Settings of the controls, which measuring and judging share."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from pydantic import Field

from failbench.records import Record
from failbench.scenarios import Architecture, Optimizer

CHANCE = 0.20
"""One of five categories; balanced accuracy of any answer that ignores the input."""

CONTROLS = "controls"
"""The study that the predictions of the controls belong to."""

PERMUTED_LABELS = "permuted_labels"
"""The one control that is judged by the mean over permutations."""

NOTHING, TESTED_LABELS, ALL_LABELS = "nothing", "labels_of_tested_runs", "labels_of_all_runs"
"""What the leak test plants in a column."""


@dataclass(frozen=True)
class Forest:
    """The cheap classifier of the tests, and how often it is cross-validated."""

    trees: int
    folds: int
    repeats: int


class ControlDesign(Record):
    """How the controls are run; the section ``controls`` of params.yaml."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str
    trees: int = Field(ge=1)
    folds: int = Field(ge=2)
    repeats: int = Field(ge=1)
    permutations: int = Field(ge=20)
    significance: float = Field(gt=0, lt=1)
    upper_bound: float = Field(gt=CHANCE, lt=1)
    seed: int = Field(ge=0)

    def slice(self, table: pl.DataFrame) -> pl.DataFrame:
        """The runs of the slice, of every kind and seed, from a table of all runs."""
        return table.filter(
            pl.col("architecture") == self.architecture,
            pl.col("optimizer") == self.optimizer,
            pl.col("scale") == self.scale,
        )

    @property
    def forest(self) -> Forest:
        """The classifier of the tests."""
        return Forest(self.trees, self.folds, self.repeats)
