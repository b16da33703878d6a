"""The simulation of people: how often they are right, and what they do not see."""

import numpy as np
import pandas as pd
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimulatedHumanSettings
from failbench.base.methods import ENTRIES, FEATURE_METHODS
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.catalogue import method_named
from failbench.methods.simulated_human import SimulatedHuman

LEVELS = {"novice": (0.3, 0.5), "intermediate": (0.5, 0.75), "expert": (0.2, 0.9)}
"""Share and accuracy."""
TRUE = {f"run_{index}": CATEGORIES[index % 5] for index in range(4000)}
FRAME = pd.DataFrame(index=pd.Index(list(TRUE), name="run_id"))


@pytest.fixture(scope="module")
def human():
    levels = {name: {"share": share, "accuracy": right} for name, (share, right) in LEVELS.items()}
    settings = SimulatedHumanSettings.model_validate({"levels": levels})
    return SimulatedHuman(TRUE, settings.levels, seed=0).fit(FRAME, np.array([]))


def is_share(values, expected):
    """Within four standard errors."""
    error = 4 * np.sqrt(expected * (1 - expected) / len(values))
    return np.mean(values) == pytest.approx(expected, abs=error)


def test_each_level_has_its_share_and_its_accuracy_and_the_mixture_their_mean(human):
    diagnoses = human.diagnose(FRAME)
    right = np.array([each.category for each in diagnoses]) == list(TRUE.values())
    assert is_share(right, 0.3 * 0.50 + 0.5 * 0.75 + 0.2 * 0.90)
    levels = np.array([each.confidence for each in diagnoses])
    for share, accuracy in LEVELS.values():
        assert is_share(levels == accuracy, share)
        assert is_share(right[levels == accuracy], accuracy)
    for row, item in zip(human.predict_proba(FRAME), diagnoses, strict=True):
        assert row[CATEGORIES.index(item.category)] == item.confidence
        assert sorted(row)[:4] == pytest.approx([(1 - item.confidence) / 4] * 4)


def test_neither_the_order_nor_the_company_of_runs_matters(human):
    everyone = dict(zip(FRAME.index, human.predict(FRAME), strict=True))
    some = FRAME[::-7]
    assert human.predict(some).tolist() == [everyone[run_id] for run_id in some.index]


def test_a_run_without_an_answer_is_refused(human):
    unknown = pd.DataFrame(index=pd.Index(["run_x"], name="run_id"))
    with pytest.raises(BadInputError, match="run_x: is not in the answer key"):
        human.predict(unknown)


def test_only_methods_with_a_simulated_person_receive_the_answers():
    simulations = [name for name in FEATURE_METHODS if method_named(name).simulation]
    assert simulations == ["simulated_human", "hybrid"]
    assert simulations == [name for name in FEATURE_METHODS if ENTRIES[name].reads_true_category]
