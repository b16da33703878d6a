"""Stage onset: whether failures that set in suddenly or gradually have other causes."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output, read_section
from failbench.statistics.settings import read_with_statistics
from failbench.studies.onset.report import report
from failbench.studies.onset.settings import OnsetSettings
from failbench.study.publish import publish, run
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
TEXT = Path("data/predictions/nested_cv/raw_text.parquet")
TEXT_AND_SERIES = Path("data/predictions/nested_cv/raw_telemetry.parquet")


def main() -> None:
    settings = read_with_statistics("onset", OnsetSettings)
    simple = read_section("simple_rules", SimpleRulesSettings)
    reference = read_section("nested_cv", ReferenceStudy)
    features = read_output(FEATURES, FEATURE_SCHEMA)
    predictions = pl.concat(
        read_output(path, PREDICTION_SCHEMA) for path in (TEXT, TEXT_AND_SERIES)
    )
    recordings = read_recordings(TELEMETRY, SCENARIOS)
    asked = predictions.filter(pl.col("feature_set") == PRIMARY_SET)
    publish("onset", report(*recordings, features, asked, reference, settings, simple))


if __name__ == "__main__":
    run(main)
