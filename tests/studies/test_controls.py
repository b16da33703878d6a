from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import measure_controls
from controls import (
    ControlSettings,
    estimates,
    permutation_p,
    verdict,
)
from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from measure_controls import (
    GroupedTable,
    before_onset,
    control_predictions,
    cross_validated_answers,
    permuted_accuracies,
    require_categories,
)
from shared.controls import ALL_LABELS, NOTHING, PERMUTED_LABELS, TESTED_LABELS

SETTINGS = ControlSettings(
    architecture="transformer",
    optimizer="adamw",
    scale="small",
    trees=3,
    folds=3,
    repeats=1,
    permutations=40,
    significance=0.05,
    upper_bound=0.30,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)


def table_of(signal: float, by_scenario: float = 0.0) -> GroupedTable:
    """Three columns of noise; the first is shifted by the category and by the scenario."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), 8)
    members = np.repeat(np.arange(len(labels)), 3)
    matrix = rng.normal(size=(len(members), 3))
    matrix[:, 0] += signal * labels[members] + by_scenario * rng.normal(size=len(labels))[members]
    names = tuple(f"scenario_{index:02}" for index in range(len(labels)))
    run_ids = tuple(f"run_{index:03}" for index in range(len(members)))
    categories = tuple(CATEGORIES[label] for label in labels)
    return GroupedTable(matrix, run_ids, names, categories, members)


def judged(
    settings: ControlSettings = SETTINGS,
    with_tested_labels: str = "prediction",
    with_all_labels: str = "category",
    **tables: GroupedTable,
) -> dict[str, dict[str, Any]]:
    """Controls measured and judged, by name; two columns say what is answered with labels."""
    run_ids = sorted({run_id for table in tables.values() for run_id in table.run_ids})
    runs = pl.DataFrame({"run_id": run_ids}).with_columns(
        architecture=pl.lit("transformer"),
        optimizer=pl.lit("adamw"),
        scale=pl.lit("small"),
        seed=pl.lit(0),
    )
    predictions = control_predictions({"any": table_of(0.0), **tables}, runs, settings)
    any_table = predictions.filter(control="any").select(PREDICTION_SCHEMA.names())
    planted = {
        NOTHING: any_table,
        TESTED_LABELS: any_table.with_columns(prediction=with_tested_labels),
        ALL_LABELS: any_table.with_columns(prediction=with_all_labels),
    }
    found = estimates(
        predictions,
        permuted_accuracies(tables, settings),
        any_table,
        pl.concat(part.with_columns(planted=pl.lit(what)) for what, part in planted.items()),
        settings,
    )
    return {row["control"]: row for row in found.to_dicts()}


def test_a_planted_leak_fails_which_is_what_it_must_do():
    result = judged(planted_leak=table_of(signal=4.0))["planted_leak"]
    assert result["verdict"] == "fail"
    assert result["shown"] == "found, as it must be"
    assert result["p"] == pytest.approx(1 / 41)
    assert result["ci_low"] > 0.20


def test_columns_that_do_not_tell_do_not_fail_and_a_leak_that_is_not_found_is_an_alarm():
    noise = table_of(signal=0.0)
    results = judged(noise=noise, planted_leak=noise)
    assert results["noise"]["verdict"] != "fail"
    assert results["noise"]["ci_low"] < 0.20
    assert results["planted_leak"]["shown"] == "not found, which is an alarm"


def test_labels_that_reach_training_or_are_not_read_are_alarms():
    honest = judged(noise=table_of(signal=0.0))
    assert honest[TESTED_LABELS]["shown"] == "pass: no prediction changes"
    assert honest[ALL_LABELS]["shown"] == "found, as it must be"
    noise = table_of(signal=0.0)
    leaking = judged(noise=noise, with_tested_labels="category", with_all_labels="prediction")
    assert leaking[TESTED_LABELS]["shown"] == "fail: some change"
    assert leaking[ALL_LABELS]["shown"] == "not found, which is an alarm"


def test_an_honest_procedure_passes_the_permuted_labels_whatever_the_features_tell():
    table = table_of(signal=4.0, by_scenario=3.0)
    result = judged(permuted_labels=table)[PERMUTED_LABELS]
    assert result["verdict"] == "pass"
    assert result["value"] == pytest.approx(0.20, abs=0.03)


def test_folds_that_part_the_runs_of_a_scenario_fail_the_permuted_labels(monkeypatch):
    """Runs look like their scenario: with a sister run in training the label is remembered."""

    def by_run(whole: GroupedTable, labels, settings, seed):
        alone = replace(whole, members=np.arange(len(whole.members)))
        return cross_validated_answers(alone, labels[whole.members], settings, seed)

    table = table_of(signal=0.0, by_scenario=30.0)
    honest = judged(permuted_labels=table)[PERMUTED_LABELS]
    monkeypatch.setattr(measure_controls, "cross_validated_answers", by_run)
    parted = judged(permuted_labels=table)[PERMUTED_LABELS]
    assert honest["verdict"] == "pass"
    assert parted["verdict"] == "fail"
    assert parted["p"] < 1e-6


@pytest.mark.parametrize(
    ("p", "ci_high", "expected"),
    [
        (0.05, 0.22, "fail"),
        (0.051, 0.30, "pass"),
        (0.051, 0.301, "inconclusive"),
        (0.01, 0.90, "fail"),
    ],
)
def test_a_wide_interval_is_inconclusive_and_no_pass(p: float, ci_high: float, expected: str):
    assert verdict(p, ci_high, SETTINGS) == expected


def test_p_counts_the_true_labels_among_the_permutations():
    permuted = np.array([0.1, 0.2, 0.3, 0.2])
    assert permutation_p(0.2, permuted) == pytest.approx(4 / 5)
    assert permutation_p(0.9, permuted) == pytest.approx(1 / 5)


def test_every_run_is_answered_by_a_forest_that_never_saw_its_scenario():
    """Labels that only a sister run could tell are not found."""
    table = table_of(signal=0.0, by_scenario=50.0)
    labels = np.array(table.categories)
    settings = SETTINGS.model_copy(update={"folds": 4, "repeats": 2})
    answers = cross_validated_answers(table, labels, settings, seed=1)
    assert answers.shape == (2, len(table.members))
    assert set(np.unique(answers)) <= set(CATEGORIES)
    assert measure_controls.balanced_accuracy(table, labels, answers) < 0.45


def test_balanced_accuracy_weighs_scenarios_and_not_runs():
    members = np.array([0, 0, 0, 1, 2])
    table = GroupedTable(np.zeros((5, 1)), tuple("12345"), tuple("abc"), tuple("xxy"), members)
    labels = np.array(["x", "x", "y"])
    answers = np.array([["x", "x", "x", "y", "y"]])
    accuracy = measure_controls.balanced_accuracy(table, labels, answers)
    assert accuracy == pytest.approx((0.5 + 1) / 2)


def test_a_control_without_a_category_is_refused_because_chance_would_differ():
    whole = table_of(signal=0.0)
    require_categories({"twins": whole})
    four = replace(whole, categories=tuple("data_pipeline" for _ in whole.categories))
    with pytest.raises(BadInputError, match=r"controls: twins: has no scenario of memory_hardware"):
        require_categories({"twins": four})


def test_what_happens_from_onset_on_cannot_be_seen_before_it(small_telemetry, small_scenarios):
    failures = small_telemetry.select(pl.col("kind") == "failure")
    onsets = failures.runs.select("run_id", "onset_step")
    from_onset = pl.col("step") >= pl.col("onset_step")
    loss = pl.when(from_onset).then(pl.lit(99.0, pl.Float32)).otherwise("loss")
    changed = failures.steps.join(onsets, on="run_id").with_columns(loss=loss).drop("onset_step")
    table = before_onset(failures, small_scenarios)
    steps = dict(table.select("scenario", "steps_before_failure").rows())
    assert steps == {"late_crash": 4, "runaway": 5}
    assert table.equals(before_onset(Telemetry(failures.runs, changed), small_scenarios))
