"""The section of rules: the 23 simple rules as data that a browser evaluates.

A pasted log shows some of the signals that the recorder has, so each condition names the features
it needs and each feature the signals; a rule whose signals cannot be read is not evaluated.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURES, MEMORY_WARNING, PRIMARY_SET, SIGNIFICANT_DIGITS
from failbench.features.feature import CEILING, RECENT_STEPS, Feature
from failbench.features.feature_table import to_frame
from failbench.methods.healthy_band import healthy_band
from failbench.methods.rules import (
    Crosses,
    Declared,
    ErrorMatches,
    LeavesBand,
    Rule,
    resolve_condition,
)
from failbench.methods.simple_rules import (
    FALLBACK,
    SIMPLE_RULES,
    SimpleRulesSettings,
    band_features,
)
from failbench.page.methods import Estimates
from failbench.page.regexes import browser_pattern
from failbench.readers import names
from failbench.reporting.labels import CATEGORY_LABELS, FEATURE_SET_LABELS
from failbench.vocabulary import CATEGORIES

READERS: Final = names.__name__.rpartition(".")[0]
"""The package whose table of names is read; the import makes it a dependency of the stage."""

METHOD: Final = "simple_rules"
THRESHOLD_DIGITS: Final = 12
ACCURACY_METRICS: Final = "data/metrics/intervals.json"

SIGNALS_OF_FEATURES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "max_gradient_norm": (("gradient_norm",),),
    "max_loss": (("loss",),),
    "loss_trend": (("loss", "step"),),
    "perplexity": (("validation_loss",), ("loss",), ("perplexity",)),
    "oov_rate": (("unknown_tokens", "tokens"), ("oov_rate",)),
    "vocabulary_coverage": (("covered_tokens", "tokens"), ("vocabulary_coverage",)),
    "memory_warning": (("memory", "capacity"),),
    "memory_growth_rate": (("memory", "capacity", "step"),),
}
"""Features of the rules and the signals of a log that give them: any one of several sets."""


@dataclass(frozen=True)
class HealthyRuns:
    """Where thresholds of health come from: one architecture under one optimizer."""

    architecture: str
    optimizer: str

    def select(self, features: pl.DataFrame) -> pl.DataFrame:
        """Their rows of a feature table.

        Raises
        ------
        BadInputError
            If there are none.
        """
        runs = features.filter(
            pl.col("kind") == "success",
            pl.col("architecture") == self.architecture,
            pl.col("optimizer") == self.optimizer,
        )
        if runs.is_empty():
            raise BadInputError(
                "data/features/features.parquet",
                "kind",
                f"there is no success of {self.architecture} under {self.optimizer}.",
                "Run `dvc repro features`.",
            )
        return runs


def rules_section(
    features: pl.DataFrame,
    metrics: Estimates,
    settings: SimpleRulesSettings,
    healthy: HealthyRuns,
) -> dict[str, object]:
    """The rules with every threshold filled in, and what a browser needs to evaluate them.

    Parameters
    ----------
    features
        The feature table of all recorded runs.
    metrics
        ``data/metrics/intervals.json``, for the accuracy that is shown beside an answer.
    settings
        The section ``simple_rules`` of params.yaml.
    healthy
        The successful runs that thresholds come from.

    Returns
    -------
    dict
        ``rules`` in their order, ``fallback``, ``features`` with the signals that give them,
        ``names`` of signals in logs, ``first_steps`` by category, ``accuracy`` by feature set.

    Raises
    ------
    BadInputError
        If the metrics have no accuracy of simple rules, there are no healthy runs, or a pattern
        may mean another thing in a browser.
    """
    successes = healthy.select(features)
    band = healthy_band(to_frame(successes), band_features())
    limits = {"gradient_norm": settings.gradient_norm, "perplexity": settings.perplexity}

    def condition(declared: Declared) -> dict[str, object]:
        if isinstance(declared, ErrorMatches):
            return {
                "kind": "text",
                "pattern": browser_pattern(declared.pattern),
                "shown": declared.pattern,
            }
        resolved = resolve_condition(declared, band, settings.healthy_sds, limits)
        assert isinstance(resolved, Crosses)
        return {
            "kind": "crosses",
            "feature": resolved.feature,
            "side": resolved.side,
            # the last digits of a mean depend on the order of a sum
            "threshold": float(f"{resolved.threshold:.{THRESHOLD_DIGITS}g}"),
            "of_healthy": isinstance(declared, LeavesBand),
        }

    return {
        "rules": [
            _rule(rule, [condition(part) for part in rule.conditions]) for rule in SIMPLE_RULES
        ],
        "fallback": FALLBACK,
        "features": {
            feature.name: _feature(feature)
            for feature in FEATURES
            if feature.name in SIGNALS_OF_FEATURES
        },
        "constants": {
            "ceiling": CEILING,
            "recent_steps": RECENT_STEPS,
            "memory_warning": MEMORY_WARNING,
            "significant_digits": SIGNIFICANT_DIGITS,
        },
        "healthy": {**asdict(healthy), "runs": successes.height, "sds": settings.healthy_sds},
        "names": name_table(),
        "words": name_words(),
        "categories": [{"id": name, "label": CATEGORY_LABELS[name]} for name in CATEGORIES],
        "first_steps": first_steps(),
        "accuracy": _accuracy(metrics),
    }


def _rule(rule: Rule, conditions: list[dict[str, object]]) -> dict[str, object]:
    return {
        "name": rule.name,
        "category": rule.category,
        "source": rule.source,
        "conditions": conditions,
    }


def _feature(feature: Feature) -> dict[str, object]:
    return {
        "unit": feature.unit,
        "formula": feature.formula,
        "needs": [list(signals) for signals in SIGNALS_OF_FEATURES[feature.name]],
    }


def _accuracy(
    metrics: Estimates,
) -> dict[str, object]:
    """Of simple rules on the benchmark; keywords are features that they do not read."""
    estimate = metrics.get(PRIMARY_SET, {}).get(METHOD, {}).get("accuracy")
    if estimate is None:
        raise BadInputError(
            ACCURACY_METRICS,
            f"{PRIMARY_SET}.{METHOD}.accuracy",
            "is missing.",
            "Run `dvc repro intervals`.",
        )
    return {
        "feature_set": FEATURE_SET_LABELS[PRIMARY_SET],
        **{key: estimate[key] for key in ("value", "ci_low", "ci_high", "n")},
    }


@cache
def name_table() -> dict[str, list[str]]:
    """Names of signals in logs, by their words in lower case: the signal, and the split if named.

    Those of :mod:`failbench.readers.names`, and some that only the rules need.
    """
    known = _rows(READERS, "data/names.csv")
    added = _rows("failbench.page", "data/added_names.csv")
    return {row["name"]: [row["meaning"], row.get("split") or ""] for row in (*known, *added)}


@cache
def name_words() -> dict[str, str]:
    """Words of names that say on what a value was measured, or that change nothing."""
    words: dict[str, str] = {}
    for row in _rows("failbench.page", "data/name_words.csv"):
        words[row["word"]] = row["role"]
    return words


@cache
def first_steps() -> dict[str, list[str]]:
    """What to do first about a cause of each category, in general terms.

    Raises
    ------
    BadInputError
        If a category has none.
    """
    text = files("failbench.page").joinpath("data/first_steps.json").read_text(encoding="utf-8")
    steps: dict[str, list[str]] = json.loads(text)
    missing = [category for category in CATEGORIES if not steps.get(category)]
    if missing:
        raise BadInputError(
            "src/failbench/page/data/first_steps.json",
            missing[0],
            "has no steps.",
            "Write what to do first about a cause of this category.",
        )
    return steps


def _rows(package: str, path: str) -> list[dict[str, str]]:
    text = files(package).joinpath(path).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
