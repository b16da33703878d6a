"""Inputs of the page's views of methods, reported numbers and rules, and their sections."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.page.counterparts import Metrics, studies
from failbench.page.methods import CURVE_SCHEMA, Estimates, methods_section
from failbench.page.reported_numbers import AUDIT_SCHEMA, reported_section
from failbench.page.rules import HealthyRuns, rules_section
from failbench.reporting.reported import Reported
from stage import read_output, read_points, read_section, unreadable

METRICS = Path("data/metrics")
FEATURES = Path("data/features/features.parquet")
CURVES = Path("data/plots/risk_coverage.csv")
AUDIT = Path("data/plots/paper_audit.csv")


@dataclass(frozen=True)
class NumberInputs:
    """What these views read beside the predictions and estimates of the main study."""

    features: pl.DataFrame
    curves: pl.DataFrame
    audit: pl.DataFrame
    metrics: Metrics
    rules: SimpleRulesSettings


def read_number_inputs() -> NumberInputs:
    """Read them all, before anything is computed."""
    return NumberInputs(
        read_output(FEATURES, FEATURE_SCHEMA),
        read_points(CURVES, CURVE_SCHEMA),
        read_points(AUDIT, AUDIT_SCHEMA),
        {study: read_json(METRICS / f"{study}.json") for study in studies()},
        read_section("simple_rules", SimpleRulesSettings),
    )


def read_json(path: Path) -> dict[str, object]:
    """Metrics that an earlier stage wrote."""
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    if not isinstance(metrics, dict):
        raise unreadable(path, "JSON")
    return metrics


def number_sections(
    inputs: NumberInputs,
    predictions: pl.DataFrame,
    measured: Estimates,
    paper: Reported,
    healthy: HealthyRuns,
    *,
    confidence: float,
) -> dict[str, object]:
    """The sections ``methods``, ``reported`` and ``rules``."""
    return {
        "methods": methods_section(predictions, measured, inputs.curves, paper, confidence),
        "reported": reported_section(paper, inputs.metrics, inputs.audit),
        "rules": rules_section(inputs.features, measured, inputs.rules, healthy),
    }
