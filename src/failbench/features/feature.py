"""A feature: its declaration, and the expressions that several features are made of."""

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

Group = Literal["training_dynamics", "memory", "data", "configuration", "error_keywords", "extra"]

CEILING = 1e6  # far above thresholds in use (1,000, 10,000); its square is exact in a double
RECENT_STEPS = 20  # steps over which token counts are pooled: enough for a rate, and still recent


@dataclass(frozen=True)
class Feature:
    """One feature: what it is called, and the expression that computes it.

    Attributes
    ----------
    name
        Its column.
    group, subgroup
        What it is measured of; the subgroup is the finer unit of ablations and importance.
    unit
        Of its values.
    formula
        The expression in words.
    expression
        Over the steps of one run in their order, or over the columns of the runs; see ``over``.
        :func:`failbench.features.catalogue.extract` bounds losses and norms first, and adds
        ``memory`` to the steps, a fraction of capacity.
    over
        Which of the two tables of :class:`failbench.features.observables.Observables` it reads.
    without_steps
        Its value for a run without steps; missing where that is None.
    source
        Who asks for it.
    """

    name: str
    group: Group
    subgroup: str
    unit: str
    formula: str
    expression: pl.Expr = field(compare=False)
    over: Literal["steps", "runs"] = "steps"
    without_steps: float | None = None
    source: str = "the paper's section 4.4"


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
    seen = pl.col(signal).is_not_null()
    steps = pl.col("step").cast(pl.Float64).filter(seen)
    values = pl.col(signal).drop_nulls()
    deviations = steps - steps.mean()
    return (deviations * (values - values.mean())).sum() / deviations.pow(2).sum()


def last_logged(signal: str) -> pl.Expr:
    """The last value of a column of steps; null where it was never logged."""
    return pl.col(signal).drop_nulls().last()


def recent_share(part: str) -> pl.Expr:
    """A count of tokens over all tokens of the last steps, from 0 to 1; null without tokens."""
    tokens = pl.col("tokens").tail(RECENT_STEPS).sum()
    return pl.when(tokens > 0).then(pl.col(part).tail(RECENT_STEPS).sum() / tokens)


def error_text_matches(pattern: str) -> pl.Expr:
    """Whether type and message of the error match a regular expression, in any case of letters."""
    text = pl.concat_str("error_type", "error_message", separator=": ", ignore_nulls=True)
    return text.str.contains(f"(?i){pattern}").fill_null(value=False)
