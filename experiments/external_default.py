"""Stage external_default: what the published accuracy on DEFault's runs rests on."""

from __future__ import annotations

from pathlib import Path

from failbench.external.tables import read_released
from failbench.stage import read_output
from failbench.statistics.settings import read_with_statistics
from failbench.studies.external_default.grouping import GROUP_SCHEMA
from failbench.studies.external_default.measure import ANSWER_SCHEMA
from failbench.studies.external_default.report import report
from failbench.studies.external_default.settings import ExternalDefaultSettings
from failbench.study.publish import publish, run

RELEASED = Path("data/external/default")
MEASUREMENTS = Path("data/measurements/external_default")


def main() -> None:
    settings = read_with_statistics("external_default", ExternalDefaultSettings)
    answers = read_output(MEASUREMENTS / "answers.parquet", ANSWER_SCHEMA)
    groups = read_output(MEASUREMENTS / "groups.parquet", GROUP_SCHEMA)
    publish("external_default", report(answers, groups, read_released(RELEASED), settings))


if __name__ == "__main__":
    run(main)
