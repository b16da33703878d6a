"""Stage sensitivity: choices of the main study made the other way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from failbench import study as st
from shared import sensitivity as design
from shared.sensitivity import SensitivitySettings

MEASURED = Path("data/predictions/sensitivity")
PREDICTIONS = Path("data/predictions/nested_cv")
RATINGS = Path("data/reported/label_raters.csv")
KEYS = ("variant", "method")
MEANINGS = {
    design.ONE_SEED: (
        "One run per scenario",
        "one run per scenario is trained on and tested, as in the original",
    ),
    design.FAULTS_APART: ("Folds by fault", "no scenario of the same fault was trained on"),
    design.INTERACTIONS: (
        "Terms of pairs of features",
        "pairs of features have terms of their own",
    ),
}
"""Of each variant: its label, and what its accuracy means."""

RATED, WITHOUT_UNKNOWN = "labels_of_raters", "without_unknown"
LABELLED = {
    RATED: (
        "Labels of both raters",
        "a label is that of both raters where these agree against it",
    ),
    WITHOUT_UNKNOWN: ("Without unknown", "the category is not unknown"),
}
"""Other labels of the same answers: their names, and what accuracy by them means."""

FOREST, RULES = "random_forest", "simple_rules"
RATING_SCHEMA = pl.Schema(dict.fromkeys(("scenario", "rater_1", "rater_2"), pl.String()))


def estimates(
    predictions: pl.DataFrame, known: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Set what was predicted with each choice made the other way against the main study."""
    known = known.filter(study=st.NESTED_CV, feature_set=design.FEATURE_SET)
    tables = []
    for variant in design.VARIANTS:
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
    accuracy = st.METRICS["accuracy"]
    accuracy = replace(accuracy, estimand=f"{accuracy.estimand}; {MEANINGS[variant][1]}")
    both = pl.concat([answers, known.filter(pl.col("repeat") < repeats)])
    what = "how much more probable a right diagnosis of a run of a new scenario is"
    what += " than in the main study"
    difference = st.study_difference(both, variant, st.NESTED_CV, intervals, what)
    rates = st.of_scenarios(answers, (accuracy,), intervals, (), **keys)
    runs = pl.lit(answers["run_id"].n_unique(), pl.Int64)
    both = pl.concat([rates, st.estimate_rows({"difference": difference}, **keys)])
    return both.with_columns(repeats=pl.lit(repeats, pl.Int64), runs=runs)


def by_other_labels(
    known: pl.DataFrame, ratings: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Score the main study's answers by other labels, and set the forest against simple rules."""
    answers = known.filter(
        pl.col("method").is_in([FOREST, RULES]),
        study=st.NESTED_CV,
        feature_set=design.FEATURE_SET,
    )
    agreed = ratings.filter(pl.col("rater_1") == pl.col("rater_2"))
    relabelled = answers.join(agreed, "scenario", "left", maintain_order="left").with_columns(
        category=pl.coalesce("rater_1", "category")
    )
    labelled = {
        RATED: relabelled.select(answers.columns),
        WITHOUT_UNKNOWN: answers.filter(pl.col("category") != "unknown"),
    }
    tables = []
    for variant, rows in labelled.items():
        accuracy = st.METRICS["accuracy"]
        accuracy = replace(accuracy, estimand=f"{accuracy.estimand}; {LABELLED[variant][1]}")
        what = "how much more probable a right diagnosis by the forest is than by simple rules"
        paired = rows.with_columns(study="method")
        lead = st.study_difference(
            paired, FOREST, RULES, intervals, f"{what}; {LABELLED[variant][1]}"
        )
        scored = [
            st.of_scenarios(
                rows.filter(method=method),
                (accuracy,),
                intervals,
                (),
                variant=variant,
                method=method,
            )
            for method in (FOREST, RULES)
        ]
        leads = st.estimate_rows({"lead": lead}, variant=variant, method=FOREST)
        sizes = {
            name: pl.lit(rows[column].n_unique(), pl.Int64)
            for name, column in (("repeats", "repeat"), ("runs", "run_id"))
        }
        tables.append(pl.concat([*scored, leads]).with_columns(**sizes))
    return pl.concat(tables)


def variants_table(measured: pl.DataFrame, said: st.Captions) -> st.Table:
    """A row per variant and method."""
    sizes = measured.filter(metric="accuracy").select(*KEYS, "repeats", "runs")
    counts = sizes.unpivot(index=KEYS, variable_name="metric")
    body = [
        st.Row(((MEANINGS | LABELLED)[keys["variant"]][0], st.method_label(keys["method"])), keys)
        for keys in measured.select(KEYS).unique(maintain_order=True).iter_rows(named=True)
    ]
    return st.table("sensitivity", st.Estimates.of(measured, counts), None, body, said)


def main() -> None:
    settings = st.read_section("sensitivity", SensitivitySettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    methods = set().union(*design.VARIANTS.values())
    measured, known = (
        st.read_outputs(folder, methods, st.PREDICTION_SCHEMA) for folder in (MEASURED, PREDICTIONS)
    )
    ratings = st.read_points(RATINGS, RATING_SCHEMA)
    found = pl.concat(
        [estimates(measured, known, intervals), by_other_labels(known, ratings, intervals)],
        how="diagonal_relaxed",
    )
    said = st.Captions.read("sensitivity", intervals, settings)
    tables = [variants_table(found, said)]
    st.publish_estimates("sensitivity", found, (*KEYS, "metric"), tables=tables)


if __name__ == "__main__":
    st.run(main)
