"""Main study, and that across architectures: whose predictions they have, file by file."""

from __future__ import annotations

from collections.abc import Iterable

COMPOSED = ("hybrid", "hybrid_two_way")
"""Composed from the predictions of their members."""
RAW_TELEMETRY = "raw_telemetry"
WITHOUT_FEATURES = ("raw_series", "raw_text", RAW_TELEMETRY)
LANGUAGE_MODELS = "llm_agents"
"""One file for all of them; it is empty where none was asked."""


def prediction_files(methods: Iterable[str]) -> tuple[str, ...]:
    """Names of the files in ``data/predictions/nested_cv`` that belong to the study.

    A file that is not among them was left behind when its method was taken out of ``methods``.

    Parameters
    ----------
    methods
        The section ``methods`` of params.yaml.
    """
    return (*methods, *COMPOSED, *WITHOUT_FEATURES, LANGUAGE_MODELS)


def across_architectures_files(methods: Iterable[str]) -> tuple[str, ...]:
    """Names of the files in ``data/predictions/across_architectures`` that belong to the study.

    Of the methods without features only the one that reads all of the telemetry is in it, and no
    language model.

    Parameters
    ----------
    methods
        The section ``methods`` of params.yaml.
    """
    return (*methods, *COMPOSED, RAW_TELEMETRY)
