"""Stage nested_cv: out-of-fold predictions of one method, named on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from failbench.base.predictions import SPLIT_SCHEMA
from failbench.base.slices import ReferenceStudy
from failbench.base.stage import print_accuracy, read_output, read_section, run, workers
from failbench.base.telemetry import write_parquet
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.catalogue import method_named
from failbench.prediction.nested_cv import nested_cv
from known_runs import read_known

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/nested_cv")


def main() -> None:
    method = method_named(sys.argv[1] if len(sys.argv) == 2 else "(none)")
    study = read_section("nested_cv", ReferenceStudy)
    sections = {name: read_section(name, record) for name, record in method.sections.items()}
    features = read_output(FEATURES, FEATURE_SCHEMA)
    known = read_known(KNOWN, [method.name])
    failures = study.failures(features)
    predictions = nested_cv(
        failures if known is None else known.beside(failures),
        study.successes(features),
        read_output(SPLITS, SPLIT_SCHEMA),
        method.name,
        method.assemble(sections),
        FEATURE_SETS,
        study.seed,
        workers(),
    )
    write_parquet(predictions, PREDICTIONS / f"{method.name}.parquet")
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
