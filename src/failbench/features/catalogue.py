"""Features: the paper's 19 numbers of a failing run, the keywords, and one extra.

One rule for missing and non-finite values, for all features:

* A loss, gradient norm or validation loss that is NaN, infinite or above ``CEILING`` counts as
  ``CEILING`` in every statistic: a run with non-finite values is at least as bad as the worst
  finite one. Perplexity is clipped at ``CEILING`` too.
* A value that was never logged (a run that ended before its first step, a batch without tokens) is
  missing: null. No run is dropped, and each method documents its treatment of missing values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import polars as pl

from failbench.features.keywords import KEYWORDS
from failbench.features.observables import Observables

PRIMARY_SET = "19"


Group = Literal["training_dynamics", "memory", "data", "configuration", "error_keywords", "extra"]

CEILING = 1e6
"""Far above every threshold in use (1,000 and 10,000); its square is still exact in a double."""

MEMORY_WARNING = 0.90
"""Fraction of capacity at which infrastructure alerts usually fire (Prometheus mixins: 90 %)."""

RECENT_STEPS = 20
"""Steps over which token counts are pooled: enough for a rate, and still recent."""

SIGNIFICANT_DIGITS = 9
"""Features are rounded to this, so that the order of summation has no effect."""


@dataclass(frozen=True)
class Feature:
    """Declaration of one feature; ``formula`` says what :func:`extract` computes.

    ``subgroup`` is the finer unit of ablations and importance; ``source`` is the reference.
    """

    name: str
    group: Group
    subgroup: str
    unit: str
    formula: str
    source: str = "the paper's section 4.4"


PAPER_FEATURES: tuple[Feature, ...] = (
    Feature(
        "learning_rate_at_failure",
        "training_dynamics",
        "learning_rate",
        "1",
        "learning rate of the last step that logged one",
    ),
    Feature("steps_before_failure", "training_dynamics", "steps", "steps", "steps begun"),
    Feature("max_loss", "training_dynamics", "loss", "nats/token", "largest training loss"),
    Feature("mean_loss", "training_dynamics", "loss", "nats/token", "mean training loss"),
    Feature(
        "gradient_norm_variance",
        "training_dynamics",
        "gradient_norm",
        "1",
        "sample variance of the gradient norm before clipping",
    ),
    Feature("max_gradient_norm", "training_dynamics", "gradient_norm", "1", "largest norm"),
    Feature("mean_gradient_norm", "training_dynamics", "gradient_norm", "1", "mean norm"),
    Feature(
        "loss_trend",
        "training_dynamics",
        "loss",
        "nats/token/step",
        "least-squares slope of training loss over all steps seen (the paper names no window)",
    ),
    Feature("peak_memory", "memory", "level", "fraction of capacity", "highest memory"),
    Feature("memory_at_failure", "memory", "level", "fraction of capacity", "last memory"),
    Feature(
        "memory_growth_rate",
        "memory",
        "growth",
        "fraction of capacity/step",
        "least-squares slope of memory over all steps seen",
    ),
    Feature(
        "memory_warning",
        "memory",
        "level",
        "0 or 1",
        f"1 if any step is above {MEMORY_WARNING:.2f} of capacity",
    ),
    Feature(
        "perplexity",
        "data",
        "perplexity",
        "1",
        "exp of the last validation loss, else of the last training loss",
        "the paper's section 4.4 and equation 1",
    ),
    Feature(
        "vocabulary_coverage",
        "data",
        "vocabulary",
        "fraction of tokens",
        f"covered tokens / tokens over the last {RECENT_STEPS} steps",
    ),
    Feature(
        "oov_rate",
        "data",
        "vocabulary",
        "fraction of tokens",
        f"unknown tokens / tokens over the last {RECENT_STEPS} steps",
    ),
    Feature(
        "sequence_length_spread",
        "data",
        "sequence_length",
        "tokens",
        f"longest sequence minus the smallest mean length over the last {RECENT_STEPS} steps",
    ),
    Feature("batch_size", "configuration", "batch_size", "sequences", "batch of the last step"),
    Feature("parameter_count", "configuration", "parameter_count", "1", "trainable parameters"),
    Feature(
        "gradient_clipping",
        "configuration",
        "gradient_clipping",
        "0 or 1",
        "1 if the last step had a clipping threshold",
    ),
)
"""The 19 features of the primary set."""

KEYWORD_FEATURES: tuple[Feature, ...] = tuple(
    Feature(
        f"keyword_{keyword.name}",
        "error_keywords",
        "error_keywords",
        "0 or 1",
        f"1 if the error text matches /{keyword.pattern}/",
        keyword.source,
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
        "the paper's Table 6",
    ),
)

FEATURES: tuple[Feature, ...] = (*PAPER_FEATURES, *KEYWORD_FEATURES, *EXTRAS)

FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "19": tuple(feature.name for feature in PAPER_FEATURES),
    "19+keywords": tuple(feature.name for feature in (*PAPER_FEATURES, *KEYWORD_FEATURES)),
}
"""Columns by feature set; the first is primary."""


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
    aggregated = (
        steps.with_columns(
            *(bounded(pl.col(name)).alias(name) for name in logged),
            memory=pl.col("memory_bytes") / pl.col("capacity_bytes"),
        )
        .group_by("row", maintain_order=True)
        .agg(**_STEP_EXPRESSIONS)
    )
    text = pl.concat_str("error_type", "error_message", separator=": ", ignore_nulls=True)
    return (
        observables.runs.join(aggregated, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.col("steps_before_failure").fill_null(0),
            pl.col("parameters").alias("parameter_count"),
            *(
                text.str.contains(f"(?i){keyword.pattern}")
                .fill_null(value=False)
                .alias(f"keyword_{keyword.name}")
                for keyword in KEYWORDS
            ),
        )
        .select(
            "row",
            *(
                pl.col(feature.name)
                .cast(pl.Float64)
                .fill_nan(None)
                .round_sig_figs(SIGNIFICANT_DIGITS)
                for feature in FEATURES
            ),
        )
    )


def bounded(signal: pl.Expr) -> pl.Expr:
    """Apply the rule for values that are not finite; nulls stay null."""
    value = signal.cast(pl.Float64)
    return (
        pl.when(value.is_nan() | value.is_infinite())
        .then(pl.lit(CEILING))
        .otherwise(value.clip(upper_bound=CEILING))
    )


def slope(signal: str) -> pl.Expr:
    """Least-squares slope of a column over steps, per step; NaN with fewer than two values."""
    logged = pl.col(signal).is_not_null()
    steps = pl.col("step").cast(pl.Float64).filter(logged)
    values = pl.col(signal).drop_nulls()
    deviations = steps - steps.mean()
    return (deviations * (values - values.mean())).sum() / deviations.pow(2).sum()


def _last(signal: str) -> pl.Expr:
    return pl.col(signal).drop_nulls().last()


def _recent_share(part: str) -> pl.Expr:
    tokens = pl.col("tokens").tail(RECENT_STEPS).sum()
    return pl.when(tokens > 0).then(pl.col(part).tail(RECENT_STEPS).sum() / tokens)


_STEP_EXPRESSIONS: dict[str, pl.Expr] = {
    "learning_rate_at_failure": _last("learning_rate"),
    "steps_before_failure": pl.len(),
    "max_loss": pl.col("loss").max(),
    "mean_loss": pl.col("loss").mean(),
    "gradient_norm_variance": pl.col("gradient_norm").var(),
    "max_gradient_norm": pl.col("gradient_norm").max(),
    "mean_gradient_norm": pl.col("gradient_norm").mean(),
    "loss_trend": slope("loss"),
    "peak_memory": pl.col("memory").max(),
    "memory_at_failure": _last("memory"),
    "memory_growth_rate": slope("memory"),
    "memory_warning": pl.col("memory").max() > MEMORY_WARNING,
    "perplexity": pl.coalesce(_last("validation_loss"), _last("loss"))
    .clip(upper_bound=math.log(CEILING))
    .exp(),
    "vocabulary_coverage": _recent_share("covered_tokens"),
    "oov_rate": _recent_share("unknown_tokens"),
    "sequence_length_spread": pl.col("max_length").tail(RECENT_STEPS).max()
    - pl.col("mean_length").tail(RECENT_STEPS).min(),
    "batch_size": _last("sequences"),
    # The two are logged together, so a null threshold beside a learning rate means "off".
    "gradient_clipping": pl.when(_last("learning_rate").is_not_null()).then(
        pl.col("clip_norm").filter(pl.col("learning_rate").is_not_null()).last().is_not_null()
    ),
    "perplexity_trend": slope("validation_loss"),
}
"""Expressions over the steps of one run, in the order of steps."""
