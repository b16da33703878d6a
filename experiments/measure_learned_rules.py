"""Stage measure_learned_rules: learn the rules from all runs, and see what each fold asks first."""

from __future__ import annotations

from pathlib import Path

from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_table, read_output, read_section, run, workers
from failbench.studies.learned_rules.measure import learned_fits
from failbench.telemetry import write_parquet

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MEASUREMENTS = Path("data/measurements/learned_rules")


def main() -> None:
    study = read_section("nested_cv", ReferenceStudy)
    fits = learned_fits(
        study.failures(read_output(FEATURES, FEATURE_SCHEMA)),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("learned_rules", LearnedRulesSettings),
        FEATURE_SETS["19"],
        study.seed,
        workers(),
    )
    write_parquet(fits.rules, MEASUREMENTS / "rules.parquet")
    write_parquet(fits.tops, MEASUREMENTS / "tops.parquet")
    print_table(("rules", "fits"), [(fits.rules.height, fits.tops.height)])


if __name__ == "__main__":
    run(main)
