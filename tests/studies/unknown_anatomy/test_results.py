from __future__ import annotations

import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.errors import BadInputError
from failbench.features.measurements import measurements
from failbench.studies.unknown_anatomy.added_value import sign_test
from failbench.studies.unknown_anatomy.measure import with_measurements
from made_up_anatomy import (
    COUNT,
    SETTINGS,
    features,
    made_up_anatomy,
    telemetry,
)


def test_a_measurement_that_tells_unknown_runs_is_found_to_tell_them(results):
    recalls = {name: rates["recall_unknown"].value for name, rates in results.rates.items()}
    assert recalls["19+ending"] > max(recalls["19"], recalls["19+step_times"]) + 0.2
    assert results.signs["19+ending"].better > results.signs["19+ending"].worse
    assert results.rates["19+ending"]["accuracy"].value > results.rates["19"]["accuracy"].value
    ending = next(contrast for contrast in results.contrasts if contrast.left == "19+ending")
    assert ending.right == "19"
    assert ending.difference == pytest.approx(
        results.rates["19+ending"]["accuracy"].value - results.rates["19"]["accuracy"].value
    )
    assert ending.p_holm is not None


def test_rates_of_few_scenarios_have_wilsons_interval(results):
    recall = results.rates["19+ending"]["recall_unknown"]
    assert (recall.n, recall.method) == (COUNT, "Wilson")
    expected = proportion_confint(recall.value * COUNT, COUNT, 0.05, method="wilson")
    assert (recall.ci_low, recall.ci_high) == pytest.approx(expected)


def test_look_alikes_are_labelled_and_share_the_surface_or_lie_near(results):
    assert set(results.partners["partner_category"]) == {"data_pipeline"}
    assert results.partners.height == COUNT * COUNT
    assert results.neighbours.height == COUNT * SETTINGS.neighbours
    assert "unknown" not in set(results.neighbours["neighbour_category"])


def test_methods_that_are_left_out_say_nothing(results, measured):
    assert set(results.methods) == {"ebm", "random_forest"}
    assert set(results.answers["method"]) == {"ebm", "random_forest"}
    everyone = SETTINGS.model_copy(update={"left_out": ("ebm", "random_forest", "simulated_human")})
    with pytest.raises(BadInputError, match="leaves no method"):
        made_up_anatomy(measured, everyone)


def changed(better: int, worse: int, same: int) -> pl.DataFrame:
    """Unknown scenarios that are told with a measurement, without it, or with both."""
    rows = []
    kinds = [("unknown", "abstain")] * better + [("abstain", "unknown")] * worse
    kinds += [("unknown", "unknown")] * same
    for number, (with_it, without) in enumerate(kinds):
        for name, prediction in (("19+both", with_it), ("19", without)):
            rows.append((f"unknown_{number}", "unknown", name, prediction))
    columns = ["scenario", "category", "feature_set", "prediction"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.mark.parametrize("counts", [(3, 1, 4), (8, 0, 0), (0, 6, 2)])
def test_the_sign_test_is_the_binomial_one_over_scenarios_that_changed(counts):
    better, worse, _ = counts
    test = sign_test(changed(*counts), "19+both", 0.05)
    assert (test.better, test.worse, test.n) == (better, worse, 8)
    assert test.p == pytest.approx(stats.binomtest(better, better + worse).pvalue)
    # two-sided, 2 * 0.5**5 is 0.0625 and 2 * 0.5**6 is 0.03125
    assert test.least == 6


def test_where_nothing_changed_or_all_are_too_few_the_sign_test_says_so():
    assert sign_test(changed(0, 0, 8), "19+both", 0.05).p == 1.0
    assert sign_test(changed(4, 0, 0), "19+both", 0.05).least is None


def test_a_run_without_measurements_is_refused():
    measured = measurements(telemetry())
    with pytest.raises(BadInputError, match="has features and is not recorded"):
        with_measurements(features(), measured.head(3))
