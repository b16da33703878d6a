"""Stage measure_portability: methods of one optimizer tested on runs of another."""

from __future__ import annotations

from pathlib import Path

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.monitor_methods import EndingSettings, NoSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_table, read_names, read_output, read_section, run, workers
from failbench.studies.portability.measure import measure
from failbench.studies.portability.settings import PortabilitySettings, methods_carried
from failbench.telemetry import write_parquet
from known_runs import read_known
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
SPLITS = Path("data/features/splits.parquet")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/portability")


def main() -> None:
    settings = read_section("portability", PortabilitySettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
        "invariants": NoSettings(),
        "ending": read_section("ending", EndingSettings),
        "forest_on_invariants": settings.random_forest,
    }
    carried = methods_carried(read_names("methods"))
    predictions = measure(
        *read_recordings(TELEMETRY, SCENARIOS),
        read_output(SPLITS, SPLIT_SCHEMA),
        {name: methods[name] for name in carried},
        settings,
        workers(),
        read_known(KNOWN, carried),
    )
    for method in carried:
        write_parquet(predictions.filter(method=method), PREDICTIONS / f"{method}.parquet")
    counts = predictions.group_by("method", "condition").len().sort("method", "condition")
    print_table(("method", "condition", "predictions"), counts.rows())


if __name__ == "__main__":
    run(main)
