"""Stage measure_explanations: on which evidence methods answer each failing run of one seed."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.base.verdicts import explained
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
    settings: st.Record,
    study: st.ReferenceStudy,
    plan: FoldPlan,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers for the runs of the first seed that are tested, by the main study's fit."""
    columns = FEATURE_SETS[st.PRIMARY_SET]
    fitted, tested = fit_fold(runs, band, splits, method, settings, columns, study.seed, plan)
    asked = tested & (runs.table["seed"] == min(study.run_seeds)).to_numpy()
    named = runs.table.filter(pl.Series(asked)).select("run_id", "scenario")
    return explained(named.iter_rows(), method, fitted.diagnose(runs.frame[asked]))


def main() -> None:
    features, splits = (
        st.read_output(FEATURES, FEATURE_SCHEMA),
        st.read_output(SPLITS, st.SPLIT_SCHEMA),
    )
    study = st.read_section("nested_cv", st.ReferenceStudy)
    methods = {
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "learned_rules": st.read_section("learned_rules", st.LearnedRulesSettings),
        "logistic_regression": st.read_section(
            "logistic_regression", st.LogisticRegressionSettings
        ),
        "decision_tree": st.read_section("decision_tree", st.DecisionTreeSettings),
        "random_forest": st.read_section("random_forest", st.RandomForestSettings),
        "lightgbm": st.read_section("lightgbm", st.LightgbmSettings),
        "ebm": st.read_section("ebm", st.EbmSettings),
    }
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), all_band_features())
    first = splits.filter(pl.col("repeat") == pl.col("repeat").min())
    tasks = [
        (runs, band, first, method, settings, study, plan)
        for method, settings in methods.items()
        for plan in by_scenario(st.NESTED_CV, first)
    ]
    answers, conditions = zip(*st.parallel_map(explain_fold, tasks, st.workers()), strict=True)
    names = ("run_id", "method", "position")
    st.write_parquet(pl.concat(answers).sort(names[:2]), MEASURED / "answers.parquet")
    st.write_parquet(pl.concat(conditions).sort(names), MEASURED / "conditions.parquet")


if __name__ == "__main__":
    st.run(main)
