"""Stage nested_cv: out-of-fold predictions of one method, named on the command line.

Those of the main study, and those of all architectures, by fits that saw each one and by others.
"""

from __future__ import annotations

import sys
from pathlib import Path

from failbench.base.predictions import read_splits
from failbench.base.slices import AcrossArchitectures, ReferenceStudy
from failbench.base.stage import print_accuracy, read_section, run, workers
from failbench.base.telemetry import write_parquet
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.methods.catalogue import method_named
from failbench.prediction.nested_cv import across_architectures, nested_cv
from known_runs import read_known

KNOWN = Path("data/features/known.parquet")
MAIN_STUDY = Path("data/predictions/nested_cv")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")


def main() -> None:
    method = method_named(sys.argv[1] if len(sys.argv) == 2 else "(none)")
    study = read_section("nested_cv", ReferenceStudy)
    across = read_section("across_architectures", AcrossArchitectures)
    settings = method.assemble(
        {name: read_section(name, record) for name, record in method.sections.items()}
    )
    features, splits = read_features(), read_splits()
    known = read_known(KNOWN, [method.name])
    failures, successes = study.failures(features), study.successes(features)
    fitted = (method.name, settings)
    table = failures if known is None else known.beside(failures)
    of_study = nested_cv(table, successes, splits, *fitted, FEATURE_SETS, study.seed, workers())
    of_all = across_architectures(features, splits, *fitted, across, workers(), known)
    for folder, predictions in ((MAIN_STUDY, of_study), (ACROSS_ARCHITECTURES, of_all)):
        write_parquet(predictions, folder / f"{method.name}.parquet")
        print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
