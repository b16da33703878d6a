"""Stage monitor: how often the monitor is right, by what, when, and how often it cries wolf."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.monitored.fitting import setting_of
from failbench.monitored.tables import MONITORED_SCHEMA
from failbench.monitored.verdicts import BREAK_SCHEMA, END_SCHEMA, VERDICT_SCHEMA
from failbench.monitored.versions import read_rules
from failbench.prediction.slices import ReferenceStudy
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output, read_outputs, read_points, read_section
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.monitor.cost import COST_SCHEMA
from failbench.studies.monitor.halves import HALF_SCHEMA
from failbench.studies.monitor.judged import Judged, labelled
from failbench.studies.monitor.rates import METHODS
from failbench.studies.monitor.report import report
from failbench.studies.monitor.settings import (
    HISTORY_SCHEMA,
    JudgedRuns,
    versioned,
)
from failbench.study.publish import publish, run
from recordings import read_scenarios_of

MONITORED = Path("data/monitor")
RUNS = Path("data/monitor/runs.parquet")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
HALVES = Path("data/monitor/halves.csv")
HISTORY = Path("data/monitor/versions.csv")
COST = Path("data/monitor/cost.csv")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/invariants")
PREDICTIONS = Path("data/predictions/monitor")
FOREST = Path("data/predictions/nested_cv/random_forest.parquet")


def main() -> None:
    settings = read_section("monitor", JudgedRuns)
    reference = read_section("nested_cv", ReferenceStudy)
    breaks = read_output(MEASURED / "breaks.parquet", versioned(BREAK_SCHEMA))
    verdicts = read_output(MEASURED / "verdicts.parquet", versioned(VERDICT_SCHEMA))
    ends = read_output(MEASURED / "ends.parquet", END_SCHEMA)
    monitored = read_output(RUNS, MONITORED_SCHEMA).join(ends, on="run_id", how="semi")
    runs = labelled(
        monitored, read_scenarios_of(monitored, SCENARIOS), read_points(HALVES, HALF_SCHEMA)
    )
    judged = []
    for version in settings.versions:
        of_version = verdicts.filter(pl.col("version") == version)
        judged.append(
            Judged(
                read_rules(MONITORED, version),
                breaks.filter(pl.col("version") == version),
                of_version,
                ends.join(of_version, on="run_id", how="semi"),
                runs,
            )
        )
    publish(
        "monitor",
        report(
            judged,
            read_outputs(PREDICTIONS, METHODS, PREDICTION_SCHEMA),
            read_output(FOREST, PREDICTION_SCHEMA).filter(feature_set=PRIMARY_SET),
            read_points(HISTORY, HISTORY_SCHEMA),
            read_points(COST, COST_SCHEMA),
            setting_of(reference.model_dump()),
            settings,
            read_statistics(ScenarioIntervalSettings),
        ),
    )


if __name__ == "__main__":
    run(main)
