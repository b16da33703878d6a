"""Stage measure_sensitivity: predictions with choices of the main study made otherwise."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import DecisionTreeSettings, RandomForestSettings
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_accuracy, read_output, read_section, run, workers
from failbench.studies.sensitivity.measure import measure
from failbench.studies.sensitivity.settings import SensitivitySettings
from failbench.telemetry import write_parquet
from recordings import read_scenarios_of

SCENARIOS = Path("data/scenarios")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/sensitivity")


def main() -> None:
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "decision_tree": read_section("decision_tree", DecisionTreeSettings),
        "random_forest": read_section("random_forest", RandomForestSettings),
        "ebm": read_section("ebm", EbmSettings),
    }
    features = read_output(FEATURES, FEATURE_SCHEMA)
    measured = measure(
        features,
        read_output(SPLITS, SPLIT_SCHEMA),
        read_scenarios_of(features, SCENARIOS),
        methods,
        read_section("nested_cv", ReferenceStudy),
        read_section("sensitivity", SensitivitySettings),
        workers(),
    )
    for method, predictions in measured.items():
        write_parquet(predictions, PREDICTIONS / f"{method}.parquet")
        print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
