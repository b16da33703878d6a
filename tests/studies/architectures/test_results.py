"""Rates of made-up predictions, and the report that is made of them."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import LEFT_OUT, NESTED_CV
from failbench.prediction.main_study import SAME_REPEATS
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.architectures.measure import (
    RECORDED,
    RULES,
)
from failbench.studies.architectures.report import report
from failbench.studies.architectures.results import (
    AGAINST_OTHERS,
    ALL,
    OVER_LOGS,
    SPREAD,
    ArchitecturesSettings,
    architecture_rates,
)
from failbench.vocabulary import CATEGORIES
from made_up_studies import ARCHITECTURES, made_up_study

SETTINGS = ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)
RULES_SETTINGS = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


@pytest.fixture(scope="module")
def made_up_rules() -> pl.DataFrame:
    """Two noisy logs that differ, over recorded ones."""
    part = made_up_study(LEFT_OUT).with_columns(
        study=pl.lit(RULES), method=pl.lit("improved_rules")
    )
    levels = [(RECORDED, 0), (0.05, 1), (0.05, 2)]
    return pl.concat(
        part.with_columns(
            thresholds=pl.lit("reference"),
            noise=pl.lit(noise),
            log=pl.lit(log, pl.Int32),
            prediction=pl.when(pl.int_range(pl.len()) % (7 - log) == 0)
            .then(pl.lit("abstain"))
            .otherwise("prediction")
            if log
            else pl.col("prediction"),
        )
        for noise, log in levels
    )


@pytest.fixture(scope="module")
def table(made_up_rules) -> pl.DataFrame:
    return architecture_rates(made_up_rules, made_up_study(LEFT_OUT), INTERVALS, SETTINGS)


def rate(predictions: pl.DataFrame) -> float:
    right = (pl.col("prediction") == pl.col("category")).mean()
    return predictions.group_by("scenario").agg(right=right)["right"].to_numpy().mean()


def test_a_rate_is_the_mean_over_scenarios_of_all_noisy_logs_together(table, made_up_rules):
    noisy = made_up_rules.filter(pl.col("noise") > 0, pl.col("architecture") == "gru")
    rows = table.filter(
        pl.col("study") == RULES, pl.col("noise") > 0, pl.col("architecture") == "gru"
    )
    rates = {row["metric"]: row for row in rows.iter_rows(named=True)}
    assert rates["accuracy"]["value"] == pytest.approx(rate(noisy))
    assert (rates["accuracy"]["n"], rates["accuracy"]["unit"]) == (8 * len(CATEGORIES), "scenario")
    first, second = (rate(noisy.filter(pl.col("log") == log)) for log in (1, 2))
    over = rates[OVER_LOGS]
    assert (over["n"], over["unit"]) == (2, "noisy log")
    assert over["value"] == pytest.approx((first + second) / 2)
    half = 12.706204736 * abs(first - second) / 2  # Student's t, one degree of freedom
    assert over["ci_high"] - over["value"] == pytest.approx(half)


def test_each_family_says_how_far_each_architecture_is_from_the_others(table):
    for _, family in table.group_by("study", "method", "noise"):
        metrics = family.group_by("metric").agg(pl.col("architecture").sort())
        named = dict(metrics.rows())
        assert named[AGAINST_OTHERS] == ["gru", "lstm", "transformer"]
        assert named[SPREAD] == [ALL]


@pytest.fixture(scope="module")
def features(made_up_rules) -> pl.DataFrame:
    """Models that grow from architecture to architecture, the same in all runs of one."""
    runs = made_up_rules.select("run_id", "architecture").unique()
    sizes = {name: 1e5 * (number + 1) for number, name in enumerate(ARCHITECTURES)}
    return runs.with_columns(parameter_count=pl.col("architecture").replace_strict(sizes))


def test_the_main_study_stands_beside_at_all_repeats_and_at_equal_ones(
    made_up_rules, features, reported
):
    main = made_up_study(NESTED_CV)
    later = main.with_columns(repeat=pl.lit(1, pl.Int32), prediction=pl.lit("abstain"))
    predictions = pl.concat([made_up_study(LEFT_OUT), main, later])
    made = report(
        made_up_rules, predictions, features, reported, SETTINGS, RULES_SETTINGS, INTERVALS
    )
    same, every = (
        made.metrics[study]["random_forest"]["transformer"]["accuracy"]["value"]
        for study in (SAME_REPEATS, NESTED_CV)
    )
    assert same > 0
    assert same == pytest.approx(2 * every)
