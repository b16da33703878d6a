"""Stage risk_coverage: how wrong each method is on the runs that it is most confident of."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_outputs, workers
from failbench.statistics.settings import read_with_statistics
from failbench.studies.risk_coverage.report import report
from failbench.studies.risk_coverage.results import RiskCoverageSettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/nested_cv")


def main() -> None:
    settings = read_with_statistics("risk_coverage", RiskCoverageSettings)
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    publish("risk_coverage", report(predictions, read_reported(), settings, workers()))


if __name__ == "__main__":
    run(main)
