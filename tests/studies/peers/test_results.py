from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from failbench.errors import BadInputError
from failbench.studies.peers.best_thresholds import with_best_thresholds
from failbench.studies.peers.lead import lead_interval
from failbench.studies.peers.results import (
    rate_table,
    rule_table,
)
from failbench.studies.peers.schemas import DOCUMENTED
from made_up_peers import RUNS, SCENARIOS, SETTINGS, folds, is_failing, said


def rates(table):
    found = rate_table(table, RUNS, SETTINGS)
    return {row["metric"]: row for row in found.to_dicts()}


def test_who_alarms_all_that_fails_and_nothing_else_gains_everything():
    found = rates(said(is_failing))
    assert found["detected"]["value"] == 1.0
    assert found["gain"]["value"] == found["f1"]["value"] == 1.0
    assert found["alarm_twin"]["value"] == found["alarm_success"]["value"] == 0.0
    assert (found["alarm_twin"]["n"], found["alarm_success"]["n"]) == (30, 4)


def test_who_alarms_every_run_gains_nothing():
    found = rates(said(True))
    assert found["detected"]["value"] == found["alarm_twin"]["value"] == 1.0
    assert found["gain"]["value"] == 0.0
    assert found["f1"]["value"] == pytest.approx(2 / 3)


def test_f1_is_that_of_scikit_learn():
    def alarmed(run):
        return run["scenario"] is not None and hash_of(run["run_id"]) % 3 == 0

    def hash_of(name):
        return sum(name.encode())

    table = said(alarmed).join(RUNS.filter(pl.col("kind") != "success"), on="run_id")
    expected = f1_score(table["kind"] == "failure", table["detected"])
    assert 0 < expected < 1
    assert rates(said(alarmed))["f1"]["value"] == pytest.approx(expected)


def test_a_verdict_without_a_category_is_a_detection_and_a_wrong_answer():
    found = rates(said(is_failing))
    assert found["accuracy"]["value"] == found["named"]["value"] == 0.0
    assert "named_accuracy" not in found


def test_a_category_counts_over_all_failing_runs_and_over_those_that_are_named():
    def named(run):
        return "optimization" if run["category"] in ("optimization", "unknown") else "abstain"

    found = rates(said(is_failing, named))
    assert found["accuracy"]["value"] == pytest.approx(0.2)
    assert found["named"]["value"] == pytest.approx(0.4)
    assert found["named_accuracy"]["value"] == pytest.approx(0.5)


def test_steps_ahead_are_counted_to_the_failure_and_alarms_before_the_fault_told_apart():
    def step(run):
        return 50 if run["category"] == "optimization" else 180

    found = rates(said(is_failing, step=step))
    assert found["lead"]["value"] == 20.0
    assert found["premature"]["value"] == pytest.approx(0.2)


def test_who_is_told_that_a_run_failed_has_no_alarms():
    found = rates(said(None, "optimization"))
    assert {"detected", "gain", "alarm_twin", "lead", "premature"}.isdisjoint(found)
    assert found["accuracy"]["value"] == pytest.approx(0.2)


def test_the_median_lead_is_that_of_numpy():
    rng = np.random.default_rng(3)
    steps = {run: int(rng.integers(0, 200)) for run in RUNS["run_id"]}
    table = said(is_failing, step=lambda run: steps[run["run_id"]])
    failing = table.join(RUNS.filter(kind="failure"), on="run_id")
    interval = lead_interval(failing, SETTINGS)
    leads = (failing["failure_step"] - failing["step"]).to_numpy()
    assert interval.value == np.quantile(leads, 0.5, method="inverted_cdf")
    assert interval.ci_low <= interval.value <= interval.ci_high
    assert interval.n == len(SCENARIOS)


def test_the_best_choice_for_detection_is_taken_on_other_scenarios():
    table = pl.concat([said(True), said(is_failing, choice="× 2"), said(False, choice="× 5")])
    best = with_best_thresholds(table, RUNS, folds(), "best_detection")
    assert set(best["choice"]) == {"× 2"}
    of_scenarios = best.join(RUNS.filter(pl.col("kind") != "success"), on="run_id", how="semi")
    assert of_scenarios.height == 60
    assert best.height == 60 + 3 * 4


def test_the_best_choice_for_categories_may_alarm_everything():
    table = pl.concat([said(is_failing), said(True, "optimization", choice="× 0.1")])
    best = with_best_thresholds(table, RUNS, folds(), "best_category")
    assert set(best["choice"]) == {"× 0.1"}


def test_a_choice_is_never_made_on_the_scenarios_that_it_is_judged_on():
    def only_first_fold(run):
        return is_failing(run) and run["scenario"] in set(folds().filter(fold=0)["scenario"])

    table = pl.concat([said(False), said(only_first_fold, choice="× 2")])
    best = with_best_thresholds(table, RUNS, folds(), "best_detection")
    chosen = dict(best.group_by("fold").agg(pl.col("choice").first()).iter_rows())
    assert chosen == {0: DOCUMENTED, 1: "× 2", 2: "× 2"}


def test_of_choices_that_do_as_well_what_is_documented_is_kept():
    table = pl.concat([said(is_failing, choice="× 0.1"), said(is_failing)])
    best = with_best_thresholds(table, RUNS, folds(), "best_detection")
    assert set(best["choice"]) == {DOCUMENTED}


def test_folds_that_lack_a_scenario_are_refused():
    lacking = folds().filter(pl.col("scenario") != "unknown_2")
    with pytest.raises(BadInputError, match="'unknown_2' is tested in no fold"):
        with_best_thresholds(said(True), RUNS, lacking, "best_detection")


def test_rules_are_counted_by_the_runs_in_which_they_fire_as_documented():
    alarms = pl.DataFrame(
        {
            "run_id": ["optimization_0-s0", "optimization_0-s0-twin", "success-0"],
            "peer": ["umlaut"] * 3,
            "rule": ["lr_high"] * 3,
            "factor": [1.0, 1.0, 0.1],
            "step": [3, 4, 5],
        }
    )
    assert rule_table(alarms, RUNS).rows() == [("umlaut", "lr_high", 1, 1, 0)]
