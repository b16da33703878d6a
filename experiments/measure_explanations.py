"""Stage measure_explanations: on which evidence methods answer each failing run of one seed."""

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
from failbench.studies.explanations.measure import measure_explanations
from failbench.telemetry import write_parquet

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MEASURED = Path("data/measurements/explanations")


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
    measured = measure_explanations(
        read_output(FEATURES, FEATURE_SCHEMA),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("nested_cv", ReferenceStudy),
        methods,
        workers(),
    )
    write_parquet(measured.answers, MEASURED / "answers.parquet")
    write_parquet(measured.conditions, MEASURED / "conditions.parquet")


if __name__ == "__main__":
    run(main)
