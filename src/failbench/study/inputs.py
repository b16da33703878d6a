"""Inputs of several studies, and the scope of rows: what they are of, as captions print it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import polars as pl
from pydantic import RootModel

from failbench.base.errors import BadInputError
from failbench.base.methods import RECORDED_MODEL
from failbench.base.params import read_names
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Model, Record, kept_by_hand, validated
from failbench.base.stage import REMEDY, read_output, read_outputs, unreadable
from failbench.base.studies import LANGUAGE_MODELS, across_architectures_files, prediction_files
from failbench.study.captions import read_yaml
from failbench.study.paper_numbers import Reported

_MAIN_STUDY = Path("data/predictions/nested_cv")
_ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
_RECORDED = Path("data/predictions/recorded")


def read_main_study(methods: Iterable[str] = ()) -> pl.DataFrame:
    """The predictions of every method of the main study or of some, as ``PREDICTION_SCHEMA``."""
    files = tuple(methods) or prediction_files(read_names("methods"))
    return read_outputs(_MAIN_STUDY, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))


def read_recorded_model() -> pl.DataFrame:
    """The replayed answers of the language model that was asked once, of the runs of one seed."""
    return read_output(_RECORDED / f"{RECORDED_MODEL}.parquet", PREDICTION_SCHEMA)


def read_across_architectures() -> pl.DataFrame:
    """The predictions of every method of the studies across architectures."""
    files = across_architectures_files(read_names("methods"))
    return read_outputs(_ACROSS_ARCHITECTURES, files, PREDICTION_SCHEMA)


def read_reported() -> Reported:
    """Read every number of the paper."""
    return read_facts(Path("data/reported/paper.yaml"), Reported)


def read_facts(path: Path, model: type[Model]) -> Model:
    """Read a file of facts that is kept by hand."""
    return kept_by_hand(model, read_yaml(path), path)


def read_earlier(path: Path) -> dict[str, Any]:
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


def read_metrics(
    path: Path, feature_set: str, *, recorded: bool = False
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Estimates of an earlier stage by feature set and method, each with its accuracy.

    Unless ``recorded``, without the model of which the answers to one seed's runs are replayed:
    its methods are then those that predicted every run.
    """
    metrics = {
        name: {key: each for key, each in of_set.items() if recorded or key != RECORDED_MODEL}
        if isinstance(of_set, dict)
        else of_set
        for name, of_set in read_earlier(path).items()
    }
    checked = validated(_MethodEstimates, metrics, path, REMEDY).root
    if not checked.get(feature_set):
        raise BadInputError(path, feature_set, "no method has estimates.", REMEDY)
    for method, estimates in checked[feature_set].items():
        if "accuracy" not in estimates:
            field = f"{feature_set}.{method}.accuracy"
            raise BadInputError(path, field, "the estimate is missing.", REMEDY)
    return metrics


SPANNED: Final = {  # whose range says how large models and runs are, by column
    "parameters": "parameters",
    "planned_steps": "planned_steps",
    "vocabulary": "tokenizer_vocabulary",
    "layers": "layers",
}

Spans = Mapping[str, Mapping[str, float]]  # lowest, median and highest of each quantity

MILLION: Final = 1e6


@dataclass(frozen=True)
class Scope:
    """How many runs, scenarios, seeds, repeats and folds rows are of, and which settings."""

    runs: int
    scenarios: int
    seeds: int
    settings: tuple[str, ...]
    repeats: int = 1
    folds: int = 1

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Scope:
        """Of recorded runs, or of predictions for them; who has no repeats or folds has one."""
        if "setting" not in rows.columns:
            rows = rows.with_columns(setting=pl.format("{}-{}", "architecture", "optimizer"))

        def number(name: str) -> int:
            return rows[name].drop_nulls().n_unique() if name in rows.columns else 1

        settings = tuple(rows["setting"].unique().sort())
        runs, scenarios, seeds = map(number, ("run_id", "scenario", "seed"))
        return cls(runs, scenarios, seeds, settings, number("repeat"), number("fold"))

    @property
    def setting(self) -> str:
        """Where the runs were recorded.

        >>> Scope(228, 76, 3, ("transformer-adamw",)).setting
        'one setting (transformer-adamw)'
        """
        if len(self.settings) == 1:
            return f"one setting ({self.settings[0]})"
        return f"{len(self.settings)} settings (architecture and optimizer)"


def majority_share(rows: pl.DataFrame) -> float:
    """How often naming the most frequent category of the scenarios would be right."""
    scenarios = rows.select("category", "scenario").unique()
    return float(scenarios["category"].value_counts()["count"].to_numpy().max()) / scenarios.height


def spans(runs: pl.DataFrame) -> dict[str, dict[str, float]]:
    """The ranges of recorded runs; a quantity that no run has is left out."""
    known = {
        name: runs[column].drop_nulls().cast(pl.Float64).to_list()
        for name, column in SPANNED.items()
    }
    return {
        name: {"lowest": min(values), "median": median(values), "highest": max(values)}
        for name, values in known.items()
        if values
    }


def scale_of(runs: pl.DataFrame) -> str:
    """How small recorded runs are."""
    return scale_note(runs.height, spans(runs))


def scale_note(runs: int, ranges: Spans) -> str:
    """How small the models and runs are that a table is of, beside those of the original."""

    def span(name: str, form: str = "g", unit: float = 1) -> str:
        low, high = (f"{ranges[name][end] / unit:{form}}" for end in ("lowest", "highest"))
        return low if low == high else f"{low} to {high}"

    parameters = ranges["parameters"]["median"] / MILLION
    return (
        f"Measured on small models: {runs:,} runs on a CPU, {span('layers')} layers, "
        f"{span('parameters', '.2g', MILLION)} million parameters (median {parameters:.2f} "
        f"million), a vocabulary of {ranges['vocabulary']['median']:g} tokens, "
        f"{span('planned_steps')} planned steps; the original's models have 12 to 110 million "
        f"parameters."
    )
