"""Stage controls: what must not tell the label is shown not to, and a planted leak is found."""

from __future__ import annotations

from pathlib import Path

from failbench.studies.controls.report import report
from failbench.studies.controls.settings import ControlSettings
from report import publish
from stage import read_output, read_section, run

PREDICTIONS = Path("data/predictions/controls")
MEASUREMENTS = Path("data/measurements/controls")


def main() -> None:
    published = report(
        predictions=read_output(PREDICTIONS / "forest.parquet"),
        permuted=read_output(MEASUREMENTS / "permuted_accuracies.parquet"),
        planted=read_output(PREDICTIONS / "decision_tree.parquet"),
        twins=read_output(PREDICTIONS / "raw_series.parquet"),
        settings=read_section("controls", ControlSettings),
    )
    publish("controls", published)


if __name__ == "__main__":
    run(main)
