"""Stage benchmark: what the benchmark consists of, and what its methods read."""

from __future__ import annotations

from pathlib import Path

from failbench.features.catalogue import PRIMARY_SET
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.stage import read_output, read_section
from failbench.statistics.settings import read_with_statistics
from failbench.studies.benchmark.report import Inputs, MethodSettings, report
from failbench.studies.benchmark.results import DIFFICULTY_SCHEMA
from failbench.studies.benchmark.settings import BenchmarkSettings
from failbench.study.inputs import read_metrics
from failbench.study.publish import publish, run
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
DIFFICULTY = Path("data/measurements/difficulty/scenarios.parquet")
INTERVALS = Path("data/metrics/intervals.json")


def main() -> None:
    settings = read_with_statistics("benchmark", BenchmarkSettings)
    study = read_section("nested_cv", ReferenceStudy)
    methods = MethodSettings(
        read_section("simple_rules", SimpleRulesSettings),
        read_section("improved_rules", ImprovedRulesSettings),
        read_section("llm_agents", LlmAgentsSettings),
    )
    difficulty = read_output(DIFFICULTY, DIFFICULTY_SCHEMA)
    estimates = read_metrics(INTERVALS, PRIMARY_SET)[PRIMARY_SET]
    features = read_output(FEATURES, FEATURE_SCHEMA)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    inputs = Inputs(telemetry, scenarios, features, difficulty, estimates)
    publish("benchmark", report(inputs, study, methods, settings))


if __name__ == "__main__":
    run(main)
