"""Features: the paper's 19 numbers of a failing run, the keywords, and extras.

One rule for missing and non-finite values, for all features:

* A loss, gradient norm or validation loss that is NaN, infinite or above ``CEILING`` counts as
  ``CEILING`` in every statistic: a run with non-finite values is at least as bad as the worst
  finite one. Perplexity is clipped at ``CEILING`` too.
* A value that was never logged (a run that ended before its first step, a batch without tokens) is
  missing: null. No run is dropped, and each method documents its treatment of missing values.
"""

import csv
import math
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal

import polars as pl

from failbench.base.records import Record, packaged_rows
from failbench.base.vocabulary import ERROR_TEXT_SIGNAL, SIGNAL_GROUPS
from failbench.features.feature import (
    CEILING,
    RECENT_STEPS,
    Feature,
    bounded,
    error_text_matches,
    last_logged,
    recent_share,
    slope,
)
from failbench.features.observables import Observables

MEMORY_WARNING = 0.90  # of capacity, at which alerts usually fire (Prometheus mixins: 90 %)
SIGNIFICANT_DIGITS = 9  # features are rounded to this, so that the order of summation has no effect


_EXPRESSIONS: Mapping[str, pl.Expr] = {
    "learning_rate_at_failure": last_logged("learning_rate"),
    "steps_before_failure": pl.len(),
    "max_loss": pl.col("loss").max(),
    "mean_loss": pl.col("loss").mean(),
    "gradient_norm_variance": pl.col("gradient_norm").var(),
    "max_gradient_norm": pl.col("gradient_norm").max(),
    "mean_gradient_norm": pl.col("gradient_norm").mean(),
    "loss_trend": slope("loss"),
    "peak_memory": pl.col("memory").max(),
    "memory_at_failure": last_logged("memory"),
    "memory_growth_rate": slope("memory"),
    "memory_warning": pl.col("memory").max() > MEMORY_WARNING,
    "perplexity": pl.coalesce(last_logged("validation_loss"), last_logged("loss"))
    .clip(upper_bound=math.log(CEILING))
    .exp(),
    "vocabulary_coverage": recent_share("covered_tokens"),
    "oov_rate": recent_share("unknown_tokens"),
    "sequence_length_spread": pl.col("max_length").tail(RECENT_STEPS).max()
    - pl.col("mean_length").tail(RECENT_STEPS).min(),
    "batch_size": last_logged("sequences"),
    "parameter_count": pl.col("parameters"),
    # The two are logged together, so that a null threshold beside a learning rate means "off".
    "gradient_clipping": pl.when(last_logged("learning_rate").is_not_null()).then(
        pl.col("clip_norm").filter(pl.col("learning_rate").is_not_null()).last().is_not_null()
    ),
}


def _paper_features() -> Iterator[Feature]:
    text = files("failbench.features").joinpath("data/features.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        options: dict[str, Any] = {"over": row["over"], "source": row["source"]}
        if row["without_steps"]:
            options["without_steps"] = float(row["without_steps"])
        about = (row["group"], row["subgroup"], row["unit"])
        formula = row["formula"].format(warning=MEMORY_WARNING, recent=RECENT_STEPS)
        yield Feature(row["name"], *about, formula, _EXPRESSIONS[row["name"]], **options)  # type: ignore[arg-type]


PAPER_FEATURES: tuple[Feature, ...] = tuple(_paper_features())  # the 19 of the primary set


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
