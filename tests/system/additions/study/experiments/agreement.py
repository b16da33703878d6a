"""Stage agreement: how often two methods give a run the same answer."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_outputs, read_section, run
from failbench.studies.agreement.report import report
from failbench.studies.agreement.results import AgreementSettings
from failbench.study.publish import publish

PREDICTIONS = Path("data/predictions/nested_cv")


def main() -> None:
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    publish("agreement", report(predictions, read_section("agreement", AgreementSettings)))


if __name__ == "__main__":
    run(main)
