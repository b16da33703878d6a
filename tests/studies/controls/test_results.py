from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from failbench.studies.controls.permutation import GroupedTable, cross_validated_answers
from failbench.studies.controls.results import permutation_p, verdict
from failbench.studies.controls.settings import PERMUTED_LABELS
from made_up_controls import SETTINGS, judged, table_of


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


def test_the_permuted_labels_are_tested_by_their_mean_and_the_others_by_refitting():
    table = table_of(signal=4.0)
    results = judged(permuted_labels=table, planted_leak=table)
    assert {name: result.verdict for name, result in results.items()} == {
        "permuted_labels": "pass",
        "planted_leak": "fail",
    }


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
