"""Stage llm_agents: what language models answered, replayed from the cache; no server is asked."""

from __future__ import annotations

from pathlib import Path

import yaml

from failbench.methods.llm.cache import cache_path, read_cache
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.llm_agents.results import agent_metrics, agent_study
from failbench.studies.llm_agents.tables import agents_table
from failbench.telemetry import read_telemetry, write_parquet
from stage import print_table, read_output, read_section, run, write_metrics

CACHE = Path("data/llm")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
REPORTED = Path("data/reported/paper.yaml")
PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
METRICS = Path("data/metrics/llm_agents.json")
TABLES = Path("paper/tables")


def main() -> None:
    settings = read_section("llm_agents", LlmAgentsSettings)
    intervals = read_section("intervals", IntervalSettings)
    reference = read_section("nested_cv", ReferenceStudy)
    found = agent_study(
        read_telemetry(TELEMETRY),
        reference.failures(read_output(FEATURES)),
        read_output(SPLITS),
        {label: read_cache(cache_path(CACHE, label)) for label in settings.models},
        settings,
        intervals,
    )
    write_parquet(found.predictions, PREDICTIONS)
    write_metrics(METRICS, agent_metrics(found))
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    write_table(agents_table(found.models, reported, confidence=intervals.confidence), TABLES)
    print_table(
        ("model", "available", "answered", "runs"),
        [
            (label, str(one.available), one.answered, one.runs)
            for label, one in found.models.items()
        ],
    )


if __name__ == "__main__":
    run(main)
