from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.human_baseline.results import GROUPS, human_baseline
from made_up_people import (
    EASES,
    LEVELS,
    REPORTED,
    SETTINGS,
    hybrid_predictions,
    made_up_baseline,
    measured_scenarios,
    measured_shares,
)


@pytest.fixture(scope="module")
def baseline():
    return made_up_baseline()


def test_the_mixture_has_another_mean_than_its_levels(baseline):
    assert baseline.mean == pytest.approx(0.705)
    assert baseline.plain_mean == pytest.approx((0.5 + 0.75 + 0.9) / 3)


def test_people_who_feel_no_difficulty_are_as_good_everywhere_and_nothing_is_estimated(baseline):
    for group in baseline.groups[0.0].values():
        assert (group.value, group.ci_low, group.ci_high) == pytest.approx((0.705,) * 3)


def test_people_who_feel_it_are_worse_where_it_is_hard_and_on_what_is_handed_over(baseline):
    groups = baseline.groups[1.0]
    assert set(groups) == set(GROUPS)
    assert groups["all"].value == pytest.approx(0.705)
    assert groups["hard"].value < groups["medium"].value < groups["easy"].value
    assert groups["handed_over"].value < groups["hard"].ci_high
    assert (groups["hard"].n, groups["handed_over"].n) == (10, 10)


def test_what_is_handed_over_counts_by_how_often_it_is(baseline):
    shares = np.array([level.share for level in LEVELS.values()])
    right = {
        ease: shares
        @ baseline.curves.filter(coupling=1.0, category="unknown", ease=ease)["right"].to_numpy()
        for ease in EASES
    }
    expected = (right[0.0] + 0.5 * right[0.2]) / 1.5
    assert baseline.groups[1.0]["handed_over"].value == pytest.approx(expected)


def test_a_scenario_without_difficulty_is_refused():
    with pytest.raises(BadInputError, match="'unknown_5' has no measured difficulty"):
        human_baseline(
            LEVELS,
            measured_scenarios().filter(pl.col("scenario") != "unknown_5"),
            measured_shares(),
            hybrid_predictions(),
            SETTINGS,
            REPORTED,
        )


def test_a_hybrid_that_hands_nothing_to_people_is_refused():
    alone = hybrid_predictions().with_columns(route=pl.lit("rules"))
    with pytest.raises(BadInputError, match="hands no run to a person"):
        human_baseline(LEVELS, measured_scenarios(), measured_shares(), alone, SETTINGS, REPORTED)
