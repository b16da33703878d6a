"""Stage measure_lead_time: what methods answer before the failure, and how runs stray."""

from __future__ import annotations

from pathlib import Path

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.studies.lead_time.measure import measure
from failbench.studies.lead_time.settings import LeadTimeSettings
from failbench.telemetry import write_parquet
from recordings import read_recordings
from stage import print_table, read_output, read_section, run, workers

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/lead_time")
MEASUREMENTS = Path("data/measurements/lead_time")


def main() -> None:
    settings = read_section("lead_time", LeadTimeSettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
    }
    measured = measure(
        *read_recordings(TELEMETRY, SCENARIOS),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("nested_cv", ReferenceStudy),
        methods,
        settings,
        workers(),
    )
    predictions = measured.predictions
    for method in methods:
        write_parquet(predictions.filter(method=method), PREDICTIONS / f"{method}.parquet")
    write_parquet(measured.runs, MEASUREMENTS / "runs.parquet")
    write_parquet(measured.scores, MEASUREMENTS / "scores.parquet")
    write_parquet(measured.healthy_scores, MEASUREMENTS / "healthy_scores.parquet")
    counts = predictions.group_by("method", "subset").len().sort("method", "subset")
    print_table(("method", "subset", "predictions"), counts.rows())


if __name__ == "__main__":
    run(main)
