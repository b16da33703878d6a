"""Stage sensitivity: choices of the main study made the other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from failbench import study as st
from shared.sensitivity import (
    FAULTS_APART,
    FEATURE_SET,
    INTERACTIONS,
    ONE_SEED,
    VARIANTS,
    SensitivitySettings,
)

MEASURED = Path("data/predictions/sensitivity")
PREDICTIONS = Path("data/predictions/nested_cv")
KEYS = ("variant", "method")
MEANINGS = {
    ONE_SEED: (
        "One run per scenario",
        "one run per scenario is trained on and tested, as in the paper",
    ),
    FAULTS_APART: ("Folds by fault", "no scenario of the same fault was trained on"),
    INTERACTIONS: ("Terms of pairs of features", "pairs of features have terms of their own"),
}
"""Of each variant: its label, and what its accuracy means."""


def estimates(
    predictions: pl.DataFrame, known: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Set what was predicted with each choice made the other way against the main study."""
    known = known.filter(study=st.NESTED_CV, feature_set=FEATURE_SET)
    tables = []
    for variant in VARIANTS:
        of_variant = predictions.filter(study=variant)
        for method in of_variant["method"].unique().sort():
            answers, main = (each.filter(method=method) for each in (of_variant, known))
            tables.append(compare(answers, main, intervals, variant=variant, method=method))
    return pl.concat(tables)


def compare(
    answers: pl.DataFrame, known: pl.DataFrame, intervals: st.ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """Accuracy, and the difference to the same repeats of the main study."""
    variant = keys["variant"]
    repeats = answers["repeat"].n_unique()
    if known["repeat"].n_unique() < repeats:
        key = "interaction_repeats" if variant == INTERACTIONS else "repeats"
        raise st.BadInputError(
            "predictions",
            "repeat",
            f"the main study has {known['repeat'].n_unique()} repeats of {keys['method']}, and "
            f"sensitivity wants {repeats}.",
            f"Lower sensitivity.{key} in params.yaml.",
        )
    accuracy = st.METRICS["accuracy"]
    accuracy = replace(accuracy, estimand=f"{accuracy.estimand}; {MEANINGS[variant][1]}")
    difference = st.study_difference(
        pl.concat([answers, known.filter(pl.col("repeat") < repeats)]),
        variant,
        st.NESTED_CV,
        intervals,
        "how much more probable a right diagnosis of a run of a new scenario is than in the "
        "main study",
    )
    return pl.concat(
        [
            st.of_scenarios(answers, (accuracy,), intervals, (), **keys),
            st.estimate_rows({"difference": difference}, **keys),
        ]
    ).with_columns(
        repeats=pl.lit(repeats, pl.Int64), runs=pl.lit(answers["run_id"].n_unique(), pl.Int64)
    )


def tables(measured: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """A row per variant and method."""
    sizes = measured.filter(metric="accuracy").select(*KEYS, "repeats", "runs")
    counts = sizes.unpivot(index=KEYS, variable_name="metric")
    yield st.table(
        "sensitivity",
        st.Estimates.of(measured, counts),
        [
            st.Text("Choice"),
            st.Text("Method"),
            st.Of("accuracy", "Accuracy"),
            st.Of("difference", "Difference to the main study"),
            st.Of("repeats", "Repeats", form="count"),
            st.Of("runs", "Runs", form="count"),
            st.n_of("accuracy"),
        ],
        [
            st.Row(
                (MEANINGS[variant][0], st.method_label(method)),
                {"variant": variant, "method": method},
            )
            for variant, method in measured.select(KEYS).unique(maintain_order=True).rows()
        ],
        said,
    )


def main() -> None:
    settings = st.read_section("sensitivity", SensitivitySettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    methods = set().union(*VARIANTS.values())
    measured, known = (
        st.read_outputs(folder, methods, st.PREDICTION_SCHEMA) for folder in (MEASURED, PREDICTIONS)
    )
    found = estimates(measured, known, intervals)
    said = st.Captions.read("sensitivity", intervals, settings)
    st.publish_estimates("sensitivity", found, (*KEYS, "metric"), tables=tables(found, said))


if __name__ == "__main__":
    st.run(main)
