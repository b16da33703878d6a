"""Inputs that several studies read: the main study's predictions, the paper, earlier metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import RootModel

from failbench.base.errors import BadInputError
from failbench.base.params import read_names
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Model, Record, kept_by_hand, validated
from failbench.base.stage import REMEDY, read_outputs, unreadable
from failbench.base.studies import LANGUAGE_MODELS, prediction_files
from failbench.study.captions import read_yaml
from failbench.study.paper_numbers import Reported

_MAIN_STUDY = Path("data/predictions/nested_cv")


def read_main_study() -> pl.DataFrame:
    """The predictions of every method of the main study, as ``predictions.PREDICTION_SCHEMA``."""
    files = prediction_files(read_names("methods"))
    return read_outputs(_MAIN_STUDY, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))


def read_reported() -> Reported:
    """Read every number of the paper."""
    return read_facts(Path("data/reported/paper.yaml"), Reported)


def read_facts(path: Path, model: type[Model]) -> Model:
    """Read a file of facts that is kept by hand."""
    return kept_by_hand(model, read_yaml(path), path)


def read_json(path: Path) -> dict[str, Any]:
    """Metrics that an earlier stage wrote."""
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    if not isinstance(metrics, dict):
        raise unreadable(path, "JSON")
    return metrics


class _Estimate(Record):
    """A rate with its interval, over ``n`` scenarios."""

    value: float
    ci_low: float
    ci_high: float
    n: int


class _MethodEstimates(RootModel[dict[str, dict[str, dict[str, _Estimate]]]]):
    """The content of ``data/metrics/intervals.json``."""


def read_metrics(path: Path, feature_set: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Read the metrics that an earlier stage wrote: estimates by feature set, method and metric.

    The feature set must have at least the accuracy of every method.
    """
    metrics = read_json(path)
    checked = validated(_MethodEstimates, metrics, path, REMEDY).root
    if not checked.get(feature_set):
        raise BadInputError(path, feature_set, "no method has estimates.", REMEDY)
    for method, estimates in checked[feature_set].items():
        if "accuracy" not in estimates:
            field = f"{feature_set}.{method}.accuracy"
            raise BadInputError(path, field, "the estimate is missing.", REMEDY)
    return metrics
