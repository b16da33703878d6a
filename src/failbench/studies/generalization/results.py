"""Generalization: what a method is worth on other architectures, and on scenarios that it knows."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.prediction.main_study import SAME_REPEATS, same_repeats
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.statistics.study_difference import study_difference

STUDIES = {
    NESTED_CV: "in the one architecture that it was trained on",
    POOLED: "in the architectures that it was trained on together",
    LEFT_OUT: "in an architecture that it was not trained on",
    KNOWN_SCENARIOS: "in an architecture that it was not trained on, the scenarios being known "
    "from the others and from other seeds",
}
"""The studies that are set side by side, and where each of them asks a method."""

ESTIMATED = {**STUDIES, SAME_REPEATS: f"{STUDIES[NESTED_CV]}, in the repeats of the other studies"}
"""The studies that rates are of: those, and the main study at equal repeats."""

GAIN = "gain_of_known_scenarios"
GAIN_ESTIMAND = (
    "how much more probable a right diagnosis is of a scenario that was trained on in other "
    "architectures and with other seeds"
)

KEYS = ("study", "feature_set", "method")
"""Columns whose values together name the predictions that a rate is of."""


def generalization_table(
    predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of every method in every study."""
    predicted = set(predictions["study"])
    for study in STUDIES:
        if study not in predicted:
            raise BadInputError(
                "predictions",
                "study",
                f"there are none of {study}.",
                "Run `dvc repro` for the stages that predict.",
            )
    main = predictions.filter(pl.col("study") == NESTED_CV)
    pooled = predictions.filter(pl.col("study") == POOLED)
    predictions = pl.concat([predictions, same_repeats(main, pooled)])
    parts = []
    for key, part in predictions.sort(KEYS).group_by(KEYS, maintain_order=True):
        parts.append(_estimates(key, part, _rates(str(key[0]), part, settings)))
    left_out = predictions.filter(
        pl.col("study").is_in([LEFT_OUT, KNOWN_SCENARIOS]),
        (pl.col("study") == KNOWN_SCENARIOS).any().over(KEYS[1:]),
    )
    for key, part in left_out.sort(KEYS).group_by(KEYS[1:], maintain_order=True):
        gain = study_difference(part, KNOWN_SCENARIOS, LEFT_OUT, settings, GAIN_ESTIMAND)
        parts.append(_estimates((KNOWN_SCENARIOS, *key), part, {GAIN: gain}))
    return pl.concat(parts)


def _rates(
    study: str, predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> dict[str, Interval]:
    """Rates by metric; their estimands say where the study asks a method."""
    intervals = scenario_intervals(scenario_answers(predictions), OVERALL, settings)
    return {
        metric: interval.model_copy(update={"estimand": f"{interval.estimand}; {ESTIMATED[study]}"})
        for metric, interval in intervals.items()
    }


def _estimates(
    key: tuple[object, ...], predictions: pl.DataFrame, intervals: dict[str, Interval]
) -> pl.DataFrame:
    return estimate_rows(intervals, **dict(zip(KEYS, key, strict=True))).with_columns(
        runs=pl.lit(predictions["run_id"].n_unique()),
        repeats=pl.lit(predictions["repeat"].n_unique()),
    )
