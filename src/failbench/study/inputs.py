"""Inputs that several studies read: the main study's predictions, the paper, earlier metrics."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import yaml
from pydantic import RootModel

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Model, Record, kept_by_hand, validated
from failbench.base.stage import REMEDY, read_names, read_outputs, unreadable
from failbench.base.studies import LANGUAGE_MODELS, prediction_files
from failbench.study.paper_numbers import Reported

MAIN_STUDY = Path("data/predictions/nested_cv")
REPORTED = Path("data/reported/paper.yaml")


def read_main_study() -> pl.DataFrame:
    """The predictions of every method of the main study, as ``predictions.PREDICTION_SCHEMA``.

    Raises
    ------
    BadInputError
        If :func:`failbench.base.stage.read_outputs` refuses a file.
    """
    files = prediction_files(read_names("methods"))
    return read_outputs(MAIN_STUDY, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))


def read_reported() -> Reported:
    """Read every number of the paper.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML, or a value in it is missing, unknown or out of range.
    """
    return read_facts(REPORTED, Reported)


def read_facts(path: Path, model: type[Model]) -> Model:
    """Read a file of facts that is kept by hand.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML, or a value in it is missing, unknown or out of range.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        raise BadInputError(
            path, "(file)", f"cannot be read ({problem}).", "Restore it with git."
        ) from error
    return kept_by_hand(model, raw, path)


class Estimate(Record):
    """A rate with its interval, over ``n`` scenarios."""

    value: float
    ci_low: float
    ci_high: float
    n: int


class MethodEstimates(RootModel[dict[str, dict[str, dict[str, Estimate]]]]):
    """The content of ``data/metrics/intervals.json``."""


def read_metrics(path: Path, feature_set: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Read the metrics that an earlier stage wrote: estimates by feature set, method and metric.

    Parameters
    ----------
    feature_set
        Feature set that must have estimates: at least the accuracy of every method.

    Raises
    ------
    BadInputError
        If the file is missing or not JSON, or an estimate is missing or invalid.
    """
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    checked = validated(MethodEstimates, metrics, path, REMEDY).root
    if not checked.get(feature_set):
        raise BadInputError(path, feature_set, "no method has estimates.", REMEDY)
    for method, estimates in checked[feature_set].items():
        if "accuracy" not in estimates:
            field = f"{feature_set}.{method}.accuracy"
            raise BadInputError(path, field, "the estimate is missing.", REMEDY)
    measured: dict[str, dict[str, dict[str, dict[str, float]]]] = metrics
    return measured
