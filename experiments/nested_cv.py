"""Stage nested_cv: out-of-fold predictions of one method, named on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from pydantic import Field

from failbench.evaluation.nested_cv import nested_cv
from failbench.features import FEATURE_SETS
from failbench.methods.registry import method_named
from failbench.scenarios import Architecture, Optimizer, Record
from failbench.telemetry import write_parquet
from stage import print_accuracy, read_output, read_section, run, workers

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/nested_cv")


class NestedCvParameters(Record):
    """The section ``nested_cv`` of params.yaml."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str
    run_seed: int = Field(ge=0)
    seed: int = Field(ge=0)


def main() -> None:
    method = method_named(sys.argv[1] if len(sys.argv) == 2 else "(none)")
    parameters = read_section("nested_cv", NestedCvParameters)
    sections = {name: read_section(name, record) for name, record in method.sections.items()}
    features = read_output(FEATURES).filter(
        pl.col("architecture") == parameters.architecture,
        pl.col("optimizer") == parameters.optimizer,
        pl.col("scale") == parameters.scale,
    )
    predictions = nested_cv(
        features.filter(pl.col("kind") == "failure", pl.col("seed") == parameters.run_seed),
        features.filter(pl.col("kind") == "success"),
        read_output(SPLITS),
        method.name,
        method.assemble(sections),
        FEATURE_SETS,
        parameters.seed,
        workers(),
    )
    write_parquet(predictions, PREDICTIONS / f"{method.name}.parquet")
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
