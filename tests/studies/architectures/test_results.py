"""Rates of made-up predictions, and the report that is made of them."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import LEFT_OUT, NESTED_CV
from failbench.prediction.main_study import SAME_REPEATS
from failbench.reporting.markup import render
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.architectures.measure import (
    RECORDED,
    RULES,
    THRESHOLDS,
)
from failbench.studies.architectures.report import report
from failbench.studies.architectures.results import (
    AGAINST_OTHERS,
    ALL,
    OVER_LOGS,
    SPREAD,
    ArchitecturesSettings,
    architecture_metrics,
    architecture_rates,
)
from failbench.telemetry import write_parquet
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


def test_metrics_have_leaves_of_scalars_and_verdicts_their_margins(table):
    metrics = architecture_metrics(table)
    leaf = metrics[RULES]["reference"]["noise_5_percent"]["gru"]["accuracy"]
    assert set(leaf) == {"value", "ci_low", "ci_high", "n"}
    spread = metrics[LEFT_OUT]["random_forest"][ALL][SPREAD]
    assert spread["ci_high"] == spread["smallest_margin"]
    assert all(isinstance(value, int | float) for value in spread.values())


def test_predictions_without_an_architecture_left_out_are_refused(made_up_rules):
    none = made_up_study("pooled")
    with pytest.raises(BadInputError, match="there are none of leave_one_architecture_out"):
        architecture_rates(made_up_rules, none, INTERVALS, SETTINGS)


@pytest.fixture(scope="module")
def features(made_up_rules) -> pl.DataFrame:
    """Models that grow from architecture to architecture, the same in all runs of one."""
    runs = made_up_rules.select("run_id", "architecture").unique()
    sizes = {name: 1e5 * (number + 1) for number, name in enumerate(ARCHITECTURES)}
    return runs.with_columns(parameter_count=pl.col("architecture").replace_strict(sizes))


def reported_of(rules: pl.DataFrame, features: pl.DataFrame, paper):
    everything = pl.concat(
        [
            rules,
            *(
                rules.filter(pl.col("noise") == RECORDED).with_columns(thresholds=pl.lit(kind))
                for kind in THRESHOLDS
                if kind != "reference"
            ),
        ]
    )
    left_out = made_up_study(LEFT_OUT)
    return report(everything, left_out, features, paper, SETTINGS, RULES_SETTINGS, INTERVALS)


def test_the_report_of_a_saved_file_is_that_of_what_was_measured(
    made_up_rules, features, reported, tmp_path
):
    write_parquet(made_up_rules, tmp_path / "improved_rules.parquet")
    saved = pl.read_parquet(tmp_path / "improved_rules.parquet")
    measured, read = (reported_of(rules, features, reported) for rules in (made_up_rules, saved))
    assert read.metrics == measured.metrics
    assert read.points["architectures"].equals(measured.points["architectures"])
    assert [render(table) for table in read.tables] == [render(table) for table in measured.tables]


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
    table = made.tables[-1]
    shown = [cell.split()[0] for cell in table.rows[-1][-2:]]
    assert shown == [f"{100 * every:.1f}", f"{100 * same:.1f}"]
    assert "its 2 repeats of the folds" in table.notes[0]
    assert "as many as the other columns have (1)" in table.notes[0]


def test_sizes_are_those_of_the_models_of_each_architecture(made_up_rules, features, reported):
    table, *_ = reported_of(made_up_rules, features, reported).tables
    sizes = {row[0]: row[4] for row in table.rows}
    assert sizes == {
        "Transformer": "0.10 M",
        "LSTM": "0.20 M",
        "GRU": "0.30 M",
        "Highest less lowest": "",
    }
