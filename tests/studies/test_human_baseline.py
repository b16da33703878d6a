import numpy as np
import pytest

from failbench.base.method_settings import SkillLevel
from shared.human_baseline_people import (
    DESIGNS,
    StudySize,
    difficulties,
    population,
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
ALIKE, FELT = (population(LEVELS, DIFFICULTY, coupling) for coupling in (0.0, 1.0))
EASE = np.array([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])


def test_difficulty_is_the_logit_of_being_wrong_and_stays_finite():
    logits = difficulties(EASE, cells=10)
    assert logits[3] == pytest.approx(0.0)
    assert logits[2] == pytest.approx(np.log(6.5 / 4.5))
    assert logits[0] == pytest.approx(np.log(10.5 / 0.5)) == -logits[5]


@pytest.mark.parametrize("coupling", [0.0, 0.5, 1.0, 2.0])
def test_every_level_keeps_its_accuracy_and_at_full_coupling_levels_differ_by_constant_logits(
    coupling,
):
    difficulty = difficulties(EASE, 48)
    people = population(LEVELS, difficulty, coupling)
    assert people.right.mean(axis=1) == pytest.approx([0.5, 0.75, 0.9])
    assert people.marginal.mean() == pytest.approx(0.705)
    if coupling == 1.0:
        ability = np.log(people.right / (1 - people.right)) + difficulty
        assert ability == pytest.approx(np.repeat(ability[:, :1], len(EASE), axis=1))


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
    error = accuracies.std() / np.sqrt(4000)
    assert abs(accuracies.mean() - 0.705) < 4 * error
    low, high = spread_bounds(accuracies, 0.9999)
    assert low < spread(people, design, SIZE) < high
