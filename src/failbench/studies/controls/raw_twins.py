"""Raw twins: what series of healthy runs tell of the category of their scenario."""

from __future__ import annotations

import polars as pl

from failbench.methods.raw.telemetry import RawTelemetrySettings
from failbench.prediction.splits import first_repeats
from failbench.statistics.bootstrap import Interval
from failbench.studies.controls.results import ControlSettings, balanced_accuracy_interval
from failbench.studies.raw_telemetry.measure import raw_predictions


def twins_control(
    twins: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    settings: RawTelemetrySettings,
    controls: ControlSettings,
    workers: int = 1,
) -> Interval:
    """How well the series of healthy twins tell the category of their scenarios: by chance alone.

    The controls proper read columns that are the same in every fold; here the method itself is
    asked, by a fit a fold of its convolutions and its classifier. That is too slow to be repeated
    for permuted labels, so that there is an interval and no test.

    Parameters
    ----------
    twins
        The raw table of the healthy twins, of all seeds. None of them raised anything, so that
        there is no text to read.
    successes, splits, settings, workers
        As for :func:`raw_predictions`.
    controls
        How many repeats of the folds are taken, how the interval is made, and the seed.

    Returns
    -------
    Interval
        Balanced accuracy, which is ``controls.CHANCE`` for whatever ignores the input.

    Raises
    ------
    BadInputError
        If the splits have fewer repeats than are wanted.
    """
    folds = first_repeats(splits, controls.repeats, "controls")
    found = raw_predictions(
        twins,
        successes,
        folds,
        "raw_series",
        settings,
        controls.seed,
        workers,
        feature_sets=("19",),
    )
    return balanced_accuracy_interval(found, controls)
