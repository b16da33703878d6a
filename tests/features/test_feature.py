"""The expressions that features are made of, on steps written by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from failbench.features.feature import (
    CEILING,
    RECENT_STEPS,
    bounded,
    error_text_matches,
    last_logged,
    recent_share,
    slope,
)


def value(expression: pl.Expr, **columns: list[object]) -> object:
    return pl.DataFrame(columns).select(expression.alias("value")).item(0, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2 * CEILING])
def test_what_is_not_finite_or_too_large_is_the_ceiling(bad):
    assert value(bounded(pl.col("loss")), loss=[bad]) == CEILING


def test_ordinary_and_missing_values_are_left_as_they_are():
    table = pl.DataFrame({"loss": [-3.5, None]}).select(bounded(pl.col("loss")))
    assert table.to_series().to_list() == [-3.5, None]


def test_a_slope_is_taken_over_the_steps_that_logged_the_signal():
    losses = [8.0, None, 4.0, None, 0.0]
    assert value(slope("loss"), step=[0, 1, 2, 3, 4], loss=losses) == pytest.approx(-2.0)


def test_one_value_has_no_slope():
    assert math.isnan(value(slope("loss"), step=[0, 1], loss=[8.0, None]))


def test_the_last_value_is_that_of_the_last_step_that_logged_one():
    assert value(last_logged("sequences"), sequences=[4, 8, None]) == 8


def test_a_share_counts_the_tokens_of_the_last_steps_alone():
    before, after = [100], [1] * RECENT_STEPS
    share = recent_share("unknown_tokens")
    assert value(share, tokens=[100] + [2] * RECENT_STEPS, unknown_tokens=before + after) == 0.5
    assert value(share, tokens=[0], unknown_tokens=[0]) is None


def test_error_text_is_searched_in_type_and_message_without_regard_to_case():
    text = {"error_type": ["RuntimeError", None], "error_message": ["Out Of Memory", None]}
    table = pl.DataFrame(text, schema=dict.fromkeys(text, pl.String))
    for pattern in ("out of memory", "runtimeerror: out"):
        assert table.select(error_text_matches(pattern)).to_series().to_list() == [True, False]
