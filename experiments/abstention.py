"""Stage abstention: why the improved rules and the monitor abstain, and what it is worth."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.predictions import PREDICTION_SCHEMA
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.abstention.report import report
from failbench.studies.abstention.settings import AbstentionSettings
from report import publish, read_reported, run
from stage import read_output, read_section

FOLDER = Path("data/predictions/nested_cv")
PREDICTIONS = FOLDER / "improved_rules.parquet"
MONITORED = (FOLDER / "invariants.parquet", FOLDER / "invariants_abstaining.parquet")
INNER = Path("data/predictions/abstention/improved_rules.parquet")


def main() -> None:
    published = report(
        read_output(PREDICTIONS, PREDICTION_SCHEMA),
        read_output(INNER, PREDICTION_SCHEMA),
        pl.concat([read_output(path, PREDICTION_SCHEMA) for path in MONITORED]),
        read_reported(),
        read_section("abstention", AbstentionSettings),
        read_statistics(ScenarioIntervalSettings),
        tau=read_section("improved_rules", ImprovedRulesSettings).tau,
    )
    publish("abstention", published)


if __name__ == "__main__":
    run(main)
