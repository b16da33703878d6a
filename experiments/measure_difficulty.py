"""Stage measure_difficulty: how often each method diagnoses the cause of each scenario."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.prediction.main_study import (
    LANGUAGE_MODELS,
    across_architectures_files,
    prediction_files,
)
from failbench.prediction.slices import ReferenceStudy
from failbench.predictions import PREDICTION_SCHEMA
from failbench.scenarios import read_scenarios
from failbench.stage import read_names, read_output, read_outputs, read_section, run
from failbench.studies.difficulty.measure import DifficultyDesign, measure_difficulty
from failbench.telemetry import write_parquet

MAIN_STUDY = Path("data/predictions/nested_cv")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
FEATURES = Path("data/features/features.parquet")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/difficulty/scenarios.parquet")
SHARES = Path("data/measurements/difficulty/shares.parquet")


def main() -> None:
    methods = read_names("methods")
    predictions = pl.concat(
        [
            read_outputs(
                MAIN_STUDY, prediction_files(methods), PREDICTION_SCHEMA, (LANGUAGE_MODELS,)
            ),
            read_outputs(
                ACROSS_ARCHITECTURES, across_architectures_files(methods), PREDICTION_SCHEMA
            ),
        ]
    )
    difficulty = measure_difficulty(
        predictions,
        read_scenarios(SCENARIOS),
        read_section("nested_cv", ReferenceStudy).failures(read_output(FEATURES, FEATURE_SCHEMA)),
        read_section("difficulty", DifficultyDesign),
    )
    write_parquet(difficulty.scenarios, MEASURED)
    write_parquet(difficulty.shares, SHARES)


if __name__ == "__main__":
    run(main)
