from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from equal_reports import assert_equal_reports
from failbench.errors import BadInputError
from failbench.prediction.splits import make_splits
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.controls.control_tables import (
    NOMINAL_COLUMNS,
    before_onset,
    control_tables,
    nominal_configuration,
)
from failbench.studies.controls.measure import (
    control_predictions,
    permuted_accuracies,
    require_categories,
)
from failbench.studies.controls.permutation import (
    GroupedTable,
    balanced_accuracy,
    cross_validated_answers,
    permuted_scores,
)
from failbench.studies.controls.planted import planted_predictions
from failbench.studies.controls.report import report
from failbench.studies.controls.results import (
    ControlResult,
    ControlSettings,
    control_results,
    permutation_p,
    verdict,
)
from failbench.studies.controls.settings import (
    CONTROLS,
    PERMUTED_LABELS,
    Forest,
)
from failbench.telemetry import Telemetry, write_parquet
from failbench.vocabulary import CATEGORIES

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


def table_of(
    signal: float, scenarios: int = 8, runs: int = 3, by_scenario: float = 0.0
) -> GroupedTable:
    """Three columns of noise; the first is shifted by the category and by the scenario."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), scenarios)
    members = np.repeat(np.arange(len(labels)), runs)
    matrix = rng.normal(size=(len(members), 3))
    matrix[:, 0] += signal * labels[members] + by_scenario * rng.normal(size=len(labels))[members]
    names = tuple(f"scenario_{index:02}" for index in range(len(labels)))
    run_ids = tuple(f"run_{index:03}" for index in range(len(members)))
    categories = tuple(CATEGORIES[label] for label in labels)
    return GroupedTable(matrix, run_ids, names, categories, members)


def runs_of(*tables: GroupedTable) -> pl.DataFrame:
    """What is known of the runs of made-up tables."""
    run_ids = sorted({run_id for table in tables for run_id in table.run_ids})
    return pl.DataFrame({"run_id": run_ids}).with_columns(
        architecture=pl.lit("transformer"),
        optimizer=pl.lit("adamw"),
        scale=pl.lit("small"),
        seed=pl.lit(0),
    )


def judged(
    settings: ControlSettings = SETTINGS, **tables: GroupedTable
) -> dict[str, ControlResult]:
    """Controls measured and judged, by name."""
    predictions = control_predictions(tables, runs_of(*tables.values()), settings)
    return control_results(predictions, permuted_accuracies(tables, settings), settings)


def test_a_planted_leak_fails():
    result = judged(leak=table_of(signal=4.0))["leak"]
    assert result.verdict == "fail"
    assert result.p == pytest.approx(1 / 41)
    assert result.ci_low > 0.20


def test_columns_that_do_not_tell_do_not_fail():
    result = judged(noise=table_of(signal=0.0))["noise"]
    assert result.verdict != "fail"
    assert result.ci_low < 0.20


def test_an_honest_procedure_passes_the_permuted_labels_whatever_the_features_tell():
    table = table_of(signal=4.0, by_scenario=3.0)
    result = judged(permuted_labels=table)[PERMUTED_LABELS]
    assert result.verdict == "pass"
    assert result.value == pytest.approx(0.20, abs=0.03)


def test_folds_that_part_the_runs_of_a_scenario_fail_the_permuted_labels(monkeypatch):
    """Runs look like their scenario: with a sister run in training the label is remembered."""
    from failbench.studies.controls import permutation

    table = table_of(signal=0.0, by_scenario=30.0)
    honest = judged(permuted_labels=table)[PERMUTED_LABELS]

    def by_run(whole: GroupedTable, labels, forest, seed):
        alone = replace(whole, members=np.arange(len(whole.members)))
        return cross_validated_answers(alone, labels[whole.members], forest, seed)

    monkeypatch.setattr(permutation, "cross_validated_answers", by_run)
    parted = judged(permuted_labels=table)[PERMUTED_LABELS]
    assert honest.verdict == "pass"
    assert parted.verdict == "fail"
    assert parted.p < 1e-6


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
    answers = cross_validated_answers(table, labels, Forest(3, 4, 2), seed=1)
    assert answers.shape == (2, len(table.members))
    assert set(np.unique(answers)) <= set(CATEGORIES)
    assert balanced_accuracy(table, labels, answers) < 0.45


def test_balanced_accuracy_weighs_scenarios_and_not_runs():
    table = GroupedTable(
        np.zeros((5, 1)),
        ("1", "2", "3", "4", "5"),
        ("a", "b", "c"),
        ("x", "x", "y"),
        np.array([0, 0, 0, 1, 2]),
    )
    labels = np.array(["x", "x", "y"])
    answers = np.array([["x", "x", "x", "y", "y"]])
    assert balanced_accuracy(table, labels, answers) == pytest.approx((0.5 + 1) / 2)


def test_permuted_scores_do_not_depend_on_workers():
    table, forest = table_of(signal=1.0), Forest(2, 3, 1)
    alone, together = (permuted_scores(table, forest, 6, 0, workers) for workers in (1, 2))
    assert alone.tobytes() == together.tobytes()


def test_the_nominal_configuration_has_no_effective_value(small_telemetry, small_scenarios):
    runs = small_telemetry.runs.filter(pl.col("kind") == "failure").with_columns(
        distractor=pl.lit("none"), nominal_clip_norm=pl.lit(None, pl.Float64)
    )
    table = nominal_configuration(runs, small_scenarios)
    assert set(table.columns) == {
        "run_id",
        "scenario",
        "category",
        *NOMINAL_COLUMNS,
        "distractor_none",
    }
    assert table["nominal_clip_norm"].to_list() == [0.0, 0.0, 0.0]


def test_what_happens_from_onset_on_cannot_be_seen_before_it(small_telemetry, small_scenarios):
    failures = small_telemetry.select(pl.col("kind") == "failure")
    onsets = failures.runs.select("run_id", "onset_step")
    changed = (
        failures.steps.join(onsets, on="run_id")
        .with_columns(
            pl.when(pl.col("step") >= pl.col("onset_step"))
            .then(pl.lit(99.0, pl.Float32))
            .otherwise("loss")
            .alias("loss")
        )
        .drop("onset_step")
    )
    table = before_onset(failures, small_scenarios)
    assert sorted(table["scenario"]) == ["late_crash", "runaway"]
    assert dict(table.select("scenario", "steps_before_failure").rows()) == {
        "late_crash": 4,
        "runaway": 5,
    }
    assert table.equals(before_onset(Telemetry(failures.runs, changed), small_scenarios))


def test_the_planted_leak_differs_from_the_nominal_configuration_in_one_column(
    small_telemetry, small_scenarios
):
    runs = small_telemetry.runs.with_columns(
        distractor=pl.lit("none"), nominal_batch_size=pl.lit(8, pl.Int32)
    )
    tables = control_tables(
        Telemetry(runs, small_telemetry.steps), small_scenarios, "transformer", "adamw", "small"
    )
    honest, leaked = tables["nominal_configuration"], tables["planted_leak"]
    differs = (honest.matrix != leaked.matrix).any(axis=0)
    assert differs.tolist() == [True] + [False] * (honest.matrix.shape[1] - 1)
    shift = dict(zip(leaked.scenarios, leaked.matrix[:, 0], strict=True))
    assert shift == {"late_crash": 8.0, "runaway": 12.0, "no_start": 20.0}
    assert list(tables) == [
        "permuted_labels", "before_onset", "twins", "twins_step_times", "nominal_configuration",
        "planted_leak",
    ]  # fmt: skip


def test_a_control_without_a_category_is_refused_because_chance_would_differ():
    whole = table_of(signal=0.0)
    require_categories({"twins": whole})
    four = replace(whole, categories=tuple("data_pipeline" for _ in whole.categories))
    with pytest.raises(BadInputError, match=r"controls: twins: has no scenario of memory_hardware"):
        require_categories({"twins": four})


def test_the_permuted_labels_are_tested_by_their_mean_and_the_others_by_refitting():
    table = table_of(signal=4.0)
    results = judged(permuted_labels=table, planted_leak=table)
    assert {name: result.verdict for name, result in results.items()} == {
        "permuted_labels": "pass",
        "planted_leak": "fail",
    }


def test_answers_of_controls_are_rows_of_predictions_with_the_fold_that_tested_them():
    table = table_of(signal=4.0)
    settings = SETTINGS.model_copy(update={"repeats": 2})
    predictions = control_predictions(
        {PERMUTED_LABELS: table, "leak": table}, runs_of(table), settings
    )
    assert predictions.drop("control").schema == PREDICTION_SCHEMA
    assert set(predictions["control"]) == {"leak"}
    assert set(predictions["study"]) == {CONTROLS}
    for _, repeat in predictions.group_by("repeat"):
        assert sorted(repeat["run_id"]) == sorted(table.run_ids)
    folds = predictions.group_by("repeat", "scenario").agg(pl.col("fold").n_unique())
    assert folds["fold"].unique().to_list() == [1]
    right = predictions.filter(pl.col("prediction") == pl.col("category"))
    assert right.height / predictions.height > 0.6


def test_a_report_of_saved_measurements_is_that_of_those_in_memory(failures, successes, tmp_path):
    table = table_of(signal=0.5)
    tables = {PERMUTED_LABELS: table, "twins": table}
    predictions = control_predictions(tables, runs_of(table), SETTINGS)
    splits = make_splits(failures.select("scenario", "category").unique(), 2, 1, seed=0)
    measured = (
        predictions,
        permuted_accuracies(tables, SETTINGS),
        planted_predictions(failures, successes, splits, seed=0),
        predictions.drop("control"),
    )
    saved = []
    for number, rows in enumerate(measured):
        write_parquet(rows, tmp_path / f"{number}.parquet")
        saved.append(pl.read_parquet(tmp_path / f"{number}.parquet"))
    memory, disk = report(*measured, SETTINGS), report(*saved, SETTINGS)
    assert_equal_reports(memory, disk)
    assert set(memory.metrics) == {PERMUTED_LABELS, "twins", "raw_twins", "leak_test"}
    assert memory.metrics["leak_test"]["identical_predictions"] is True


@pytest.mark.long
def test_controls_of_columns_that_do_not_tell_fail_one_time_in_twenty():
    rng = np.random.default_rng(7)
    verdicts = []
    for study in range(100):
        noise = table_of(signal=0.0)
        table = replace(noise, matrix=rng.normal(size=noise.matrix.shape))
        settings = SETTINGS.model_copy(update={"seed": study})
        verdicts.append(judged(settings, noise=table)["noise"].verdict)
    assert verdicts.count("fail") <= 11  # the 99 % point of a binomial with n = 100, p = 0.05
