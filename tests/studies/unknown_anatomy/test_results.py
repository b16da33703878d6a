from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.measurements import measurements
from failbench.studies.unknown_anatomy.added_measurements import (
    ADDED,
    MEASURED_SETS,
    refit,
    sign_test,
    with_measurements,
)
from failbench.studies.unknown_anatomy.results import anatomy_metrics
from failbench.vocabulary import CATEGORIES
from made_up_anatomy import COUNT, SETTINGS, features, made_up_anatomy, splits, telemetry


@pytest.fixture(scope="module")
def found():
    return made_up_anatomy()


def test_every_feature_set_has_the_papers_features_and_some_measurements():
    assert MEASURED_SETS["19"] == FEATURE_SETS["19"]
    for name, columns in ADDED.items():
        assert MEASURED_SETS[name] == (*FEATURE_SETS["19"], *columns)


def test_a_measurement_that_tells_unknown_runs_is_found_to_tell_them(found):
    told = {name: one["recall_unknown"].value for name, one in found.rates.items()}
    assert told["19+ending"] > max(told["19"], told["19+step_times"]) + 0.2
    assert found.signs["19+ending"].better > found.signs["19+ending"].worse
    assert found.rates["19+ending"]["accuracy"].value > found.rates["19"]["accuracy"].value
    ending = next(one for one in found.contrasts if one.left == "19+ending")
    assert ending.right == "19"
    assert ending.difference == pytest.approx(
        found.rates["19+ending"]["accuracy"].value - found.rates["19"]["accuracy"].value
    )
    assert ending.p_holm is not None


def test_rates_of_few_scenarios_have_wilsons_interval(found):
    recall = found.rates["19+ending"]["recall_unknown"]
    assert (recall.n, recall.method) == (COUNT, "Wilson")
    expected = proportion_confint(recall.value * COUNT, COUNT, 0.05, method="wilson")
    assert (recall.ci_low, recall.ci_high) == pytest.approx(expected)


def test_posteriors_are_of_unknown_scenarios_and_add_up(found):
    assert found.posteriors.height == COUNT * len(MEASURED_SETS)
    sums = found.posteriors.select(pl.sum_horizontal(f"p_{one}" for one in CATEGORIES))
    assert sums.to_series().to_list() == pytest.approx([1.0] * found.posteriors.height, abs=1e-5)


def test_look_alikes_are_labelled_and_share_the_surface_or_lie_near(found):
    assert set(found.partners["partner_category"]) == {"data_pipeline"}
    assert found.partners.height == COUNT * COUNT
    assert found.neighbours.height == COUNT * SETTINGS.neighbours
    assert "unknown" not in set(found.neighbours["neighbour_category"])


def test_methods_that_are_left_out_say_nothing(found):
    assert set(found.methods) == {"ebm", "random_forest"}
    assert set(found.answers["method"]) == {"ebm", "random_forest"}
    everyone = SETTINGS.model_copy(update={"left_out": ("ebm", "random_forest", "simulated_human")})
    with pytest.raises(BadInputError, match="leaves no method"):
        made_up_anatomy(everyone)


def test_the_result_does_not_depend_on_the_number_of_workers(found):
    again = made_up_anatomy(workers=2)
    assert again.rates == found.rates
    assert again.posteriors.equals(found.posteriors)


def test_metrics_have_methods_forests_and_what_is_added(found):
    metrics = anatomy_metrics(found)
    assert metrics["method_ebm"]["recall"] == found.methods["ebm"]["recall"]
    assert metrics["forest_19"] == found.rates["19"]
    added = metrics["added_19+ending"]["accuracy"]
    assert added.ci_low <= added.value <= added.ci_high


def test_a_difference_without_bounds_is_a_point_in_the_metrics(found):
    alike = found.contrasts[0].model_copy(
        update={"difference": 0.0, "ci_low": None, "ci_high": None}
    )
    metrics = anatomy_metrics(replace(found, contrasts=(alike,)))
    point = metrics[f"added_{alike.left}"]["accuracy"]
    assert (point.value, point.ci_low, point.ci_high, point.method) == (0.0, 0.0, 0.0, "point")


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
    found = sign_test(changed(*counts), "19+both", 0.05)
    assert (found.better, found.worse, found.n) == (better, worse, 8)
    assert found.p == pytest.approx(stats.binomtest(better, better + worse).pvalue)
    # two-sided, 2 * 0.5**5 is 0.0625 and 2 * 0.5**6 is 0.03125
    assert found.least == 6


def test_where_nothing_changed_or_all_are_too_few_the_sign_test_says_so():
    assert sign_test(changed(0, 0, 8), "19+both", 0.05).p == 1.0
    assert sign_test(changed(4, 0, 0), "19+both", 0.05).least is None


def test_a_run_without_measurements_is_refused():
    measured = measurements(telemetry())
    with pytest.raises(BadInputError, match="has features and is not recorded"):
        with_measurements(features(), measured.head(3))


def test_more_repeats_than_there_are_folds_for_are_refused():
    with pytest.raises(BadInputError, match=r"unknown_anatomy\.repeats: 3 are wanted"):
        refit(features(), features(), splits(), SETTINGS.forest, 3, 0, 1)
