"""Stage significance: the named contrasts tested, but for those that are in-sample."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_outputs
from failbench.statistics.settings import read_with_statistics
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.report import report
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/nested_cv")


def main() -> None:
    settings = read_with_statistics("significance", SignificanceSettings)
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    publish("significance", report(predictions, settings))


if __name__ == "__main__":
    run(main)
