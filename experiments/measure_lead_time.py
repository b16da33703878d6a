"""Stage measure_lead_time: what methods answer before the failure, and how runs stray.

A snapshot is taken back from the failure, which nobody knows of beforehand. Two things keep that
from telling the label: classifiers do not see the number of steps, and every figure stands beside
the same figure of the healthy twins, cut at the same steps. Twins share all but the fault, so what
is right of them is owed to when the snapshot was taken and to how often each category occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from failbench.base import measuring as st
from failbench.base.known_columns import flags_in
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import (
    feature_table,
    snapshot_table,
    split_snapshot_ids,
    to_frame,
)
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy import healthy_band, healthy_course
from failbench.methods.improved_tree import all_band_features
from failbench.methods.monitor_methods import EndingSettings, NoSettings
from failbench.prediction.known import Known
from failbench.prediction.nested_cv import LabelledRuns, fold_predictions, nested_cv
from failbench.prediction.splits import FoldPlan, by_view, stacked
from known_runs import read_known
from recordings import read_recordings
from shared.lead_time import FAILING, HEALTHY, LOOK, MEASURED, TWIN, LeadTimeSettings, methods_asked

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/lead_time")
MEASUREMENTS = Path("data/measurements/lead_time")

STUDY = "lead_time"
EARLY_FEATURES = tuple(
    name for name in FEATURE_SETS[st.PRIMARY_SET] if name != "steps_before_failure"
)
"""What classifiers learn from: how long a run has lasted tells when the snapshot was taken."""
EARLY_SET = {"19 without steps": EARLY_FEATURES}
ONSET, FAILURE = pl.col("onset_step"), pl.col("failure_step")


def measure(
    telemetry: st.Telemetry,
    scenarios: tuple[st.Scenario, ...],
    splits: pl.DataFrame,
    study: st.ReferenceStudy,
    methods: Mapping[str, st.Record],
    settings: LeadTimeSettings,
    workers: int = 1,
    known: Known | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Predictions of methods before the failure, the runs, and scores of these and of healthy ones.

    The healthy course and the fixed thresholds come from the successful runs; twins of other seeds
    than the tested runs are scored to calibrate the alarm and to try it.
    """
    folds = st.first_repeats(splits, settings.repeats, f"{STUDY}.repeats")
    runs = study.with_seed(settings.run_seed).failures(telemetry.runs)
    if runs.is_empty():
        setting = f"{study.architecture} with {study.optimizer}, seed {settings.run_seed}"
        problem = f"there is no failing run of {setting}."
        remedy = "Choose recorded runs by nested_cv and lead_time.run_seed in params.yaml."
        raise st.BadInputError("data/telemetry/runs.parquet", "run_id", problem, remedy)
    healthy = study.successes(telemetry.runs)
    scores = alarm_scores(telemetry, scenarios, runs, healthy, settings.every)
    ended = healthy.select("run_id", last_step="failure_step")
    successes = feature_table(telemetry, scenarios, ended)
    cuts = [
        (ahead, *cut_before_failure(telemetry, scenarios, runs, ahead, known))
        for ahead in settings.steps
    ]
    tasks = [
        (*cut, successes, folds, *method, study.seed)
        for method, cut in product(methods.items(), cuts)
    ]
    views = {
        "training": spread_over_fault(runs, settings.training_snapshots),
        "watched": looks(runs, settings.every, ONSET, FAILURE - 1),
    }
    tables = {name: snapshot_table(telemetry, scenarios, view) for name, view in views.items()}
    if known is not None:
        tables = {name: known.beside_snapshots(each) for name, each in tables.items()}
    late = [
        look_predictions(tables, successes, folds, *method, study.seed, workers)
        for method in methods.items()
    ]
    of_category = runs.join(st.categories_of(scenarios), on="scenario", maintain_order="left")
    return (
        pl.concat([*st.parallel_map(snapshot_predictions, tasks, workers), *late], how="diagonal"),
        of_category.select("run_id", "category", "scenario", "onset_step", "failure_step"),
        *scores,
    )


def cut_before_failure(
    telemetry: st.Telemetry,
    scenarios: tuple[st.Scenario, ...],
    runs: pl.DataFrame,
    ahead: int,
    known: Known | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cut failing runs ``ahead`` steps before their failure, and their twins at the same steps."""
    begun = runs.with_columns(last_step=FAILURE - ahead).filter(pl.col("last_step") >= 0)
    twins = telemetry.runs.filter(pl.col("kind") == "twin").select("run_id", "twin_of")
    of_begun = begun.select("last_step", twin_of="run_id").join(twins, on="twin_of", how="left")
    alone = of_begun.filter(pl.col("run_id").is_null())
    if alone.height:
        problem = f"the run {alone['twin_of'][0]!r} has no twin."
        remedy = "Run `failbench record` for the setting."
        raise st.BadInputError("data/telemetry/runs.parquet", "twin_of", problem, remedy)

    def cut(table: pl.DataFrame, *, at_failure: bool) -> pl.DataFrame:
        features = feature_table(telemetry, scenarios, table.select("run_id", "last_step"))
        cuts = table.select(
            "run_id", "last_step", run="run_id", at_failure=pl.lit(value=at_failure)
        )
        return features if known is None else known.beside_cuts(features, cuts)

    return cut(begun, at_failure=ahead == 0), cut(of_begun, at_failure=False)


def snapshot_predictions(
    ahead: int,
    failing: pl.DataFrame,
    twins: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: st.Record,
    seed: int,
) -> pl.DataFrame:
    """What a method answers at one number of steps before failure, of failing runs and of twins."""
    subsets = {
        subset: nested_cv(table, successes, splits, method, settings, EARLY_SET, seed).with_columns(
            evidence=pl.lit(None, pl.Boolean)
        )
        for subset, table in {FAILING: failing, TWIN: twins}.items()
    }
    subsets[HEALTHY] = of_healthy(failing, twins, successes, method, settings, seed)
    study, steps_ahead = pl.lit(STUDY), pl.lit(ahead, pl.Int32)
    return pl.concat(
        table.with_columns(study=study, subset=pl.lit(subset), steps_ahead=steps_ahead)
        for subset, table in subsets.items()
    )


def of_healthy(
    failing: pl.DataFrame,
    twins: pl.DataFrame,
    successes: pl.DataFrame,
    method: str,
    settings: st.Record,
    seed: int,
) -> pl.DataFrame:
    """What the method answers of each twin when trained on all failing runs, and on evidence."""
    runs, frame = LabelledRuns.from_table(failing), to_frame(twins)
    band = healthy_band(to_frame(successes), all_band_features())
    context = Context(EARLY_FEATURES, band, seed, known=flags_in(runs.frame.columns))
    estimator = method_named(method).build(settings, context)
    estimator.fit(runs.frame, runs.labels, groups=runs.groups)
    (feature_set,), everyone = EARLY_SET, np.ones(len(frame), dtype=np.bool_)
    plan = FoldPlan(STUDY, 0, 0, split=0)
    answers = fold_predictions(
        estimator, twins, frame, everyone, plan, feature_set=feature_set, method=method
    )
    diagnoses = estimator.diagnose(frame)
    confidence = [diagnosis.confidence for diagnosis in diagnoses]
    evidence = [bool(diagnosis.evidence) for diagnosis in diagnoses]
    return answers.with_columns(
        fold=pl.lit(None, pl.Int32),
        confidence=pl.Series(confidence, dtype=pl.Float64),  # not rounded
        evidence=pl.Series(evidence, dtype=pl.Boolean),
    )


def looks(runs: pl.DataFrame, every: int, start: pl.Expr, end: pl.Expr) -> pl.DataFrame:
    """Every how many steps runs are looked at, as ``run_id`` and ``last_step``."""
    first = ((start.clip(lower_bound=1) + every - 1) // every * every).cast(pl.Int64)
    steps = pl.int_ranges(first, end.cast(pl.Int64) + 1, every)
    each = runs.select("run_id", last_step=steps).explode("last_step").drop_nulls("last_step")
    return each.cast({"last_step": pl.Int32})


def spread_over_fault(runs: pl.DataFrame, count: int) -> pl.DataFrame:
    """Steps to train on: ``count`` per run, evenly from its onset to the step before its failure.

    Every run has as many, however long it took to fail, so that it counts as much as any other;
    where there are fewer steps some repeat. Runs that fail where their fault begins have none.
    """
    fallible = runs.filter(FAILURE > ONSET).select("run_id", "onset_step", "failure_step")
    rows = [
        (run_id, int(step))
        for run_id, onset, failure in fallible.iter_rows()
        for step in np.linspace(onset, failure - 1, count).round()
    ]
    return pl.DataFrame(rows, schema={"run_id": pl.String, "last_step": pl.Int32}, orient="row")


def look_predictions(
    views: Mapping[str, pl.DataFrame],
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: st.Record,
    seed: int,
    workers: int,
) -> pl.DataFrame:
    """What a method answers at every look at runs whose scenarios it never trained on."""
    plans = by_view(STUDY, splits, "training", ("watched",))
    predictions = nested_cv(
        stacked(views), successes, splits, method, settings, EARLY_SET, seed, workers, plans
    )
    answers = split_snapshot_ids(predictions)
    return answers.with_columns(run_id="run", subset=pl.lit(LOOK)).drop("run")


def alarm_scores(
    telemetry: st.Telemetry,
    scenarios: tuple[st.Scenario, ...],
    tested: pl.DataFrame,
    successes: pl.DataFrame,
    every: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score the runs to watch, and twins of other seeds, against the course of successful runs."""
    setting = ["architecture", "optimizer", "scale"]
    twins = (
        telemetry.runs.filter(pl.col("kind") == "twin")
        .join(tested.select(setting).unique(), on=setting, how="semi")
        .filter(~pl.col("seed").is_in(tested["seed"].unique().to_list()))
    )
    if twins.is_empty():
        problem = "there are no twins of other seeds to calibrate the alarm on."
        remedy = "Raise the seeds of the setting in record.settings and run `failbench record`."
        raise st.BadInputError("data/telemetry/runs.parquet", "seed", problem, remedy)

    def cut(runs: pl.DataFrame, end: pl.Expr = FAILURE) -> pl.DataFrame:
        return snapshot_table(telemetry, scenarios, looks(runs, every, pl.lit(1), end))

    course = healthy_course(cut(successes), all_band_features())
    highest = course.scores(cut(twins)).group_by("run_id").agg(pl.col("score").max())
    of_scenario = highest.join(twins.select("scenario", "run_id"), on="run_id")
    healthy = of_scenario.join(st.categories_of(scenarios), on="scenario")
    scores = course.scores(cut(tested, FAILURE - 1)).sort("run_id", "step")
    columns = ("run_id", "category", "scenario", "score")
    return scores, healthy.select(columns).sort("category", "scenario", "run_id")


def main() -> None:
    settings = st.read_section("lead_time", LeadTimeSettings)
    methods = {
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
        "invariants": NoSettings(),
        "ending": st.read_section("ending", EndingSettings),
        "forest_on_invariants": settings.random_forest,
    }
    asked = methods_asked(st.read_names("methods"))
    predictions, *measured = measure(
        *read_recordings(TELEMETRY, SCENARIOS),
        st.read_splits(),
        st.read_section("nested_cv", st.ReferenceStudy),
        {name: methods[name] for name in asked},
        settings,
        st.workers(),
        read_known(KNOWN, asked),
    )
    for method in asked:
        st.write_parquet(predictions.filter(method=method), PREDICTIONS / f"{method}.parquet")
    for name, table in zip(MEASURED, measured, strict=True):
        st.write_parquet(table, MEASUREMENTS / f"{name}.parquet")
    counts = predictions.group_by("method", "subset").len().sort("method", "subset")
    st.print_table(("method", "subset", "predictions"), counts.rows())


if __name__ == "__main__":
    st.run(main)
