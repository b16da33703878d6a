"""The simulation of people: how often they are right, and what they do not see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimulatedHumanSettings
from failbench.base.methods import ENTRIES, FEATURE_METHODS
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.catalogue import method_named
from failbench.methods.simulated_human import SimulatedHuman

LEVELS = {
    "novice": {"share": 0.3, "accuracy": 0.5},
    "intermediate": {"share": 0.5, "accuracy": 0.75},
    "expert": {"share": 0.2, "accuracy": 0.9},
}
RUNS = 4000


@pytest.fixture(scope="module")
def true_categories() -> dict[str, str]:
    return {f"run_{index}": CATEGORIES[index % 5] for index in range(RUNS)}


@pytest.fixture(scope="module")
def frame(true_categories) -> pd.DataFrame:
    return pd.DataFrame(index=pd.Index(list(true_categories), name="run_id"))


@pytest.fixture(scope="module")
def human(true_categories, frame) -> SimulatedHuman:
    levels = SimulatedHumanSettings.model_validate({"levels": LEVELS}).levels
    return SimulatedHuman(true_categories, levels, seed=0).fit(frame, np.array([]))


@pytest.fixture(scope="module")
def diagnoses(human, frame):
    return human.diagnose(frame)


def test_the_mixture_is_right_as_often_as_its_mean_skill(diagnoses, true_categories):
    """0.3 x 0.50 + 0.5 x 0.75 + 0.2 x 0.90 = 0.705, within four standard errors."""
    right = np.mean(
        [
            item.category == truth
            for item, truth in zip(diagnoses, true_categories.values(), strict=True)
        ]
    )
    assert right == pytest.approx(0.705, abs=4 * np.sqrt(0.705 * 0.295 / RUNS))


@pytest.mark.parametrize(("share", "accuracy"), [(0.3, 0.5), (0.5, 0.75), (0.2, 0.9)])
def test_each_level_has_its_share_and_its_accuracy(diagnoses, true_categories, share, accuracy):
    right = [
        item.category == truth
        for item, truth in zip(diagnoses, true_categories.values(), strict=True)
        if item.confidence == accuracy
    ]
    assert len(right) / RUNS == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / RUNS))
    error = 4 * np.sqrt(accuracy * (1 - accuracy) / len(right))
    assert np.mean(right) == pytest.approx(accuracy, abs=error)


def test_neither_the_order_nor_the_company_of_runs_matters(human, frame):
    everyone = dict(zip(frame.index, human.predict(frame), strict=True))
    some = frame[::-7]
    assert human.predict(some).tolist() == [everyone[run_id] for run_id in some.index]


def test_the_answer_has_the_accuracy_of_its_person_as_probability(human, frame, diagnoses):
    for row, item in zip(human.predict_proba(frame), diagnoses, strict=True):
        assert row[CATEGORIES.index(item.category)] == item.confidence
        assert sorted(row)[:4] == pytest.approx([(1 - item.confidence) / 4] * 4)


def test_a_run_without_an_answer_is_refused(human):
    unknown = pd.DataFrame(index=pd.Index(["run_x"], name="run_id"))
    with pytest.raises(BadInputError, match="run_x: is not in the answer key"):
        human.predict(unknown)


def test_only_methods_with_a_simulated_person_receive_the_answers():
    simulations = [name for name in FEATURE_METHODS if method_named(name).simulation]
    assert simulations == ["simulated_human", "hybrid"]
    assert simulations == [name for name in FEATURE_METHODS if ENTRIES[name].reads_true_category]
