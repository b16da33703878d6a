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
from scipy import stats

from failbench.arrays import Array
from failbench.records import Record
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.studies.controls.settings import (
    ALL_LABELS,
    CHANCE,
    NOTHING,
    PERMUTED_LABELS,
    TESTED_LABELS,
    ControlDesign,
)

Verdict = Literal["pass", "inconclusive", "fail"]


class ControlSettings(ControlDesign, ScenarioIntervalSettings):
    """How the controls are run, and how what they give gets intervals."""


class ControlResult(Record):
    """Balanced accuracy of one control with its interval, its test and what follows from both."""

    value: float
    ci_low: float
    ci_high: float
    n: int
    p: float
    permutations: int
    verdict: Verdict


class LeakTest(Record):
    """What planting the labels changed."""

    identical_predictions: bool
    positive_control_accuracy: float


def control_results(
    predictions: pl.DataFrame, permuted: pl.DataFrame, settings: ControlSettings
) -> dict[str, ControlResult]:
    """Judge every control, by name."""
    results = {}
    for control in permuted["control"].unique(maintain_order=True):
        of_control = permuted.filter(pl.col("control") == control)
        accuracies = of_control["balanced_accuracy"].to_numpy()
        if control == PERMUTED_LABELS:
            n = int(of_control["scenarios"][0])
            results[control] = permuted_labels_control(accuracies, n, settings)
        else:
            answers = predictions.filter(pl.col("control") == control)
            results[control] = label_control(answers, accuracies, settings)
    return results


def verdict(p: float, ci_high: float, settings: ControlSettings) -> Verdict:
    """Fail if the test finds the label; pass if it does not and the interval is narrow enough."""
    if p <= settings.significance:
        return "fail"
    return "pass" if ci_high <= settings.upper_bound else "inconclusive"


def label_control(
    predictions: pl.DataFrame, permuted: Array, settings: ControlSettings
) -> ControlResult:
    """Test whether columns tell the label of a scenario.

    The interval resamples scenarios within categories; the test holds the balanced accuracy against
    ``permuted``, those of fits to permuted labels ``[n_permutations]``.
    """
    interval = balanced_accuracy_interval(predictions, settings)
    p = permutation_p(interval.value, permuted)
    return ControlResult(
        value=interval.value,
        ci_low=interval.ci_low,
        ci_high=interval.ci_high,
        n=predictions["scenario"].n_unique(),
        p=p,
        permutations=len(permuted),
        verdict=verdict(p, interval.ci_high, settings),
    )


def permuted_labels_control(permuted: Array, n: int, settings: ControlSettings) -> ControlResult:
    """Test whether the procedure itself scores above chance when there is nothing to learn.

    The interval is the t interval of the mean over permutations; ``n`` counts the scenarios.
    """
    test = stats.ttest_1samp(permuted, CHANCE, alternative="greater")
    low, high = stats.ttest_1samp(permuted, CHANCE).confidence_interval(settings.confidence)
    return ControlResult(
        value=float(permuted.mean()),
        ci_low=float(low),
        ci_high=float(high),
        n=n,
        p=float(test.pvalue),
        permutations=len(permuted),
        verdict=verdict(float(test.pvalue), float(high), settings),
    )


def permutation_p(observed: float, permuted: Array) -> float:
    """One-sided p of a permutation test, counting the observed labelling as one of them.

    Phipson and Smyth (2010): (1 + number at least as large) / (1 + number of permutations), which
    is never zero.
    """
    at_least = np.sum(permuted >= observed - 1e-12)
    return float((1 + at_least) / (1 + len(permuted)))


def balanced_accuracy_interval(predictions: pl.DataFrame, settings: ControlSettings) -> Interval:
    """Balanced accuracy of out-of-fold predictions, scenarios resampled within categories."""
    balanced = next(metric for metric in OVERALL if metric.name == "balanced_accuracy")
    intervals = scenario_intervals(scenario_answers(predictions), (balanced,), settings)
    return intervals["balanced_accuracy"]


def leak_test(predictions: pl.DataFrame) -> LeakTest:
    """Whether anything of the tested runs reaches the training."""
    constant, labelled, known = (
        predictions.filter(pl.col("planted") == what).drop("planted")
        for what in (NOTHING, TESTED_LABELS, ALL_LABELS)
    )
    right = known["prediction"] == known["category"]
    return LeakTest(
        identical_predictions=constant.equals(labelled),
        positive_control_accuracy=float(right.to_numpy().mean()),
    )
