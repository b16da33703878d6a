"""Stage crosswalk: every accuracy that is printed of two methods, side by side."""

from __future__ import annotations

from pathlib import Path

from failbench.stage import read_output, read_points
from failbench.studies.crosswalk.conditions import CONDITIONS
from failbench.studies.crosswalk.report import report
from failbench.studies.crosswalk.results import points_schema, predictions_schema
from failbench.study.publish import publish, run

POINTS = Path("data/plots")
PREDICTIONS = Path("data/predictions")


def main() -> None:
    points = {
        condition.points: read_points(
            POINTS / f"{condition.points}.csv", points_schema(condition.points)
        )
        for condition in CONDITIONS
    }
    predictions = {
        (condition.predictions, method): read_output(
            PREDICTIONS / condition.predictions / f"{method}.parquet",
            predictions_schema(condition.predictions),
        )
        for condition in CONDITIONS
        for method in condition.methods
    }
    publish("crosswalk", report(points, predictions))


if __name__ == "__main__":
    run(main)
