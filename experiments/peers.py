"""Stage peers: what other tools make of the benchmark's runs, and ours beside them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.diagnose.answer import NAMED
from failbench.features.catalogue import PRIMARY_SET
from failbench.peers.alarms import ALARM_SCHEMA
from failbench.peers.mapping import refuse_unmapped
from failbench.peers.verdicts import VERDICT_SCHEMA
from failbench.prediction.slices import ReferenceStudy, RunSetting
from failbench.prediction.splits import SPLIT_SCHEMA, first_repeats
from failbench.predictions import PREDICTION_SCHEMA
from failbench.scenarios import read_scenarios
from failbench.stage import read_output, read_outputs, read_section
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.peers.elsewhere import asked_elsewhere
from failbench.studies.peers.report import report
from failbench.studies.peers.said import (
    best_formats,
    of_methods,
    of_package,
    of_recorded,
    of_rules,
    runs_of,
)
from failbench.studies.peers.schemas import BREAKS, COMPLETE_LOG, LOG_ANSWERS
from failbench.studies.peers.settings import PeersStudy
from failbench.study.publish import publish, run
from failbench.telemetry import RUN_SCHEMA, read_table

RUNS = Path("data/telemetry/runs.parquet")
SCENARIOS = Path("data/scenarios")
ALARMS = Path("data/measurements/peers/alarms.parquet")
SKILL = Path("data/measurements/peers/skill.parquet")
VERDICTS = Path("data/peers")
PREDICTIONS = Path("data/predictions/nested_cv")
BREAKS_OF_MONITOR = Path("data/measurements/invariants/verdicts.parquet")
LOGS = Path("data/measurements/diagnose_logs/answers.parquet")
SPLITS = Path("data/features/splits.parquet")


def main() -> None:
    settings = read_section("peers", PeersStudy)
    reference = read_section("nested_cv", ReferenceStudy)
    intervals = read_statistics(ScenarioIntervalSettings)
    splits = first_repeats(read_output(SPLITS, SPLIT_SCHEMA), settings.repeats, "peers.repeats")
    recorded, scenarios = read_table(RUNS, RUN_SCHEMA), read_scenarios(SCENARIOS)
    runs = runs_of(recorded, scenarios, reference)
    alarms = read_output(ALARMS, ALARM_SCHEMA)
    verdicts = [read_output(SKILL, VERDICT_SCHEMA)]
    for name in settings.verdicts:
        place = VERDICTS / f"{name}.parquet"
        verdicts.append(read_output(place, VERDICT_SCHEMA))
        refuse_unmapped(verdicts[-1], place)
    given_logs = best_formats(pl.concat(verdicts), runs)
    elsewhere = asked_elsewhere(pl.concat(verdicts), runs, recorded, scenarios)
    predictions = read_outputs(PREDICTIONS, settings.methods, PREDICTION_SCHEMA)
    breaks = read_output(BREAKS_OF_MONITOR, BREAKS)
    answers = read_output(LOGS, LOG_ANSWERS)
    setting = RunSetting(**reference.model_dump(include=set(RunSetting.model_fields))).name
    of_setting = answers.filter(setting=setting, repeat=0, **COMPLETE_LOG)
    whole_logs = breaks.filter(
        pl.col("steps_ahead").is_null(), version=settings.monitor_version, bounds="own"
    )
    publish(
        "peers",
        report(
            pl.concat([of_rules(alarms, runs, settings), of_recorded(given_logs)]),
            elsewhere,
            pl.concat(
                [
                    of_package(of_setting, NAMED),
                    of_methods(predictions.filter(feature_set=PRIMARY_SET), whole_logs, runs),
                ]
            ),
            alarms,
            runs,
            splits,
            dict(given_logs.select("peer", "format").unique(maintain_order=True).iter_rows()),
            settings,
            intervals,
        ),
    )


if __name__ == "__main__":
    run(main)
