"""Stage measure_explanations: on which evidence methods answer runs of one seed, and cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.base.verdicts import condition_of, explained
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features, to_frame
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.nested_cv import LabelledRuns, fit_fold
from failbench.prediction.splits import FoldPlan, by_scenario
from shared.case_studies import CASE_SCHEMA, DIAGNOSIS_SCHEMA, EVIDENCE_SCHEMA

CASES = Path("data/measurements/case_studies/cases.parquet")
MEASURED = Path("data/measurements/explanations")
DIAGNOSES = Path("data/measurements/case_studies/diagnoses.parquet")
EVIDENCE = Path("data/measurements/case_studies/evidence.parquet")


def explain_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str,
    settings: st.Record,
    study: st.ReferenceStudy,
    plan: FoldPlan,
    cases: Mapping[str, str],
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Answers for tested runs of the first seed and of cases, and all conditions of these."""
    columns = FEATURE_SETS[st.PRIMARY_SET]
    fitted, tested = fit_fold(runs, band, splits, method, settings, columns, study.seed, plan)
    of_seed = runs.table["seed"] == min(study.run_seeds)
    asked = tested & (of_seed | runs.table["run_id"].is_in([*cases])).to_numpy()
    named = runs.table.filter(pl.Series(asked)).select("run_id", "scenario")
    diagnoses = fitted.diagnose(runs.frame[asked])
    of_cases = [
        (cases[run_id], method, position, *condition_of(each))
        for run_id, diagnosis in zip(named["run_id"], diagnoses, strict=True)
        if run_id in cases
        for position, each in enumerate(diagnosis.evidence)
    ]
    evidence = pl.DataFrame(of_cases, schema=EVIDENCE_SCHEMA, orient="row")
    return *explained(named.iter_rows(), method, diagnoses), evidence


def main() -> None:
    features = read_features()
    splits = st.read_splits()
    cases = st.read_output(CASES, CASE_SCHEMA).select("case", "run_id").unique(maintain_order=True)
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
    case_of = {run_id: case for case, run_id in cases.iter_rows()}
    tasks = [
        (runs, band, first, method, settings, study, plan, case_of)
        for method, settings in methods.items()
        for plan in by_scenario(st.NESTED_CV, first)
    ]
    parts = zip(*st.parallel_map(explain_fold, tasks, st.workers()), strict=True)
    answers, conditions, evidence = map(pl.concat, parts)
    names = ("run_id", "method", "position")
    st.write_parquet(answers.sort(names[:2]), MEASURED / "answers.parquet")
    st.write_parquet(conditions.sort(names), MEASURED / "conditions.parquet")
    diagnoses = cases.join(answers, on="run_id", maintain_order="left_right")
    st.write_parquet(diagnoses.select(DIAGNOSIS_SCHEMA.names()), DIAGNOSES)
    of_cases = cases.select("case").join(evidence, on="case", maintain_order="left_right")
    st.write_parquet(of_cases, EVIDENCE)


if __name__ == "__main__":
    st.run(main)
