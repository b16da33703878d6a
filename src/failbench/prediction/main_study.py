"""Main study: whose predictions it has, file by file."""

from __future__ import annotations

from collections.abc import Iterable

COMPOSED = ("hybrid", "hybrid_two_way")
"""Composed from the predictions of their members."""
WITHOUT_FEATURES = ("raw_series", "raw_text", "raw_telemetry")
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
