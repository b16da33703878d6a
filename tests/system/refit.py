"""Refits methods in a process of its own: libraries choose their kernels at import."""

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info

from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.slices import AcrossArchitectures, ReferenceStudy
from failbench.base.studies import NESTED_CV, POOLED
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import raw_table
from failbench.methods.catalogue import method_named
from failbench.methods.raw_telemetry import RawTelemetrySettings
from failbench.prediction import nested_cv as fits
from failbench.prediction.splits import by_scenario
from shared.raw_telemetry import raw_predictions

REPOSITORY = Path(__file__).parents[2]
METHODS = (
    "logistic_regression", "learned_rules", "random_forest", "lightgbm", "ebm", "simple_rules",
    "improved_rules",
)  # fmt: skip
FOLDS, POOLED_FOLDS = (0, 1), (1, 2)
"""Of the first repeat, and of all architectures: some once differed between two kernels."""


def section(name: str, record: Any) -> Any:
    return read_section(name, record, REPOSITORY / "params.yaml")


def unlimited(function, arguments, workers):
    """Like ``parallel_map`` with one worker, but with as many BLAS threads as the process has."""
    return [function(*task) for task in arguments]


def refit() -> pl.DataFrame:
    study = section("nested_cv", ReferenceStudy)
    across = section("across_architectures", AcrossArchitectures)
    features = pl.read_parquet(REPOSITORY / "data/features/features.parquet")
    splits = pl.read_parquet(REPOSITORY / "data/features/splits.parquet")
    splits = splits.filter(pl.col("repeat") == 0)
    plans = [by_scenario(NESTED_CV, splits)[fold] for fold in FOLDS]
    pooled = [by_scenario(POOLED, splits)[fold] for fold in POOLED_FOLDS]
    everything, successes = across.slice(features), study.successes(features)
    parts = []
    for name in METHODS:
        method = method_named(name)
        parts_of_it = {part: section(part, record) for part, record in method.sections.items()}
        settings = method.assemble(parts_of_it)
        asked = (study.failures(features), successes, splits, name, settings, FEATURE_SETS)
        parts.append(fits.nested_cv(*asked, seed=study.seed, plans=plans))
        if name == "logistic_regression":
            both = [everything.filter(pl.col("kind") == kind) for kind in ("failure", "success")]
            asked = (*both, splits, name, settings, {"19": FEATURE_SETS["19"]})
            parts.append(fits.nested_cv(*asked, seed=across.seed, plans=pooled))
    raw_settings = section("raw_telemetry", RawTelemetrySettings)
    asked = (study.failures(raw_runs(study)), successes, splits, "raw_telemetry", raw_settings)
    parts.append(raw_predictions(*asked, seed=study.seed, plans=plans))
    return pl.concat(parts)


def raw_runs(study: ReferenceStudy) -> pl.DataFrame:
    telemetry: Telemetry = read_telemetry(REPOSITORY / "data/telemetry").select(
        (pl.col("kind") == "failure")
        & (pl.col("architecture") == study.architecture)
        & (pl.col("optimizer") == study.optimizer)
        & (pl.col("scale") == study.scale)
        & pl.col("seed").is_in(study.run_seeds)
    )
    return raw_table(telemetry, read_scenarios(REPOSITORY / "data/scenarios"))


def main() -> None:
    (path,) = sys.argv[1:]
    # A stage gives each fit one thread; here the environment says how many there are.
    fits.parallel_map = unlimited
    refit().write_parquet(path)
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    report = {
        "kernels": sorted({library.get("architecture") for library in libraries}),
        "threads": sorted({library["num_threads"] for library in libraries}),
        "numpy": [feature for feature in __cpu_dispatch__ if __cpu_features__[feature]],
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
