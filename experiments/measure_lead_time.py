"""Stage measure_lead_time: what methods answer before the failure, and how runs stray."""

from __future__ import annotations

from pathlib import Path

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.monitor_methods import EndingSettings, NoSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_table, read_names, read_output, read_section, run, workers
from failbench.studies.lead_time.measure import measure
from failbench.studies.lead_time.settings import LeadTimeSettings, methods_asked
from failbench.telemetry import write_parquet
from known_runs import read_known
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
SPLITS = Path("data/features/splits.parquet")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/lead_time")
MEASUREMENTS = Path("data/measurements/lead_time")


def main() -> None:
    settings = read_section("lead_time", LeadTimeSettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
        "invariants": NoSettings(),
        "ending": read_section("ending", EndingSettings),
        "forest_on_invariants": settings.random_forest,
    }
    asked = methods_asked(read_names("methods"))
    measured = measure(
        *read_recordings(TELEMETRY, SCENARIOS),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("nested_cv", ReferenceStudy),
        {name: methods[name] for name in asked},
        settings,
        workers(),
        read_known(KNOWN, asked),
    )
    predictions = measured.predictions
    for method in asked:
        write_parquet(predictions.filter(method=method), PREDICTIONS / f"{method}.parquet")
    write_parquet(measured.runs, MEASUREMENTS / "runs.parquet")
    write_parquet(measured.scores, MEASUREMENTS / "scores.parquet")
    write_parquet(measured.healthy_scores, MEASUREMENTS / "healthy_scores.parquet")
    counts = predictions.group_by("method", "subset").len().sort("method", "subset")
    print_table(("method", "subset", "predictions"), counts.rows())


if __name__ == "__main__":
    run(main)
