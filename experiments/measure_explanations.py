"""Stage measure_explanations: on which evidence methods answer each failing run of one seed."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.method_settings import (
    DecisionTreeSettings,
    EbmSettings,
    ImprovedRulesSettings,
    LearnedRulesSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
    SimpleRulesSettings,
)
from failbench.base.predictions import SPLIT_SCHEMA
from failbench.base.records import Record
from failbench.base.slices import ReferenceStudy
from failbench.base.stage import read_output, read_section, run, workers
from failbench.base.studies import NESTED_CV
from failbench.base.telemetry import write_parquet
from failbench.base.verdicts import explained
from failbench.base.vocabulary import PRIMARY_SET
from failbench.base.workers import parallel_map
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA, to_frame
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.nested_cv import LabelledRuns, fit_fold
from failbench.prediction.splits import FoldPlan, by_scenario

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MEASURED = Path("data/measurements/explanations")


def explain_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    study: ReferenceStudy,
    plan: FoldPlan,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers for the runs of the first seed that are tested, by the main study's fit."""
    columns = FEATURE_SETS[PRIMARY_SET]
    fitted, tested = fit_fold(runs, band, splits, method, settings, columns, study.seed, plan)
    asked = tested & (runs.table["seed"] == min(study.run_seeds)).to_numpy()
    named = runs.table.filter(pl.Series(asked)).select("run_id", "scenario")
    return explained(named.iter_rows(), method, fitted.diagnose(runs.frame[asked]))


def main() -> None:
    features, splits = read_output(FEATURES, FEATURE_SCHEMA), read_output(SPLITS, SPLIT_SCHEMA)
    study = read_section("nested_cv", ReferenceStudy)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "learned_rules": read_section("learned_rules", LearnedRulesSettings),
        "logistic_regression": read_section("logistic_regression", LogisticRegressionSettings),
        "decision_tree": read_section("decision_tree", DecisionTreeSettings),
        "random_forest": read_section("random_forest", RandomForestSettings),
        "lightgbm": read_section("lightgbm", LightgbmSettings),
        "ebm": read_section("ebm", EbmSettings),
    }
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), all_band_features())
    first = splits.filter(pl.col("repeat") == pl.col("repeat").min())
    tasks = [
        (runs, band, first, method, settings, study, plan)
        for method, settings in methods.items()
        for plan in by_scenario(NESTED_CV, first)
    ]
    answers, conditions = zip(*parallel_map(explain_fold, tasks, workers()), strict=True)
    names = ("run_id", "method", "position")
    write_parquet(pl.concat(answers).sort(names[:2]), MEASURED / "answers.parquet")
    write_parquet(pl.concat(conditions).sort(names), MEASURED / "conditions.parquet")


if __name__ == "__main__":
    run(main)
