"""Controls: whether the label can be told from what must not tell it.

Five controls use all seeds, folds by scenario, a small random forest and balanced accuracy, whose
chance level is one in five whatever the counts of the categories:

permuted labels
    The real features with labels permuted over scenarios. Nothing is left to learn, so the mean
    over permutations shows the bias of the procedure itself: it rises above chance if runs of a
    scenario sit on both sides of a split. One permutation would be one draw, passed or failed by
    luck; the mean has a standard error, and a one-sided t test holds it against chance.
before onset
    The features of ``mid_run`` failures, cut one step before the fault is switched on.
twins
    The features of the healthy twins alone.
twins' step times
    The ratios of step times that one study adds to the features, of the healthy twins.
nominal configuration
    What was drawn for each failing run before any fault acted.

The last four are tested by permuting labels over scenarios and refitting. A sixth entry plants a
leak in the nominal configuration: the controls are worth nothing unless it fails.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field
from scipy import stats

from failbench.errors import BadInputError
from failbench.records import Record
from failbench.scenarios import Architecture, Optimizer
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.studies.controls.permutation import (
    Forest,
    GroupedTable,
    cross_validated_answers,
    forest_seed,
    permutation_p,
    permuted_scores,
)
from failbench.vocabulary import CATEGORIES

WILSON_FROM = 0.9
"""Where Wilson's interval takes over; only the planted leak can come near."""

Verdict = Literal["pass", "inconclusive", "fail"]

CHANCE = 0.20
"""One of five categories; balanced accuracy of any answer that ignores the input."""


class ControlSettings(Record):
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
    resamples: int = Field(ge=1000)
    confidence: float = Field(gt=0.5, lt=1)
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


class ControlResult(Record):
    """Balanced accuracy of one control with its interval, its test and what follows from both."""

    value: float
    ci_low: float
    ci_high: float
    n: int
    p: float
    permutations: int
    verdict: Verdict


def verdict(p: float, ci_high: float, settings: ControlSettings) -> Verdict:
    """Fail if the test finds the label; pass if it does not and the interval is narrow enough."""
    if p <= settings.significance:
        return "fail"
    return "pass" if ci_high <= settings.upper_bound else "inconclusive"


def label_control(table: GroupedTable, settings: ControlSettings, workers: int) -> ControlResult:
    """Test whether columns tell the label of a scenario.

    The interval resamples scenarios within categories; the test permutes labels over scenarios and
    goes through folds, imputation and fitting again for each permutation.
    """
    labels = np.array(table.categories)
    answers = cross_validated_answers(table, labels, settings.forest, forest_seed(settings.seed, 0))
    interval = _scenario_interval(table, answers, settings)
    permuted = permuted_scores(
        table, settings.forest, settings.permutations, settings.seed, workers
    )
    p = permutation_p(interval.value, permuted)
    return ControlResult(
        value=interval.value,
        ci_low=interval.ci_low,
        ci_high=interval.ci_high,
        n=len(table.scenarios),
        p=p,
        permutations=settings.permutations,
        verdict=verdict(p, interval.ci_high, settings),
    )


def permuted_labels_control(
    table: GroupedTable, settings: ControlSettings, workers: int
) -> ControlResult:
    """Test whether the procedure itself scores above chance when there is nothing to learn.

    The interval is the t interval of the mean over permutations.
    """
    scores = permuted_scores(table, settings.forest, settings.permutations, settings.seed, workers)
    test = stats.ttest_1samp(scores, CHANCE, alternative="greater")
    low, high = stats.ttest_1samp(scores, CHANCE).confidence_interval(settings.confidence)
    return ControlResult(
        value=float(scores.mean()),
        ci_low=float(low),
        ci_high=float(high),
        n=len(table.scenarios),
        p=float(test.pvalue),
        permutations=settings.permutations,
        verdict=verdict(float(test.pvalue), float(high), settings),
    )


def balanced_accuracy_interval(predictions: pl.DataFrame, settings: ControlSettings) -> Interval:
    """Balanced accuracy of out-of-fold predictions, scenarios resampled within categories.

    Parameters
    ----------
    predictions
        ``repeat``, ``scenario``, ``category``, ``seed`` and ``prediction``, a row per run and
        repeat.
    settings
        Resamples, confidence and seed.
    """
    settings_of_interval = IntervalSettings(
        resamples=settings.resamples,
        confidence=settings.confidence,
        wilson_from=WILSON_FROM,
        seed=settings.seed,
    )
    balanced = next(metric for metric in OVERALL if metric.name == "balanced_accuracy")
    intervals = scenario_intervals(scenario_answers(predictions), (balanced,), settings_of_interval)
    return intervals["balanced_accuracy"]


def _scenario_interval(
    table: GroupedTable, answers: np.ndarray, settings: ControlSettings
) -> Interval:
    repeats, runs = answers.shape
    predictions = pl.DataFrame(
        {
            "repeat": np.repeat(np.arange(repeats), runs),
            "scenario": np.tile(np.array(table.scenarios)[table.members], repeats),
            "category": np.tile(np.array(table.categories)[table.members], repeats),
            "prediction": answers.ravel(),
        }
    ).with_columns(seed=pl.int_range(pl.len()).over("repeat", "scenario"))
    return balanced_accuracy_interval(predictions, settings)


def run_controls(
    tables: dict[str, GroupedTable], settings: ControlSettings, workers: int = 1
) -> dict[str, ControlResult]:
    """Run every control by name; see ``control_tables.control_tables`` for the tables.

    Raises
    ------
    BadInputError
        If a table lacks a category: chance would not be one in five.
    """
    for name, table in tables.items():
        missing = [category for category in CATEGORIES if category not in table.categories]
        if missing:
            raise BadInputError(
                "controls",
                name,
                f"has no scenario of {missing[0]}.",
                "Record scenarios of every category; chance is one in five only then.",
            )
    return {
        name: (permuted_labels_control if name == "permuted_labels" else label_control)(
            table, settings, workers
        )
        for name, table in tables.items()
    }
