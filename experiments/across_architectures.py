"""Stage across_architectures: predictions of one method on all architectures and seeds."""

from __future__ import annotations

import sys
from pathlib import Path

from failbench.base.predictions import SPLIT_SCHEMA
from failbench.base.slices import AcrossArchitectures
from failbench.base.stage import print_accuracy, read_output, read_section, run, workers
from failbench.base.telemetry import write_parquet
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.catalogue import method_named
from failbench.prediction.nested_cv import across_architectures
from known_runs import read_known

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/across_architectures")


def main() -> None:
    method = method_named(sys.argv[1] if len(sys.argv) == 2 else "(none)")
    study = read_section("across_architectures", AcrossArchitectures)
    sections = {name: read_section(name, record) for name, record in method.sections.items()}
    settings = method.assemble(sections)
    predictions = across_architectures(
        read_output(FEATURES, FEATURE_SCHEMA),
        read_output(SPLITS, SPLIT_SCHEMA),
        method.name,
        settings,
        study,
        workers(),
        read_known(KNOWN, [method.name]),
    )
    write_parquet(predictions, PREDICTIONS / f"{method.name}.parquet")
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
