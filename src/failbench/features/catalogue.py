"""Features: the paper's 19 numbers of a failing run, the keywords, and extras.

One rule for missing and non-finite values, for all features:

* A loss, gradient norm or validation loss that is NaN, infinite or above ``CEILING`` counts as
  ``CEILING`` in every statistic: a run with non-finite values is at least as bad as the worst
  finite one. Perplexity is clipped at ``CEILING`` too.
* A value that was never logged (a run that ended before its first step, a batch without tokens) is
  missing: null. No run is dropped, and each method documents its treatment of missing values.
"""

import math
from collections.abc import Collection
from functools import partial
from typing import Any, Literal, get_args

import polars as pl

from failbench.base.records import Record, packaged_rows
from failbench.base.vocabulary import ERROR_TEXT_SIGNAL, SIGNAL_GROUPS
from failbench.features.feature import (
    CEILING,
    RECENT_STEPS,
    Feature,
    Group,
    bounded,
    error_text_matches,
    last_logged,
    recent_share,
    slope,
)
from failbench.features.observables import Observables

MEMORY_WARNING = 0.90  # of capacity, at which alerts usually fire (Prometheus mixins: 90 %)
SIGNIFICANT_DIGITS = 9  # features are rounded to this, so that the order of summation has no effect


def _of(group: Group, name: str, *formula: Any, **options: Any) -> Feature:
    return Feature(name, group, *formula, **options)


_training, _memory, _data, _configuration = (partial(_of, group) for group in get_args(Group)[:4])

PAPER_FEATURES: tuple[Feature, ...] = (  # the 19 features of the primary set
    _training(
        "learning_rate_at_failure",
        "learning_rate",
        "1",
        "learning rate of the last step that logged one",
        last_logged("learning_rate"),
    ),
    _training("steps_before_failure", "steps", "steps", "steps begun", pl.len(), without_steps=0.0),
    _training("max_loss", "loss", "nats/token", "largest training loss", pl.col("loss").max()),
    _training("mean_loss", "loss", "nats/token", "mean training loss", pl.col("loss").mean()),
    _training(
        "gradient_norm_variance",
        "gradient_norm",
        "1",
        "sample variance of the gradient norm before clipping",
        pl.col("gradient_norm").var(),
    ),
    _training(
        "max_gradient_norm", "gradient_norm", "1", "largest norm", pl.col("gradient_norm").max()
    ),
    _training(
        "mean_gradient_norm", "gradient_norm", "1", "mean norm", pl.col("gradient_norm").mean()
    ),
    _training(
        "loss_trend",
        "loss",
        "nats/token/step",
        "least-squares slope of training loss over all steps seen (the paper names no window)",
        slope("loss"),
    ),
    _memory(
        "peak_memory", "level", "fraction of capacity", "highest memory", pl.col("memory").max()
    ),
    _memory(
        "memory_at_failure", "level", "fraction of capacity", "last memory", last_logged("memory")
    ),
    _memory(
        "memory_growth_rate",
        "growth",
        "fraction of capacity/step",
        "least-squares slope of memory over all steps seen",
        slope("memory"),
    ),
    _memory(
        "memory_warning",
        "level",
        "0 or 1",
        f"1 if any step is above {MEMORY_WARNING:.2f} of capacity",
        pl.col("memory").max() > MEMORY_WARNING,
    ),
    _data(
        "perplexity",
        "perplexity",
        "1",
        "exp of the last validation loss, else of the last training loss",
        pl.coalesce(last_logged("validation_loss"), last_logged("loss"))
        .clip(upper_bound=math.log(CEILING))
        .exp(),
        source="the paper's section 4.4 and equation 1",
    ),
    _data(
        "vocabulary_coverage",
        "vocabulary",
        "fraction of tokens",
        f"covered tokens / tokens over the last {RECENT_STEPS} steps",
        recent_share("covered_tokens"),
    ),
    _data(
        "oov_rate",
        "vocabulary",
        "fraction of tokens",
        f"unknown tokens / tokens over the last {RECENT_STEPS} steps",
        recent_share("unknown_tokens"),
    ),
    _data(
        "sequence_length_spread",
        "sequence_length",
        "tokens",
        f"longest sequence minus the smallest mean length over the last {RECENT_STEPS} steps",
        pl.col("max_length").tail(RECENT_STEPS).max()
        - pl.col("mean_length").tail(RECENT_STEPS).min(),
    ),
    _configuration(
        "batch_size", "batch_size", "sequences", "batch of the last step", last_logged("sequences")
    ),
    _configuration(
        "parameter_count",
        "parameter_count",
        "1",
        "trainable parameters",
        pl.col("parameters"),
        over="runs",
    ),
    _configuration(
        "gradient_clipping",
        "gradient_clipping",
        "0 or 1",
        "1 if the last step had a clipping threshold",
        # The two are logged together, so that a null threshold beside a learning rate means "off".
        pl.when(last_logged("learning_rate").is_not_null()).then(
            pl.col("clip_norm").filter(pl.col("learning_rate").is_not_null()).last().is_not_null()
        ),
    ),
)


class Keyword(Record):
    """What people look for in error text, and the library's documentation that has it."""

    name: str
    pattern: str
    source: str


KEYWORDS: tuple[Keyword, ...] = packaged_rows("failbench.features", "keywords.csv", Keyword)
"""Fixed: words that were taken from recorded failures would leak them into a feature."""

KEYWORD_FEATURES: tuple[Feature, ...] = tuple(
    Feature(
        f"keyword_{keyword.name}",
        "error_keywords",
        "error_keywords",
        "0 or 1",
        f"1 if the error text matches /{keyword.pattern}/",
        error_text_matches(keyword.pattern),
        over="runs",
        source=keyword.source,
    )
    for keyword in KEYWORDS
)

EXTRAS: tuple[Feature, ...] = (
    Feature(
        "perplexity_trend",
        "extra",
        "perplexity",
        "nats/token/step",
        "least-squares slope of validation loss, the logarithm of perplexity",
        slope("validation_loss"),
        source="the paper's Table 6",
    ),
)
"""Measured beside those: a feature set may name them."""

FEATURES: tuple[Feature, ...] = (*PAPER_FEATURES, *KEYWORD_FEATURES, *EXTRAS)

FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "19": tuple(feature.name for feature in PAPER_FEATURES),
    "19+keywords": tuple(feature.name for feature in (*PAPER_FEATURES, *KEYWORD_FEATURES)),
}
"""Columns by feature set; the first is primary."""


def group_of(feature: Feature) -> str:
    """The signal group of a feature; keywords are the error text as classifiers read it."""
    if feature.group == "error_keywords":
        return ERROR_TEXT_SIGNAL
    return feature.subgroup if feature.group in ("data", "extra") else feature.group


def signal_groups(columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Features by signal group, in the order of ``SIGNAL_GROUPS``, without empty groups."""
    groups = {
        group: tuple(
            feature.name
            for feature in FEATURES
            if feature.name in columns and group_of(feature) == group
        )
        for group in SIGNAL_GROUPS
    }
    return {group: members for group, members in groups.items() if members}


def extract(observables: Observables) -> pl.DataFrame:
    """Compute every feature of every snapshot.

    Returns
    -------
    polars.DataFrame
        One row per snapshot in the order of ``observables.runs``: ``row`` and the columns of
        ``FEATURES``, all Float64, null where missing.
    """
    capacity = observables.runs.select("row", "capacity_bytes")
    logged = ("loss", "gradient_norm", "validation_loss")
    steps = observables.steps.join(capacity, on="row", how="left", maintain_order="left")
    of_steps = (
        steps.with_columns(
            *(bounded(pl.col(name)).alias(name) for name in logged),
            memory=pl.col("memory_bytes") / pl.col("capacity_bytes"),
        )
        .group_by("row", maintain_order=True)
        .agg(**_expressions("steps"))
    )
    return (
        observables.runs.select("row", **_expressions("runs"))
        .join(of_steps, on="row", how="left", maintain_order="left")
        .select("row", *map(_as_number, FEATURES))
    )


def _expressions(over: Literal["steps", "runs"]) -> dict[str, pl.Expr]:
    return {feature.name: feature.expression for feature in FEATURES if feature.over == over}


def _as_number(feature: Feature) -> pl.Expr:
    value = pl.col(feature.name).cast(pl.Float64).fill_nan(None)
    if feature.without_steps is not None:
        value = value.fill_null(feature.without_steps)
    return value.round_sig_figs(SIGNIFICANT_DIGITS)
