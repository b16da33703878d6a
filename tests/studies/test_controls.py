from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import measure_controls
from controls import ControlSettings, estimates, permutation_p, verdict
from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.settings import read_with_statistics
from shared.controls import ALL_LABELS, NOTHING, PERMUTED_LABELS, TESTED_LABELS

SMALL = {"trees": 3, "folds": 3, "repeats": 1, "permutations": 40, "resamples": 1000}
SETTINGS = read_with_statistics("controls", ControlSettings).model_copy(update=SMALL)


def table_of(signal: float = 0.0, by_scenario: float = 0.0) -> measure_controls.GroupedTable:
    """Three columns of noise; the first is shifted by the category and by the scenario."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), 8)
    members = np.repeat(np.arange(len(labels)), 3)
    matrix = rng.normal(size=(len(members), 3))
    matrix[:, 0] += signal * labels[members] + by_scenario * rng.normal(size=len(labels))[members]
    names = tuple(f"scenario_{index:02}" for index in range(len(labels)))
    run_ids = tuple(f"run_{index:03}" for index in range(len(members)))
    return measure_controls.GroupedTable(
        matrix, run_ids, names, tuple(CATEGORIES[each] for each in labels), members
    )


def judged(
    tested: str = "prediction", known: str = "category", **tables: measure_controls.GroupedTable
) -> dict[str, dict[str, Any]]:
    """Controls by name; two columns say what is answered with labels of tested or all runs."""
    runs = pl.DataFrame({"run_id": table_of().run_ids}).with_columns(
        pl.lit(getattr(SETTINGS, name)).alias(name)
        for name in ("architecture", "optimizer", "scale", "seed")
    )
    predictions = measure_controls.control_predictions(
        {"any": table_of(), **tables}, runs, SETTINGS
    )
    any_table = predictions.filter(control="any").select(PREDICTION_SCHEMA.names())
    planted = {NOTHING: "prediction", TESTED_LABELS: tested, ALL_LABELS: known}
    leaks = pl.concat(
        any_table.with_columns(prediction=answer, planted=pl.lit(what))
        for what, answer in planted.items()
    )
    permuted = measure_controls.permuted_accuracies(tables, SETTINGS)
    found = estimates(predictions, permuted, any_table, leaks, SETTINGS)
    return {row["control"]: row for row in found.to_dicts()}


def test_a_planted_leak_fails_and_noise_does_not():
    leak = judged(planted_leak=table_of(signal=4.0), noise=table_of())
    assert (leak["planted_leak"]["verdict"], leak["planted_leak"]["p"]) == ("fail", 1 / 41)
    assert leak["planted_leak"]["ci_low"] > 0.20 > leak["noise"]["ci_low"]
    assert leak["noise"]["verdict"] != "fail"
    shown = {name: leak[name]["shown"] for name in ("planted_leak", TESTED_LABELS, ALL_LABELS)}
    assert shown == {
        "planted_leak": "found, as it must be",
        TESTED_LABELS: "pass: no prediction changes",
        ALL_LABELS: "found, as it must be",
    }
    alarms = judged(tested="category", known="prediction", planted_leak=table_of())
    for name in ("planted_leak", ALL_LABELS):
        assert alarms[name]["shown"] == "not found, which is an alarm"
    assert alarms[TESTED_LABELS]["shown"] == "fail: some change"


def test_permuted_labels_pass_whatever_features_tell_but_not_if_folds_part_a_scenario(monkeypatch):
    """Runs look like their scenario: with a sister run in training the label is remembered."""
    by_scenario = measure_controls.cross_validated_answers

    def by_run(whole, labels, settings, seed):
        alone = replace(whole, members=np.arange(len(whole.members)))
        return by_scenario(alone, labels[whole.members], settings, seed)

    telling = judged(permuted_labels=table_of(signal=4.0, by_scenario=3.0))[PERMUTED_LABELS]
    assert (telling["verdict"], telling["value"]) == ("pass", pytest.approx(0.20, abs=0.03))
    alike = table_of(by_scenario=30.0)
    assert judged(permuted_labels=alike)[PERMUTED_LABELS]["verdict"] == "pass"
    monkeypatch.setattr(measure_controls, "cross_validated_answers", by_run)
    parted = judged(permuted_labels=alike)[PERMUTED_LABELS]
    assert (parted["verdict"], parted["p"] < 1e-6) == ("fail", True)


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


def test_p_counts_the_true_labels_and_balanced_accuracy_weighs_scenarios_and_not_runs():
    permuted = np.array([0.1, 0.2, 0.3, 0.2])
    assert [permutation_p(each, permuted) for each in (0.2, 0.9)] == pytest.approx([4 / 5, 1 / 5])
    members = np.array([0, 0, 0, 1, 2])
    table = measure_controls.GroupedTable(
        np.zeros((5, 1)), tuple("12345"), tuple("abc"), tuple("xxy"), members
    )
    answers = np.array([["x", "x", "x", "y", "y"]])
    accuracy = measure_controls.balanced_accuracy(table, np.array(["x", "x", "y"]), answers)
    assert accuracy == pytest.approx((0.5 + 1) / 2)


def test_a_control_without_a_category_is_refused_because_chance_would_differ():
    measure_controls.require_categories({"twins": table_of()})
    four = replace(table_of(), categories=("data_pipeline",) * 40)
    with pytest.raises(BadInputError, match=r"controls: twins: has no scenario of memory_hardware"):
        measure_controls.require_categories({"twins": four})


def test_what_happens_from_onset_on_cannot_be_seen_before_it(small_telemetry, small_scenarios):
    failures = small_telemetry.select(pl.col("kind") == "failure")
    onsets = failures.runs.select("run_id", "onset_step")
    from_onset = pl.col("step") >= pl.col("onset_step")
    loss = pl.when(from_onset).then(pl.lit(99.0, pl.Float32)).otherwise("loss")
    changed = failures.steps.join(onsets, on="run_id").with_columns(loss=loss).drop("onset_step")
    table = measure_controls.before_onset(failures, small_scenarios)
    steps = dict(table.select("scenario", "steps_before_failure").rows())
    assert steps == {"late_crash": 4, "runaway": 5}
    assert table.equals(
        measure_controls.before_onset(Telemetry(failures.runs, changed), small_scenarios)
    )
