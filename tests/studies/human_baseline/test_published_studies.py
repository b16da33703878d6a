from __future__ import annotations

import numpy as np
import pytest

from failbench.methods.simulated_human import SkillLevel
from failbench.studies.human_baseline.human_skill import difficulties, population
from failbench.studies.human_baseline.published_studies import (
    DESIGNS,
    StudySize,
    simulate,
    skill_spread,
    spread,
    spread_bounds,
)

LEVELS = {
    "novice": SkillLevel(share=0.3, accuracy=0.5),
    "intermediate": SkillLevel(share=0.5, accuracy=0.75),
    "expert": SkillLevel(share=0.2, accuracy=0.9),
}
SIZE = StudySize(fold=15, panel=15)
DIFFICULTY = difficulties(np.linspace(0, 1, 76), 48)
ALIKE = population(LEVELS, DIFFICULTY, 0.0)
FELT = population(LEVELS, DIFFICULTY, 1.0)


def test_spreads_of_the_mixture_are_those_worked_by_hand():
    between = 0.3 * 0.205**2 + 0.5 * 0.045**2 + 0.2 * 0.195**2
    within = 0.3 * 0.25 + 0.5 * 0.1875 + 0.2 * 0.09
    assert skill_spread(ALIKE) == pytest.approx(np.sqrt(between))
    expected = {
        "person_a_scenario": 0.705 * 0.295 / 76,
        "fold": 0.705 * 0.295 / 15,
        "one_person": between + within / 76,
        "panel": (between + within / 76) / 15,
    }
    for design in DESIGNS:
        assert spread(ALIKE, design, SIZE) == pytest.approx(np.sqrt(expected[design])), design


@pytest.mark.parametrize("people", [ALIKE, FELT], ids=["alike", "felt"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_simulation_has_the_mean_and_the_spread_of_the_formula(people, design):
    accuracies = simulate(people, design, SIZE, 4000, np.random.default_rng(7))
    assert accuracies.shape == (4000,)
    error = accuracies.std() / np.sqrt(4000)
    assert abs(accuracies.mean() - 0.705) < 4 * error
    low, high = spread_bounds(accuracies, 0.9999)
    assert low < spread(people, design, SIZE) < high


def test_scenarios_that_differ_make_studies_of_strangers_more_alike():
    strangers, people = (
        [spread(group, design, SIZE) for group in (ALIKE, FELT)]
        for design in ("person_a_scenario", "one_person")
    )
    assert strangers[1] < strangers[0]
    assert people[1] < people[0]


def test_bounds_of_a_normal_spread_are_the_textbook_ones():
    draws = np.random.default_rng(0).normal(size=20000)
    low, high = spread_bounds(draws, 0.95)
    assert (high - low) / 2 == pytest.approx(1.96 / np.sqrt(2 * 20000), rel=0.05)
    assert spread_bounds(np.ones(10), 0.95) == (0.0, 0.0)
