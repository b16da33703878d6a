"""Stage measure_unknown_anatomy: a forest with more to go by or less, and look-alikes."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.base.slices import partners
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.features.observables import measurements
from failbench.prediction.neighbours import nearest_scenarios
from failbench.prediction.nested_cv import nested_cv
from shared.unknown_anatomy import MEASURED_SETS, UNKNOWN, UnknownAnatomyDesign

TELEMETRY = Path("data/telemetry")
PREDICTIONS = Path("data/predictions/unknown_anatomy")
MEASUREMENTS = Path("data/measurements/unknown_anatomy")

STUDY = "unknown_anatomy"
METHOD = "random_forest"


def measure(
    telemetry: st.Telemetry,
    features: pl.DataFrame,
    splits: pl.DataFrame,
    reference: st.ReferenceStudy,
    settings: UnknownAnatomyDesign,
    workers: int = 1,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Answers of a forest to all scenarios, and what lies near and looks like unknown ones.

    It learns from the features with and without each measurement. The folds are those of the main
    study, and so is the seed of each fit.
    """
    failures, successes = (
        with_measurements(each, measurements(telemetry))
        for each in (reference.failures(features), reference.successes(features))
    )
    taken = st.first_repeats(splits, settings.repeats, f"{STUDY}.repeats")
    predictions = nested_cv(
        failures, successes, taken, METHOD, settings.forest, MEASURED_SETS, reference.seed, workers
    )
    nearest = nearest_scenarios(
        failures, FEATURE_SETS[st.PRIMARY_SET], settings.neighbours, labelled=True
    )
    unknown = failures.filter(category=UNKNOWN).select("scenario")
    surfaces = telemetry.runs.join(failures.select("run_id", "category"), on="run_id")
    return (
        predictions.with_columns(study=pl.lit(STUDY)),
        nearest.join(unknown, on="scenario", how="semi", maintain_order="left"),
        partners(surfaces),
    )


def with_measurements(features: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """A feature table with the measurements of its runs."""
    missing = features.join(measured, on="run_id", how="anti").sort("run_id")
    if missing.height:
        problem = f"{missing['run_id'][0]!r} has features and is not recorded."
        raise st.BadInputError("telemetry", "run_id", problem, "Run `dvc repro features`.")
    return features.join(measured, on="run_id", how="left", maintain_order="left")


def main() -> None:
    predictions, neighbours, alike = measure(
        st.read_telemetry(TELEMETRY),
        read_features(),
        st.read_splits(),
        st.read_section("nested_cv", st.ReferenceStudy),
        st.read_section("unknown_anatomy", UnknownAnatomyDesign),
        st.workers(),
    )
    st.write_parquet(predictions, PREDICTIONS / f"{METHOD}.parquet")
    st.write_parquet(neighbours, MEASUREMENTS / "neighbours.parquet")
    st.write_parquet(alike, MEASUREMENTS / "partners.parquet")
    st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
