"""Looks: intervals, differences between models, and resampling within cells."""

import numpy as np
import pytest

from failbench.neighbours.lenses.catalogue import LENSES, measure_kinds
from failbench.neighbours.lenses.looking import differences, look
from failbench.neighbours.lenses.slices import answer_weights, group_sums
from made_up_traces import SETTINGS, falling, made_up_slice


@pytest.fixture(scope="module")
def healthy():
    return made_up_slice(items=20)


@pytest.mark.parametrize("lens", LENSES)
def test_a_lens_emits_the_numbers_of_the_catalogue_within_their_intervals(healthy, lens):
    seen = look(lens, *healthy, SETTINGS)
    assert list(seen.measures) == list(measure_kinds()[lens])
    for measure in seen.measures.values():
        assert len(measure.draws) == 1 + SETTINGS.resamples
        if np.isfinite(measure.value):
            assert measure.ci_low <= measure.value <= measure.ci_high
    assert seen.points.height > 0


def test_resamples_keep_the_number_of_answers_of_each_cell():
    cells = np.repeat([0, 1, 2], [5, 9, 1])
    weights = answer_weights(cells, 50, np.random.default_rng(0))
    assert (group_sums(weights, cells, 3) == [5, 9, 1]).all()
    assert (weights[0] == 1).all()


def test_a_difference_is_seen_and_that_to_itself_is_zero(healthy):
    part, scale = made_up_slice(model="short-0", accuracy=falling(4), items=20)
    reference = look("surface", *healthy, SETTINGS)
    other = look("surface", part, scale, SETTINGS)
    boundary = differences(other, reference)["boundary_length"]
    assert boundary.value == pytest.approx(-3, abs=0.6)
    assert boundary.ci_high < 0
    same = differences(reference, reference)["accuracy"]
    assert same.value == 0
    assert same.ci_low < 0 < same.ci_high
