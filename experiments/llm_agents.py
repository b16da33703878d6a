"""Stage llm_agents: what language models answered; where nothing is cached, it says so."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.llm_agents.measurements import ANSWERED_SCHEMA, EXPLANATION_SCHEMA
from failbench.studies.llm_agents.report import report
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
MEASUREMENTS = Path("data/measurements/llm_agents")


def main() -> None:
    published = report(
        read_output(PREDICTIONS, PREDICTION_SCHEMA, may_be_empty=True),
        read_output(MEASUREMENTS / "explanations.parquet", EXPLANATION_SCHEMA, may_be_empty=True),
        read_output(MEASUREMENTS / "answered.parquet", ANSWERED_SCHEMA),
        read_statistics(ScenarioIntervalSettings),
    )
    publish("llm_agents", published)


if __name__ == "__main__":
    run(main)
