"""Stage unknown_anatomy: what is answered to unknown scenarios, and what would settle them."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.prediction.neighbours import NEIGHBOUR_SCHEMA
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_output, read_outputs
from failbench.statistics.settings import read_with_statistics
from failbench.studies.unknown_anatomy.measurements import PARTNER_SCHEMA, Measurements
from failbench.studies.unknown_anatomy.report import report
from failbench.studies.unknown_anatomy.results import UnknownAnatomySettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run
from recordings import read_scenarios_of

PREDICTIONS = Path("data/predictions/nested_cv")
FOREST = Path("data/predictions/unknown_anatomy/random_forest.parquet")
MEASUREMENTS = Path("data/measurements/unknown_anatomy")
SCENARIOS = Path("data/scenarios")


def main() -> None:
    settings = read_with_statistics("unknown_anatomy", UnknownAnatomySettings)
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    measured = Measurements(
        read_output(FOREST, PREDICTION_SCHEMA),
        read_output(MEASUREMENTS / "neighbours.parquet", NEIGHBOUR_SCHEMA),
        read_output(MEASUREMENTS / "partners.parquet", PARTNER_SCHEMA),
    )
    scenarios = read_scenarios_of(predictions, SCENARIOS)
    publish(
        "unknown_anatomy",
        report(predictions, measured, scenarios, read_reported(), settings),
    )


if __name__ == "__main__":
    run(main)
