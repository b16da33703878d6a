"""Stage measure_llm_agents: what language models answered; where nothing is cached, no row."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.llm.cache import cache_path, read_cache
from failbench.methods.llm.monitor_record import monitor_records
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.monitored.judged_runs import JudgedRuns, versioned
from failbench.monitored.tables import MONITORED_SCHEMA
from failbench.monitored.verdicts import BREAK_SCHEMA, END_SCHEMA
from failbench.monitored.versions import read_rules
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_accuracy, read_output, read_section, run
from failbench.studies.llm_agents.measure import replay
from failbench.telemetry import read_telemetry, write_parquet

CACHE = Path("data/llm")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MONITORED = Path("data/monitor")
MONITORED_RUNS = Path("data/monitor/runs.parquet")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
BREAKS = Path("data/measurements/invariants/breaks.parquet")
ENDS = Path("data/measurements/invariants/ends.parquet")
PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
MEASUREMENTS = Path("data/measurements/llm_agents")


def main() -> None:
    settings = read_section("llm_agents", LlmAgentsSettings)
    reference = read_section("nested_cv", ReferenceStudy)
    version = read_section("monitor", JudgedRuns).versions[-1]
    breaks = read_output(BREAKS, versioned(BREAK_SCHEMA)).filter(pl.col("version") == version)
    records = monitor_records(
        read_output(MONITORED_RUNS, MONITORED_SCHEMA),
        breaks,
        read_output(ENDS, END_SCHEMA),
        read_rules(MONITORED, version),
        settings,
    )
    answers = replay(
        read_telemetry(TELEMETRY),
        reference.failures(read_output(FEATURES, FEATURE_SCHEMA)),
        read_output(SPLITS, SPLIT_SCHEMA),
        {label: read_cache(cache_path(CACHE, label)) for label in settings.models},
        settings,
        records,
    )
    write_parquet(answers.predictions, PREDICTIONS)
    write_parquet(answers.explanations, MEASUREMENTS / "explanations.parquet")
    write_parquet(answers.answered, MEASUREMENTS / "answered.parquet")
    print_accuracy(answers.predictions)


if __name__ == "__main__":
    run(main)
