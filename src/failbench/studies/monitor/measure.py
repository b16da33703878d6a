"""Measure: methods on what the monitor knows, and others beside them, fitted to the same runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.catalogue import MONITOR_METHODS
from failbench.monitored.known import with_known
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.records import Record

KNOWN_SET: Final = "invariants"
"""The feature set of methods that read what the monitor knows."""

OTHER_SET: Final = "19+keywords"
"""The feature set of the methods beside them, which rules and the error text are part of."""


def measure_monitor(
    features: pl.DataFrame,
    known: pl.DataFrame,
    splits: pl.DataFrame,
    settings: Mapping[str, Record],
    study: ReferenceStudy,
    workers: int = 1,
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Predict the judged runs of the reference setting, out of fold, by each method.

    All methods learn from these runs alone, in the folds of the main study.
    """
    failures = with_known(study.failures(features), known)
    successes = study.successes(features)
    for method, of_method in settings.items():
        name = KNOWN_SET if method in MONITOR_METHODS else OTHER_SET
        sets = {name: FEATURE_SETS[OTHER_SET]}  # what is known is read beside any features
        yield (
            method,
            nested_cv(failures, successes, splits, method, of_method, sets, study.seed, workers),
        )
