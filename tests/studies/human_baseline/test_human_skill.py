from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from failbench.methods.simulated_human import SkillLevel
from failbench.studies.human_baseline.human_skill import difficulties, population

LEVELS = {
    "novice": SkillLevel(share=0.3, accuracy=0.5),
    "intermediate": SkillLevel(share=0.5, accuracy=0.75),
    "expert": SkillLevel(share=0.2, accuracy=0.9),
}
EASE = np.array([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])


def test_difficulty_is_the_logit_of_being_wrong_and_stays_finite():
    logits = difficulties(EASE, cells=10)
    assert logits[3] == pytest.approx(0.0)
    assert logits[2] == pytest.approx(np.log(6.5 / 4.5))
    assert logits[0] == pytest.approx(np.log(10.5 / 0.5)) == -logits[5]
    assert (np.diff(logits) < 0).all()


@pytest.mark.parametrize("coupling", [0.0, 0.5, 1.0, 2.0])
def test_every_level_keeps_its_accuracy_whatever_the_coupling(coupling):
    people = population(LEVELS, difficulties(EASE, 48), coupling)
    assert people.right.mean(axis=1) == pytest.approx([0.5, 0.75, 0.9])
    assert people.mean == pytest.approx(0.705)


def test_without_coupling_all_scenarios_are_alike():
    people = population(LEVELS, difficulties(EASE, 48), 0.0)
    assert people.right == pytest.approx(np.repeat([[0.5], [0.75], [0.9]], len(EASE), axis=1))


def test_with_full_coupling_levels_differ_by_a_constant_number_of_logits():
    difficulty = difficulties(EASE, 48)
    right = population(LEVELS, difficulty, 1.0).right
    ability = np.log(right / (1 - right)) + difficulty
    assert ability == pytest.approx(np.repeat(ability[:, :1], len(EASE), axis=1))
    assert right[0] == pytest.approx(expit(ability[0, 0] - difficulty))
