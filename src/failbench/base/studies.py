"""Which predictions the main study and that across architectures have, at equal repeats or runs."""

from collections.abc import Iterable

import polars as pl

NESTED_CV = "nested_cv"
POOLED = "pooled"
LEFT_OUT = "leave_one_architecture_out"
KNOWN_SCENARIOS = "known_scenarios"

COMPOSED = ("hybrid", "hybrid_two_way")  # composed from the predictions of their members
ON_INVARIANTS = "hybrid_monitor"  # composed besides where ``invariants`` is a method
RAW_TELEMETRY = "raw_telemetry"
WITHOUT_FEATURES = ("raw_series", "raw_text", RAW_TELEMETRY)
LANGUAGE_MODELS = "llm_agents"  # one file for all of them; it is empty where none was run
SAME_REPEATS = "nested_cv_same_repeats"  # the main study in the repeats that another can afford
SAME_RUNS = "leave_one_architecture_out_same_runs"  # those that are tested with known scenarios


def prediction_files(methods: Iterable[str]) -> tuple[str, ...]:
    """The study's files in ``data/predictions/nested_cv``, which may hold methods taken out."""
    return (*_composed(methods), *WITHOUT_FEATURES, LANGUAGE_MODELS)


def across_architectures_files(methods: Iterable[str]) -> tuple[str, ...]:
    """The study's files in ``data/predictions/across_architectures``; no language models."""
    return (*_composed(methods), RAW_TELEMETRY)


def _composed(methods: Iterable[str]) -> tuple[str, ...]:
    fitted = tuple(methods)
    return (*fitted, *COMPOSED, *((ON_INVARIANTS,) if "invariants" in fitted else ()))


def same_repeats(main: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Predictions of the main study in the repeats that another study has, method by method."""
    shared = main.join(others, on=["feature_set", "method", "repeat"], how="semi")
    return shared.with_columns(study=pl.lit(SAME_REPEATS))


def same_runs(left_out: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Predictions for architectures left out of the runs that are tested with known scenarios."""
    shared = left_out.join(known, on=["feature_set", "method", "repeat", "run_id"], how="semi")
    return shared.with_columns(study=pl.lit(SAME_RUNS))
