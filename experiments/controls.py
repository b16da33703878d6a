"""Stage controls: negative controls at chance, and a planted leak that must be detected."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output
from failbench.statistics.settings import read_with_statistics
from failbench.studies.controls.measurements import CONTROL_SCHEMA, PERMUTED_SCHEMA, PLANTED_SCHEMA
from failbench.studies.controls.report import report
from failbench.studies.controls.results import ControlSettings
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/controls")
MEASUREMENTS = Path("data/measurements/controls")


def main() -> None:
    published = report(
        predictions=read_output(PREDICTIONS / "forest.parquet", CONTROL_SCHEMA),
        permuted=read_output(MEASUREMENTS / "permuted_accuracies.parquet", PERMUTED_SCHEMA),
        planted=read_output(PREDICTIONS / "decision_tree.parquet", PLANTED_SCHEMA),
        twins=read_output(PREDICTIONS / "raw_series.parquet", PREDICTION_SCHEMA),
        settings=read_with_statistics("controls", ControlSettings),
    )
    publish("controls", published)


if __name__ == "__main__":
    run(main)
