"""Stage architectures: whether the improved rules are worth the same on every architecture."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.main_study import across_architectures_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_output, read_outputs, read_section, workers
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics, read_with_statistics
from failbench.studies.architectures.measure import RULE_PREDICTION_SCHEMA
from failbench.studies.architectures.report import report
from failbench.studies.architectures.results import ArchitecturesSettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

RULES = Path("data/predictions/architectures/improved_rules.parquet")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
MAIN_STUDY = Path("data/predictions/nested_cv")
FEATURES = Path("data/features/features.parquet")


def main() -> None:
    files = across_architectures_files(read_names("methods"))
    publish(
        "architectures",
        report(
            read_output(RULES, RULE_PREDICTION_SCHEMA),
            pl.concat(
                read_outputs(folder, files, PREDICTION_SCHEMA)
                for folder in (ACROSS_ARCHITECTURES, MAIN_STUDY)
            ),
            read_output(FEATURES, FEATURE_SCHEMA),
            read_reported(),
            read_with_statistics("architectures", ArchitecturesSettings),
            read_section("improved_rules", ImprovedRulesSettings),
            read_statistics(ScenarioIntervalSettings),
            workers(),
        ),
    )


if __name__ == "__main__":
    run(main)
