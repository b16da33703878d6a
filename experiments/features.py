"""Stage features: telemetry to one row of features per run, and the splits of all studies."""

from pathlib import Path

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.stage import print_table, read_section, run
from failbench.base.telemetry import write_parquet
from failbench.features.feature_table import feature_table
from failbench.prediction.splits import make_splits
from recordings import read_recordings

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")


class FeaturesParameters(Record):
    """The section ``features`` of params.yaml."""

    folds: int = Field(ge=2)
    repeats: int = Field(ge=1)
    seed: int = Field(ge=0)


def main() -> None:
    parameters = read_section("features", FeaturesParameters)
    telemetry, scenarios = read_recordings()
    # Runs with a remedy are neither failures nor healthy: no study but the case studies knows them.
    studied = telemetry.select(pl.col("kind") != "remedy")
    table = feature_table(studied, scenarios)
    failures = table.filter(pl.col("kind") == "failure")
    splits = make_splits(
        failures.select("scenario", "category").unique(),
        parameters.folds,
        parameters.repeats,
        parameters.seed,
    )
    write_parquet(table, FEATURES)
    write_parquet(splits, SPLITS)
    counts = (
        table.group_by("kind")
        .agg(pl.len(), pl.col("scenario").drop_nulls().n_unique())
        .sort("kind")
    )
    print_table(("kind", "runs", "scenarios"), counts.rows())


if __name__ == "__main__":
    run(main)
