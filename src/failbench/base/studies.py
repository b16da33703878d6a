"""Which predictions the main study and that across architectures have, and equal repeats."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

NESTED_CV = "nested_cv"
POOLED = "pooled"
LEFT_OUT = "leave_one_architecture_out"
KNOWN_SCENARIOS = "known_scenarios"

COMPOSED = ("hybrid", "hybrid_two_way")
"""Composed from the predictions of their members."""
ON_INVARIANTS = "hybrid_monitor"
"""Composed besides where ``invariants`` is among the methods, which then answers first."""
RAW_TELEMETRY = "raw_telemetry"
WITHOUT_FEATURES = ("raw_series", "raw_text", RAW_TELEMETRY)
LANGUAGE_MODELS = "llm_agents"
"""One file for all of them; it is empty where none was run."""
SAME_REPEATS = "nested_cv_same_repeats"
"""The main study with as many repeats as a study that cannot afford all of them."""


def prediction_files(methods: Iterable[str]) -> tuple[str, ...]:
    """Names of the files in ``data/predictions/nested_cv`` that belong to the study.

    A file that is not among them was left behind when its method was taken out of ``methods``.
    """
    return (*_composed(methods), *WITHOUT_FEATURES, LANGUAGE_MODELS)


def across_architectures_files(methods: Iterable[str]) -> tuple[str, ...]:
    """Names of the files in ``data/predictions/across_architectures`` that belong to the study.

    Of the methods without features only the one that reads all of the telemetry is in it, and no
    language model.
    """
    return (*_composed(methods), RAW_TELEMETRY)


def _composed(methods: Iterable[str]) -> tuple[str, ...]:
    """Methods, and the hybrids of them."""
    fitted = tuple(methods)
    return (*fitted, *COMPOSED, *((ON_INVARIANTS,) if "invariants" in fitted else ()))


def same_repeats(main: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Predictions of the main study in the repeats that another study has, method by method."""
    shared = main.join(others, on=["feature_set", "method", "repeat"], how="semi")
    return shared.with_columns(study=pl.lit(SAME_REPEATS))
