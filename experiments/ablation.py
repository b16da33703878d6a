"""Stage ablation: what is left of methods with some groups of signals, scored and compared."""

from __future__ import annotations

from pathlib import Path

from failbench.stage import read_outputs, read_points, workers
from failbench.statistics.settings import read_with_statistics
from failbench.studies.ablation.measure import ABLATION_SCHEMA, METHODS
from failbench.studies.ablation.report import report
from failbench.studies.ablation.results import AblationSettings
from failbench.studies.ablation.tables import IMPORTANCE_SCHEMA
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

IMPORTANCE = Path("data/plots/importance.csv")
PREDICTIONS = Path("data/predictions/ablation")


def main() -> None:
    settings = read_with_statistics("ablation", AblationSettings)
    predictions = read_outputs(PREDICTIONS, METHODS, ABLATION_SCHEMA)
    importance, paper = read_points(IMPORTANCE, IMPORTANCE_SCHEMA), read_reported()
    publish("ablation", report(predictions, importance, paper, settings, workers()))


if __name__ == "__main__":
    run(main)
