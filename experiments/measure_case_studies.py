"""Stage measure_case_studies: two failing runs picked by rule, and their diagnoses."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import (
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
)
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import read_output, read_section, run, workers
from failbench.studies.case_studies.cases import CaseStudiesSettings
from failbench.studies.case_studies.measure import measure_case_studies
from failbench.telemetry import write_parquet
from recordings import read_recordings

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/case_studies")


def main() -> None:
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
    measured = measure_case_studies(
        *read_recordings(TELEMETRY, SCENARIOS),
        read_output(FEATURES, FEATURE_SCHEMA),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("nested_cv", ReferenceStudy),
        methods,
        read_section("case_studies", CaseStudiesSettings),
        workers(),
    )
    write_parquet(measured.cases, MEASURED / "cases.parquet")
    write_parquet(measured.facts, MEASURED / "facts.parquet")
    write_parquet(measured.diagnoses, MEASURED / "diagnoses.parquet")
    write_parquet(measured.evidence, MEASURED / "evidence.parquet")


if __name__ == "__main__":
    run(main)
